"""A test and its outcome in, whether it keeps code from running eagerly on the device out."""

from __future__ import annotations

from collections.abc import Iterator

from syncguard.infer.branches.kinds import is_device, on_gpu, word_of
from syncguard.infer.branches.meant import answer, as_test, meant
from syncguard.infer.branches.subjects import value_at
from syncguard.infer.branches.versions import outdated
from syncguard.infer.domain.values import UNKNOWN, Call, Host, Named
from syncguard.infer.routine import Frame
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, CALL, CONST, DO, EITHER, FUNCTION, NAME
from syncguard.read.walk import walk


def off_device(test: Node, outcome: bool, frame: Frame) -> bool:
    """Whether this outcome keeps code from running eagerly on the device: tracing, scripting, a CPU-only branch."""
    match test:
        case core.Do(what="truth", args=(inner,)):
            return _off(inner, outcome, frame)
        case core.Do(what="not", args=(inner,)):
            return off_device(inner, not outcome, frame)
        case core.Either(what=what, operands=operands):
            found = [off_device(operand, outcome, frame) for operand in operands]
            return any(found) if (what == "and") is outcome else bool(found) and all(found)
    return False


def _off(inner: Node, outcome: bool, frame: Frame) -> bool:
    there = on_gpu(inner, frame)
    if there is not None:  # on a device of another kind there may be something to wait for, but not on this one
        return there is not outcome
    if _foreign(inner, frame):
        return outcome
    if type(inner) is NAME or type(inner) is ATTR:
        name = _callee(inner, frame)
        if name and frame.world.guard(name, outcome):
            return True
        test = meant(inner, frame) if type(inner) is NAME else None
        return test is not None and off_device(test, outcome, frame)
    if type(inner) is EITHER:
        return off_device(inner, outcome, frame)
    if type(inner) is DO:
        return outdated(inner, outcome, frame)
    if type(inner) is not CALL:
        return False
    match inner:
        case core.Call(fn=core.Name(id="isinstance"), args=(subject, kind)):
            return outcome and frame.world.is_tensor_type(_callee(kind, frame)) and _sized(subject, frame)
    name = _callee(inner.fn, frame)
    return frame.world.guard(name, outcome) if name else not inner.args and _answers(inner.fn, outcome, frame)


def _foreign(inner: Node, frame: Frame) -> bool:
    """Whether a flag, or a function of no arguments, tells that there is a device of another kind."""
    asked = inner.fn if type(inner) is CALL and not inner.args else inner
    if type(asked) is NAME:
        return frame.world.places.is_("guards", "foreign", asked.id.lower())
    return type(asked) is ATTR and frame.world.places.is_("guards", "foreign", asked.name.lower())


def _answers(fn: Node, outcome: bool, frame: Frame) -> bool:
    """Whether a function of the project, which only gives back how such a test comes out, says so."""
    called = value_at(fn, frame) if type(fn) in (NAME, ATTR) else UNKNOWN
    if type(called) is not Call or called.routine.running or called.routine is frame.routine:
        return False
    node, inside = called.routine.node, Frame(frame.world, called.routine, {})
    given = answer(node)
    asked = as_test(given) if given is not None else None
    if asked is not None:
        return off_device(asked, outcome, inside)
    told = list(_told(node.body)) if outcome and type(node) is FUNCTION and not node.params else [None]
    tests = [as_test(value) if value is not None else None for value in told if not _is_false(value)]
    return bool(tests) and all(test is not None and off_device(test, True, inside) for test in tests)


def _told(body: tuple[Node, ...]) -> Iterator[Node | None]:
    """What a function gives back that does nothing else but ask for what there is; None for anything else."""
    for part in body:
        match part:
            case core.If(body=yes, orelse=no):
                yield from _told((*yes, *no))
            case core.Leave(what="return", value=value):
                yield value
            case core.Run(value=core.Const()) | core.Bring():
                pass
            case _:
                yield None


def _is_false(value: Node | None) -> bool:
    return type(value) is CONST and value.value is False


def aimed(test: Node, body: tuple[Node, ...], frame: Frame) -> bool:
    """Whether a test asks for the device to which the caller wants something moved: of one that the function is given
    no tensor of its own is on, and where it is the CPU, the tensors are fetched to it by name."""
    node = frame.routine.node
    params = {param.name for param in node.params} if type(node) is FUNCTION else set()
    asks = [one for one in walk(test) if type(one) is NAME]
    behind = [held for one in asks if (held := meant(one, frame)) is not None]
    named = (part for part in walk((test, *behind)) if type(part) in (NAME, ATTR) and is_device(part, frame))
    asked = [part for part in named if not _callee(part, frame)]  # `torch.device` makes one
    given = [part for part in asked if _root(part) in params and _of_itself(part, frame)]
    return bool(given) and len(given) == len(asked) and any(_fetches(part, frame) for part in walk(body))


def _root(node: Node) -> str:
    return (node.path if type(node) is ATTR else node.id if type(node) is NAME else "").partition(".")[0]


def _of_itself(node: Node, frame: Frame) -> bool:
    """Whether this is a device or the type of one: `device`, `device.type`, but not `x.device` nor `x.device.type`."""
    named = node.of if type(node) is ATTR and node.name == "type" else node
    return type(named) is NAME and frame.world.places.is_("names", "devices", named.id)


def _fetches(node: Node, frame: Frame) -> bool:
    """Whether this is `x.cpu()` or `x.to("cpu")`."""
    if type(node) is not CALL or type(node.fn) is not ATTR:
        return False
    op = frame.world.op(f"torch.Tensor.{node.fn.name}")
    if node.fn.name in frame.world.family:
        return op is not None and "host" in op.returns.split()
    return node.fn.name in frame.world.placers and bool(node.args) and word_of(node.args[0], frame) == "cpu"


def _sized(subject: Node, frame: Frame) -> bool:
    """Whether this is a size that the function has taken itself: to a tracer alone it is a tensor."""
    node, value = frame.routine.node, value_at(subject, frame)
    if type(node) is not FUNCTION or type(subject) is not NAME:
        return False
    taken = all(param.name != subject.id for param in node.params)
    return taken and type(value) is Host and value.kind in ("int", "size") and value.read is None


def _callee(fn: Node, frame: Frame) -> str:
    value = value_at(fn, frame) if type(fn) in (NAME, ATTR) else UNKNOWN
    return value.name if type(value) is Named else ""
