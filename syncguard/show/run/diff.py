"""Two records and what changed between them -> a report: each wait that is new, gone, more or fewer, and the time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from syncguard.record import Record
from syncguard.show.look import Look, printable, width_of, wrapped
from syncguard.show.run import words
from syncguard.show.run.rows import milliseconds, number, short, span, step_ms, where

if TYPE_CHECKING:
    from syncguard.compare.changes import Change

TONES = {"new": "error", "more": "error", "fewer": "hint", "gone": "hint"}
NEAR = 0.02  # of a step: a difference that is no more than noise


def render(before: Record, after: Record, changes: Sequence[Change], look: Look) -> Iterator[str]:
    """The lines of the report. `changes` is what compare.changes.difference gives of the two."""
    was, now = words.heading(before), words.heading(after)
    for text in (f"Before and after: {was}",) if was == now else (f"Before: {was}", f"After: {now}"):
        yield from _said(text, look)
    yield ""
    shown = [change for change in changes if change.word != "same"]
    cells = [_cells(change) for change in shown]
    widths = [max((width_of(row[n]) for row in cells), default=0) for n in range(4)]
    for change, (word, counts, line, code, source) in zip(shown, cells, strict=True):
        room = max(look.width - sum(widths) - 8, 12)
        text = source if width_of(source) <= room else source[: room - 1] + "…"
        head = look.paint(TONES[change.word], f"{word:<{widths[0]}}")
        spot = look.paint("head", line) + " " * (widths[2] - width_of(line))
        yield f"{head}  {counts:>{widths[1]}}  {spot}  {code:<{widths[3]}}  {text}".rstrip()
    if shown:
        yield ""
    yield from _said(_counted(changes, before, after), look)
    yield from _said(_gain(before, after), look)


def _cells(change: Change) -> tuple[str, str, str, str, str]:
    wait = change.after or change.before
    assert wait is not None
    place = wait.forward or wait.place
    source = printable(span(place) if place.source else wait.op)
    counts = f"{number(change.was)} -> {number(change.now)}"
    if not change.was and not change.now:  # in the first steps, or outside of all
        was, now = (wait.count if wait is not None else 0 for wait in (change.before, change.after))
        counts = f"{was:,} -> {now:,} in all"
    return change.word, counts, short(printable(where(place)), 40), wait.code, source


def _counted(changes: Sequence[Change], before: Record, after: Record) -> str:
    found = Counter(change.word for change in changes)
    told = ", ".join(f"{found[word]:,} {word}" for word in ("new", "more", "fewer", "gone", "same") if found[word])
    was, now = sum(change.was for change in changes), sum(change.now for change in changes)
    unit = "a step" if before.steps.counted and after.steps.counted else "in all"
    waits = f"{number(was)} -> {number(now)} waits {unit}"
    return f"{waits} ({told})." if told else "Neither run waits."


def _gain(before: Record, after: Record) -> str:
    """What it brought, in the device's time where both have it; the clock of the host only tells how fast it queues."""
    if "simulate" in (before.machine.mode, after.machine.mode):
        return "No times: a run was simulated. Compare two runs on one GPU to see the gain."
    was, now = step_ms(before), step_ms(after)
    if was is None or now is None:
        return ""
    said = f"A step took {milliseconds(was)} and takes {milliseconds(now)}"
    clock = "" if before.steps.device_ms and after.steps.device_ms else ", by the clock of the host"
    if before.machine.device != after.machine.device:
        return f"{said}{clock}, but on different devices."
    change = (was - now) / was if was else 0.0
    if abs(change) < NEAR:
        return f"{said}{clock}: no difference that can be measured."
    return f"{said}{clock}: {abs(change):.0%} {'shorter' if change > 0 else 'longer'}."


def _said(text: str, look: Look) -> Iterator[str]:
    for line in wrapped(printable(text), look.width):
        yield look.prose(line)
