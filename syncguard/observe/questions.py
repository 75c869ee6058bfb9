"""The stops of a profile and the operators around them in, what each question takes the host besides waiting out."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

TO_HOST, NUMBER = re.compile(r"Memcpy DtoH|Device -> (Host|Pageable|Pinned)"), 16  # bytes that a number has at most
Event = Mapping[str, Any]


def questions(
    stops: Sequence[Event],
    ops: Sequence[Event | None],
    done: Sequence[Event],
    calls: Mapping[Any, Event],
    marks: Iterable[Event],
) -> Iterator[tuple[float, float, tuple[int, ...]]]:
    """Of each stop in a call that does nothing but copy a number to the host: what that takes the host before and
    behind it, and the copies. Nothing of any other call: what would stand in its place is not known.
    """
    queued = dict[Any, list[tuple[float, int]]]()
    for n, work in enumerate(done):
        if (call := calls.get(correlation_of(work))) is not None:
            queued.setdefault(call["tid"], []).append((float(call["ts"]), n))
    queued = {tid: sorted(works) for tid, works in queued.items()}
    marked = dict[Any, list[float]]()
    for mark in marks:
        marked.setdefault(mark["tid"], []).append(float(mark["ts"]))
    for n, (stop, op) in enumerate(zip(stops, ops, strict=True)):
        copies = within(op, queued.get(stop["tid"], []))
        if op is None or not copies or not all(reads_number(done[copy]) for _, copy in copies):
            yield 0.0, 0.0, ()
            continue
        earlier = [ended(one) for one, its in zip(stops[:n], ops) if its is op]
        later = any(its is op for its in ops[n + 1 :])
        first, last = max([float(op["ts"]), *earlier]), ended(stop) if later else ended(op)
        ours = [at for at in marked.get(stop["tid"], []) if first <= at <= last]
        before = own(first, float(stop["ts"]), ours, [at for at, _ in copies])
        after = own(ended(stop), last, ours, [])
        yield before, after, () if earlier else tuple(copy for _, copy in copies)


def own(begin: float, end: float, ours: Iterable[float], calls: Iterable[float]) -> float:
    """How much of a stretch is the program's own: from a mark of ours to the next call of the runtime it is ours."""
    mark = next((at for at in sorted(ours) if begin <= at < end), end)
    again = next((at for at in sorted(calls) if mark <= at < end), end)
    return max(mark - begin, 0.0) + max(end - again, 0.0)


def within(op: Event | None, queued: Sequence[tuple[float, int]]) -> Sequence[tuple[float, int]]:
    """The works that were queued while an operator ran, of those that its thread queued, by when."""
    if op is None:
        return ()
    return queued[bisect_left(queued, (float(op["ts"]), 0)) : bisect_right(queued, (ended(op), len(queued)))]


def reads_number(work: Event) -> bool:
    """A copy of one number to the host."""
    size = args_of(work).get("bytes")
    return TO_HOST.search(work["name"]) is not None and isinstance(size, int) and size <= NUMBER


def ended(event: Event) -> float:
    return float(event["ts"]) + length_of(event)


def length_of(event: Event) -> float:
    """How long an event of a trace takes."""
    return float(event.get("dur", 0.0))


def args_of(event: Event) -> Event:
    """What else the profiler says of an event."""
    args = event.get("args")
    return args if isinstance(args, Mapping) else {}


def correlation_of(event: Event) -> Any:
    """What the call that queues a work and the work have in common; 0 of all others."""
    return args_of(event).get("correlation") or 0
