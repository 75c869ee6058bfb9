"""Plain spans of a few steps -> what each wait costs: the device's idle time that it causes, what removing it saves.

Nothing here imports torch. Times are microseconds on one clock. A wait's length is not its cost: without it the host
would queue earlier, and the device profits only as far as it stood idle. So a `bubble` is idle time, and what several
waits cost together is found by replaying the window without them, never by adding. What only reads a number takes the
host longer than it waits: then the whole call goes.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from syncguard.record import WhatIf

SMALL = 0.01  # of a step: less is not worth a line of code
BUSY = 0.9  # of a step: the device sets the pace
SINGLES, TOGETHER = 12, 4  # lines of the what-if: one by one, and the best together


@dataclass(frozen=True, slots=True)
class Work:
    """A kernel or a copy: when the host queued it, when the device did it."""

    lane: str  # the device's stream
    start: float
    end: float
    queued: float  # when the host began to queue it
    taken: float = 0.0  # what that took the host
    thread: int = 0
    name: str = ""
    after: tuple[int, ...] = ()  # works on other streams that the stream had to wait for


@dataclass(frozen=True, slots=True)
class Stop:
    """The host standing still in a call until the device has done something."""

    start: float
    end: float
    thread: int = 0
    lane: str = ""  # the stream that it waits for; empty: whatever had ended when it returned
    wait: int = -1  # the number of the wait that it is part of; -1: no line of Python is known
    decides: bool = False  # the program branches on the value at once
    kind: str = ""
    op: str = ""
    before: float = 0.0  # of a call that does nothing but read a number: what it takes the host until it waits,
    after: float = 0.0  # and then until it returns
    copies: tuple[int, ...] = ()  # the works by which the number gets to the host

    @property
    def length(self) -> float:
        return self.end - self.start

    @property
    def call(self) -> float:
        """What the question takes the host besides the waiting."""
        return self.before + self.after


@dataclass(frozen=True, slots=True)
class Trace:
    """What the host and the device did from `begin` to `end`, on the host's clock, in `steps` steps of one thread."""

    works: tuple[Work, ...] = ()
    stops: tuple[Stop, ...] = ()
    begin: float = 0.0
    end: float = 0.0
    steps: int = 1
    thread: int = 0
    begins: tuple[tuple[str, float], ...] = ()  # the number of each step and where it begins
    carried: tuple[tuple[str, float], ...] = ()  # until when each stream worked on what was queued before `begin`


@dataclass(frozen=True, slots=True)
class Cost:
    """What one wait cost, each time: time blocked, idle time caused, and the verdict on all of them."""

    wait: int
    wait_us: tuple[float, ...]
    bubble_us: tuple[float, ...]
    verdict: str


@dataclass(frozen=True, slots=True)
class Replay:
    """A window played again: how long a step takes until all is queued (host), and until all is done (device).

    A stream begins when it has done what was queued before the window. That is as long after the window's begin as its
    last work is after the window's end, however far the host runs ahead.
    """

    host_us: float
    device_us: float

    @property
    def step_us(self) -> float:
        return max(self.host_us, self.device_us)


@dataclass(frozen=True, slots=True)
class Plan:
    """What follows what in a trace, worked out once for all its replays."""

    order: tuple[tuple[bool, int], ...]  # works (False) and stops (True) as the host came to them
    targets: tuple[tuple[int, ...], ...]  # of each stop: the last work of each stream that it waited for
    follows: tuple[tuple[int, ...], ...]  # of each work: those that had to be done before it


def costs(trace: Trace) -> tuple[Cost, ...]:
    """The cost of every wait whose line is known, the dearest first."""
    caused = bubbles(trace)
    period = max(replay(trace).step_us, 1e-9)
    busy = utilised(trace)
    found: dict[int, list[int]] = {}
    for n, stop in enumerate(trace.stops):
        if stop.wait >= 0:
            found.setdefault(stop.wait, []).append(n)
    answer = []
    for wait, numbers in found.items():
        share = sum(caused[n] for n in numbers) / trace.steps / period
        decides = any(trace.stops[n].decides for n in numbers)
        lengths = tuple(round(trace.stops[n].length, 3) for n in numbers)
        answer.append(Cost(wait, lengths, tuple(round(caused[n], 3) for n in numbers), _verdict(share, busy, decides)))
    return tuple(sorted(answer, key=lambda cost: (-sum(cost.bubble_us), -sum(cost.wait_us), cost.wait)))


def bubbles(trace: Trace) -> tuple[float, ...]:
    """The idle time that each stop caused; together never more than the device was idle.

    A gap that ends with late work is charged to the stops before it on the thread that queued the work, the nearest
    first, and to each at most what it held the host up: had it not, the work had come that much earlier.
    """
    left = [stop.length for stop in trace.stops]
    caused = [0.0] * len(left)
    ended: dict[int, list[tuple[float, int]]] = {}
    for n in sorted(range(len(left)), key=lambda n: trace.stops[n].end):
        ended.setdefault(trace.stops[n].thread, []).append((trace.stops[n].end, n))
    for begin, end, work in gaps(trace):
        if work.queued <= begin:  # it was queued in time: what it waited for is not the host
            continue
        room = end - begin
        earlier = ended.get(work.thread, [])
        for _, n in reversed(earlier[: bisect_right(earlier, (work.queued, len(left)))]):
            part = min(room, left[n])
            caused[n], left[n], room = caused[n] + part, left[n] - part, room - part
            if room <= 0:
                break
    return tuple(caused)


def gaps(trace: Trace) -> Iterator[tuple[float, float, Work]]:
    """The stretches in which no stream of the device worked, each with the work that ended it."""
    left = max((until for _, until in trace.carried), default=trace.begin)
    until = float("inf")
    for work in sorted(trace.works, key=lambda work: (work.start, work.end)):
        if work.start > max(until, left):
            yield max(until, left), work.start, work
        until = work.end if until == float("inf") else max(until, work.end)


def idle_time(trace: Trace) -> float:
    """How long the device stood idle between its first work and its last."""
    return sum(end - begin for begin, end, _ in gaps(trace))


def utilised(trace: Trace) -> float:
    """The share of the time between the device's first work and its last in which some stream worked: 0 to 1.

    Only works that the window's steps queued are in a trace, however long after its end the device did them.
    """
    return 1 - idle_time(trace) / max(extent(trace), 1e-9) if trace.works else 0.0


def planned(trace: Trace) -> Plan:
    """What follows what: the host keeps its order, each stream too, and a stop waits for what it waited for."""
    items = [(work.queued, False, work.start, n) for n, work in enumerate(trace.works)]
    # A copy that blocks is queued and waited for in one call: queued first.
    items += [(stop.start, True, stop.end, n) for n, stop in enumerate(trace.stops)]
    lanes: dict[str, list[int]] = {}
    follows: list[tuple[int, ...]] = [()] * len(trace.works)
    for _, _, _, n in sorted(items[: len(trace.works)]):
        lane = lanes.setdefault(trace.works[n].lane, [])
        follows[n] = (*(w for w in trace.works[n].after if w < len(follows)), *lane[-1:])
        lane.append(n)
    targets = tuple(tuple(_targets(stop, lanes, trace.works)) for stop in trace.stops)
    return Plan(tuple((is_stop, n) for _, is_stop, _, n in sorted(items)), targets, tuple(follows))


def replay(trace: Trace, removed: Collection[int] = (), plan: Plan | None = None) -> Replay:
    """The window without some of its stops (by number): what the host did between them takes as long as before.

    A call that does nothing but read a number goes with its stop, and the number is copied no more; of any other call
    the waiting alone goes. Each thread keeps its order and its own work, each stream its order and each work its
    length; work begins when it has reached the device and all that it must follow is done. Every step of this is a sum
    or a maximum, so that removing more never costs time.
    """
    plan = plan or planned(trace)
    carried = dict(trace.carried)
    host: dict[int, tuple[float, float]] = {}  # of each thread: when it was free, then and now
    done = [work.end for work in trace.works]
    unasked = frozenset(w for n, stop in enumerate(trace.stops) if n in removed for w in stop.copies)
    for is_stop, n in plan.order:
        if is_stop:
            stop = trace.stops[n]
            was, now = host.get(stop.thread, (trace.begin, trace.begin))
            end = now + max(stop.start - was, 0.0)
            if n not in removed:
                end = _released(stop, end, plan.targets[n], trace, done)
                host[stop.thread] = (max(was, stop.end), end)
            else:
                host[stop.thread] = (max(was, stop.end + stop.after), max(end - stop.before, trace.begin))
        else:
            work, before = trace.works[n], plan.follows[n]
            was, now = host.get(work.thread, (trace.begin, trace.begin))
            queued = now + max(work.queued - was, 0.0)
            left = min(carried.get(work.lane, trace.begin), work.start)
            free = max([left, *(trace.works[w].end for w in before)])
            latency = max(work.start - max(work.queued, free), 0.0)
            idle = work.queued >= free  # then what it takes to reach the device is hidden where that has other work
            ready = queued + latency if idle else queued
            start = max([ready, left, *(done[w] for w in before)]) + (0.0 if idle else latency)
            done[n] = start + work.end - work.start if n not in unasked else max([left, *(done[w] for w in before)])
            host[work.thread] = (max(was, work.queued + work.taken), queued + work.taken)
    was, now = host.get(trace.thread, (trace.begin, trace.begin))
    queued = max([now + max(trace.end - was, 0.0), *(end for _, end in host.values())])
    worked = (end - max(carried.get(work.lane, trace.begin), trace.begin) for work, end in zip(trace.works, done))
    return Replay((queued - trace.begin) / trace.steps, max([0.0, *worked]) / trace.steps)


def what_ifs(trace: Trace, groups: Mapping[int, Collection[int]] | None = None) -> tuple[WhatIf, ...]:
    """What removing all waits together would save, then the best few together, then each by itself.

    `groups` gives the stops of every wait in the record; without it they are grouped by `Stop.wait`.
    """
    groups = groups if groups is not None else grouped(trace)
    if not groups:
        return ()
    plan = planned(trace)
    base = replay(trace, (), plan).step_us

    def tried(waits: Sequence[int]) -> WhatIf:
        gone = frozenset(n for wait in waits for n in groups[wait])
        step = replay(trace, gone, plan).step_us
        calls = sum(trace.stops[n].call for n in gone) / trace.steps
        times = (round(time / 1e3, 4) for time in (step, base - step, calls))
        return WhatIf(tuple(sorted(waits)), *times)

    caused = bubbles(trace)
    ranked = sorted(groups, key=lambda wait: -sum(caused[n] for n in groups[wait]))
    answer = [tried(ranked)]
    best: tuple[int, ...] = ()
    for _ in range(min(TOGETHER, len(ranked) - 1)):
        chosen = max((tried([*best, wait]) for wait in ranked[:SINGLES] if wait not in best), key=lambda w: w.saved_ms)
        best = chosen.waits
        answer.append(chosen)
        if chosen.saved_ms >= (1 - SMALL) * answer[0].saved_ms:
            break
    answer += [tried([wait]) for wait in ranked[:SINGLES]]
    return tuple(dict.fromkeys(answer))


def grouped(trace: Trace) -> dict[int, tuple[int, ...]]:
    """The stops of each wait whose line is known."""
    waits = dict.fromkeys(stop.wait for stop in trace.stops if stop.wait >= 0)
    return {wait: tuple(n for n, stop in enumerate(trace.stops) if stop.wait == wait) for wait in waits}


def renumbered(trace: Trace, wait_of: Mapping[int, int]) -> Trace:
    """The same trace, its waits numbered as the record numbers its lines; what has no line there is -1."""
    stops = tuple(replace(stop, wait=wait_of.get(stop.wait, -1)) for stop in trace.stops)
    return replace(trace, stops=stops)


def _verdict(share: float, busy: float, decides: bool) -> str:
    """gpu-bound: the device had work all the same. true-dependency: the program needs the value to go on."""
    if share < SMALL and busy >= BUSY:
        return "gpu-bound"
    return "true-dependency" if decides else "host-bound"


def extent(trace: Trace) -> float:
    """The time between the device's first work and its last; 0 where it did none."""
    return max((w.end for w in trace.works), default=0.0) - min((w.start for w in trace.works), default=0.0)


def _targets(stop: Stop, lanes: Mapping[str, Sequence[int]], works: Sequence[Work]) -> Iterator[int]:
    """Of each stream the last work queued before the stop that had ended when it returned."""
    for lane, numbers in lanes.items():
        if stop.lane in ("", lane):
            last = bisect_right(numbers, stop.start, key=lambda n: works[n].queued) - 1
            while last >= 0 and works[numbers[last]].end > stop.end:
                last -= 1
            if last >= 0:
                yield numbers[last]


def _released(stop: Stop, begin: float, targets: Iterable[int], trace: Trace, done: Sequence[float]) -> float:
    """When a stop that is kept lets the host go: once its works are done, and then what the call itself takes."""
    left = [until for lane, until in trace.carried if stop.lane in ("", lane) and trace.begin < until <= stop.end]
    was, now = [stop.start, *left], [begin, *left]
    for n in targets:
        was.append(trace.works[n].end)
        now.append(done[n])
    return max(now) + stop.end - max(was)
