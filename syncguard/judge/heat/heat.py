"""Routines and the calls between them in, how often each place runs out, with the shortest path that makes it hot."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Container, Iterable, Iterator, Mapping

from syncguard.infer.branches.above import asked_often_above
from syncguard.infer.branches.gates import trains
from syncguard.infer.branches.subjects import ME, last_name
from syncguard.infer.branches.ungiven import private
from syncguard.infer.classes import ClassInfo
from syncguard.infer.domain.contents import tensor_in
from syncguard.infer.routine import Routine
from syncguard.infer.sightings import Context
from syncguard.judge.around.calling import by_name, callers_of, may_be_handed
from syncguard.judge.heat.beside import beside, is_reference
from syncguard.judge.heat.done import keeps_files
from syncguard.judge.heat.few import aside
from syncguard.judge.heat.firsts import first_time
from syncguard.judge.heat.paced import around_steps, behind_gates, keep_time, pace, takes_step, trained, yields
from syncguard.judge.heat.phases import phase, sums_up
from syncguard.judge.heat.remade import remakes
from syncguard.judge.heat.seldom import (
    clicked,
    deprecated,
    doubted,
    exported,
    is_cold,
    is_cold_anyway,
    programs,
    script,
    takes_no_steps,
    test_file,
)
from syncguard.judge.heat.stands_in import stands_in
from syncguard.judge.heat.turns import count_turns
from syncguard.judge.heat.warmth import BY_NAME, SELDOM, SUMS_UP, Warmth
from syncguard.pack.places import Places, matches
from syncguard.read.core import At, Node
from syncguard.read.tags import ATTR, CALL, FUNCTION, LOOP, NAME, RUN
from syncguard.read.walk import around, walk
from syncguard.terms import Fact, Heat


def warmths(
    routines: Iterable[Routine],
    places: Places,
    hot: tuple[str, ...] = (),
    cold: tuple[str, ...] = (),
    decorator: Callable[[Routine], tuple[str, ...]] = lambda r: (),
    replaced: Callable[[Routine], str] = lambda r: "",
) -> dict[Routine, Warmth]:
    """The warmth of every routine: roots first, then what they call, breadth first so that paths are shortest."""
    routines = list(routines)
    pace(routines)
    programs(routines, places)
    training: dict[Routine, bool] = {}
    keep_time(routines, places, training)
    count_turns(routines, places)
    remade = remakes(routines, places)
    setup = prepared(routines, places, hot, cold, remade)
    setup |= {one for one in behind_gates(routines, places, training) if not _named_hot(one, hot)}
    seldom = {routine: why for routine in routines if (why := rarely(routine, places, decorator, replaced))}
    found: dict[Routine, Warmth] = {}
    for routine in routines:
        reason = root(routine, places, hot, cold, decorator) if routine not in setup else ""
        if not reason and takes_step(routine, places) and not is_cold(routine, places, cold, remade):
            reason = f"`{routine.qualname}` runs a backward pass and steps an optimizer"
        if reason:
            found[routine] = Warmth("hot", (Fact(reason, line_of(routine), routine.home.path),))
    rare: dict[Routine, Warmth] = {}
    for callee, context, path in stepped((r for r in routines if not takes_no_steps(r, places)), cold):
        if not context.rare or trained(callee, places, training):
            found.setdefault(callee, Warmth("hot", path))
        elif not asked_often_above(callee) and not _drawn_besides(callee, routines, ()):
            rare.setdefault(callee, Warmth("amortized", path, not context.gate))
    for routine, warmth in _in_phases(routines, places):
        if not is_cold(routine, places, cold, remade):
            rare.setdefault(routine, warmth)
    found = followed(
        {**rare, **found},
        seldom,
        lambda routine: trained(routine, places, training),
        lambda routine, context: bool(around_what(routine, context, places)),
        lambda routine, known: _drawn_besides(routine, routines, known),
        places,
    )
    for routine in routines:
        if routine not in found:
            if is_cold(routine, places, cold, remade):
                named = doubted(routine, places) and not (routine.program or is_cold_anyway(routine, places, cold))
                why = BY_NAME if named else SELDOM
                found[routine] = told(routine, why) if named or routine.program else Warmth("cold")
            elif why := beside(routine, places):
                found[routine] = Warmth("cold", (Fact(why, line_of(routine), routine.home.path),))
            else:
                found[routine] = Warmth("unknown")
    found = cooled(routines, {**found, **dict(_slowed(seldom, found))}, places)
    return left({**found, **around_steps(routines, found, places)}, places)


def _slowed(seldom: Mapping[Routine, str], found: Mapping[Routine, Warmth]) -> Iterator[tuple[Routine, Warmth]]:
    """Those functions that run seldom though they may be called often, by what says so."""
    for routine, why in seldom.items():
        if found[routine].heat != "cold":
            but = Fact(f"but {why}", line_of(routine), routine.home.path)
            yield routine, Warmth("amortized", (*found[routine].path, but))


def _in_phases(routines: Iterable[Routine], places: Places) -> Iterator[tuple[Routine, Warmth]]:
    """What runs once in an epoch, or another phase, by its name."""
    for routine in routines:
        if once := phase(routine, places):
            why = f"`{routine.qualname}` runs once in {'an' if once == 'epoch' else 'a'} {once}"
            at = (line_of(routine), routine.home.path)
            doubt = (Fact(SUMS_UP, *at),) if once == "epoch" and sums_up(routine, places) else ()
            yield routine, Warmth("amortized", (Fact(why, *at), *doubt), once == "epoch")


def left(found: dict[Routine, Warmth], places: Places) -> dict[Routine, Warmth]:
    """The same, with what is deprecated and not called here as cold as it will be; what it calls may have replaced
    it."""
    called = {callee for routine in found for callee in routine.calls if callee is not routine}
    return {
        routine: Warmth("cold")
        if warmth.heat == "unknown" and routine not in called and deprecated(routine, places)
        else warmth
        for routine, warmth in found.items()
    }


def rarely(
    routine: Routine,
    places: Places,
    decorator: Callable[[Routine], tuple[str, ...]],
    replaced: Callable[[Routine], str],
) -> str:
    """Why the body of a function does not run at each call of it, or is seldom called; '' where nothing says so."""
    if places.is_("cold", "pictures", routine.name):
        return f"`{routine.qualname}` draws for people"
    if any(places.is_("gates", "caches", name) for name in decorator(routine)) and not _given_tensors(routine):
        return f"`{routine.qualname}` is cached"
    chooser = replaced(routine)
    return f"`{chooser}` may find another to run in its place" if chooser else ""


def _given_tensors(routine: Routine) -> bool:
    """Whether a function is given tensors, each of which is a key of its own."""
    return any(tensor_in(value) is not None for name, value in routine.seen.items() if name not in ME)


def holds_steps(routine: Routine, places: Places) -> bool:
    """Whether a function is named as what loops over the steps, and does: what stands around its loops runs once."""
    node = routine.node
    named = places.is_("hot", "around", routine.name)
    if type(node) is not FUNCTION or not (named or (routine.steps and places.is_("hot", "generates", routine.name))):
        return False
    outside = tuple(part for part in node.body if type(part) is not LOOP)
    return any(type(part) is LOOP for part in walk(node.body)) and not trains(outside, places)


def around_what(routine: Routine, context: Context, places: Places) -> str:
    """Around what a place in a function runs once that is hot: around the loops of the steps, or around what generates
    for it, `super().generate(x)`; '' where it runs with these."""
    loops = context.loops
    if holds_steps(routine, places):
        return "its loops" if all(aside(loop, routine.steps) for loop in loops) else ""
    node = routine.node
    if type(node) is not FUNCTION or not places.is_("hot", "generates", routine.name):
        return ""
    handed = [*_generating(node.body, places)]
    for callee, calls in routine.calls.items():
        ats = [at for at, _ in calls]
        if callee is not routine and _has_generated(callee, places):
            handed += ats
        elif type(callee.node) is FUNCTION and not any(type(part) is LOOP for part in walk(callee.node.body)):
            handed = [at for at in handed if at not in ats]  # whatever its name says
    if not handed or any(loop.reason or around(loop.node.at, at) for loop in loops for at in handed):
        return ""
    return "what generates"


def _has_generated(routine: Routine, places: Places) -> bool:
    """Whether a function holds a loop of steps, or has another run it: `generate_with_retries`, `_generate_loop`."""
    node = routine.node
    if type(node) is not FUNCTION or routine.stepping:
        return bool(routine.stepping)
    named = places.is_("hot", "generates", routine.name)
    by_name = (named or private(routine)) and any(True for _ in _generating(node.body, places))
    return by_name or (private(routine) and any(callee.stepping for callee in routine.calls))


def _generating(body: tuple[Node, ...], places: Places) -> Iterator[At]:
    """Where what generates is called by its name, or is handed a model for it: `self.sampler(denoiser, noise)`."""
    for part in walk(body):
        if type(part) is CALL:
            name = last_name(part.fn)
            handed = places.is_("hot", "samplers", name) and any(
                places.is_("hot", "sampled", last_name(arg)) for arg in part.args if type(arg) in (NAME, ATTR)
            )
            if handed or places.is_("hot", "generating", name):
                yield part.at


def followed(
    found: dict[Routine, Warmth],
    seldom: Container[Routine],
    trains: Callable[[Routine], bool],
    outside: Callable[[Routine, Context], bool],
    drawn: Callable[[Routine, Container[Routine]], bool],
    places: Places,
) -> dict[Routine, Warmth]:
    """These and what they call: what is behind a gate, stands around the loops of those that run the steps, or seldom
    runs when it is called, is amortized, unless it is the step itself, or what is drawn from elsewhere as well."""
    found = {
        routine: Warmth("amortized", warmth.path) if routine in seldom else warmth for routine, warmth in found.items()
    }
    queue = deque(found)
    while queue:
        routine = queue.popleft()
        warmth = found[routine]
        calls = ((callee, *call) for callee, every in routine.calls.items() if callee is not routine for call in every)
        for callee, at, context in calls:
            if context.failing:
                continue
            once = outside(routine, context) and not places.is_("hot", "generating", callee.name)
            gated = (context.rare or once or first_time(callee, context, places)) and not trains(callee)
            heat: Heat = "amortized" if gated or warmth.heat == "amortized" or callee in seldom else "hot"
            known = found.get(callee)
            if known is None and heat == "amortized" and asked_often_above(callee):
                continue  # in another file a class above it may call it at every step
            if known is None and heat == "amortized" and drawn(callee, found):
                continue
            if known is None or (known.heat == "amortized" and heat == "hot"):
                path = (*warmth.path, Fact(f"calls `{callee.qualname}`", at[0], routine.home.path))
                epochal = warmth.epochal or (warmth.heat == "hot" and gated)
                found[callee] = Warmth(heat, path, heat == "amortized" and epochal and not context.gate)
                queue.append(callee)
    return found


def _drawn_besides(routine: Routine, routines: Iterable[Routine], known: Container[Routine]) -> bool:
    """Whether what gives its items one by one is called elsewhere than behind a gate, or in what is known: it runs as
    often as these are drawn."""
    if not yields(routine):
        return False
    calls = [call for one in routines if one not in known for call in one.calls.get(routine, ())]
    return any(not context.rare for _, context in calls)


def cooled(routines: list[Routine], found: dict[Routine, Warmth], places: Places) -> dict[Routine, Warmth]:
    """A function of unknown heat that is called by setup alone, or after a failure, is as cold as these; a script's top
    level says nothing of what it calls, nor does a test of what anybody may call, nor calls of a public method that is
    called by its name as well."""
    owners = {routine.owner for routine in routines if routine.owner is not None}
    open_ = {owner for owner in owners if by_name(owner)}
    callers: dict[Routine, list[Routine]] = {}
    failing: dict[Routine, None] = {}
    for routine in routines:
        for callee, calls in routine.calls.items():
            if callee is routine:  # to try once more is no first call
                continue
            callers.setdefault(callee, [])
            if all(context.failing for _, context in calls):
                failing[callee] = None
            else:
                callers[callee].append(routine)
    queue = deque(routine for routine in routines if found[routine].heat == "cold")
    todo = deque(failing)
    while queue or todo:
        for callee in [todo.popleft()] if todo else list(queue.popleft().calls):
            known = found.get(callee)
            if known is None or known.heat != "unknown":
                continue
            if callee.owner in open_ and not callee.name.startswith("_"):
                continue
            if all(
                found[c].heat == "cold" and not (script(c, places) or tried(callee, c, places)) for c in callers[callee]
            ):
                if asked_often_above(callee) or may_be_handed(callee):
                    continue
                found[callee] = told(callee)
                queue.append(callee)
    return found


def told(routine: Routine, why: str = SELDOM) -> Warmth:
    """The warmth of what runs seldom as far as its own file tells: only setup, a failure or a script calls it there, or
    its name says so."""
    return Warmth("cold", (Fact(why, line_of(routine), routine.home.path),))


def tried(callee: Routine, caller: Routine, places: Places) -> bool:
    """Whether a function is only tried or shown where it is called, and others are there to call it: by a test or a
    picture of what stands beside it, or by a constructor that keeps nothing of what it gives (`self.draw(burn_in)`)."""
    if callee.name.startswith("_") and callee.name != "__call__":
        return False
    if places.is_("cold", "tries", caller.name) or is_reference(caller, places) or places.measures(caller.home.path):
        return True
    if callee.owner is None or callee.owner is not caller.owner:
        return False
    return places.is_("cold", "pictures", caller.name) or left_lying(callee, caller)


def left_lying(callee: Routine, caller: Routine) -> bool:
    """Whether a method gives a tensor that its caller has no use for; `normal_` gives what it changed."""
    if callee.name.endswith("_") or callee.returned is None or tensor_in(callee.returned) is None:
        return False
    whole = {part.value.at for part in walk(getattr(caller.node, "body", ())) if type(part) is RUN}
    return all(at in whole for at, _ in caller.calls[callee])


def prepared(
    routines: list[Routine],
    places: Places,
    hot: tuple[str, ...],
    cold: tuple[str, ...],
    remade: Container[ClassInfo],
) -> frozenset[Routine]:
    """The private functions that only setup calls, whatever their names say: `_sample_points`, asked by `setup`."""
    return frozenset(
        callee
        for callee, calling in callers_of(routines).items()
        if callee.name.startswith("_")
        and not callee.name.endswith("__")
        and not (matches(hot, callee.name) or matches(hot, ".".join(callee.qualname.split(".")[-2:])))
        and not (asked_often_above(callee) or may_be_handed(callee))
        and all(not script(one, places) and is_cold(one, places, cold, remade) for one, _, _ in calling)
    )


def stepped(routines: Iterable[Routine], cold: tuple[str, ...]) -> Iterator[tuple[Routine, Context, tuple[Fact, ...]]]:
    """What the loops that are steps call, what surrounds the call, and the path that shows it."""
    for routine in routines:
        for callee, calls in routine.calls.items():
            for at, context in calls:
                step = next((loop.reason for loop in context.loops if loop.reason), "")
                if step and not context.failing and not matches(cold, callee.name):
                    first = Fact(step, context.loops[0].at[0], routine.home.path)
                    yield (
                        callee,
                        context,
                        (first, Fact(f"calls `{callee.qualname}`", at[0], routine.home.path)),
                    )


def root(
    routine: Routine,
    places: Places,
    hot: tuple[str, ...],
    cold: tuple[str, ...],
    decorator: Callable[[Routine], tuple[str, ...]],
) -> str:
    """Why a routine runs at every step by itself; '' if it does not."""
    name, owner = routine.name, routine.owner
    if type(routine.node) is not FUNCTION or name == "<lambda>":
        return ""
    dotted = f"{owner.name}.{name}" if owner is not None else name
    if matches(cold, name) or matches(cold, dotted):
        return ""
    if _named_hot(routine, hot):
        return f"`{dotted}` is named hot in the configuration"
    if routine.host or test_file(routine, places) or exported(routine, places) or clicked(routine, places):
        return ""
    if owner is not None and (owner.is_module or name == "forward") and places.is_("hot", "module_methods", name):
        return f"`{dotted}` runs at every step"
    updates = owner is not None and owner.is_optimizer and places.is_("hot", "updates", name)
    named = (places.each_step(name) or places.each_step(dotted)) and not _may_pick(routine, places)
    if named or updates:
        return f"`{dotted}` runs at every step"
    put = stands_in(routine)
    last = put.rpartition(".")[2]
    if last and (places.is_("hot", "module_methods", last) or places.each_step(last)):
        return f"`{dotted}` stands in for `{put}`, which runs at every step"
    for used in (*decorator(routine), routine.given_to):
        if used and places.is_("hot", "decorators", used):
            return f"`{dotted}` is given to `{used}`"
    return ""


def _may_pick(routine: Routine, places: Places) -> bool:
    """Whether a function that is named for a sample may pick a part of the data, or be a whole run: it holds no loop of
    the steps, or reads a checkpoint or writes files as it goes."""
    if places.is_("hot", "draws", routine.name) and not routine.steps:
        return True
    return places.is_("hot", "generates", routine.name) and keeps_files(routine, places)


def _named_hot(routine: Routine, hot: tuple[str, ...]) -> bool:
    """Whether the configuration says that a function runs at every step."""
    dotted = f"{routine.owner.name}.{routine.name}" if routine.owner is not None else routine.name
    return matches(hot, routine.name) or matches(hot, dotted)


def line_of(routine: Routine) -> int:
    return routine.node.at[0] if type(routine.node) is FUNCTION else 1
