"""What waits cost: the laws of the replay on any trace, and the story on small ones."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncguard.observe.cost import Stop, Trace, Work, bubbles, costs, gaps, grouped, idle_time, replay, what_ifs

LAUNCH = 5.0  # microseconds that the host takes to queue something
LATENCY = 3.0  # between queuing and the device's beginning


def step_trace(*plan: tuple[str, float], steps: int = 3, decides: bool = False) -> Trace:
    """Play a program: ("host", us) works on the host, ("gpu", us) queues work, ("wait", n) waits as line n."""
    now, free = 0.0, 0.0
    works, stops = [], []
    for kind, amount in plan * steps:
        if kind == "host":
            now += amount
        elif kind == "gpu":
            start = max(now + LATENCY, free)
            works.append(Work("0:7", start, start + amount, now, LAUNCH))
            now, free = now + LAUNCH, start + amount
        else:
            stops.append(Stop(now, max(now, free) + 2.0, wait=int(amount), decides=decides))
            now = stops[-1].end
    return Trace(tuple(works), tuple(stops), 0.0, now, steps)


# Three questions a step, small kernels, and host work between: the device runs dry after each answer.
STORY = step_trace(
    ("host", 100), ("gpu", 400), ("wait", 0), ("host", 80), ("gpu", 300), ("wait", 1), ("host", 90), ("gpu", 200),
    ("wait", 2), ("host", 120), ("gpu", 300), steps=5,
)  # fmt: skip
# The same questions where every kernel takes a hundred times as long.
LARGE = step_trace(
    ("host", 100), ("gpu", 40_000), ("wait", 0), ("host", 80), ("gpu", 30_000), ("wait", 1), ("host", 120),
    ("gpu", 30_000), steps=5,
)  # fmt: skip


@st.composite
def traces(draw: st.DrawFn) -> Trace:
    """Any program of two threads and two streams, played as a machine would play it."""
    free = {lane: draw(st.sampled_from([0.0, 40.0, 700.0])) for lane in ("0:7", "0:20")}
    carried = tuple((lane, until) for lane, until in free.items() if until)
    now = {1: 0.0, 2: 0.0}
    works: list[Work] = []
    stops: list[Stop] = []
    clock = 0.0
    time = st.integers(0, 500).map(float)
    for _ in range(draw(st.integers(0, 25))):
        thread = min(now, key=lambda t: now[t])
        now[thread] = clock = max(now[thread] + draw(time), clock)  # a stream takes work in the order of time
        lane = draw(st.sampled_from(sorted(free)))
        if draw(st.integers(0, 2)):
            start = max(now[thread] + draw(st.sampled_from([0.0, 3.0, 20.0])), free[lane])
            works.append(Work(lane, start, start + draw(time), now[thread], 4.0, thread))
            free[lane] = works[-1].end
            now[thread] += 4.0
        else:
            until = max(now[thread], free[lane]) + draw(st.sampled_from([0.0, 2.0]))
            stops.append(Stop(now[thread], until, thread, lane, wait=draw(st.integers(-1, 3))))
            now[thread] = until
    return Trace(tuple(works), tuple(stops), 0.0, max(now.values()), draw(st.integers(1, 4)), 1, carried=carried)


@settings(max_examples=100, deadline=None)
@given(traces(), st.data())
def test_removing_more_never_costs_time(trace: Trace, data: st.DataObject) -> None:
    numbers = st.sets(st.integers(0, max(len(trace.stops) - 1, 0)))
    some, more = data.draw(numbers), data.draw(numbers)
    before, after = replay(trace, some), replay(trace, some | more)
    assert after.device_us <= before.device_us + 1e-6
    assert after.host_us <= before.host_us + 1e-6


@settings(max_examples=100, deadline=None)
@given(traces())
def test_bubbles_are_idle_time_and_no_longer_than_their_stops(trace: Trace) -> None:
    caused = bubbles(trace)
    assert sum(caused) <= idle_time(trace) + 1e-6
    assert all(-1e-9 <= bubble <= stop.length + 1e-6 for bubble, stop in zip(caused, trace.stops, strict=True))


@settings(max_examples=100, deadline=None)
@given(traces())
def test_what_is_removed_nowhere_is_replayed_as_it_was(trace: Trace) -> None:
    base = replay(trace)
    carried = dict(trace.carried)
    worked = max((work.end - carried.get(work.lane, 0.0) for work in trace.works), default=0.0)
    assert base.device_us * trace.steps == pytest.approx(worked, abs=1e-6)
    assert base.host_us * trace.steps == pytest.approx(trace.end, abs=1e-6)


@settings(max_examples=100, deadline=None)
@given(traces())
def test_no_removal_beats_the_busiest_stream(trace: Trace) -> None:
    best = replay(trace, range(len(trace.stops)))
    for lane in {work.lane for work in trace.works}:
        assert best.device_us * trace.steps >= sum(w.end - w.start for w in trace.works if w.lane == lane) - 1e-6


@settings(max_examples=50, deadline=None)
@given(traces())
def test_what_ifs_save_at_most_what_removing_everything_saves(trace: Trace) -> None:
    options = what_ifs(trace)
    assert len({option.waits for option in options}) == len(options)
    for option in options:
        assert -1e-9 <= option.saved_ms <= options[0].saved_ms + 1e-4


def reads(trace: Trace, before: float, after: float) -> Trace:
    """The same where each stop is in a call that only reads a number, by the last work that was queued before it."""
    stops = []
    for stop in trace.stops:
        near = [n for n, work in enumerate(trace.works) if work.queued < stop.start and work.thread == stop.thread]
        last = max(near, key=lambda n: trace.works[n].queued, default=None)
        room = stop.start - max([trace.begin, *(trace.works[n].queued for n in near)])
        stops.append(replace(stop, before=min(before, room), after=after, copies=() if last is None else (last,)))
    return replace(trace, stops=tuple(stops))


@settings(max_examples=100, deadline=None)
@given(traces(), st.integers(0, 30).map(float), st.data())
def test_removing_more_calls_never_costs_time(trace: Trace, before: float, data: st.DataObject) -> None:
    trace = reads(trace, before, 0.0)
    numbers = st.sets(st.integers(0, max(len(trace.stops) - 1, 0)))
    some, more = data.draw(numbers), data.draw(numbers)
    less, least = replay(trace, some), replay(trace, some | more)
    assert least.device_us <= less.device_us + 1e-6
    assert least.host_us <= less.host_us + 1e-6
    assert least.host_us >= -1e-6


def test_what_only_reads_a_number_goes_with_its_whole_call() -> None:
    """A step of 200 us that the host sets the pace of: two reads, each 20 us before it waits and 5 us after."""
    works, stops, now = [], [], 0.0
    for n in range(2):
        works.append(Work("0:7", now + 3, now + 13, now, 5.0))
        now += 60
        works.append(Work("0:7", now + 5, now + 6, now + 4, 10.0, name="Memcpy DtoH"))
        stops.append(Stop(now + 20, now + 28, wait=n, before=20.0, after=5.0, copies=(2 * n + 1,)))
        now += 40
    asked = Trace(tuple(works), tuple(stops), 0.0, now)
    plain = replace(asked, stops=tuple(replace(stop, before=0.0, after=0.0, copies=()) for stop in stops))
    assert replay(asked) == replay(plain)  # as it was
    assert replay(plain, (0,)).host_us == pytest.approx(200 - 8)
    assert replay(asked, (0,)).host_us == pytest.approx(200 - 33)
    assert replay(asked, (0, 1)).host_us == pytest.approx(200 - 66)
    every, *_ = what_ifs(asked)
    assert (every.saved_ms, every.calls_ms) == (pytest.approx(0.066), pytest.approx(0.05))
    assert what_ifs(plain)[0].calls_ms == 0


def test_the_story_where_the_host_sets_the_pace() -> None:
    everything = range(len(STORY.stops))
    before, after = replay(STORY), replay(STORY, everything)
    assert after.host_us < before.host_us / 2  # the host no longer stands still
    assert after.device_us < before.device_us  # and the device no longer runs dry
    assert after.device_us >= 1200  # which is what a step's kernels take
    assert {cost.verdict for cost in costs(STORY)} == {"host-bound"}


def test_the_story_where_the_device_sets_the_pace() -> None:
    everything = range(len(LARGE.stops))
    before, after = replay(LARGE), replay(LARGE, everything)
    assert after.host_us < before.host_us / 50  # a clock on the host would claim fifty times
    assert after.device_us == pytest.approx(before.device_us, rel=0.01)  # the device's step stays what it was
    assert {cost.verdict for cost in costs(LARGE)} == {"gpu-bound"}
    assert what_ifs(LARGE)[0].saved_ms < 0.01 * before.device_us / 1e3


def ahead(waits: tuple[int, ...], steps: int = 5) -> Trace:
    """A window of a program that was running before: a step that the device takes 29 ms for, its last 20 not awaited,
    with these waits (of 4) in it.
    """
    step = [("host", 100.0), ("gpu", 5_000.0)]
    for n in range(4):
        step += [("wait", float(n))] * (n in waits) + [("host", 300.0), ("gpu", 1_000.0)]
    step += [("gpu", 20_000.0), ("host", 200.0)]
    long = step_trace(*step, steps=steps + 3)
    length = len(long.works) // (steps + 3)
    begin = long.works[3 * length].queued - 100.0
    before = max(work.end for work in long.works[: 3 * length])
    works, stops = long.works[3 * length :], long.stops[3 * len(waits) :]
    return Trace(works, stops, begin, long.end, steps, carried=(("0:7", before),))


def test_what_was_queued_before_the_window_is_not_its_time() -> None:
    for waits in ((), (0, 1, 2, 3), (2,)):
        trace = ahead(waits)
        period = (trace.works[-1].end - trace.carried[0][1]) / trace.steps
        assert replay(trace).step_us == pytest.approx(period)
        assert period == pytest.approx(29_000 + 290 * len(waits), rel=0.005)
        assert dict(trace.carried)["0:7"] > trace.begin + 15_000


def test_bubbles_of_a_busy_device_are_saved() -> None:
    trace = ahead((0, 1, 2, 3))
    caused = sum(bubbles(trace)) / trace.steps
    everything, *_ = what_ifs(trace)
    assert 1000 < caused < 1300
    assert everything.saved_ms * 1e3 == pytest.approx(caused, rel=0.05)
    assert everything.step_ms == pytest.approx(29.0, rel=0.001)
    removed = replay(trace, range(len(trace.stops)))
    assert removed.step_us <= (trace.end - trace.begin) / trace.steps


def test_a_wait_for_what_was_queued_before_the_window_is_as_long_however_early() -> None:
    works = (Work("0:7", 1000, 1100, 990, 2.0),)
    stops = (Stop(5, 7, wait=0), Stop(10, 985, wait=1))
    trace = Trace(works, stops, 0, 1000, carried=(("0:7", 980.0),))
    assert replay(trace, [0]).host_us == pytest.approx(1000)
    assert replay(trace, [0, 1]).host_us == pytest.approx(1000 - 975 - 2)
    assert replay(trace, [0, 1]).device_us >= 100


def test_removing_one_wait_moves_it_to_the_next() -> None:
    """Two waits in a row: either alone saves nothing, both together do."""
    trace = step_trace(("gpu", 1000), ("wait", 0), ("wait", 1), ("host", 300), ("gpu", 100), ("wait", 2), ("host", 50))
    saved = {option.waits: option.saved_ms for option in what_ifs(trace, grouped(trace))}
    assert saved[(1,)] == pytest.approx(0.0, abs=0.01)
    assert saved[(0,)] == pytest.approx(0.0, abs=0.01)
    joint = replay(trace).step_us - replay(trace, [n for n, s in enumerate(trace.stops) if s.wait in (0, 1)]).step_us
    assert joint > 250
    assert saved[(0, 1, 2)] >= joint / 1e3 - 1e-3


def test_a_bubble_is_charged_to_the_wait_before_it() -> None:
    trace = step_trace(("gpu", 1000), ("wait", 0), ("host", 300), ("gpu", 100), steps=1)
    ((begin, end, _),) = gaps(trace)
    assert bubbles(trace) == (end - begin,)
    (cost,) = costs(trace)
    assert (cost.wait, cost.verdict) == (0, "host-bound")
    assert cost.wait_us == (trace.stops[0].length,)


def test_a_bubble_is_no_longer_than_the_wait() -> None:
    """The host came late anyway: without a wait of 2 us the gap had been 2 us shorter, not gone."""
    trace = step_trace(("gpu", 10), ("host", 500), ("wait", 0), ("host", 300), ("gpu", 10), steps=1)
    assert bubbles(trace) == (2.0,)
    assert replay(trace).device_us - replay(trace, [0]).device_us == pytest.approx(2.0)


def test_work_that_was_queued_in_time_is_nobodys_fault() -> None:
    works = (Work("0:7", 0, 100, 0), Work("0:20", 150, 200, 5))  # waits for something that we cannot see
    trace = Trace(works, (Stop(10, 90, wait=0),), 0, 200)
    assert idle_time(trace) == 50
    assert bubbles(trace) == (0.0,)


def test_a_wait_whose_value_decides_is_a_true_dependency() -> None:
    plan = (("gpu", 1000.0), ("wait", 0.0), ("host", 300.0), ("gpu", 100.0))
    assert {c.verdict for c in costs(step_trace(*plan, decides=True))} == {"true-dependency"}


def test_a_wait_on_another_thread_holds_nobody_else_up() -> None:
    works = tuple(Work("0:7", 100.0 * n, 100.0 * n + 90, 100.0 * n - 5 if n else 0.0, 2.0, 1) for n in range(10))
    trace = Trace(works, (Stop(0, 990, thread=2, wait=0),), 0, 990, thread=1)
    assert bubbles(trace) == (0.0,)
    assert replay(trace, [0]).device_us == pytest.approx(replay(trace).device_us)


def test_a_stream_that_waits_for_another_still_waits_in_the_replay() -> None:
    works = (Work("0:7", 0, 500, 0, 2.0), Work("0:20", 500, 600, 300, 2.0, after=(0,)))
    trace = Trace(works, (Stop(10, 290, lane="0:20", wait=0),), 0, 310)
    assert replay(trace, [0]).device_us == pytest.approx(600)


def test_an_empty_trace_costs_nothing() -> None:
    empty = Trace()
    assert (bubbles(empty), costs(empty), what_ifs(empty), idle_time(empty)) == ((), (), (), 0.0)
    assert replay(empty).device_us == 0.0


def test_the_clock_of_the_host_is_not_the_clock_of_the_device() -> None:
    """The claim of 240 times: over a range of sizes the host's gain grows, the device's gain vanishes."""
    gains = []
    for scale in (1, 10, 100, 1000):
        trace = step_trace(("gpu", 50.0 * scale), ("wait", 0), ("host", 100), ("gpu", 50.0 * scale), ("wait", 1))
        before, after = replay(trace), replay(trace, range(len(trace.stops)))
        gains.append((before.host_us / after.host_us, before.device_us / after.device_us))
    assert all(host_next > host for (host, _), (host_next, _) in itertools.pairwise(gains))
    assert all(device_next < device for (_, device), (_, device_next) in itertools.pairwise(gains))
    assert gains[-1][0] > 200
    assert gains[-1][1] < 1.01


def test_a_device_that_still_works_on_another_stream_is_not_idle():
    works = (Work("0:7", 0, 1, 0), Work("0:7", 10, 11, 10), Work("0:7", 40, 41, 40))
    assert idle_time(Trace(works, end=50)) == pytest.approx(38)
    assert idle_time(Trace(works, end=50, carried=(("0:8", 30.0),))) == pytest.approx(10)
    assert idle_time(Trace(works, end=50, carried=(("0:7", 0.0),))) == pytest.approx(38)
