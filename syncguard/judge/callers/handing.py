"""The calls of a function by another one in, what all of them give it on the host out, and what each gives of its
own parameters: that is there where these are."""

from __future__ import annotations

from typing import Final

import msgspec

from syncguard.infer.branches.passing import given, positional, unpacks
from syncguard.infer.branches.subjects import last_name
from syncguard.infer.functions.brought import brought
from syncguard.infer.project import World
from syncguard.infer.routine import Routine
from syncguard.infer.sightings import Context
from syncguard.judge.around.calling import call_at
from syncguard.judge.defaults.defaults import bound
from syncguard.judge.defaults.piece import piece_of
from syncguard.read.core import At, Param
from syncguard.read.tags import CONST, FUNCTION

Calls = list[tuple[At, Context]]
NOTHING: Final[tuple[frozenset[str], frozenset[str]]] = frozenset(), frozenset()


class Handing(msgspec.Struct, frozen=True):
    """The parameters that are given what is on the host, and whether these are all; those that are given a piece of one
    of the caller's own, each with that; and whether all of these calls are made, come what may."""

    host: tuple[str, ...] = ()
    pieces: tuple[tuple[str, str], ...] = ()
    always: bool = False
    there: bool = False


def handing(caller: Routine, calls: Calls, callee: Routine, world: World) -> Handing:
    """The same of all of these calls."""
    node = callee.node
    if type(node) is not FUNCTION or caller.closure:
        return Handing()
    every = [_of_call(caller, at, callee, world) for at, _ in calls]
    names = [param.name for param in node.params]
    host = tuple([name for name in names if all(one.get(name) == "" for one in every)])
    pieces: list[tuple[str, str]] = []
    for name in names:
        owns = {one.get(name) for one in every} - {""}  # beside what others give on the host
        own = owns.pop() if len(owns) == 1 else None
        if own is not None:
            pieces.append((name, own))
    always = not any(context.tests or context.failing or context.off for _, context in calls)
    known = [caller.hosting.get((callee, at), NOTHING) for at, _ in calls]
    rest = [name for name in names if name != "self" and name not in host]
    there = all(one[0] and one[1].issuperset(rest) for one in known)
    return Handing(host, tuple(pieces), always, there)


def brings(routine: Routine, world: World) -> tuple[tuple[str, int], ...]:
    """The parameters that a function moves to the device later, each with the line."""
    node = routine.node
    if type(node) is not FUNCTION or routine.closure:
        return ()
    moved = brought(routine, world)
    return tuple([(one.name, moved[one.name][0]) for one in node.params if one.name in moved])


def _of_call(caller: Routine, at: At, callee: Routine, world: World) -> dict[str, str]:
    """By parameters, the one of the caller that a call gives a piece of; '' where it gives what is on the host."""
    node, written = callee.node, call_at(at, caller)
    if type(node) is not FUNCTION or written is None or last_name(written.fn) != callee.name or unpacks(written):
        return {}
    known, places, moved = caller.hosting.get((callee, at), NOTHING)[0], positional(node), brought(caller, world)
    found: dict[str, str] = {}
    for param in node.params:
        values = given(written, param, places, bound(written, callee))
        own = piece_of(values[0], caller, world) if len(values) == 1 else ""
        if own in moved and at < moved[own]:
            found[param.name] = own  # there as long as its own callers give nothing else
        elif param.name in known or (not values and _is_number(param)):
            found[param.name] = ""
        elif own:
            found[param.name] = own
    return found


def _is_number(param: Param) -> bool:
    """Whether a parameter that is left out is no tensor."""
    return type(param.default) is CONST
