"""A test in a loop in, whether it is met in the first turn alone out: what is bound to None before the loop is bound to
something behind the test, `if preds is None: preds = out`, a flag is turned, `if first: first = False`, or each turn
is counted, `if done == 0: ..`, `done += 1`."""

from __future__ import annotations

from typing import Final

from syncguard.infer.branches.meant import binders, leads
from syncguard.infer.routine import Frame
from syncguard.read import core
from syncguard.read.core import At, Node
from syncguard.read.tags import BIND, CONST, FUNCTION, IF, LEAVE, LOOP, NAME, TRY, UPDATE
from syncguard.read.walk import around, walk

FIRST_TURN: Final = "in its first turn"


def in_first_turn(inner: Node, outcome: bool, frame: Frame) -> bool:
    """Whether this outcome of `name is None`, or of a flag, is met once in the loop of the steps that it stands in."""
    loops = frame.context.loops
    if not loops or not loops[-1].reason:
        return False
    match inner:
        case core.Do(what="is" | "is not" as what, args=(core.Name(id=name), core.Const(value=None))):
            return (what == "is") is outcome and _changed(name, None, inner.at, outcome, loops[-1].node, frame)
        case core.Name(id=name):
            return _changed(name, outcome, inner.at, outcome, loops[-1].node, frame)
        case core.Do(what="==" | "!=" as what, args=(core.Name(id=name), core.Const(value=int() as first))):
            return (what == "==") is outcome and _counted(name, first, loops[-1].node, frame)
    return False


def _counted(name: str, first: int, loop: Node, frame: Frame) -> bool:
    """Whether a name is a number before a loop, each turn of which does no more with it than to count."""
    before, inside = _bound(name, loop, frame)
    adds = [part for part in inside if type(part) is UPDATE and part.what == "+" and type(part.value) is CONST]
    each = [part for part in adds if type(loop) is LOOP and any(part is statement for statement in loop.body)]
    if not (each and before) or len(adds) < len(inside):
        return False
    steps = [step for step in frame.context.loops[:-1] if step.reason and not step.steps]
    if any(around(step.at, part.at) for step in steps for part in before):
        return False  # it is set back at each step
    if any(type(part) is LEAVE and part.what == "continue" and part.at < each[0].at for part in walk(loop)):
        return False  # that turn is not counted
    node = frame.routine.node
    begun = _lasting(before, loop, node) if type(node) is FUNCTION else []
    return all(type(part) is BIND and type(part.value) is CONST and part.value.value == first for part in begun)


def _bound(name: str, loop: Node, frame: Frame) -> tuple[list[Node], list[Node]]:
    """What binds a name before a loop, and in it."""
    bound = binders(frame.routine).get(name, ())
    before = [part for part in bound if part.at < loop.at and not around(loop.at, part.at)]
    return before, [part for part in bound if around(loop.at, part.at)]


def _changed(name: str, first: bool | None, asked: At, outcome: bool, loop: Node, frame: Frame) -> bool:
    """Whether a name is something before a loop, and no more behind a test in it; a flag is the opposite there."""
    node = frame.routine.node
    if type(node) is not FUNCTION or name in [param.name for param in node.params]:
        return False
    before, inside = _bound(name, loop, frame)
    if not (before and inside):
        return False
    if any(_is(part, first) or not (first is None or _is(part, not first)) for part in inside):
        return False
    if not all(_is(part, first) for part in _lasting(before, loop, node)):
        return False
    tests = [part for part in walk(loop) if type(part) is IF and around(part.test.at, asked)]
    arms = [one.at for part in tests for one in (part.body if leads(part.test, asked, outcome) else part.orelse)]
    return any(around(part.at, asked) or any(around(arm, part.at) for arm in arms) for part in inside)


def _lasting(before: list[Node], loop: Node, node: core.Function) -> list[Node]:
    """Of what binds a name before a loop, what comes last on every way to it, and what may come behind that."""
    split = [part for part in walk(node.body) if type(part) is IF or type(part) is LOOP or type(part) is TRY]
    for number in range(len(before) - 1, -1, -1):
        one = before[number]
        if all(_leads_to(part, one, loop) for part in split if around(part.at, one.at)):
            return before[number:]
    return before


def _leads_to(held: Node, one: Node, other: Node) -> bool:
    """Whether two places stand in the same arm of a test, or in the same loop."""
    arms = (held.body, held.orelse) if type(held) is IF else (held.body,) if type(held) is LOOP else ()
    return any(all(any(around(part.at, at) for part in arm) for at in (one.at, other.at)) for arm in arms)


def _is(part: Node, what: bool | None) -> bool:
    """Whether this binds a name to None, or to a flag."""
    if type(part) is not BIND or type(part.value) is not CONST:
        return False
    return part.value.value is what and all(type(target) is NAME for target in part.targets)
