"""An arm of a branch in, whether it answers without the data that the other one computes from out."""

from __future__ import annotations

from syncguard.infer.routine import Frame
from syncguard.infer.values import Const, Host, Named, Tensor, options
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.walk import walk

FALLBACK = "where the data leave nothing to compute"
ABOUT = ("device", "dtype", "shape", "size", "ndim", "numel", "dim")  # what a tensor tells of itself on the host


def fallback(test: Node, body: tuple[Node, ...], other: tuple[Node, ...], frame: Frame) -> bool:
    """Whether this arm of a test of tensors gives nothing but constants, and the other, or the rest of the block, goes
    on to compute: `if not found.any(): return torch.tensor(0.0, device=x.device)`."""
    if not body or not _of_data(test, frame):
        return False
    leaves = type(body[-1]) is core.Leave and body[-1].what == "return" and body[-1].value is not None
    return (leaves or bool(other)) and _told(body, frame) and not (other and _told(other, frame))


def divides(inner: Node, outcome: bool, frame: Frame) -> bool:
    """Whether this outcome of `total == 0` says that a tensor is zero by which the function divides."""
    match inner:
        case core.Do(what="==" | "!=" as what, args=(core.Name(id=name) as subject, core.Const(value=0))):
            node = frame.routine.node
            zero = (what == "==") is outcome and type(node) is core.Function
            return zero and _is_tensor(subject, frame) and any(_by(part, name) for part in walk(node.body))
    return False


def _by(part: Node, name: str) -> bool:
    """Whether this divides by a name, or by what is zero where it is."""
    if type(part) is core.Do and part.what == "/":
        return _zero(part.args[1], name)
    return type(part) is core.Update and part.what.startswith("/") and _zero(part.value, name)


def _zero(node: Node, name: str) -> bool:
    """Whether this is zero where what is named so is: it, its root, a multiple of it."""
    match node:
        case core.Name(id=told):
            return told == name
        case core.Do(what="*", args=factors):
            return any(_zero(factor, name) for factor in factors)
        case core.Call(fn=core.Attr(of=of) as fn, args=args):
            return fn.name == "sqrt" and any(_zero(part, name) for part in (of, *args))
    return False


def _of_data(test: Node, frame: Frame) -> bool:
    match test:
        case core.Do(what="truth" | "not", args=(inner,)):
            return _of_data(inner, frame)
        case core.Either(operands=operands):
            return any(_of_data(operand, frame) for operand in operands)
    return _is_tensor(test, frame)


def _is_tensor(node: Node, frame: Frame) -> bool:
    from syncguard.infer.evaluate import quiet_value

    return any(
        type(option) is Tensor or (type(option) is Host and option.read is not None)
        for option in options(quiet_value(node, frame))
    )


def _told(body: tuple[Node, ...], frame: Frame) -> bool:
    """Whether a block does nothing but say what is known without looking at the data."""
    for part in body:
        match part:
            case core.Bind(targets=targets, value=value) if all(type(target) is core.Name for target in targets):
                told = value is not None and _constant(value, frame)
            case core.Leave(what="return", value=value):
                told = value is None or _constant(value, frame)
            case _:
                told = False
        if not told:
            return False
    return True


def _constant(node: Node, frame: Frame) -> bool:
    from syncguard.infer.evaluate import quiet_value

    match node:
        case core.Const():
            return True
        case core.Name() | core.Attr():
            if type(node) is core.Attr and node.name in ABOUT:
                return True
            return all(type(option) in (Const, Host, Named) for option in options(quiet_value(node, frame)))
        case core.Index(of=of):
            return _constant(of, frame)
        case core.Do(args=args) | core.Seq(items=args):
            return all(_constant(arg, frame) for arg in args)
        case core.Call(fn=core.Attr(name=name) as fn, args=args, keywords=keywords):
            if name in ABOUT:
                return True
            parts = (*args, *[value for _, value in keywords])
            made = name.startswith("new_") or _constant(fn.of, frame)
            return made and all(_constant(part, frame) for part in parts)
        case core.Call(fn=core.Name() as fn, args=args, keywords=keywords):
            parts = (*args, *[value for _, value in keywords])
            return type(quiet_value(fn, frame)) is Named and all(_constant(part, frame) for part in parts)
    return False
