"""Syncs in, findings out: a rule for each, its message, its heat, its level."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from syncguard.infer.domain.sureness import CERTAIN
from syncguard.infer.home import Home
from syncguard.infer.project import World
from syncguard.infer.routine import Routine
from syncguard.infer.sightings import Context, Sighting
from syncguard.infer.tell import SURENESS, Texts, snippet, sync_of
from syncguard.judge.around.calling import Callers, kept_off
from syncguard.judge.around.standing import Place
from syncguard.judge.callers.led import Ways
from syncguard.judge.heat.place_heat import heat_of
from syncguard.judge.heat.warmth import IF_HOT, Warmth
from syncguard.judge.manners.learnt import learns
from syncguard.judge.manners.manners import waits_so
from syncguard.judge.manners.moving import copied_again
from syncguard.judge.manners.patterns import hazard_of
from syncguard.judge.options.left_out import as_number
from syncguard.judge.options.opted import opted
from syncguard.judge.options.put import picked, put_behind
from syncguard.judge.options.switched import switched
from syncguard.pack import Pack
from syncguard.terms import BACKWARD, SETUP, Fact, Finding, Sync


def findings_of(
    home: Home, world: World, pack: Pack, warmth: dict[Routine, Warmth], text_of: Texts, callers: Callers
) -> tuple[Finding, ...]:
    """The findings of one file, in order of place."""
    found: dict[tuple[tuple[int, int, int, int], str], Finding] = {}
    ways = Ways(warmth, callers, world, text_of)
    for routine in (*home.routines, *([home.top] if home.top else [])):
        seen = routine.sightings.values() if not kept_off(routine, callers, world.places) else ()
        for sighting in seen:
            way = ways.to(sighting.context, routine)
            finding = judged(sighting, routine, world, pack, way.warmth, text_of, callers)
            if finding is not None:
                if way.options or way.refused:
                    more = way.besides(finding.options, finding.heat)
                    finding = replace(finding, options=(*more, *finding.options))
                found.setdefault((sighting.at, finding.code), finding)
    return tuple(sorted(found.values(), key=lambda f: (f.site.line, f.site.column, f.code)))


def judged(
    sighting: Sighting,
    routine: Routine,
    world: World,
    pack: Pack,
    warmth: Warmth,
    text_of: Texts,
    callers: Callers,
) -> Finding | None:
    """A rule meeting a sync; None where the place makes it no hazard."""
    heat, path = heat_of(sighting, warmth, routine, world)
    hazard = hazard_of(sighting, routine, world, heat)
    if not hazard and heat == "unknown" and (hazard := hazard_of(sighting, routine, world, "hot")):
        heat, path = "cold", (Fact(IF_HOT, sighting.at[0], routine.home.path),)
    if not hazard or hazard == SETUP:
        return None
    lines = text_of(routine.home.path)
    sync = sync_of(sighting, routine, text_of)
    rule = pack.by_hazard(hazard.removeprefix(BACKWARD))
    words = {
        "source": source_of(sighting, sync, lines),
        "operand": sync.operand or snippet(sighting.at, lines),
        "op": shown(sync),
        "how": how(sighting, world),
    }
    message = rule.backward if hazard.startswith(BACKWARD) and rule.backward else rule.message
    place = Place(sighting, routine, world, sync.operand)
    hint = next((text for name, text in rule.hints if waits_so(name, place)), rule.hint)
    return Finding(
        sync.site, rule.code, rule.name, sync.op, message.format(**words), hint.format(**words),
        sync.because, path, heat, SURENESS[surely(sighting, routine, world)], rule.level, rule.breaks, sync.function,
        options=(
            *opted(with_arms(sighting, routine), routine, callers, world, text_of),
            *switched(sighting, routine, callers, world, pack, text_of),
            *as_number(sighting, routine, callers, world),
        ),
    )  # fmt: skip


def surely(sighting: Sighting, routine: Routine, world: World) -> int:
    """How sure a wait is in its place: of a module that is moved, and of a backward, what stands around it tells."""
    if sighting.hazard == SETUP:
        return copied_again(sighting, routine, world.places)
    return min(sighting.sure, learns(sighting, routine, world) if sighting.hazard.startswith(BACKWARD) else CERTAIN)


def with_arms(sighting: Sighting, routine: Routine) -> Context:
    """What surrounds a wait, with the tests that what it waits for was bound behind."""
    context = sighting.context
    behind = {**put_behind(sighting.why, sighting.at, routine), **picked(sighting, routine)}
    more = [asked for asked in behind.values() if asked not in context.tests]
    return Context(context.loops, tests=(*context.tests, *more)) if more else context


def source_of(sighting: Sighting, sync: Sync, lines: Sequence[str]) -> str:
    """What waits, as it is written."""
    if sighting.operand is not None and sighting.operand[:2] < sighting.at[:2]:
        return sync.operand  # the subject of a `match`
    source = snippet(sighting.at, lines)
    return f"{{{source}}}" if sighting.hazard == "print-tensor" and sighting.operand == sighting.at else source


PROTOCOLS: Final = {
    "torch.Tensor.__bool__": "bool()", "torch.Tensor.__getitem__": "indexing",
    "torch.Tensor.__setitem__": "item assignment", "torch.Tensor.__format__": "formatting",
    "torch.Tensor.__index__": "indexing", "torch.Tensor.__contains__": "`in`",
}  # fmt: skip


def how(sighting: Sighting, world: World) -> str:
    """What a callable does inside that waits, behind a colon; '' where no row says so, and of a protocol. Of one that
    waits in several ways, those that this call meets."""
    name = sighting.op
    op = world.op(name) if name not in PROTOCOLS else None
    if op is not None and op.mechanism.startswith("as "):
        like = op.mechanism.removeprefix("as ")
        op = world.op(like) or world.op(f"{name.rpartition('.')[0]}.{like}")
    if op is None:
        return ""
    ways = [wait.how for wait in op.waits if wait.how]
    met = [op.waits[n].how for n in sighting.met if n < len(op.waits) and op.waits[n].how]
    told = "; ".join(met or ([op.mechanism] if op.mechanism else ways))
    return f": {told}" if told else ""


def shown(sync: Sync) -> str:
    """An op's name as people write it."""
    name = PROTOCOLS.get(sync.op, sync.op)
    return name.removeprefix("builtins.")
