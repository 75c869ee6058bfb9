"""A file in, its functions out, each with the calls by which it may make others hot, or lead to them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from syncguard.infer.branches.ungiven import handed_about
from syncguard.infer.domain.values import Call
from syncguard.infer.functions.registries import kept_by
from syncguard.infer.home import Home
from syncguard.infer.routine import Routine
from syncguard.infer.sightings import Context
from syncguard.judge.around.called import Asking, Called, Function, Gift, Where
from syncguard.judge.around.calling import is_open, may_be_handed
from syncguard.judge.callers.behind import runs_itself
from syncguard.judge.callers.giving import in_all
from syncguard.judge.callers.handing import brings, handing
from syncguard.judge.callers.led import Ways, handed_by, left_by
from syncguard.judge.defaults.alone import abstract, alone, asked_by, called_by_name, of_class
from syncguard.judge.defaults.kin import kin
from syncguard.judge.heat.few import long_loops
from syncguard.judge.heat.firsts import first_time
from syncguard.judge.heat.heat import around_what, holds_steps
from syncguard.judge.heat.paced import yields
from syncguard.judge.heat.seldom import started
from syncguard.judge.heat.warmth import Warmth
from syncguard.judge.options.common import shared_by_all
from syncguard.pack.places import Places
from syncguard.read.core import At, Node
from syncguard.read.tags import ATTR, CALL, FUNCTION, LOOP
from syncguard.read.walk import walk
from syncguard.terms import Fact, Heat

Calling = tuple[At, Context]  # where a function is called, and what surrounds the call
Kind = tuple[list[Calling], frozenset[str], tuple[Gift, ...]]
KINDS: Final = 4  # of calls of a function by another one that are told apart


def functions_of(
    home: Home,
    routines: Iterable[Routine],
    warmth: dict[Routine, Warmth],
    tests: bool,
    places: Places,
    options: Callable[[Routine], tuple[Fact, ...]],
    around: Callable[[Routine, Context], tuple[Fact, ...]],
    makes: Mapping[Routine, tuple[Called, ...]],
    asking: Mapping[Routine, tuple[Asking, ...]],
    ways: Ways,
) -> tuple[Function, ...]:
    """What a file tells the others of its functions' heat: those that are hot or may be made so, and those that call
    something or make it. Of tests count their steps alone."""
    found = []
    for routine in routines:
        warm = warmth[routine]
        told = _calls(home, routine, warmth, places, around, ways)
        calls = tuple(call for call in told if not (tests and _idle(call, places)))
        behind, made, asked = options(routine), makes.get(routine, ()), asking.get(routine, ())
        if warm.heat != "cold" or warm.here or calls or made or behind or asked or routine.gpuless or asks(routine):
            unknown = warm.heat == "unknown"
            inner = routine.owner is None or routine.name.startswith("_")  # others have no name for it
            named = inner and not may_be_handed(routine)
            says = (routine.gpuless, is_open(routine, places), kept_by(routine), behind, named, warm.here)
            lone = (False, of_class(routine.owner) if routine.owner is not None and warm.heat == "hot" else (), "")
            if unknown:
                lone = alone(routine, places), asked_by(routine, places), abstract(routine)
            at = routine.node.at if type(routine.node) is FUNCTION else (0, 0, 0, 0)
            where = (kin(routine, places), (at[0], at[2]), bool(routine.host))
            by_name = unknown or warm.here or (warm.heat == "hot" and not runs_itself(routine, places))
            named_so = by_name and called_by_name(routine, places)
            steps, loops, begins = _loops(routine, warm, named_so or warm.heat == "amortized", places)
            found.append(
                Function(
                    shared_as(routine), warm.heat, warm.path, calls, *says, *lone, *where, made, named_so,
                    steps=steps, leads=routine.steps > 0, loops=loops, started=begins, asking=asked,
                    brings=brings(routine, ways.world),
                    runs=tuple(_runs(routine, warm, places)),
                    over=tuple(_over(routine)) if unknown else (),
                    drawn=yields(routine),
                )
            )  # fmt: skip
    return tuple(found)


def _loops(
    routine: Routine, warm: Warmth, asked: bool, places: Places
) -> tuple[int, tuple[tuple[int, int], ...], bool]:
    """The line of the loop in which a function takes the steps, 0 where what stands around it may run as often; where
    its loops are, if that is asked for or matters; and whether a person starts it."""
    node, line = routine.node, routine.steps
    begins = warm.heat == "cold" and (routine.program or not warm.here) and started(routine, places)
    if type(node) is not FUNCTION or not (line or begins or asked):
        return 0, (), begins
    own = any(part.at[0] == line and _takes_steps(part, routine, places) for part in walk(node.body)) if line else False
    steps = line if own and (warm.heat != "hot" or holds_steps(routine, places)) else 0
    return steps, long_loops(node, steps, routine.stepping), begins


def _takes_steps(part: Node, routine: Routine, places: Places) -> bool:
    """Whether this is a loop, or a method of a library that has one."""
    if type(part) is CALL and type(part.fn) is ATTR and places.is_("hot", "runs", f"Trainer.{part.fn.name}"):
        return not any(part.at == at for calls in routine.calls.values() for at, _ in calls)
    return type(part) is LOOP


def _runs(routine: Routine, warm: Warmth, places: Places) -> Iterator[Where]:
    """The forwards of modules that a function calls, but for those that it calls as often as it takes steps."""
    for callee, calls in routine.calls.items():
        owner = callee.owner
        if owner is None or not (owner.is_module and places.is_("hot", "module_methods", callee.name)):
            continue
        stepping = any(any(loop.reason for loop in context.loops) for _, context in calls)
        if not stepping and (warm.heat != "hot" or all(around_what(routine, one, places) for _, one in calls)):
            yield callee.home.path, callee.qualname


def _over(routine: Routine) -> Iterator[Where]:
    """The methods of classes in other files that a method of no module overrides."""
    owner = routine.owner
    for base in owner.mro[1:] if owner is not None and not (owner.is_module or routine.closure) else ():
        held = base.members.get(routine.name) if base.home is not routine.home else None
        if type(held) is Call and held.routine.owner is base:
            yield base.home.path, held.routine.qualname


def shared_as(routine: Routine) -> str:
    """What other files call a function; what sets a property, or deletes it, is not what gives it."""
    node = routine.node
    last = [one.name for one in node.decorators if type(one) is ATTR] if type(node) is FUNCTION else []
    return next((f"{routine.qualname}.{name}" for name in last if name in ("setter", "deleter")), routine.qualname)


def asks(routine: Routine) -> bool:
    """Whether a function calls methods of what it has."""
    node = routine.node
    return type(node) is FUNCTION and any("()" in one for asked in node.uses.values() for one in asked)


def _calls(
    home: Home,
    routine: Routine,
    warmth: dict[Routine, Warmth],
    places: Places,
    around: Callable[[Routine, Context], tuple[Fact, ...]],
    ways: Ways,
) -> Iterator[Called]:
    heat = "unknown" if warmth[routine].here else warmth[routine].heat
    for callee, calls in routine.calls.items():
        known = warmth.get(callee) if callee.home is home else None
        if (
            callee is routine
            or callee.name == "<lambda>"
            or (known is not None and known.heat != "unknown" and not known.here)
        ):
            continue
        leading = [one for one in sorted(calls, key=_beside_steps) if _may_lead(one[1], callee, routine, heat, places)]
        if leading and not (routine.gpuless or (known is not None and heat != "unknown")):
            shared = shared_by_all(around(routine, context) for _, context in calls)
            given = handing(routine, calls, callee, ways.world)
            for alike, left, gives in _alike(leading, callee, routine, ways):
                at, context = alike[0]
                step = next((loop for loop in context.loops if loop.reason), None)
                reason = (step.reason, step.at[0]) if step is not None else ("", 0)
                hands = frozenset.intersection(*[handed_by(routine, one, callee) for one, _ in alike])
                needs, way = ways.needs_of([one for _, one in alike], routine) if step is None else ((), ())
                yield Called(
                    callee.home.path, shared_as(callee), at[0], *reason,
                    options=shared, left=tuple(sorted(left)), hands=tuple(sorted(hands)), needs=needs,
                    gives=gives, asks=ways.asks(routine, alike) if step is None else (),
                    host=given.host, pieces=given.pieces, always=given.always, there=given.there,
                    way=way, of=_below(routine, callee, alike),
                )  # fmt: skip
        # Else it does not matter who calls it.
        elif (
            not is_open(callee, places)
            or kept_by(callee)
            or (routine.gpuless and kin(callee, places))
            or (
                known is None
                and not routine.gpuless
                and callee.home is not home
                and all(_now_and_then(context) for _, context in calls)
            )
        ):
            shared = shared_by_all(around(routine, context) for _, context in calls)
            (line, *_), context = calls[0]
            reason = next(((loop.reason, loop.at[0]) for loop in context.loops if loop.reason), ("", 0))
            handed = callee.name in handed_about(home)
            yield Called(callee.home.path, callee.qualname, line, *reason, True, shared, handed)


def _now_and_then(context: Context) -> bool:
    """Whether a place stands behind a gate in a loop of the steps."""
    return context.rare and any(bool(loop.reason) for loop in context.loops)


def _below(routine: Routine, callee: Routine, calls: list[Calling]) -> tuple[Where, ...]:
    """The classes between that of a method and that of the objects which all calls ask for it, if this is one: those in
    loops of the steps, where there are such."""
    steps = [one for one in calls if not _beside_steps(one)]
    known = [routine.below.get((callee, at), set()) for at, _ in steps or calls]
    every = [info for some in known for info in some]
    if not (all(known) and all(info is every[0] for info in every)) or callee.owner not in every[0].mro:
        return ()
    return tuple([(info.home.path, info.name) for info in every[0].mro[: every[0].mro.index(callee.owner)]])


def _may_lead(context: Context, callee: Routine, routine: Routine, heat: Heat, places: Places) -> bool:
    """Whether a call of a function may make it hot."""
    if context.rare or context.failing or first_time(callee, context, places):
        return False
    if around_what(routine, context, places) and not places.is_("hot", "generating", callee.name):
        return False
    return heat in ("hot", "unknown") or any(loop.reason for loop in context.loops)


def _alike(calls: list[Calling], callee: Routine, routine: Routine, ways: Ways) -> list[Kind]:
    """The calls of a function by another one, by what they leave out and give; all of them where these are many."""
    told = [(left_by(routine, at, callee), ways.gives(routine, at, callee)) for at, _ in calls]
    found: dict[tuple[frozenset[str], tuple[Gift, ...]], list[Calling]] = {}
    for kind, one in zip(told, calls, strict=True):
        found.setdefault(kind, []).append(one)
    if len(found) > KINDS:
        return [(calls, frozenset.intersection(*[left for left, _ in told]), in_all([gives for _, gives in told]))]
    return [(alike, left, gives) for (left, gives), alike in found.items()]


def _idle(call: Called, places: Places) -> bool:
    """Whether a call in a test tells nothing: a rare one, or one of what is named as what runs seldom."""
    return call.rare or places.seldom(call.name.rpartition(".")[2])


def _beside_steps(call: Calling) -> bool:
    """Whether no loop around a call takes the steps: one that does tells more."""
    return not any(loop.reason for loop in call[1].loops)
