"""Records of the ranks of a run, or of several runs, -> one. Every number is that of the rank that has most."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import msgspec

from syncguard.record import Record, Wait

COLLECTIVE = "blocking-collective"
EVEN = 1.2  # ranks whose times in a collective differ by less are even


def merged(records: Sequence[Record]) -> Record:
    """One record; the first one's machine, steps and timeline stand for all."""
    if len(records) == 1:
        return records[0]
    records = sorted(records, key=lambda record: record.rank)
    found: dict[tuple[object, ...], list[tuple[int, Wait]]] = {}
    for record in records:
        for wait in record.waits:
            found.setdefault(_key(wait), []).append((record.rank, wait))
    waits = tuple(_one(same) for same in found.values())
    numbers = {key: number for number, key in enumerate(found)}
    first = records[0]
    # The first record's timeline and what-if speak of its own waits by number.
    moved = [numbers[_key(wait)] for wait in first.waits]
    ranks = sorted({record.rank for record in records})
    return msgspec.structs.replace(
        first,
        world=max(len(ranks), *(record.world for record in records)),
        seconds=max(record.seconds for record in records),
        complete=all(record.complete for record in records),
        ended=next((record.ended for record in records if record.ended != "exit 0"), "exit 0"),
        steps=max((record.steps for record in records), key=lambda steps: steps.counted),
        waits=waits,
        executed=_union(record.executed for record in records),
        timeline=tuple(
            msgspec.structs.replace(span, wait=moved[span.wait] if span.wait >= 0 else -1) for span in first.timeline
        ),
        what_if=tuple(
            msgspec.structs.replace(case, waits=tuple(moved[n] for n in case.waits)) for case in first.what_if
        ),
        findings=(),
        notes=tuple(
            dict.fromkeys(
                (*(note for record in records for note in record.notes), *_slowest(found.values()), *_absent(records))
            )
        ),
    )


def _key(wait: Wait) -> tuple[object, ...]:
    return (wait.place, wait.op, wait.hazard, wait.phase, wait.forward, wait.thread, wait.allowed)


def _one(same: list[tuple[int, Wait]]) -> Wait:
    ranks = {rank for rank, wait in same} | {rank for _, wait in same for rank in wait.ranks}
    most = max((wait for _, wait in same), key=lambda wait: (wait.count, sum(wait.bubble_us), sum(wait.wait_us)))
    entrances = tuple(dict.fromkeys(place for _, wait in same for place in wait.entrances))
    return msgspec.structs.replace(most, ranks=tuple(sorted(ranks)), entrances=entrances)


def _union(tables: Iterable[dict[str, tuple[tuple[int, int], ...]]]) -> dict[str, tuple[tuple[int, int], ...]]:
    lines: dict[str, list[tuple[int, int]]] = {}
    for table in tables:
        for path, stretches in table.items():
            lines.setdefault(path, []).extend(stretches)
    return {path: _stretches(stretches) for path, stretches in sorted(lines.items())}


def _stretches(parts: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Stretches of numbers, first and last, as few as say the same."""
    found: list[tuple[int, int]] = []
    for first, last in sorted(parts):
        if found and first <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(found[-1][1], last))
        elif first <= last:
            found.append((first, last))
    return tuple(found)


def _slowest(groups: Iterable[list[tuple[int, Wait]]]) -> Iterator[str]:
    """Who is waited for in a collective: the rank that itself waits least."""
    for same in groups:
        times = {rank: sum(wait.wait_us) / len(wait.wait_us) for rank, wait in same if wait.wait_us}
        if same[0][1].hazard != COLLECTIVE or len(times) < 2:
            continue
        slow, longest = min(times, key=lambda rank: times[rank]), max(times.values())
        if longest > EVEN * times[slow]:
            place = same[0][1].place
            yield (
                f"{place.path}:{place.line}: the other ranks wait for rank {slow} here: "
                f"up to {longest / 1000:.3g} ms, and it {times[slow] / 1000:.3g} ms."
            )


def _absent(records: Sequence[Record]) -> Iterator[str]:
    there = _stretches((record.rank, record.rank) for record in records)
    world = max(record.world for record in records)
    bounds = [(-1, -1), *there, (world, world)]
    gaps = [(before + 1, after - 1) for (_, before), (after, _) in pairwise(bounds) if before + 1 < after]
    if gaps:
        gone = ", ".join(f"{first}" if first == last else f"{first}-{last}" for first, last in gaps)
        yield f"No record of rank {gone} of {world}: what they wait for is not shown."
