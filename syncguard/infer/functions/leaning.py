"""A call in, which parameters it gives what is there only where what another is given is: `f(x[-1] + 1, x)`."""

from __future__ import annotations

from typing import Final

from syncguard.infer.branches.meant import as_given, binders
from syncguard.infer.branches.passing import given, positional, spread
from syncguard.infer.branches.subjects import value_at
from syncguard.infer.branches.ungiven import lacks
from syncguard.infer.domain.contents import tensor_in, without
from syncguard.infer.domain.values import NONE, Tensor, Unknown, Value, options
from syncguard.infer.functions import parameters
from syncguard.infer.routine import Frame, Pairs, Routine
from syncguard.read import core
from syncguard.read.core import At, Node
from syncguard.read.tags import ATTR, BIND, CALL, CHOOSE, COMP, DO, EITHER, FUNCTION, INDEX, LET, NAME
from syncguard.read.walk import parts, walk

COMPUTES: Final = frozenset(("+", "-", "*", "/", "//", "%", "@", "**", "<", "<=", ">", ">=", "neg"))
NOTHING: Final[Pairs] = frozenset()
DEEP: Final = 4  # names that are looked through


def leaning(subject: core.Name, frame: Frame) -> dict[str, Value]:
    """What the other parameters hold where this one is None: no tensor, where each call computed that from this."""
    routine, name = frame.routine, subject.id
    node = routine.node
    if type(node) is not FUNCTION or routine.seen.get(name) is None or not as_given(name, subject.at, frame):
        return {}
    found = {}
    for param in node.params:
        seen, value = routine.seen.get(param.name), frame.env.get(param.name)
        if seen is None or value is None or param.name == name or not _leaning((param.name, name), routine):
            continue
        passed = tensor_in(seen)
        if passed is None or tensor_in(value) is None or not as_given(param.name, subject.at, frame):
            continue
        left = _less(value, passed)
        if left is not value:
            found[param.name] = left
    return found


def _less(value: Value, passed: Tensor) -> Value:
    """A value without the tensor that was passed, and what may be one."""

    def is_passed(option: Value) -> bool:
        if type(option) is Unknown:
            return option.weak is not None
        return type(option) is Tensor and option.why is passed.why

    return without(value, is_passed)


def _leaning(pair: tuple[str, str], routine: Routine) -> bool:
    """Whether some call computes the one from the other, and none gives the one a tensor and the other maybe None."""
    told = routine.pairs.values()
    return any(pair in leaning for leaning, _ in told) and not any(pair in loose for _, loose in told)


def note(routine: Routine, handed: dict[str, Value], bound: bool, at: At | None, frame: Frame) -> bool:
    """Note of which parameters a call gives one a tensor where another is None; tells whether that is news."""
    node = routine.node
    if type(node) is not FUNCTION or frame.quiet:
        return False
    asked = _asked(routine)
    tensors = [name for name, value in handed.items() if asked and tensor_in(value) is not None]
    given_last = frame.given
    call = given_last[0]
    written = call if type(call) is CALL and call.at == at and not spread(call) else None
    pairs = [(name, other) for name in tensors for other in asked if name != other and not _there(handed.get(other))]
    leaning = frozenset(pair for pair in pairs if written is not None and _leans(written, node, pair, bound, frame))
    frame.given = given_last
    told = leaning, frozenset(pairs) - leaning
    place = frame.routine, at
    if routine.pairs.get(place, (NOTHING, NOTHING)) == told:
        return False
    routine.pairs[place] = told
    return True


def _asked(routine: Routine) -> frozenset[str]:
    """The parameters that a function tests for None."""
    written = routine.written
    if written.nones is None:
        node = routine.node
        names = {param.name for param in node.params} if type(node) is FUNCTION else set()
        tests = [part for part in walk(node.body) if type(part) is DO and part.what in ("is", "is not")]
        asked = [test.args[0] for test in tests if test.args[1:] and type(test.args[0]) is NAME]
        written.nones = frozenset([one.id for one in asked if type(one) is NAME and one.id in names])
    return written.nones


def _there(value: Value | None) -> bool:
    """Whether what is given is never None."""
    return value is not None and not any(option is NONE or type(option) is Unknown for option in options(value))


def _leans(call: core.Call, node: core.Function, pair: tuple[str, str], bound: bool, frame: Frame) -> bool:
    """Whether what a call gives the first parameter is no tensor, unless what it gives the second is not None."""
    places = positional(node)
    written = {param.name: given(call, param, places, bound) for param in node.params if param.name in pair}
    first, second = written[pair[0]], written[pair[1]]
    if len(first) != 1 or len(second) != 1 or type(second[0]) is not NAME:
        return False
    return _needs(first[0], second[0].id, second[0].at, frame, DEEP)


def _needs(node: Node, name: str, at: At, frame: Frame, depth: int) -> bool:
    """Whether this is a tensor only where what has this name, as it is at a place, is not None."""
    match node:
        case core.Name(id=told):
            return told == name or (depth > 0 and _bound_so(told, name, at, frame, depth - 1))
        case core.Choose(test=test, yes=yes, no=no):
            return _derefs(test, name) or all(
                lacks(test, outcome, name) or _none_there(arm, frame) or _needs(arm, name, at, frame, depth)
                for arm, outcome in ((yes, True), (no, False))
            )
        case core.Either(operands=parts_of) | core.Do(args=parts_of) if type(node) is EITHER or node.what in COMPUTES:
            asked = [one.args[0] if type(one) is DO and one.what == "truth" else one for one in parts_of]
            several = all(_none_there(one, frame) or _needs(one, name, at, frame, depth) for one in asked)
            return several or _derefs(node, name)
    return _derefs(node, name)


def _none_there(arm: Node, frame: Frame) -> bool:
    """Whether this is known to be no tensor."""
    value = value_at(arm, frame)
    return all(type(option) is not Unknown for option in options(value)) and tensor_in(value) is None


def _bound_so(told: str, name: str, at: At, frame: Frame, depth: int) -> bool:
    """Whether a name is bound to nothing else before a place, and the other name not anew in between."""
    routine, node = frame.routine, frame.routine.node
    bound = binders(routine).get(told, ())
    anew = binders(routine).get(name, ())
    if not bound or frame.context.loops or type(node) is not FUNCTION or not _never_tensor(told, node, frame):
        return False
    own = {id(part) for part in walk(node.body)}
    for part in bound:
        if id(part) not in own or type(part) is not BIND or part.value is None or len(part.targets) != 1:
            return False
        if type(part.targets[0]) is not NAME or any(part.at < other.at < at or id(other) not in own for other in anew):
            return False
        if part.at < at and not (_none_there(part.value, frame) or _needs(part.value, name, at, frame, depth)):
            return False
    return True


def _never_tensor(told: str, node: core.Function, frame: Frame) -> bool:
    """Whether this is no parameter, or one that is given no tensor."""
    for position, param in enumerate(node.params):
        if param.name == told:
            value = parameters.value(Frame(frame.world, frame.routine, {}), param, position)
            return all(type(option) is not Unknown for option in options(value)) and tensor_in(value) is None
    return True


def _derefs(node: Node, name: str) -> bool:
    """Whether to compute this fails where what has this name is None: `x[-1]`, `x.sum()`, `x + 1`."""
    if type(node) is EITHER:
        return _derefs(node.operands[0], name)
    if type(node) is CHOOSE:
        return _derefs(node.test, name)
    if type(node) is FUNCTION or type(node) is COMP or type(node) is LET:
        return False
    whole: tuple[Node, ...] = ()
    if type(node) is INDEX or type(node) is ATTR:
        whole = (node.of,)
    elif type(node) is DO and node.what in COMPUTES:
        whole = node.args
    if any(type(part) is NAME and part.id == name for part in whole):
        return True
    return any(_derefs(part, name) for part in parts(node))
