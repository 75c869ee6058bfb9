"""Routines in, those around the steps marked: what stands beside a call of one whose loop takes the steps, as in
`for epoch in range(n): train(model, loader)`, runs once in many steps; and the gates that are the
rhythm of the steps taken away."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

from syncguard.infer.branches.above import asked_often_above
from syncguard.infer.branches.gates import sets_rhythm, trains
from syncguard.infer.branches.subjects import last_name
from syncguard.infer.branches.ungiven import lines_of, private
from syncguard.infer.routine import Routine
from syncguard.infer.sightings import Context, Sighting
from syncguard.judge.around.calling import Calling, callers_of, plain
from syncguard.judge.defaults.alone import seen_above
from syncguard.judge.heat.warmth import AROUND, Warmth
from syncguard.pack.places import Places
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, CALL, FUNCTION, LOOP
from syncguard.read.walk import walk
from syncguard.terms import Fact


def pace(routines: Sequence[Routine]) -> None:
    """Mark the functions that are called, and those that call one whose loop takes the steps; the loops around such a
    call take the steps too."""
    callers = callers_of(routines)
    for callee in callers:
        callee.called = True
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
    return trains(tuple(calls), places) and any(_takes(call.fn, places) for call in calls)


def _takes(asked: Node, places: Places) -> bool:
    """Whether this has an optimizer take a step, or clear the gradients for one: what a model alone is asked to clear,
    nobody need take."""
    hot, name = places.tables["hot"], last_name(asked)
    if name not in hot["loop_takes"]:
        return False
    of = last_name(asked.of) if type(asked) is ATTR else ""
    return name not in hot["loop_clears"] or not places.is_("hot", "generators", of)


def trained(routine: Routine, places: Places, known: dict[Routine, bool]) -> bool:
    """Whether a function, or one that it calls, trains: then what calls it now and then is the step."""
    if routine not in known:
        known[routine] = False  # while we look, for those that call one another
        body = routine.node.body if type(routine.node) is FUNCTION else ()
        known[routine] = sets_rhythm(body, places) or any(trained(callee, places, known) for callee in routine.calls)
    return known[routine]


def behind_gates(routines: Sequence[Routine], places: Places, known: dict[Routine, bool]) -> frozenset[Routine]:
    """The private functions that their file does nothing with but call them behind gates, or in such functions: what
    runs now and then, whatever their names say."""
    callers = callers_of(routines)
    asked = [one for one in callers if private(one) and not asked_often_above(one)]
    found: set[Routine] = set()
    changed = True
    while changed:
        changed = False
        for callee in asked:
            calls = [call for call in callers[callee] if call[0] is not callee and not call[2].failing]
            if callee in found or not calls:
                continue
            rare = all(context.gate or caller in found for caller, _, context in calls)
            if rare and _named_in_calls(callee, callers[callee], places) and not trained(callee, places, known):
                found.add(callee)
                changed = True
    return frozenset(found)


def _named_in_calls(routine: Routine, calls: Sequence[Calling], places: Places) -> bool:
    """Whether a file has no name of a function but where it calls it."""
    node = routine.node
    if type(node) is not FUNCTION or routine.closure or not plain(node.decorators, places):
        return False
    return len({at for _, at, _ in calls}) >= len(lines_of(node.name, routine.home))


def around_steps(routines: Sequence[Routine], found: Mapping[Routine, Warmth], places: Places) -> dict[Routine, Warmth]:
    """The functions of unknown heat that their file calls, but for setup, in what runs now and then alone; methods and
    private ones, which others have no name for, also around loops that take the steps, and behind gates."""
    callers = callers_of(routines)
    unknown = [one for one in callers if one in found and found[one].heat == "unknown"]
    asked = [one for one in unknown if not asked_often_above(one)]
    told: dict[Routine, Warmth] = {}

    def once(callee: Routine, caller: Routine, context: Context) -> bool:
        loops = context.loops
        if any(loop.reason for loop in loops):
            return False
        own = (callee.owner is not None or private(callee)) and not yields(callee)
        around = own and bool(loops[-1].steps if loops else caller.steps)
        around = around or (bool(context.gate) and _ours(callee, places))
        return around or caller in told or found[caller].heat == "amortized"

    changed = True
    while changed:
        changed = False
        for callee in asked:
            calls = [(caller, context) for caller, _, context in callers[callee] if caller is not callee]
            warm = [call for call in calls if found[call[0]].heat != "cold" and not call[1].failing]
            if yields(callee) and len(warm) < len(calls):
                continue
            if callee not in told and warm and all(once(callee, *call) for call in warm):
                at = (callee.node.at[0], callee.home.path)
                told[callee], changed = Warmth("amortized", (Fact(AROUND, *at),)), True
    return told


def yields(routine: Routine) -> bool:
    """Whether a function gives its items one by one: it runs as often as these are drawn, wherever it is called. One
    that a decorator changes may be something else (`@contextmanager`)."""
    node = routine.node
    return type(node) is FUNCTION and node.generator and not node.decorators


def _ours(routine: Routine, places: Places) -> bool:
    """Whether nobody but the project has a name for a function: a private one, or a method that no class of a library
    may ask for."""
    owner = routine.owner
    return private(routine) or (
        owner is not None and owner.find(routine.name, above=True) is None and seen_above(owner, places)
    )


def shown_at_end(sighting: Sighting, routine: Routine, places: Places) -> bool:
    """Whether a value is logged where an evaluation goes through its batches, and not asked to be shown for each."""
    if not (places.is_("gates", "shows", sighting.op) and places.is_("gates", "evaluates", routine.name)):
        return False
    calls = [part for part in walk(routine.node.body) if type(part) is CALL and part.at == sighting.at]
    return not any(key == "on_step" for call in calls for key, _ in call.keywords)
