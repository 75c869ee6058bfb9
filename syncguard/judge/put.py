"""The chain of reasons of a value in, the tests out behind which alone a name of the function was bound to it: an arm
that binds it to a number needs no device."""

from __future__ import annotations

from syncguard.infer.branches.subjects import alike
from syncguard.infer.domain.values import Why
from syncguard.infer.routine import Asked, Routine
from syncguard.judge.leading import tests_around
from syncguard.read import core
from syncguard.read.core import At
from syncguard.read.tags import BIND, CONST, FUNCTION, IF
from syncguard.read.walk import around, walk

Tests = dict[tuple[int, bool], Asked]


def put_behind(why: Why | None, routine: Routine) -> Tests:
    """The tests around each statement that hands a value on, where all others that bind the same bind it to a
    constant."""
    found: Tests = {}
    node = routine.node
    if why is None or type(node) is not FUNCTION:
        return found
    arms = [part for part in walk(node.body) if type(part) is IF]
    binds = [part for part in walk(node.body) if type(part) is BIND] if arms else []
    link: Why | None = why
    while link is not None and arms:
        if (not link.path or link.path == routine.home.path) and any(around(arm.at, link.at) for arm in arms):
            bind = _binding(binds, link.at)
            if bind is not None and _alone(bind, binds):
                found.update(tests_around(node.body, bind.at))
        link = link.parent
    return found


def _binding(binds: list[core.Bind], at: At) -> core.Bind | None:
    """The statement that binds something to what is made at a place."""
    return next((part for part in reversed(binds) if part.value is not None and around(part.value.at, at)), None)


def _alone(bind: core.Bind, binds: list[core.Bind]) -> bool:
    """Whether nothing else binds what a statement does, but to a constant."""
    aim = bind.targets[0]
    others = [part for part in binds if part is not bind and any(alike(one, aim) for one in part.targets)]
    return all(type(part.value) is CONST for part in others)
