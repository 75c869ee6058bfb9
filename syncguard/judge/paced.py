"""Routines in, those around the steps marked: what stands beside a call of one whose loop takes the steps, as in
`for epoch in range(n): train(model, loader)`, runs once in many steps; and the gates that are the
rhythm of the steps taken away."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from syncguard.infer.branches.gates import last_name, sets_rhythm, trains
from syncguard.infer.routine import Routine, Sighting
from syncguard.judge.calling import callers_of
from syncguard.places import Places
from syncguard.read.tags import CALL, FUNCTION, LOOP
from syncguard.read.walk import walk


def pace(routines: Sequence[Routine]) -> None:
    """Mark the functions that call one whose loop takes the steps, and the loops around such a call."""
    callers = callers_of(routines)
    todo = deque(routine for routine in routines if routine.steps)
    while todo:
        for caller, at, context in callers.get(todo.popleft(), ()):
            if context.gate or context.failing or any(loop.reason for loop in context.loops):
                continue  # a step that now and then goes through a loader
            for loop in context.loops:
                loop.steps = loop.steps or at[0]
            if not caller.steps:
                caller.steps = at[0]
                todo.append(caller)


def keep_time(routines: Sequence[Routine], places: Places, known: dict[Routine, bool]) -> None:
    """Take away the gates behind which a function calls what trains: these say how often there is a step, as in
    `if step % every != 0: return`, and make nothing rare."""
    for routine in routines:
        calls = [(callee, context) for callee, every in routine.calls.items() for _, context in every]
        gates = {context.gate for callee, context in calls if context.gate and trained(callee, places, known)}
        for context in [*(call for _, call in calls), *(one.context for one in routine.sightings.values())]:
            if context.gate in gates:
                context.gate = ""


def takes_step(routine: Routine, places: Places) -> bool:
    """Whether each call of a function is a step: it runs a backward pass and has an optimizer take it, in no loop."""
    node = routine.node
    if type(node) is not FUNCTION or not trains(node.body, places):
        return False
    looped = {id(part) for loop in walk(node.body) if type(loop) is LOOP for part in walk(loop)}
    calls = [part for part in walk(node.body) if type(part) is CALL and id(part) not in looped]
    takes = places.tables["hot"]["loop_takes"]
    return trains(tuple(calls), places) and any(last_name(call.fn) in takes for call in calls)


def trained(routine: Routine, places: Places, known: dict[Routine, bool]) -> bool:
    """Whether a function, or one that it calls, trains: then what calls it now and then is the step."""
    if routine not in known:
        known[routine] = False  # while we look, for those that call one another
        body = routine.node.body if type(routine.node) is FUNCTION else ()
        known[routine] = sets_rhythm(body, places) or any(trained(callee, places, known) for callee in routine.calls)
    return known[routine]


def shown_at_end(sighting: Sighting, routine: Routine, places: Places) -> bool:
    """Whether a value is logged where an evaluation goes through its batches, and not asked to be shown for each."""
    if not (places.is_("gates", "shows", sighting.op) and places.is_("gates", "evaluates", routine.name)):
        return False
    calls = [part for part in walk(routine.node.body) if type(part) is CALL and part.at == sighting.at]
    return not any(key == "on_step" for call in calls for key, _ in call.keywords)
