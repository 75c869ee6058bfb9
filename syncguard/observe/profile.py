"""A Chrome trace of torch.profiler -> plain spans for `cost`: works, stops, and which stop belongs to which wait.

Nothing here imports torch, so that recorded traces can be read anywhere. What the profiler itself waits for, after the
window, is left out. The joint between a stop and a line of Python is a mark of zero length that our layers set on the
waiting thread, in the profiler's own clock: `syncguard:before 7` just before wait 7, `syncguard:after 7` just after.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from syncguard.observe.cost import Stop, Trace, Work
from syncguard.observe.questions import args_of, correlation_of, length_of, questions
from syncguard.record import Span

MARK = "syncguard:"
HELD = re.compile(r"(cuda|cu|hip)(Stream|Device|Event|Ctx|Context)Synchronize(_\w+)?")
MEMORY = re.compile(r"(cuda|cu|hip|hipExt)(Mem)?(Malloc|Free|HostAlloc|FreeHost|HostFree|HostMalloc|Alloc)\w*")
RUNTIME, DEVICE = ("cuda_runtime", "cuda_driver", "hip_runtime"), ("kernel", "gpu_memcpy", "gpu_memset")
DEVICES = re.compile(r"Memcpy (DtoD|PtoP)|Device -> Device")
BACKWARD = "autograd::engine::evaluate_function"
SLACK = 1.0  # microseconds by which the clocks of host and device may differ
LONG = 20.0  # an allocation that takes as long has waited, if the device finished something meanwhile
SPANS = 5000  # of a timeline: more cannot be looked at


class Unreadable(ValueError):
    """No trace of torch.profiler; the message is one line."""


@dataclass(frozen=True, slots=True)
class Profile:
    """A window: its trace, the copies whose host side is pageable memory, and the clock that its zero is on."""

    trace: Trace
    pageable: int = 0
    origin: float = 0.0


def read(data: Any, decides: Collection[int] = ()) -> Profile:
    """The window between the first and the last step mark (all of it where there are none).

    `decides`: the numbers of the waits whose value the program branches on at once. Times: microseconds from the
    beginning of the window.
    """
    events = data.get("traceEvents") if isinstance(data, dict) else None
    if not isinstance(events, list):
        raise Unreadable("no `traceEvents`: not a trace of torch.profiler")
    spans = sorted(
        (e for e in events if e.get("ph") == "X" and "ts" in e), key=lambda e: (float(e["ts"]), -length_of(e))
    )
    marks = [e for e in spans if e["name"].startswith(MARK) and e.get("cat") != "gpu_user_annotation"]
    steps = [float(e["ts"]) for e in marks if e["name"].startswith(f"{MARK}step")]
    host = [e for e in spans if e.get("cat") in RUNTIME]
    begin = steps[0] if steps else min((float(e["ts"]) for e in host), default=0.0)
    end = steps[-1] if len(steps) > 1 else max((float(e["ts"]) + length_of(e) for e in host), default=begin)
    threads = _threads(spans, marks)
    calls = {correlation_of(e): e for e in host if correlation_of(e)}
    done = [e for e in spans if e.get("cat") in DEVICE and begin <= _queued(e, calls) < end]
    works = _works(done, calls, threads, begin)
    stops = [*_held(host, done, spans, begin, end)]
    numbers = _joined(stops, marks, done, calls)
    ops, streams = _ops(stops, spans), _streams(spans)
    asked = questions(stops, ops, done, calls, marks)
    trace = Trace(
        _after(works, spans, calls, begin),
        tuple(
            Stop(float(e["ts"]) - begin, float(e["ts"]) + length_of(e) - begin, threads.get(e["tid"], e["tid"]),
                 streams.get(correlation_of(e), ""), wait, wait in decides, e["name"], op["name"] if op else "", *asks)
            for e, wait, op, asks in zip(stops, numbers, ops, asked, strict=True)
        ),
        0.0, end - begin, max(len(steps) - 1, 1), next((_thread(e["tid"]) for e in marks), 0),
        tuple((_number(e), float(e["ts"]) - begin) for e in marks if e["name"].startswith(f"{MARK}step"))[:-1],
        tuple(_carried((e for e in spans if e.get("cat") in DEVICE and _queued(e, calls) < begin), begin).items()),
    )  # fmt: skip
    return Profile(trace, sum("Pageable" in e["name"] for e in done), begin)


def timeline(trace: Trace, limit: int = SPANS) -> tuple[Span, ...]:
    """The lanes of the window's first step or so: steps, waits, works, and stretches in which the device is idle."""
    from syncguard.observe.cost import gaps

    ends = (*(at for _, at in trace.begins[1:]), trace.end)
    found = [
        Span("step", f"step {number}", at, end - at, thread=str(trace.thread))
        for (number, at), end in zip(trace.begins, ends)
    ]
    found += [Span("wait", s.kind, s.start, s.length, s.wait, str(s.thread)) for s in trace.stops]
    for work in trace.works:
        lane = "copy" if work.name.startswith("Memcpy") else "gpu"
        found.append(Span("host", work.name, work.queued, work.taken, thread=str(work.thread)))
        found.append(Span(lane, work.name, work.start, work.end - work.start, thread=work.lane))
    found += [Span("idle", "idle", begin, end - begin) for begin, end, _ in gaps(trace)]
    return tuple(sorted(found, key=lambda span: (span.start_us, span.lane))[:limit])


def _number(mark: Mapping[str, Any]) -> str:
    return str(mark["name"]).rpartition(" ")[2]


def _thread(tid: Any) -> int:
    return tid if isinstance(tid, int) else hash(tid) & 0xFFFFFFFF


def _queued(event: Mapping[str, Any], calls: Mapping[Any, Mapping[str, Any]]) -> float:
    call = calls.get(correlation_of(event))
    return float((call or event)["ts"])


def _lane(event: Mapping[str, Any]) -> str:
    args = args_of(event)
    return f"{args.get('device', 0)}:{args.get('stream', 0)}"


def _threads(spans: Iterable[Mapping[str, Any]], marks: Sequence[Mapping[str, Any]]) -> dict[Any, int]:
    """The thread that stands for each: the autograd engine's work while the thread of the steps stands still."""
    main = next((m["tid"] for m in marks if m["name"].startswith(f"{MARK}step")), None)
    found: dict[Any, int] = {}
    for event in spans:
        tid = event.get("tid")
        if tid not in found:
            found[tid] = _thread(tid)
        if main is not None and event.get("cat") == "cpu_op" and event["name"].startswith(BACKWARD):
            found[tid] = _thread(main)
    return found


def _works(
    done: Sequence[Mapping[str, Any]], calls: Mapping[Any, Mapping[str, Any]], threads: Mapping[Any, int], begin: float
) -> list[Work]:
    answer = []
    for event in done:
        call = calls.get(correlation_of(event))
        start = float(event["ts"]) - begin
        queued = min(_queued(event, calls) - begin, start)
        # A copy that holds the host up is waited for besides, so that queuing it takes no time of its own.
        taken = 0.0 if call is None or _holds(call, event) else length_of(call)
        thread = threads.get(call["tid"], 0) if call is not None else 0
        answer.append(Work(_lane(event), start, start + length_of(event), queued, taken, thread, event["name"]))
    return answer


def _carried(earlier: Iterable[Mapping[str, Any]], begin: float) -> dict[str, float]:
    """Until when each stream works on what was queued before the window."""
    found: dict[str, float] = {}
    for event in earlier:
        lane = _lane(event)
        found[lane] = max(found.get(lane, 0.0), float(event["ts"]) + length_of(event) - begin)
    return {lane: until for lane, until in found.items() if until > 0}


def _holds(call: Mapping[str, Any], work: Mapping[str, Any]) -> bool:
    """A copy that returns only when it is done. None within the device does, and an asynchronous one does only where
    the host's side of it is pageable memory: any other that was over by then merely took long to queue.
    """
    if "Memcpy" not in call["name"] or DEVICES.search(work["name"]):
        return False
    ends = float(call["ts"]) + length_of(call)
    may = "Async" not in call["name"] or "Pageable" in work["name"]
    return may and ends >= float(work["ts"]) + length_of(work) - SLACK


def _held(
    host: Iterable[Mapping[str, Any]], done: Sequence[Mapping[str, Any]], spans: object, begin: float, end: float
) -> Iterator[Mapping[str, Any]]:
    """The calls of the runtime, within the window, that held the host up."""
    works = {correlation_of(e): e for e in done}
    ends = sorted(float(e["ts"]) + length_of(e) for e in done)
    for call in host:
        at = float(call["ts"])
        if not begin <= at < end:
            continue
        work = works.get(correlation_of(call))
        grown = MEMORY.fullmatch(call["name"]) and length_of(call) >= LONG
        if (
            HELD.fullmatch(call["name"])
            or (work is not None and _holds(call, work))
            or (grown and bisect_right(ends, at) < bisect_right(ends, at + length_of(call)))
        ):
            yield call


def _joined(
    stops: Sequence[Mapping[str, Any]],
    marks: Iterable[Mapping[str, Any]],
    done: Iterable[Mapping[str, Any]],
    calls: Mapping[Any, Mapping[str, Any]],
) -> list[int]:
    """The number of each stop's wait, -1 where no mark is near.

    After a mark `before` come the stops of that wait, until the thread queues something other than a copy or is marked
    again. A mark `after` speaks of the last stop before it that is nobody's yet; several in a row of as many stops.
    """
    kernels = (calls[correlation_of(e)] for e in done if e.get("cat") == "kernel" and correlation_of(e) in calls)
    told: list[tuple[float, int, Any, str, int]] = []
    told += [(float(e["ts"]), 1, e["tid"], "stop", n) for n, e in enumerate(stops)]
    told += [(float(e["ts"]), 2, e["tid"], "kernel", 0) for e in kernels]
    for mark in marks:
        word, _, number = mark["name"].removeprefix(MARK).partition(" ")
        if word in ("before", "after") and number.isdigit():
            told.append((float(mark["ts"]), 0, mark["tid"], word, int(number)))
    answer = [-1] * len(stops)
    open_wait: dict[Any, int] = {}
    free: dict[Any, list[int]] = {}
    ahead: dict[Any, list[int]] = {}
    for _, _, tid, what, n in sorted(told, key=lambda t: t[:2]):
        if what == "after":
            ahead.setdefault(tid, []).append(n)
            continue
        _settle(answer, free.get(tid, []), ahead.pop(tid, []))
        if what == "before":
            open_wait[tid] = n
            free.pop(tid, None)
        elif what == "kernel":
            open_wait.pop(tid, None)
        elif tid in open_wait:
            answer[n] = open_wait[tid]
        else:
            free.setdefault(tid, []).append(n)
    for tid, numbers in ahead.items():
        _settle(answer, free.get(tid, []), numbers)
    return answer


def _settle(answer: list[int], free: list[int], numbers: Sequence[int]) -> None:
    """Give the last free stops of a thread to the marks that came after them."""
    if numbers:
        last = free[-len(numbers) :]
        for stop, number in zip(last, numbers[-len(last) :] if last else (), strict=True):
            answer[stop] = number
        free.clear()


def _ops(stops: Iterable[Mapping[str, Any]], spans: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any] | None]:
    """The outermost operator that each stop lies in: aten::item, aten::nonzero."""
    ops: dict[Any, list[Mapping[str, Any]]] = {}
    for event in spans:
        if event.get("cat") == "cpu_op" and not event["name"].startswith(BACKWARD):
            ops.setdefault(event["tid"], []).append(event)
    answer: list[Mapping[str, Any] | None] = []
    for stop in stops:
        mine = ops.get(stop["tid"], [])
        at = float(stop["ts"])
        last = bisect_right(mine, at, key=lambda e: float(e["ts"]))
        outermost = None
        for event in reversed(mine[max(0, last - 200) : last]):
            if float(event["ts"]) + length_of(event) >= at + length_of(stop) - SLACK:
                outermost = event  # further out
        answer.append(outermost)
    return answer


def _syncs(spans: Iterable[Mapping[str, Any]], name: str) -> Iterator[Mapping[str, Any]]:
    """The arguments of the profiler's `cuda_sync` rows of this name: absent in some versions, so only a refinement."""
    return (args_of(e) for e in spans if e.get("cat") == "cuda_sync" and e["name"] == name)


def _streams(spans: Iterable[Mapping[str, Any]]) -> dict[Any, str]:
    """The stream that a call waits for, by the call's correlation."""
    return {
        a.get("correlation"): f"{a.get('device', 0)}:{a['stream']}"
        for a in _syncs(spans, "Stream Sync")
        if "stream" in a
    }


def _after(
    works: list[Work], spans: Sequence[Mapping[str, Any]], calls: Mapping[Any, Mapping[str, Any]], begin: float
) -> tuple[Work, ...]:
    """Works with what their stream was told to wait for on another."""
    lanes: dict[str, list[int]] = {}
    for n in sorted(range(len(works)), key=lambda n: works[n].queued):
        lanes.setdefault(works[n].lane, []).append(n)
    found = [*works]
    for args in _syncs(spans, "Stream Wait Event"):
        waits, records = calls.get(args.get("correlation")), calls.get(args.get("wait_on_cuda_event_record_corr_id"))
        if waits is None or records is None:
            continue
        device = args.get("device", 0)
        mine, other = (
            lanes.get(f"{device}:{args.get('stream')}", []),
            lanes.get(f"{device}:{args.get('wait_on_stream')}", []),
        )
        first = bisect_right(mine, float(waits["ts"]) - begin, key=lambda n: works[n].queued)
        last = bisect_right(other, float(records["ts"]) - begin, key=lambda n: works[n].queued) - 1
        if mine is not other and first < len(mine) and last >= 0:
            late = found[mine[first]]
            found[mine[first]] = replace(late, after=(*late.after, other[last]))
    return tuple(found)
