"""What a test calls, or a property that it asks for, in, why that seldom says yes out: `if every(step):`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from syncguard.infer.branches.meant import as_test, meant
from syncguard.infer.branches.ones import holding, made_by
from syncguard.infer.branches.rhythm import BACK, raised, set_back
from syncguard.infer.branches.subjects import value_at
from syncguard.infer.domain.values import UNKNOWN, Call, Instance, Value
from syncguard.infer.routine import Frame, Routine
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, CONST, FUNCTION, IF, LEAVE, NAME
from syncguard.read.walk import walk

SHORT: Final = 8  # statements of a function that only says yes or no


def answered(fn: Node, outcome: bool, frame: Frame, asked: bool = False) -> str:
    """Why a function of the project, an object that is called, or a property that is `asked` for, seldom says yes."""
    follows = outcome and bool(frame.env) and (type(fn) is NAME or type(fn) is ATTR)  # whom this one asks is not asked
    called = (_property(fn, frame) if asked else value_at(fn, frame)) if follows else UNKNOWN
    of: Node | None = fn.of if type(fn) is ATTR else None
    if type(called) is Instance and called.info is not None:
        member = called.info.find("__call__")
        called, of = member[0] if member is not None else UNKNOWN, fn
    if type(called) is not Call or called.routine.running or called.routine is frame.routine:
        return ""
    node = called.routine.node
    if type(node) is not FUNCTION or len(node.body) > SHORT or _replaced(called.routine, frame):
        return ""
    gates = [*_yes(node.body, "", _within(called.routine, node, of, frame))]
    said = sum(type(part) is LEAVE and part.what == "return" and not _no(part.value) for part in walk(node.body))
    return gates[0] if gates and all(gates) and len(gates) == said else ""


def _replaced(routine: Routine, frame: Frame) -> bool:
    """Whether a class below that of a method, in the same file, has one of its own by that name."""
    owner, name = routine.owner, routine.name
    heirs = frame.home.infos.values() if owner is not None else ()
    return any(one is not owner and owner in one.mro and name in one.members for one in heirs)


def _within(routine: Routine, node: core.Function, of: Node | None, frame: Frame) -> Frame:
    """A run of a method of this object, which holds what it was made with."""
    owner, me = routine.owner, node.params[0].name if node.params else ""
    held = holding(owner, made_by(of, frame), me, frame) if owner is not None and of is not None and me else {}
    inside = Frame(frame.world, routine, held)
    if held:
        inside.dotted.add(me)
    return inside


def _property(asked: Node, frame: Frame) -> Value:
    """The function that a class of the project runs where its object is asked for an attribute."""
    from syncguard.infer.expressions.attributes import decorators

    of = value_at(asked.of, frame) if type(asked) is ATTR else UNKNOWN
    found = of.info.find(asked.name) if type(asked) is ATTR and type(of) is Instance and of.info is not None else None
    member = found[0] if found is not None else UNKNOWN
    if found is None or type(member) is not Call or "property" not in decorators(member):
        return UNKNOWN
    if not found[1].home.own:
        frame.routine.uses[found[1].home.path, member.routine.qualname] = None
    return member


def _yes(body: tuple[Node, ...], gate: str, frame: Frame) -> Iterator[str]:
    """The gate of each yes that a function says, '' where there is none."""
    for part in body:
        if type(part) is IF:
            for outcome, arm in ((True, part.body), (False, part.orelse)):
                yield from _yes(arm, gate or _met(part.test, outcome, arm, frame), frame)
        elif type(part) is LEAVE and part.what == "return" and not _no(part.value):
            asked = _asked(part.value, frame)
            yield gate or (_met(asked, True, (), frame) if asked is not None else "")


def _met(test: Node, outcome: bool, arm: tuple[Node, ...], frame: Frame) -> str:
    """Why a test seldom leads to an arm: every n-th step, or as that sets back what it counts by."""
    from syncguard.infer.branches.gates import gated

    return gated(test, outcome, frame) or (BACK if set_back(test, outcome, arm, frame) else "")


def _asked(value: Node | None, frame: Frame) -> Node | None:
    """What a function gives back, as a test: also by a name, `due = step % n == 0`, or a flag that it has raised."""
    if type(value) is NAME:
        return meant(value, frame, then=True) or raised(value, frame)
    return as_test(value) if value is not None else None


def _no(value: Node | None) -> bool:
    return value is None or (type(value) is CONST and not value.value)
