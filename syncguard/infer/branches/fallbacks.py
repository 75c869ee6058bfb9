"""An arm of a branch in, why it is rarely taken out, by what stands in it: an answer without data, a conversion."""

from __future__ import annotations

from typing import Final

from syncguard.infer.branches.begun import FIRST, spends
from syncguard.infer.branches.failures import amiss
from syncguard.infer.branches.keeps import BUILDS
from syncguard.infer.branches.meant import binders, plainly
from syncguard.infer.branches.ranks import ranked
from syncguard.infer.branches.remembers import ABOUT, refits, remembers
from syncguard.infer.branches.rhythm import BACK, COUNTED, OUT, counted_out, leads_out, set_back
from syncguard.infer.branches.shown import is_tensor, shows, shows_it
from syncguard.infer.branches.undoes import undoes
from syncguard.infer.domain.sureness import number_sureness
from syncguard.infer.domain.values import Const, Host, Named, Tensor, Value, options
from syncguard.infer.functions.annotations import promised
from syncguard.infer.routine import Frame
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, BIND, CALL, CONST, DO, FUNCTION, LEAVE, LOOP, NAME, UPDATE
from syncguard.read.walk import mentions, walk

CONVERTS: Final = "where a number is given for a tensor"
AMISS: Final = "where something is amiss, as it warns"
UNDONE: Final = "where something is to be undone"
SHOWN: Final = "to show what its test has found out of bounds"
FALLBACK: Final = "where the data leave nothing to compute"


def excused(node: core.If, outcome: bool, frame: Frame) -> str:
    """Why the arm of this outcome is rarely taken, by what it does; '' where nothing says so."""
    body, other = (node.body, node.orelse) if outcome else (node.orelse, node.body)
    if not body:
        return ""
    if fallback(node.test, body, other, frame):
        return FALLBACK
    if spends(body, frame):
        return FIRST
    if undoes(node.test, outcome, body, frame):
        return UNDONE
    if remembers(node, outcome, frame) or refits(node, outcome, frame):
        return BUILDS
    if set_back(node.test, outcome, body, frame):
        return BACK
    if counted_out(node.test, outcome, body, frame):
        return COUNTED
    if leads_out(body, frame):
        return OUT
    if not other and shows_it(node.test, body, frame):
        return SHOWN
    if amiss(body, frame):
        return AMISS
    return CONVERTS if converts(node.test, outcome, body, other, frame) else ""


def fallback(test: Node, body: tuple[Node, ...], other: tuple[Node, ...], frame: Frame) -> bool:
    """Whether this arm of a test of tensors gives nothing but constants, and the other, or the rest of the block, goes
    on to compute: `if not found.any(): return torch.tensor(0.0, device=x.device)`."""
    body = tuple([part for part in body if not shows(part, frame)])
    last = body[-1] if body else None
    leaves = type(last) is LEAVE and last.what == "return" and last.value is not None
    asks = (leaves or (body and other)) and (_of_data(test, frame) or (leaves and _counts_none(test, frame)))
    asks = asks or (bool(body) and type(last) is BIND and not other and _is_zero(test, frame))
    return bool(asks) and _told(body, frame) and not (other and _told(other, frame))


def converts(test: Node, outcome: bool, body: tuple[Node, ...], other: tuple[Node, ...], frame: Frame) -> bool:
    """Whether this arm makes a tensor of what is none, where no call that we see gives a number: `if not
    torch.is_tensor(t): t = torch.tensor([t])`."""
    test, outcome = plainly(test, outcome)
    if outcome or type(test) is not CALL:
        return False
    match test:
        case core.Call(fn=fn, args=(core.Name(id=name),)):
            asked = frame.world.is_type_test(_named(fn, frame))
            return asked and _converted(body, name, frame) and not _number_given(name, other, frame)
        case core.Call(fn=core.Name(id="isinstance"), args=(core.Name(id=name), kind)):
            return (
                frame.world.is_tensor_type(_named(kind, frame))
                and _converted(body, name, frame)
                and not _number_given(name, other, frame)
            )
    return False


def _converted(body: tuple[Node, ...], name: str, frame: Frame) -> bool:
    """Whether a block makes a tensor of what is named so, and names it the same."""
    calls = [
        call
        for part in body
        if type(part) is BIND and any(type(aim) is NAME and aim.id == name for aim in part.targets)
        for call in walk(part.value)
        if type(call) is CALL and frame.world.places.is_("factories", "converts", _named(call.fn, frame))
    ]
    return any(mentions(call.args, name) for call in calls)


def _number_given(name: str, other: tuple[Node, ...], frame: Frame) -> bool:
    """Whether what is named so may well be a number: it is no parameter that is declared a tensor before all else, or
    a call, or its default, gives one. What a loop takes one by one and is asked if it is 0-d comes out of a tensor."""
    node = frame.routine.node
    if type(node) is not FUNCTION:
        return True
    aliases = {
        part.value.id
        for part in walk(node.body)
        if type(part) is BIND and type(part.value) is NAME
        for aim in part.targets
        if type(aim) is NAME and aim.id == name
    }
    if _taken(aliases | {name}, node) and any(_asks_rank(part, name) for part in walk(other)):
        return False
    given = [param for param in node.params if param.name == name or param.name in aliases]
    if not given or not all(_tensor_first(param.annotation, frame) for param in given):
        return True
    if any(type(param.default) is CONST and param.default.value is not None for param in given):
        return True
    seen = [value for param in given if (value := frame.routine.seen.get(param.name)) is not None]
    return any(number_sureness(option) for value in seen if not _declared(value) for option in options(value))


def _declared(value: Value) -> bool:
    """Whether this is what somebody who passes it on has declared: a number or a tensor."""
    return any(type(option) is Tensor and option.either for option in options(value))


def _taken(names: set[str], node: core.Function) -> bool:
    """Whether a loop of the function gives one of these names what it takes one by one."""
    loops = [part.target for part in walk(node.body) if type(part) is LOOP and part.target is not None]
    return any(type(part) is NAME and part.id in names for target in loops for part in walk(target))


def _asks_rank(part: Node, name: str) -> bool:
    """Whether this asks if what is named so is 0-d."""
    match part:
        case core.Do(what="==", args=(asked, core.Const(value=0))):
            of = ranked(asked)
            return type(of) is NAME and of.id == name
    return False


def _tensor_first(annotation: Node | None, frame: Frame) -> bool:
    """Whether a type names a tensor before all that it may be besides."""
    match annotation:
        case core.Do(what="|", args=(first, _)):
            return _tensor_first(first, frame)
        case core.Index(key=core.Seq(items=items)):
            return bool(items) and _tensor_first(items[0], frame)
        case core.Name() | core.Attr():
            return type(promised(annotation, frame, "assumed")) is Tensor
    return False


def _named(node: Node, frame: Frame) -> str:
    from syncguard.infer.expressions.evaluate import quiet_value

    value = quiet_value(node, frame) if type(node) in (NAME, ATTR) else None
    return value.name if type(value) is Named else ""


def divides(inner: Node, outcome: bool, frame: Frame) -> bool:
    """Whether this outcome of `total == 0`, or of `total > 0`, says that a tensor is zero by which the function
    divides."""
    if type(inner) is not DO:
        return False
    match inner:
        case core.Do(what="==" | "!=" | ">" | "<=" as what, args=(core.Name(id=name) as subject, core.Const(value=0))):
            node = frame.routine.node
            zero = (what in ("==", "<=")) is outcome and type(node) is FUNCTION
            return zero and is_tensor(subject, frame) and any(_by(part, name) for part in walk(node.body))
    return False


def _by(part: Node, name: str) -> bool:
    """Whether this divides by a name, or by what is zero where it is."""
    if type(part) is DO and part.what == "/":
        return _zero(part.args[1], name)
    return type(part) is UPDATE and part.what.startswith("/") and _zero(part.value, name)


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
    return is_tensor(test, frame)


def _counts_none(test: Node, frame: Frame) -> bool:
    """Whether a test asks if nothing is left of what was counted, `free = x.numel() - x.ndim`, `if free == 0`, or no
    more than one, `if x.numel() == 1`."""
    sizes = frame.world.places.tables["gates"]["sizes"]
    match test:
        case core.Either(what="or", operands=operands):
            return all(_counts_none(operand, frame) for operand in operands)
        case core.Do(what="truth", args=(core.Do(what="==" | "<=", args=(core.Name(id=name), core.Const(value=0))),)):
            made = binders(frame.routine).get(name, ())
            return len(made) == 1 and any(type(part) is ATTR and part.name in sizes for part in walk(made))
        case core.Do(what="truth", args=(core.Do(what="==" | "<=", args=(counted, core.Const(value=1))),)):
            return type(counted) is CALL and type(counted.fn) is ATTR and counted.fn.name == "numel"
    return False


def _is_zero(test: Node, frame: Frame) -> bool:
    """Whether a test asks if what was computed is exactly zero: `if best == 0.0`."""
    match test:
        case core.Do(what="truth", args=(core.Do(what="==", args=(of, core.Const(value=0))),)):
            return is_tensor(of, frame)
    return False


def _told(body: tuple[Node, ...], frame: Frame) -> bool:
    """Whether a block does nothing but say what is known without looking at the data."""
    for part in body:
        match part:
            case core.Bind(targets=targets, value=value) if all(type(target) is NAME for target in targets):
                told = value is not None and _constant(value, frame)
            case core.Leave(what="return", value=value):
                told = value is None or _constant(value, frame)
            case _:
                told = False
        if not told:
            return False
    return True


def _constant(node: Node, frame: Frame) -> bool:
    from syncguard.infer.expressions.evaluate import quiet_value

    match node:
        case core.Const():
            return True
        case core.Name() | core.Attr():
            if type(node) is ATTR and node.name in ABOUT:
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
