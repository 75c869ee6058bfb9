"""The chain of reasons of a value in, the tests out behind which alone it came to be: a name of the function was bound
to it, or `flag and x` gives it. An arm that gives a number needs no device."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from syncguard.infer.branches.meant import binders
from syncguard.infer.branches.subjects import alike
from syncguard.infer.domain.values import Why
from syncguard.infer.routine import Routine
from syncguard.infer.sightings import Asked, Sighting
from syncguard.judge.around.standing import enclosing
from syncguard.judge.options.leading import tests_around
from syncguard.read import core
from syncguard.read.core import At, Node
from syncguard.read.tags import BIND, CHOOSE, CONST, EITHER, FUNCTION, IF, INDEX, NAME
from syncguard.read.walk import around, walk

Tests = dict[tuple[int, bool], Asked]


def put_behind(why: Why | None, at: At, routine: Routine) -> Tests:
    """The tests around each statement that hands a value on, from the place that needs it back to where it comes
    another way as well: all else that binds its name binds it to a constant, and the next link asks for that name."""
    found: Tests = {}
    node, link, after = routine.node, why if type(routine.node) is FUNCTION else None, at
    while link is not None:
        if not link.path or link.path == routine.home.path:
            held = [*enclosing(node.body, link.at)]
            bind = held[-1] if any(type(part) is IF for part in held[:-1]) else None
            if type(bind) is BIND and bind.value is not None and around(bind.value.at, link.at):
                if not _alone(bind, routine) or not (around(bind.at, after) or _asked(bind, after, routine)):
                    break
                found.update(tests_around(node.body, bind.at))
            after = link.at
        link = link.parent
    return found


def _asked(bind: core.Bind, at: At, routine: Routine) -> bool:
    """Whether what a statement binds stands at a place, if that is a name."""
    name = bind.targets[0].id if type(bind.targets[0]) is NAME else ""
    parts = [part for part in walk(routine.node.body) if type(part) is NAME and part.id == name] if name else []
    return not name or any(around(at, part.at) for part in parts)


def picked(sighting: Sighting, routine: Routine) -> Tests:
    """The parts of an expression that must come out so for it to give what is waited for: `(flag and x > 0).any()`."""
    node = routine.node
    held = [*enclosing(node.body, sighting.at)] if type(node) is FUNCTION else []
    choosing = [part for part in walk(held[-1]) if type(part) is EITHER or type(part) is CHOOSE] if held else []
    parts = [part for part in choosing if around(sighting.at, part.at)]
    either = [part for part in parts if type(part) is EITHER]
    links = [at for at in _links(sighting.why, routine) if around(sighting.at, at)] if either else []
    if any(type(part) is CHOOSE for part in parts) or not all(_by_last(part, links) for part in either):
        return {}  # another part may give it as well
    before = [(one, part.what == "and") for part in either for one in part.operands[:-1] if _gives(part, links)]
    return {(id(one), outcome): (one, outcome) for one, outcome in before}


def _gives(part: Node, links: list[At]) -> bool:
    return any(around(part.at, at) for at in links)


def _by_last(part: core.Either, links: list[At]) -> bool:
    """Whether none but the last operand gives it."""
    return not any(_gives(one, links) for one in part.operands[:-1])


def _links(why: Why | None, routine: Routine) -> Iterator[At]:
    """Where a function itself says what a value is."""
    while why is not None:
        if not why.path or why.path == routine.home.path:
            yield why.at
        why = why.parent


def _alone(bind: core.Bind, routine: Routine) -> bool:
    """Whether nothing else binds what a statement does, but to a constant; of an attribute nobody knows."""
    aim, node = bind.targets[0], routine.node
    every: Sequence[Node] = ()
    if type(aim) is NAME:
        every = binders(routine).get(aim.id, ())
        if type(node) is FUNCTION and any(param.name == aim.id for param in node.params):
            return False
    elif type(aim) is INDEX:
        binds = [part for part in walk(node.body) if type(part) is BIND]
        every = [part for part in binds if any(alike(one, aim) for one in part.targets)]
    else:
        return False
    return all(part is bind or (type(part) is BIND and type(part.value) is CONST) for part in every)
