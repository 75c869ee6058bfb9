"""A test in a loop of steps in, why it is seldom met out: what stands behind it moves on the mark that it holds a count
against, `if count < last + n: continue`, `last = count`, or the count itself; or the loop ends there."""

from __future__ import annotations

from typing import Final

from syncguard.infer.branches.meant import binders, leads, plainly
from syncguard.infer.branches.rhythm import BACK, LESS, OUT, TURNED, at_once
from syncguard.infer.branches.subjects import path_of
from syncguard.infer.routine import Frame
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import BIND, CONST, DO, FUNCTION, IF, LEAVE, LOOP, MODULE, NAME, UPDATE
from syncguard.read.walk import around, walk

TESTS: Final = frozenset((*TURNED, "=="))
DENIED: Final = {"<": ">=", "<=": ">"}


def moved_on(inner: Node, outcome: bool, frame: Frame) -> str:
    """Why this outcome is met now and then; '' where nothing says so."""
    loops, node = frame.context.loops, frame.routine.node
    loop = loops[-1].node if loops and loops[-1].reason else None
    if type(loop) is not LOOP or type(node) not in (FUNCTION, MODULE):
        return ""
    match inner:
        case core.Name(id=name) if outcome:
            ends = [part for part in loop.body if _ends(part, name)]
            return OUT if ends and (_tests(name, loop, frame) or _ends_then(name, inner, ends, loop, frame)) else ""
        case core.Do(what="==" | "!=" as what, args=(core.Name(id=name), core.Const(value=first))):
            counts = (what == "==") is outcome and _counts_from(name, first, loop, frame)
            return BACK if counts and any(_adds(part, name) for part in _behind(inner, outcome, loop)) else ""
        case core.Do(what=what, args=(left, right)) if what in TURNED and (what in LESS) is not outcome:
            count, mark, least = _held_against(left, right)
            if (
                count
                and not at_once(DENIED.get(what, what), least, frame)
                and any(_adds(part, count) for part in walk(loop))
            ):
                return BACK if any(_marks(part, mark, count) for part in _behind(inner, outcome, loop)) else ""
    return ""


def _held_against(left: Node, right: Node) -> tuple[str, str, Node]:
    """The count of a comparison, the mark that it is held against, and how far it goes beyond that: `count < last + n`,
    `count - last < n`."""
    match left, right:
        case core.Name(id=count), core.Do(what="+", args=(core.Name(id=mark), least)):
            return count, mark, least
        case core.Do(what="-", args=(core.Name(id=count), core.Name(id=mark))), least:
            return count, mark, least
    return "", "", right


def _behind(inner: Node, outcome: bool, loop: core.Loop) -> list[Node]:
    """What runs in a turn of the loop where a test comes out so, and not where it does not."""
    held = next((part for part in walk(loop) if type(part) is IF and around(part.test.at, inner.at)), None)
    if type(held) is not IF:
        return []
    here = leads(held.test, inner.at, outcome)
    arm, other = (held.body, held.orelse) if here else (held.orelse, held.body)
    if type(other[-1] if other else None) is not LEAVE:
        return walk(arm)
    return [*walk(arm), *[part for part in walk(loop) if part.at > held.at and not around(held.at, part.at)]]


def _adds(part: Node, name: str) -> bool:
    return type(part) is UPDATE and part.what == "+" and path_of(part.target) == name


def _marks(part: Node, mark: str, count: str) -> bool:
    """Whether this keeps where a count has come to: `last = count`."""
    if type(part) is not BIND or part.value is None or path_of(part.value) != count:
        return False
    return any(path_of(aim) == mark for aim in part.targets)


def _counts_from(name: str, first: object, loop: core.Loop, frame: Frame) -> bool:
    """Whether a name is this number before a loop, and nothing in the loop does more than add to it."""
    bound = binders(frame.routine).get(name, ())
    before = [part for part in bound if part.at < loop.at]
    inside = [part for part in bound if around(loop.at, part.at)]
    starts = bool(before) and all(type(one) is BIND and type(one.value) is CONST for one in before)
    last = before[-1].value if starts and type(before[-1]) is BIND else None
    return type(last) is CONST and last.value == first and all(_adds(part, name) for part in inside)


def _ends(part: Node, name: str) -> bool:
    """Whether this leaves a loop where a flag is set: `if done: break`."""
    if type(part) is not IF or not part.body:
        return False
    asked, holds = plainly(part.test, True)
    last = part.body[-1]
    leaves = type(last) is LEAVE and last.what in ("break", "return")
    return leaves and holds and type(asked) is NAME and asked.id == name


def _ends_then(name: str, asked: Node, ends: list[Node], loop: core.Loop, frame: Frame) -> bool:
    """Whether a turn that finds a flag set comes to one of these ends of the loop with that: nothing on the way there
    binds it, or goes on with the next turn."""
    for end in ends:
        parts = [part for part in walk(loop) if asked.at < part.at < end.at]
        bound = any(asked.at < part.at < end.at for part in binders(frame.routine).get(name, ()))
        if asked.at < end.at and not (bound or any(type(one) is LEAVE and one.what == "continue" for one in parts)):
            return True
    return False


def _tests(name: str, loop: core.Loop, frame: Frame) -> bool:
    """Whether each turn of a loop binds a name to how a comparison comes out, and else to nothing but yes."""
    bound = [part for part in binders(frame.routine).get(name, ()) if around(loop.at, part.at)]
    values = [part.value if type(part) is BIND else None for part in bound]
    tests = [value for value in values if type(value) is DO and value.what in TESTS]
    yes = [value for value in values if type(value) is CONST and value.value is True]
    return len(tests) == 1 and len(tests) + len(yes) == len(bound)
