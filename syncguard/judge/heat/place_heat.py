"""A sighting and the warmth of its routine in, how often that place runs out, with the path that shows it."""

from __future__ import annotations

from syncguard.infer.branches.keeps import BUILDS
from syncguard.infer.moved_once import moved_once
from syncguard.infer.project import World
from syncguard.infer.routine import Routine
from syncguard.infer.sightings import Context, Sighting
from syncguard.judge.heat.done import loads, makes_parameters, writes
from syncguard.judge.heat.few import by_column, few_turns, names_each, reads_each, shows_each, small
from syncguard.judge.heat.heat import around_what
from syncguard.judge.heat.paced import shown_at_end
from syncguard.judge.heat.phases import fits
from syncguard.judge.heat.seldom import (
    clicked,
    ends_phase,
    makes_groups,
    script,
    takes_no_steps,
    trial,
    tries_itself,
)
from syncguard.judge.heat.warmth import ASKED, BETWEEN, CROSSES, FITS, LOADS, MAKES, SELDOM, WRITES, Warmth
from syncguard.pack.places import Places
from syncguard.read import core
from syncguard.read.tags import INDEX, LOOP, NAME
from syncguard.read.walk import walk
from syncguard.terms import UPLOAD, Fact, Heat


def heat_of(sighting: Sighting, warmth: Warmth, routine: Routine, world: World) -> tuple[Heat, tuple[Fact, ...]]:
    """The heat of one place in a routine."""
    places = world.places
    context, cold = sighting.context, takes_no_steps(routine, places)
    if context.failing:
        return "cold", ()
    if warmth.heat != "hot":
        if places.is_("cold", "ops", sighting.op) and all(_over(loop.node, sighting) for loop in context.loops):
            return "cold", ()
        if warmth.heat == "unknown" and (why := _once(sighting, routine, places)):
            return "cold", (Fact(why, sighting.at[0], routine.home.path),)
    step = next((loop for loop in context.loops if loop.reason), None)
    base, path = warmth.heat, warmth.path
    lasting = sighting.hazard in places.tables["hot"]["settings"]
    aside = cold or places.is_("cold", "tries", routine.name) or places.is_("cold", "wished", routine.name)
    if base == "cold" and lasting and not aside:
        base, path = "unknown", ()
    tries = trial(routine, places) or tries_itself(routine, places)
    long = (script(routine, places) and not tries) or makes_groups(routine, places)
    looping = long or (clicked(routine, places) and not places.seldom(routine.name))
    looping = warmth.epochal if base == "amortized" else looping and base == "cold"
    if context.loops and looping and not cold:
        runs = places.tables["hot"]["loop_runs"]
        whole = any(type(loop.node) is LOOP and call in loop.node.calls for loop in context.loops for call in runs)
        few = all(few_turns(loop.node) or reads_each(loop.node) or shows_each(loop.node) for loop in context.loops)
        few = few or (
            base == "amortized" and all(by_column(loop.node) or names_each(loop.node) for loop in context.loops)
        )
        if not (whole or few or ends_phase(sighting, routine, places)):  # a script's own loop may run long
            base, path = "unknown", ()
    once = around_what(routine, context, places) if base == "hot" and not lasting else ""
    if once:
        return "amortized", (*path, Fact(f"but only around {once}", 0))
    epoch = _beside(context, routine)
    if epoch and not lasting and (step is not None or base == "unknown") and not cold:
        return "amortized", (*path, Fact(f"but only around line {epoch}, which takes the steps", 0))
    if step is not None and not cold:
        base, path = "hot", (Fact(step.reason, step.at[0], routine.home.path),)
    gate = _gate(sighting, routine, world)
    if gate and base in ("hot", "unknown"):
        return "amortized", (*path, Fact(f"but only {gate}", 0))
    if gate == BUILDS and base == "cold":  # nor does whoever calls it at every step make it hot
        return base, (Fact(f"but only {gate}", 0),)
    return base, path


def _gate(sighting: Sighting, routine: Routine, world: World) -> str:
    """Why a place runs out seldom, whatever calls its routine; '' where nothing there says so."""
    places = world.places
    if sighting.op in places.tables["cold"]["whispers"]:
        return "where this level is logged"
    if sighting.hazard == "item" and shown_at_end(sighting, routine, places):
        return "at the end of the epoch"
    if sighting.hazard == UPLOAD and not sighting.context.gate and moved_once(sighting.at, routine, world):
        return BUILDS
    return sighting.context.gate


def _once(sighting: Sighting, routine: Routine, places: Places) -> str:
    """Why a place outside of long loops runs seldom, as far as the function tells that it stands in; '' if it does
    not."""
    loops = sighting.context.loops
    prepared = sighting.why is not None and sighting.why.root.text == "prepared"
    if sighting.hazard == UPLOAD and prepared and not any(one.reason for one in loops):
        return CROSSES
    if ends_phase(sighting, routine, places):
        return BETWEEN
    if not loops and sighting.hazard in places.tables["cold"]["asked_for"] and _named_for(sighting.op, routine):
        return ASKED
    lasting = sighting.hazard in places.tables["hot"]["settings"]
    if lasting or routine.steps or any(one.reason for one in loops):
        return ""
    if makes_parameters(sighting.at, routine, places):
        return MAKES
    if fits(routine, places) and all(small(one.node) or by_column(one.node) for one in loops):
        return FITS
    if not all(small(one.node) for one in loops):
        return ""
    if routine.errand:
        return SELDOM
    if writes(routine, places):
        return WRITES
    return LOADS if loads(routine, places) else ""


def _named_for(op: str, routine: Routine) -> bool:
    """Whether a function that its file leaves to others has the name of what it calls."""
    return not routine.called and op.rpartition(".")[2] == routine.name.strip("_")


def _beside(context: Context, routine: Routine) -> int:
    """The line that takes the steps which a place stands around, behind or before; 0 where there is none. A small loop
    of its own is run once there, as is what stands in none."""
    loops, line = context.loops, routine.steps
    if not loops:
        return line
    beside = all(small(one.node) and not (one.reason or one.at[0] <= line <= one.at[2]) for one in loops)
    return line if line and beside else loops[-1].steps


def _over(loop: core.Node, sighting: Sighting) -> bool:
    """Whether a loop has one turn for each thing that is moved: `for part in parts: part.to(device)`, also where it
    counts them, `parts[i].to(device)`."""
    if type(loop) is not LOOP or loop.target is None:
        return False
    moved = next((part for part in walk(loop.body) if part.at == sighting.operand), None)
    picked = moved.key if type(moved) is INDEX else moved
    return type(picked) is NAME and any(type(one) is NAME and one.id == picked.id for one in walk(loop.target))
