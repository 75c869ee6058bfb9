"""A test for None in a loop in, whether it is met in the first turn alone out: what is bound to None before the loop is
bound to something behind the test, `if preds is None: preds = out`."""

from __future__ import annotations

from syncguard.infer.branches.meant import binders
from syncguard.infer.routine import Frame
from syncguard.read import core
from syncguard.read.core import At, Node
from syncguard.read.tags import BIND, CONST, FUNCTION, IF, NAME
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
    before = [part for part in bound if part.at < loop.at and not around(loop.at, part.at)]
    if not before or not all(map(_empty, before)) or any(map(_empty, inside)):
        return False
    tests = [part for part in walk(loop) if type(part) is IF and around(part.test.at, asked)]
    arms = [one.at for part in tests for one in (part.body if outcome else part.orelse)]
    return any(around(part.at, asked) or any(around(arm, part.at) for arm in arms) for part in inside)


def _empty(part: Node) -> bool:
    """Whether this binds a name to None."""
    if type(part) is not BIND or type(part.value) is not CONST:
        return False
    return part.value.value is None and all(type(target) is NAME for target in part.targets)
