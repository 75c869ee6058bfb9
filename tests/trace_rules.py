"""The rules of the Trace Event Format that viewers need (Perfetto's importer, chrome://tracing): faults of a trace.

Source: the document "Trace Event Format" of the Chromium project, and Perfetto's JSON importer: what breaks a rule is
dropped there, or counted as an import error.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from itertools import accumulate
from typing import Any

Event = dict[str, Any]
PHASES = "BEXiIPMstfbneCNODRcvV"
NAMES = {"process_name": "name", "thread_name": "name", "process_labels": "labels",
         "process_sort_index": "sort_index", "thread_sort_index": "sort_index"}  # fmt: skip
SLACK = 1e-3  # microseconds: a viewer counts in nanoseconds


def faults(trace: Any) -> list[str]:
    """What is wrong with a trace; nothing where every viewer takes all of it."""
    events = trace if isinstance(trace, list) else trace.get("traceEvents") if isinstance(trace, dict) else None
    if not isinstance(events, list):
        return ["no list of events"]
    if isinstance(trace, dict) and trace.get("displayTimeUnit", "ms") not in ("ms", "ns"):
        return ["displayTimeUnit is ms or ns"]
    found = [fault for event in events for fault in of_event(event)]
    return found or [*nesting(events), *arrows(events)]


def of_event(event: Any) -> Iterator[str]:
    """The fields that an event of its phase must have."""
    if not isinstance(event, dict) or event.get("ph") not in [*PHASES]:
        yield f"no phase: {event}"
        return
    if not isinstance(event.get("name"), str) or not event["name"]:
        yield f"no name: {event}"
    for key in ("pid", "tid"):
        if type(event.get(key)) not in (int, str) and not (key == "tid" and event["name"].startswith("process_")):
            yield f"{key} is no number or name: {event}"
    if "args" in event and not isinstance(event["args"], dict):
        yield f"args are no object: {event}"
    if event["ph"] == "M":
        wanted = NAMES.get(event["name"])
        if wanted is None or wanted not in event.get("args", {}):
            yield f"metadata that says nothing: {event}"
        return
    for key in ("ts", "dur") if event["ph"] == "X" else ("ts",):
        value = event.get(key)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            yield f"{key} is no number: {event}"
        elif key == "dur" and value < 0:
            yield f"dur is negative: {event}"
    if event["ph"] in "stf" and ("id" not in event or not event.get("cat")):
        yield f"an arrow without id or category: {event}"


def nesting(events: list[Event]) -> Iterator[str]:
    """The slices of a track lie within one another or apart: a viewer has one stack a track."""
    for (pid, tid), track in tracks(events).items():
        over: list[Event] = []
        for event in sorted(track, key=lambda e: (e["ts"], -e["dur"])):
            while over and over[-1]["ts"] + over[-1]["dur"] <= event["ts"] + SLACK:
                over.pop()
            if over and event["ts"] + event["dur"] > over[-1]["ts"] + over[-1]["dur"] + SLACK:
                yield f"{event['name']} crosses {over[-1]['name']} on track {pid} {tid}"
            over.append(event)


def arrows(events: list[Event]) -> Iterator[str]:
    """An arrow begins once and ends later, each end within a slice of its track."""
    begins, ends = defaultdict[tuple[Any, Any], list[Event]](list), defaultdict[tuple[Any, Any], list[Event]](list)
    for event in events:
        if event["ph"] in "sf":
            (begins if event["ph"] == "s" else ends)[event["cat"], event["id"]].append(event)
    slices = {place: until(track) for place, track in tracks(events).items()}
    for key in {*begins, *ends}:
        if len(begins[key]) != 1 or not ends[key]:
            yield f"arrow {key} has {len(begins[key])} beginnings and {len(ends[key])} ends"
        elif min(e["ts"] for e in ends[key]) < begins[key][0]["ts"] - SLACK:
            yield f"arrow {key} ends before it begins"
        for event in (*begins[key], *ends[key]):
            at = event["ts"]
            begun, ended = slices.get((event["pid"], event["tid"]), ([], []))
            last = bisect_right(begun, at + SLACK) - 1
            if last < 0 or ended[last] < at - SLACK:
                yield f"arrow {key} has an end outside of every slice"


def until(track: list[Event]) -> tuple[list[float], list[float]]:
    """When the slices of a track begin, in order, and when the last of those that have begun by then ends."""
    ordered = sorted(track, key=lambda e: e["ts"])
    return [e["ts"] for e in ordered], [*accumulate((e["ts"] + e["dur"] for e in ordered), max)]


def tracks(events: list[Event]) -> dict[tuple[Any, Any], list[Event]]:
    found = defaultdict[tuple[Any, Any], list[Event]](list)
    for event in events:
        if event["ph"] == "X":
            found[event["pid"], event["tid"]].append(event)
    return found
