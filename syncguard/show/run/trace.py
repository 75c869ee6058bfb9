"""A record as a Chrome trace: for Perfetto, chrome://tracing, and the TensorBoard plugin (NAME.pt.trace.json)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from syncguard.record import Record, Span
from syncguard.show.run import words
from syncguard.show.run.rows import Row, rows, span, where

HOST = 1000  # the process of the host in the trace; that of a device has the number that torch gives it
WAITS = 1000  # added to a thread's number: its waits have a track of their own, since they may cross its calls
IDLE = 9999  # the track of a device on which it is idle
STEPS = 2000  # of a trace of counts
NO_TIMES = "This run has no times: one microsecond of the trace stands for one wait."
Event = dict[str, Any]


def render(record: Record) -> str:
    """The trace as JSON. Without a timeline a step is as long as it has waits, a microsecond each, and that is said."""
    timed = any(s.lane != "step" for s in record.timeline)
    events = [*_timed(record)] if timed else [*_counted(record)]
    machine = record.machine
    trace: dict[str, Any] = {
        "schemaVersion": 1,
        "displayTimeUnit": "ms",
        "traceName": words.command(record),
        "deviceProperties": [{"id": 0, "name": machine.device or machine.mode}],
        "otherData": {
            "tool": record.tool, "run": words.heading(record), "started": record.started,
            "notes": [*([] if timed else [NO_TIMES]), *record.notes],
        },
        "traceEvents": events,
    }  # fmt: skip
    if record.world > 1:
        trace["distributedInfo"] = {"backend": "nccl", "rank": record.rank, "world_size": record.world}
    return msgspec.json.encode(trace).decode()


def _timed(record: Record) -> Iterator[Event]:
    known = {row.number: row for row in rows(record)}
    threads = {name: n for n, name in enumerate(_threads(record), 1)}
    yield _named("process_name", HOST, 0, words.command(record))
    for name, number in threads.items():
        yield _named("thread_name", HOST, number, name)
        yield _named("thread_name", HOST, number + WAITS, f"{name}: waits")
    for device, stream in sorted({_stream(s) for s in record.timeline if s.lane in ("gpu", "copy", "idle")}):
        yield _named("process_name", device, 0, f"GPU {device} {record.machine.device}".rstrip())
        yield _named("thread_name", device, stream, f"stream {stream}" if stream != IDLE else "idle")
    pairs = _pairs(record.timeline)
    for number, s in enumerate(record.timeline):
        yield _slice(number, s, known, threads, pairs)
    yield from _flows(record.timeline, threads)


def _threads(record: Record) -> tuple[str, ...]:
    found = dict.fromkeys(s.thread or "main" for s in record.timeline if s.lane in ("step", "host", "wait"))
    return tuple(found) or ("main",)


def _slice(
    number: int, s: Span, known: Mapping[int, Row], threads: Mapping[str, int], pairs: Mapping[int, int]
) -> Event:
    """One span of the timeline as an event."""
    device, stream = _stream(s)
    match s.lane:
        case "wait":
            name, args = _told(s, known)
            return _event(name, "syncguard", HOST, _thread(s, threads) + WAITS, s, args)
        case "step":
            name = f"ProfilerStep#{s.name.removeprefix('step ')}"
            return _event(name, "user_annotation", HOST, _thread(s, threads), s, {})
        case "host":
            return _event(s.name, "cuda_runtime", HOST, _thread(s, threads), s, _correlation(number, pairs))
        case "idle":
            return _event("idle", "syncguard", device, stream, s, {})
        case _:
            kind = "gpu_memcpy" if s.lane == "copy" else "kernel"
            args = {"device": device, "stream": stream, **_correlation(number, pairs)}
            return _event(s.name, kind, device, stream, s, args)


def _told(s: Span, known: Mapping[int, Row]) -> tuple[str, dict[str, Any]]:
    """The name of a wait and what is known of it."""
    row = known.get(s.wait)
    if row is None:
        return f"wait: {s.name}", {"kind": s.name}
    wait, place = row.wait, row.place
    facts = {
        "line": where(place), "source": place.source.strip(), "op": wait.op, "kind": wait.kind or s.name,
        "rule": wait.code, "verdict": wait.verdict, "static": wait.static, "allowed": wait.allowed,
        "function": place.function, "called from": [where(caller) for caller in wait.stack],
        "bubble a step (ms)": row.bubble,
    }  # fmt: skip
    return f"wait: {span(place) or wait.op} ({where(place)})", {key: value for key, value in facts.items() if value}


def _flows(timeline: Sequence[Span], threads: Mapping[str, int]) -> Iterator[Event]:
    """An arrow from the work that a wait waited for, and one to the work that the device did next."""
    works = sorted((s for s in timeline if s.lane in ("gpu", "copy")), key=lambda s: s.start_us)
    starts = [s.start_us for s in works]
    ended = sorted(works, key=lambda s: s.start_us + s.duration_us)
    ends = [s.start_us + s.duration_us for s in ended]
    for number, s in enumerate((s for s in timeline if s.lane == "wait"), 1):
        tid, over = _thread(s, threads) + WAITS, s.start_us + s.duration_us
        last, after = bisect_right(ends, over) - 1, bisect_left(starts, over)
        # The arrow into a wait stands at its end, a little before, so that it is still within.
        inside = s.start_us + s.duration_us * 0.999
        if last >= 0 and ends[last] > s.start_us:
            yield from _arrow(
                2 * number, "waited for", (*_track(ended[last]), ended[last].start_us), (HOST, tid, inside)
            )
        if after < len(works):
            yield from _arrow(2 * number + 1, "then", (HOST, tid, inside), (*_track(works[after]), starts[after]))


def _arrow(number: int, name: str, source: tuple[int, int, float], target: tuple[int, int, float]) -> Iterator[Event]:
    for kind, (pid, tid, ts) in (("s", source), ("f", target)):
        event = {"ph": kind, "cat": "syncguard", "name": name, "id": number, "pid": pid, "tid": tid, "ts": ts}
        yield event | ({"bp": "e"} if kind == "f" else {})


def _counted(record: Record) -> Iterator[Event]:
    """Each step as long as it has waits, in the order of the record; then what waited outside the steps."""
    yield _named("process_name", HOST, 0, f"{words.command(record)}: counts, not times")
    yield _named("thread_name", HOST, 1, "steps")
    yield _named("thread_name", HOST, 1 + WAITS, "waits, 1 us each")
    known = {row.number: row for row in rows(record)}
    of_step: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for number, wait in enumerate(record.waits):
        for step, count in wait.steps:
            of_step[step].append((number, count))
        rest = wait.count - sum(count for _, count in wait.steps)
        if rest > 0:
            of_step[0].append((number, rest))
    now = 0
    for step in sorted(of_step)[:STEPS]:
        begin = now
        for number, count in of_step[step]:
            name, args = _told(Span("wait", "", 0, 0, number), known)
            yield _event(name, "syncguard", HOST, 1 + WAITS, Span("wait", "", now, count), {**args, "count": count})
            now += count
        title = f"ProfilerStep#{step}" if step else "outside the steps"
        yield _event(title, "user_annotation", HOST, 1, Span("step", "", begin, now - begin), {"note": NO_TIMES})


def _pairs(timeline: Sequence[Span]) -> dict[int, int]:
    """Of each call and of the work that it queued the number that they share: the nth of a name belongs to the nth."""
    hosts, works = defaultdict[str, list[int]](list), defaultdict[str, list[int]](list)
    for number, s in enumerate(timeline):
        if s.lane in ("host", "gpu", "copy"):
            (hosts if s.lane == "host" else works)[s.name].append(number)
    found: dict[int, int] = {}
    for name, calls in hosts.items():
        if len(calls) == len(works[name]):
            for call, work in zip(calls, works[name], strict=True):
                found[call] = found[work] = call + 1
    return found


def _correlation(number: int, pairs: Mapping[int, int]) -> dict[str, Any]:
    return {"correlation": pairs[number]} if number in pairs else {}


def _stream(s: Span) -> tuple[int, int]:
    """The device and the stream of a span, from `device:stream`."""
    device, _, stream = s.thread.partition(":")
    if s.lane == "idle":
        return int(device) if device.isdigit() else 0, IDLE
    return int(device) if device.isdigit() else 0, int(stream) if stream.isdigit() else 0


def _track(s: Span) -> tuple[int, int]:
    device, stream = _stream(s)
    return device, stream


def _thread(s: Span, threads: Mapping[str, int]) -> int:
    return threads[s.thread or next(iter(threads))]


def _named(kind: str, pid: int, tid: int, name: str) -> Event:
    return {"ph": "M", "name": kind, "pid": pid, "tid": tid, "ts": 0, "args": {"name": name}}


def _event(name: str, kind: str, pid: int, tid: int, s: Span, args: Mapping[str, Any]) -> Event:
    return {"ph": "X", "cat": kind, "name": name, "pid": pid, "tid": tid, "ts": s.start_us, "dur": s.duration_us,
            "args": args}  # fmt: skip
