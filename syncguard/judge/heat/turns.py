"""Functions in, from each the gates gone that speak of the turns of a loop which may be a part of a step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from syncguard.infer.branches.first_turn import FIRST_TURN
from syncguard.infer.branches.gates import SEVERAL, TURNS, takes, trains
from syncguard.infer.branches.rhythm import COUNTED, OUT, ranges
from syncguard.infer.branches.ungiven import handed_about
from syncguard.infer.routine import Routine
from syncguard.infer.sightings import Context
from syncguard.judge.around.calling import Calling, callers_of
from syncguard.judge.heat.paced import trained
from syncguard.judge.heat.seldom import script, started
from syncguard.pack.places import Places
from syncguard.read.core import Loop, Node
from syncguard.read.tags import CALL, CONST, FUNCTION, LOOP

ENDS: Final = (FIRST_TURN, OUT)  # what a loop has once, in each call
OWN: Final = frozenset((*TURNS.values(), COUNTED, *ENDS))  # gates that tell of the turns of one call


def count_turns(routines: Sequence[Routine], places: Places) -> None:
    """Take away the gates that a range of turns or a count of a function's own makes, unless the function is a
    script's, or called by scripts alone and in no step: else each step may have such a turn, and count anew. How a loop
    begins and ends is rare but where a loop that trains is known to call its function."""
    callers: dict[Routine, list[Calling]] | None = None
    for routine in routines:
        contexts = [context for every in routine.calls.values() for _, context in every]
        contexts += [one.context for one in routine.sightings.values()]
        asked = [context for context in contexts if context.gate in OWN]
        if asked and callers is None:
            callers = callers_of(routines)
        for context in asked:
            if not lasts(context, routine, (callers or {}).get(routine, []), places):
                context.gate = ""


def lasts(context: Context, routine: Routine, calls: Sequence[Calling], places: Places) -> bool:
    """Whether what a gate says of the turns of a loop is true of the steps, as these calls of its function are made."""
    calls = [call for call in calls if call[0] is not routine]
    if context.gate in ENDS:
        return not any(_trains_around(call, places) for call in calls)
    looped = any(_in_step(call, places) for call in calls)
    node = next((loop.node for loop in context.loops if loop.reason), None)
    if type(node) is not LOOP:
        return False
    if context.gate == COUNTED and node.iterable is not None and not ranges(node):
        return not looped  # it goes through the data
    if type(routine.node) is not FUNCTION or routine.node.name in handed_about(routine.home):
        return type(routine.node) is not FUNCTION
    whole = takes(node, places)
    if whole and _turns_long(node) and context.gate != COUNTED:
        return True
    if looped or (whole and any(around.loops for _, _, around in calls)):
        return False
    if not calls:
        return script(routine, places) or started(routine, places)
    return all(script(caller, places) for caller, _, _ in calls)


def _trains_around(call: Calling, places: Places) -> bool:
    """Whether a call is made in each turn of a loop that trains."""
    around = call[2]
    steps = [loop.node for loop in around.loops if loop.reason and not loop.steps] if not around.gate else []
    return any(trains(node.body, places) for node in steps if type(node) is LOOP)


def _in_step(call: Calling, places: Places) -> bool:
    """Whether a call is made in a loop of steps, or in one that trains beside it, and not by the epoch."""
    caller, _, around = call
    loops = {loop.at for loop in around.loops}
    if any(loop.reason for loop in around.loops):
        return True
    every = [(callee, context) for callee, calls in caller.calls.items() for _, context in calls] if loops else []
    beside = [callee for callee, context in every if not loops.isdisjoint([loop.at for loop in context.loops])]
    return any(not callee.steps and trained(callee, places, {}) for callee in beside)


def _turns_long(loop: Loop) -> bool:
    """Whether the turns of a range are written out, and many."""
    over: Node | None = loop.iterable
    last = over.args[-1] if type(over) is CALL and over.args else None
    return type(last) is CONST and type(last.value) is int and last.value >= SEVERAL
