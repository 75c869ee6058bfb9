"""A test for None in a loop in, whether it is met in the first turn alone out: what is bound to None before the loop is
bound to something behind the test, `if preds is None: preds = out`."""

from __future__ import annotations

from syncguard.infer.branches.meant import binders
from syncguard.infer.routine import Frame
from syncguard.read import core
from syncguard.read.core import At, Node
from syncguard.read.tags import BIND, CONST, FUNCTION, IF, LOOP, NAME, TRY
from syncguard.read.walk import around, walk


def in_first_turn(inner: Node, outcome: bool, frame: Frame) -> bool:
    """Whether this outcome of `name is None` is met once in the loop of the steps that it stands in."""
    match inner:
        case core.Do(what="is" | "is not" as what, args=(core.Name(id=name), core.Const(value=None))):
            loops = frame.context.loops
            if (what == "is") is not outcome or not loops or not loops[-1].reason:
                return False
            return _filled(name, inner.at, outcome, loops[-1].node, frame)
    return False


def _filled(name: str, asked: At, outcome: bool, loop: Node, frame: Frame) -> bool:
    """Whether a name is None before a loop, and no more behind a test in it."""
    node = frame.routine.node
    if type(node) is not FUNCTION or name in [param.name for param in node.params]:
        return False
    bound = binders(frame.routine).get(name, ())
    inside = [part for part in bound if around(loop.at, part.at)]
    before = _lasting([part for part in bound if part.at < loop.at and not around(loop.at, part.at)], loop, node)
    if not before or not all(map(_empty, before)) or any(map(_empty, inside)):
        return False
    tests = [part for part in walk(loop) if type(part) is IF and around(part.test.at, asked)]
    arms = [one.at for part in tests for one in (part.body if outcome else part.orelse)]
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


def _empty(part: Node) -> bool:
    """Whether this binds a name to None."""
    if type(part) is not BIND or type(part.value) is not CONST:
        return False
    return part.value.value is None and all(type(target) is NAME for target in part.targets)
