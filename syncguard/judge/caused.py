"""What a file passes to functions of other files in, the findings there that it brings about out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeVar

from msgspec.structs import replace

from syncguard.infer.causes import NEVER, OFTEN, ONCE, Cause, Causes
from syncguard.infer.project import World
from syncguard.infer.routine import Routine
from syncguard.infer.sightings import Context, Sighting
from syncguard.infer.tell import Texts, snippet
from syncguard.judge.around.calling import Callers
from syncguard.judge.heat.seldom import is_cold, script, test_file
from syncguard.judge.heat.turns import OWN, lasts
from syncguard.judge.heat.warmth import Warmth
from syncguard.judge.judge import judged
from syncguard.judge.options.leading import tests_around
from syncguard.judge.options.opted import opted
from syncguard.judge.options.put import put_behind
from syncguard.pack import Pack
from syncguard.pack.places import Places
from syncguard.read.core import At
from syncguard.read.tags import FUNCTION
from syncguard.terms import Fact, Finding

Key = TypeVar("Key")
PASSES: Final = "passes it on"


def caused_by(
    warmth: dict[Routine, Warmth],
    world: World,
    pack: Pack,
    cold: tuple[str, ...],
    text_of: Texts,
    callers: Callers,
) -> tuple[tuple[Finding, ...], tuple[str, ...]]:
    """The findings in other files for what these functions of one file pass, their heat what the place itself says;
    and all files that are passed something. What tests pass shows nothing: it is on any device that a test is about.
    """
    routines = tuple(warmth)
    if not routines or test_file(routines[0], world.places):
        return (), ()
    causes = Causes(routines, world, lambda caller, callee, at: often(warmth[caller], caller, callee, at, world.places))
    told = [(cause, _steadily(cause, warmth[cause.caller])) for cause in causes.found]
    steady = [cause for cause, one in told if one]
    others = [cause for cause, one in told if not one and not cause.once]
    once = [cause for cause, one in told if not one and cause.once]
    # Of several at one place the last counts: the first that is made at every step, where its path is told.
    found = together(
        _findings((*others, *reversed(steady)), world, pack, cold, text_of, callers), lambda f: (f.site, f.code)
    )
    found = {**together(_findings(once, world, pack, cold, text_of, callers), lambda f: (f.site, f.code)), **found}
    return tuple(found[key] for key in sorted(found)), tuple(sorted(causes.files))


def _steadily(cause: Cause, warmth: Warmth) -> bool:
    """Whether the call that brings a wait about is made at every step."""
    every = [context for calls in cause.caller.calls.values() for at, context in calls if at == cause.at]
    return any(
        not context.rare and (warmth.heat == "hot" or any(loop.reason for loop in context.loops)) for context in every
    )


def often(warmth: Warmth, caller: Routine, callee: Routine, at: At, places: Places) -> int:
    """Whether a call is made by more than setup and the like: what that brings about happens once."""
    contexts = [context for place, context in caller.calls.get(callee, ()) if place == at]
    if caller.gpuless or (contexts and all(context.failing for context in contexts)):
        return NEVER
    if warmth.heat != "cold":
        return OFTEN
    steps = any(loop.reason or script(caller, places) for context in contexts for loop in context.loops)
    return OFTEN if steps else ONCE


def _findings(
    causes: Iterable[Cause],
    world: World,
    pack: Pack,
    cold: tuple[str, ...],
    text_of: Texts,
    callers: Callers,
) -> Iterator[Finding]:
    """One for each, of which several may stand at one place."""
    for cause in causes:
        warmth = Warmth("cold" if is_cold(cause.routine, world.places, cold) else "unknown")
        finding = judged(
            _seen_from(cause, world.places), cause.routine, world, pack, warmth, text_of, Callers(cause.routine.home)
        )
        if finding is not None:
            options = (*around_caller(cause, world, text_of, callers), *finding.options)
            told = replace(finding, because=passed(finding.because, cause, text_of), options=options)
            own = finding.heat == "hot"  # by a loop of the steps that it stands in
            yield replace(told, heat="cold", hot_path=()) if cause.once and not own else told


def _seen_from(cause: Cause, places: Places) -> Sighting:
    """A sighting without a gate that speaks of the turns of one call, where the call that brings it about may be one of
    many."""
    seen, context = cause.sighting, cause.sighting.context
    if context.gate not in OWN:
        return seen
    calls = [(cause.caller, at, where) for at, where in cause.caller.calls.get(cause.routine, ()) if at == cause.at]
    if lasts(context, cause.routine, calls, places):
        return seen
    around = Context(context.loops, "", context.failing, context.tests, context.off)
    other = Sighting(seen.at, seen.op, seen.hazard, seen.operand, seen.why, seen.sure, around)
    other.met, other.also, other.always = seen.met, seen.also, seen.always
    return other


def around_caller(cause: Cause, world: World, text_of: Texts, callers: Callers) -> tuple[Fact, ...]:
    """The options that a call which brings a wait about stands behind, and those of what it passes."""
    caller = cause.caller
    callee = next((one for one, calls in caller.calls.items() if any(at == cause.at for at, _ in calls)), None)
    if callee is None or len(callers.of_each.get(callee, ())) > 1:
        return ()  # another call of it may ask for nothing
    tests = {**dict(tests_around(caller.node.body, cause.at)), **put_behind(cause.sighting.why, cause.at, caller)}
    if not tests:
        return ()
    context = Context(tests=tuple(tests.values()))
    return tuple([replace(fact, path=caller.home.path) for fact in opted(context, caller, callers, world, text_of)])


def together(findings: Iterable[Finding], key: Callable[[Finding], Key]) -> dict[Key, Finding]:
    """Findings by their places: of several at one the last counts, with the options that all have in common."""
    found: dict[Key, Finding] = {}
    for finding in findings:
        known = found.get(key(finding))
        found[key(finding)] = finding if known is None else _shared(finding, known)
    return found


def _shared(finding: Finding, other: Finding) -> Finding:
    texts = {fact.text for fact in other.options}
    return replace(finding, options=tuple([fact for fact in finding.options if fact.text in texts]))


def passed(because: tuple[Fact, ...], cause: Cause, text_of: Texts) -> tuple[Fact, ...]:
    """A chain of facts with the call that leads from one file to the other."""
    path = cause.caller.home.path
    node = cause.caller.node
    told = f"`{snippet(cause.at, text_of(path))}`"
    if type(node) is FUNCTION and cause.at == node.at:
        told = f"`{cause.caller.qualname}` is what is called there, and"
    call = Fact(f"{told} {PASSES}", cause.at[0], path)
    there = max((i for i, fact in enumerate(because) if fact.path == path), default=-1)
    return (*because[: there + 1], call, *because[there + 1 :])


def by_caller(finding: Finding) -> bool:
    """Whether it is what another file passes that brings this about."""
    return any(fact.path and fact.text.endswith(PASSES) for fact in finding.because)
