"""An arm of a branch in, whether it does nothing but show people the odd case that its test has found out."""

from __future__ import annotations

from syncguard.infer.branches.rhythm import LESS
from syncguard.infer.branches.subjects import last_name, path_of
from syncguard.infer.domain.values import Host, Tensor, options
from syncguard.infer.routine import Frame
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, NAME, RUN
from syncguard.read.walk import walk


def shows_it(test: Node, body: tuple[Node, ...], frame: Frame) -> bool:
    """Whether an arm does nothing but show people what the test of it has found to be out of bounds: `if x.min() < -1:
    print(x.min())`."""
    if not body or type(body[0]) is not RUN:
        return False
    if not (all(shows(part, frame) for part in body) and _out_of_bounds(test, frame)):
        return False
    asked = {part.id for part in walk(test) if type(part) is NAME and is_tensor(part, frame)}
    shown = {_root(part) for one in body for part in walk(one) if _is_read(part, frame)}
    return bool(shown) and shown <= asked


def _is_read(part: Node, frame: Frame) -> bool:
    """Whether this is a tensor by its name."""
    return (type(part) is NAME or (type(part) is ATTR and part.path != "")) and is_tensor(part, frame)


def _root(part: Node) -> str:
    """The first one of the names by which something is told: `net` of `net.scale`."""
    return path_of(part).partition(".")[0]


def _out_of_bounds(test: Node, frame: Frame) -> bool:
    """Whether a test asks for the odd case: that an extreme of a tensor is beyond a bound that is written out and not
    between -1 and 1."""
    match test:
        case core.Either(what=what, operands=operands):
            odd = [_out_of_bounds(operand, frame) for operand in operands]
            return all(odd) if what == "or" else any(odd)
        case core.Do(what="truth", args=(inner,)):
            return _out_of_bounds(inner, frame)
        case core.Do(what="<" | "<=" | ">" | ">=" as what, args=(left, right)):
            bound = _number(right)
            extreme = "lowest" if what in LESS else "highest"
            far = bound is not None and (bound <= -1 if what in LESS else bound >= 1)
            return far and is_tensor(left, frame) and _is_extreme(left, extreme, frame)
    return False


def _number(node: Node) -> float | None:
    """A number that is written out."""
    match node:
        case core.Do(what="neg", args=(core.Const(value=int() | float() as value),)):
            return -value
        case core.Const(value=int() | float() as value):
            return value
    return None


def _is_extreme(node: Node, which: str, frame: Frame) -> bool:
    """Whether this is the lowest element of a tensor, or the highest: `x.min()`, `torch.min(x)`, `x.min().item()`."""
    match node:
        case core.Call(fn=core.Attr(of=of, name="item"), args=()):
            return _is_extreme(of, which, frame)
        case core.Call(fn=core.Attr(of=of, name=name), args=args):
            whole = len(args) == (0 if is_tensor(of, frame) else 1)
            return whole and frame.world.places.is_("gates", which, name)
    return False


def shows(part: Node, frame: Frame) -> bool:
    """Whether a statement does nothing but tell people something: `print(x)`, `logger.info(x)`."""
    match part:
        case core.Run(value=core.Call(fn=core.Name(id=name))):
            return name == "print"
        case core.Run(value=core.Call(fn=core.Attr(of=of))):
            return frame.world.places.is_("cold", "loggers", last_name(of).lower())
    return False


def is_tensor(node: Node, frame: Frame) -> bool:
    from syncguard.infer.expressions.evaluate import quiet_value

    return any(
        type(option) is Tensor or (type(option) is Host and option.read is not None)
        for option in options(quiet_value(node, frame))
    )
