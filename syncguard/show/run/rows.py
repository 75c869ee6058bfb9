"""A record -> its rows: of each wait when it happens, how often a step, what it costs, and what to do about it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import PurePath
from statistics import fmean, median

from syncguard.record import Place, Record, Wait, WhatIf, per_step, when

LONGEST = 60
ENTRANCE = 28
GROUPS = {
    "step": "In every step, or now and then",
    "run": "In the whole run",
    "first": "Only in the first steps",
    "setup": "Outside the steps",
    "allowed": "Allowed",
}


@dataclass(frozen=True, slots=True)
class Row:
    """One wait as people read it. Times are milliseconds a step, None where nothing was measured."""

    number: int  # its index in the record
    wait: Wait
    group: str  # a key of GROUPS
    moment: str  # step | run | first | setup
    often: float  # times a step; in all where it is not of a step
    waited: float | None = None
    bubble: float | None = None

    @property
    def place(self) -> Place:
        """The line to change: of a wait in backward the one that made the node."""
        return self.wait.forward or self.wait.place


def rows(record: Record) -> tuple[Row, ...]:
    """The rows in order of group, and within one the most expensive first."""
    made = (row(number, wait, record) for number, wait in enumerate(record.waits))
    return tuple(sorted(made, key=_rank))


def row(number: int, wait: Wait, record: Record) -> Row:
    """The row of one wait."""
    moment = when(wait, record.steps)
    often = per_step(wait, record.steps) if moment == "step" else float(wait.count)
    waited = fmean(wait.wait_us) * often / 1e3 if wait.wait_us else None
    bubble = fmean(wait.bubble_us) * often / 1e3 if wait.bubble_us else None
    return Row(number, wait, "allowed" if wait.allowed else moment, moment, often, waited, bubble)


def step_ms(record: Record) -> float | None:
    """How long a counted step takes, on the device where that was measured: the median of those in `free`."""
    for times in (record.steps.device_ms, record.steps.host_ms):
        counted = times[record.steps.warmup :] if len(times) > record.steps.counted else times
        if counted:
            return median(free(record, counted) or counted)
    return None


def free(record: Record, times: Sequence[float]) -> list[float]:
    """The times of the counted steps that no profiler slowed down."""
    first, last = record.steps.profiled or (0, 0)
    return [time for n, time in enumerate(times, record.steps.warmup + 1) if not first <= n <= last]


def together(record: Record) -> WhatIf | None:
    """What removing the most waits together would save."""
    return max(record.what_if, key=lambda what: len(what.waits), default=None)


def first_choice(record: Record) -> WhatIf | None:
    """The smallest set that saves nearly all that can be saved together."""
    most = together(record)
    if most is None or most.saved_ms <= 0:
        return None
    near = [what for what in record.what_if if what.saved_ms >= 0.9 * most.saved_ms]
    return min(near, key=lambda what: (len(what.waits), -what.saved_ms))


def where(place: Place) -> str:
    """`path:line`; a word for what has no line."""
    return f"{place.path}:{place.line}" if place.path else "no Python line"


def brief(place: Place, room: int = 48) -> str:
    """Where it is, with the front of a long path left out."""
    return short(where(place), room)


def callers(wait: Wait) -> tuple[Place, ...]:
    """Who called, innermost first. A module has none: what lies below it is what starts programs."""
    ends = (n for n, place in enumerate((wait.place, *wait.stack)) if place.function in ("", "<module>"))
    return wait.stack[: next(ends, len(wait.stack))]


def entrances(wait: Wait) -> str:
    """The project's lines that led to a wait in a library: the first, and how many more."""
    if not wait.entrances:
        return ""
    more = len(wait.entrances) - 1
    return short(where(wait.entrances[0]), ENTRANCE) + (f" and {more} more" if more else "")


def short(path: str, room: int) -> str:
    """A path with its front cut off where it is too long."""
    if len(path) <= room:
        return path
    *_, path = re.split(r"(?:site|dist)-packages/", path)
    if len(path) + 2 <= room:
        return f"…/{path}"
    parts = PurePath(path).parts
    while len(parts) > 1 and len("/".join(parts)) + 2 > room:
        parts = parts[1:]
    return f"…/{'/'.join(parts)}" if len("/".join(parts)) + 2 <= room else "…" + path[len(path) - room + 1 :]


def span(place: Place) -> str:
    """The source of a place itself, where its columns are known and on one line; else the whole line."""
    whole = 0 < place.column < place.end_column and place.end_line in (0, place.line)
    text = place.source[place.column - 1 : place.end_column - 1] if whole else place.source
    text = " ".join((text or place.source).split())
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def ranks(wait: Wait, world: int) -> str:
    """`all`, or the ranks that have it: `0-2, 5`."""
    if len(wait.ranks) in (0, world):
        return "all" if wait.ranks else ""
    found: list[list[int]] = []
    for rank in sorted(wait.ranks):
        if found and rank == found[-1][1] + 1:
            found[-1][1] = rank
        else:
            found.append([rank, rank])
    return ", ".join(f"{a}" if a == b else f"{a}-{b}" for a, b in found)


def ranked(wait: Wait, world: int) -> str:
    """The same as words: `rank 0`, `ranks 0-2, 5`, `all ranks`."""
    found = ranks(wait, world)
    return "all ranks" if found == "all" else f"rank{'' if found.isdigit() else 's'} {found}" if found else ""


def hint(wait: Wait) -> str:
    """What `check` suggests in this place, else what the rule's page does; nothing where no rule is known."""
    if wait.hint:
        return wait.hint
    text = hints().get(wait.code, "")
    source = span(wait.forward or wait.place) or wait.op
    return text.format(source=source, operand=source, op=wait.op) if text else ""


@cache
def hints() -> Mapping[str, str]:
    """The hint of every rule that there is, by code."""
    from syncguard import pack

    return {rule.code: rule.hint for rule in pack.load().rules}


def number(value: float) -> str:
    """A count a step: `3`, `0.25`, `1,200`."""
    if value == round(value):
        return f"{value:,.0f}"
    return f"{value:.2f}" if value >= 0.01 else "<0.01"


def milliseconds(value: float | None) -> str:
    """A time with three digits that count, and its unit: `12.3 ms`, `840 us`, `1.24 s`."""
    if value is None:
        return ""
    if value >= 1000:
        return f"{value / 1000:.3g} s" if value < 1e6 else f"{value / 1000:,.0f} s"
    if value >= 1:
        return f"{value:.3g} ms"
    return f"{value * 1000:.3g} us" if value > 0 else "0"


def _rank(row: Row) -> tuple[int, float, float, float, str, int, int]:
    place, order = row.place, list(GROUPS)
    cost = (-(row.bubble or 0.0), -(row.waited or 0.0), -row.often)
    return (order.index(row.group), *cost, place.path, place.line, row.number)
