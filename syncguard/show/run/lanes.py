"""A record's timeline -> its lanes as plain lists: steps, each host thread, the waits, each stream of the device."""

from __future__ import annotations

from typing import Any

from syncguard.record import Record, Span
from syncguard.show.look import printable

# Of each lane of a record: its place from the top, what it is called, and with which other it shares a row.
ORDER = {
    "host": (0, "host", "host"),
    "wait": (1, "waits", "wait"),
    "gpu": (2, "device", "gpu"),
    "copy": (2, "device", "gpu"),
}


def moments(record: Record) -> tuple[Span, ...]:
    """The steps of the timeline in order of time."""
    return tuple(sorted((span for span in record.timeline if span.lane == "step"), key=lambda span: span.start_us))


def lanes(record: Record) -> tuple[list[str], list[dict[str, Any]]]:
    """The names of the spans, each once, and the rows of the timeline, each with its kind, its label and its spans.

    A span is [start, duration, number of its name, wait, lane], in order of time and in microseconds. Idle stretches
    are a row of their own, to be drawn behind the device's.
    """
    number = {name: n for n, name in enumerate(dict.fromkeys(span.name for span in record.timeline))}
    found: dict[tuple[int, str, str, str], list[list[Any]]] = {}
    for span in record.timeline:
        if span.lane == "step":
            continue
        place, label, kind = ORDER.get(span.lane, (9, span.lane, span.lane))
        thread = "" if span.lane in ("wait", "idle") else span.thread
        entry = [round(span.start_us, 2), round(span.duration_us, 2), number[span.name], span.wait, span.lane]
        found.setdefault((place, kind, thread, label), []).append(entry)
    several = {kind for (_, kind, thread, _) in found if sum(k == kind for (_, k, _, _) in found) > 1}
    rows = [
        {"kind": kind, "label": _label(label, thread, kind in several), "spans": sorted(spans, key=lambda s: s[0])}
        for (_, kind, thread, label), spans in sorted(found.items())
    ]
    return [printable(name) for name in number], rows


def _label(label: str, thread: str, several: bool) -> str:
    return f"{label} {printable(thread)}" if several and thread else label
