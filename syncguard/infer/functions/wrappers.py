"""A short function of another file in, the waits that each call of it costs out: they are told at the call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from syncguard.infer.branches.passing import given as passed
from syncguard.infer.branches.passing import positional
from syncguard.infer.domain.sureness import LIKELY, plain
from syncguard.infer.domain.values import Const, Host, Seq, Tensor, Value, Why, options
from syncguard.infer.domain.within import inside
from syncguard.read.core import At, Call, Node
from syncguard.read.tags import ATTR, BIND, BRING, CALL, CHECK, CONST, DO, FUNCTION, IF, LEAVE, NAME, RUN, WITH
from syncguard.read.walk import walk

if TYPE_CHECKING:
    from syncguard.infer.routine import Frame, Routine
    from syncguard.infer.sightings import Sighting

WRAPPED: Final = "wrapped:"
DEEP: Final = 4  # functions within one another of which each is a name for the next
SHORT: Final = 5  # statements of a function that only wraps a wait


def thin(routine: Routine) -> bool:
    """Whether a function is short and straight enough to be no more than a name for what it waits for."""
    node, written = routine.node, routine.written
    if written.thin is None:
        written.thin = type(node) is FUNCTION and not node.generator and 0 < _length(node.body) <= SHORT
    return written.thin


def _length(body: tuple[Node, ...]) -> int:
    """How many statements a body has, as far as that is short; more where it is more than straight. What leaves at once
    for what it is given stands in nobody's way: `if x is None: return 0`."""
    count = 0
    for node in body:
        if type(node) is IF and len(node.body) == 1 and type(node.body[0]) is LEAVE and decided(node.test):
            count += 1 + _length(node.orelse)
        elif type(node) is IF:
            count += 1 + _length(node.body) + _length(node.orelse)
        elif type(node) is WITH:
            count += _length(node.body)
        elif type(node) is RUN:
            count += type(node.value) is not CONST
        elif type(node) is BIND or type(node) is LEAVE or type(node) is CHECK:
            count += 1
        elif type(node) is not BRING:
            count += SHORT + 1
        if count > SHORT:
            break
    return count


def decided(test: Node) -> bool:
    """Whether a test asks only what kind of thing was passed, which is settled for a caller."""
    if type(test) is DO:
        return decided(test.args[0]) if test.what in ("truth", "not") else test.what in ("is", "is not")
    if type(test) is not CALL:
        return False
    fn = test.fn
    return fn.id in ("isinstance", "hasattr") if type(fn) is NAME else type(fn) is ATTR and fn.name == "is_tensor"


def names(returned: Value) -> bool:
    """Whether a function that gives this back is a name for what it waits for: it gives what it read, or nothing."""
    told = [option for option in options(returned) if not plain(option)]  # `x.item() if is_tensor(x) else x`
    return bool(told) and all(map(_on_host, told))


def _on_host(value: Value) -> bool:
    match value:
        case Const() | Host():
            return True
        case Tensor():
            return not value.on_device
        case Seq():
            parts = value.items if value.items is not None else (value.element,)
            return all(_on_host(option) for part in parts for option in options(part))
    return False


def tell(waits: tuple[Sighting, ...], routine: Routine, given: list[Value], at: At, frame: Frame) -> None:
    """The call at this place waits as the function does that it calls, and reads the clock if that does."""
    if routine.clocks:
        frame.routine.clocks.add(at[0])
    call = frame.given[0]
    written: tuple[Node, ...] = ()
    if type(call) is CALL and call.at == at:
        written = (*call.args, *[value for _, value in call.keywords])
    pairs = list(zip(given, (*written, *[None] * len(given))))
    first = _held(pairs)
    for wait in waits:
        held = first
        if wait.operand is None:
            frame.sight(at, wait.op, wait.hazard, None, _wrapped(wait, routine, None), min(wait.sure, LIKELY))
        elif held is not None:
            name = _handed(wait.operand, routine, frame)
            if type(call) is CALL and written and name:
                aims = _written_for(name, call, routine)
                held = _held([pair for pair in pairs if any(pair[1] is aim for aim in aims)]) or held
            node, reason = held
            if type(call) is CALL and call.at == at and not name:
                node = call
            frame.sight(at, wait.op, wait.hazard, node, _wrapped(wait, routine, reason), min(wait.sure, LIKELY))


def _wrapped(wait: Sighting, routine: Routine, reason: Why | None) -> Why:
    """Why a call waits: a line of the function that is called does, and of those that this is a name for, in turn."""
    told = Why(f"{WRAPPED}{routine.qualname}", wait.at, reason, routine.home.path)
    inner: list[Why] = []
    why = wait.why
    while why is not None and why.text.startswith(WRAPPED) and len(inner) < DEEP:
        inner.append(why)
        why = why.parent
    for one in reversed(inner):
        told = Why(one.text, one.at, told, one.path)
    return told


def _held(pairs: list[tuple[Value, Node | None]]) -> tuple[Node | None, Why | None] | None:
    """The first of some arguments that is a tensor, or holds one, and why."""
    return next((found for value, part in pairs if (found := inside(value, part, True)) is not None), None)


def _written_for(name: str, call: Call, routine: Routine) -> list[Node]:
    """What a call writes for a parameter of this name."""
    node = routine.node
    param = next((one for one in node.params if one.name == name), None) if type(node) is FUNCTION else None
    if type(node) is not FUNCTION or param is None:
        return []
    static = any(type(one) is NAME and one.id == "staticmethod" for one in node.decorators)
    return passed(call, param, positional(node), routine.owner is not None and not static)


def _handed(operand: At, routine: Routine, frame: Frame) -> str:
    """The name that a function waits for, as it is or as a view of it; '' where it waits for what it makes of that."""
    views = frame.world.views
    node = next((part for part in walk(routine.node.body) if part.at == operand), None)
    while node is not None and type(node) is not NAME:
        fn = node.fn if type(node) is CALL else node
        node = fn.of if type(fn) is ATTR and fn.name in views else None
    return node.id if type(node) is NAME else ""
