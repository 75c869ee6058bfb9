"""The trace of a run: what Perfetto, chrome://tracing and the TensorBoard plugin need, and what we add."""

from __future__ import annotations

import json

import msgspec
import pytest
import records
from trace_rules import faults

from syncguard.compare.changes import difference
from syncguard.show.look import Look
from syncguard.show.run import diff, trace


def events(record, kind: str = "X", category: str = "") -> list[dict]:
    made = json.loads(trace.render(record))["traceEvents"]
    return [e for e in made if e["ph"] == kind and category in ("", e.get("cat"))]


@pytest.mark.parametrize("name", ["gpu", "simulated", "empty", "ranked", "nasty", "large"])
def test_every_event_is_well_formed(name):
    made = json.loads(trace.render(getattr(records, name)()))
    assert made["schemaVersion"] == 1
    named = {(e["pid"], e["tid"]) for e in made["traceEvents"] if e["name"] == "thread_name"}
    for event in made["traceEvents"]:
        assert event["ph"] in "XMsf"
        assert isinstance(event["name"], str)
        if event["ph"] == "X":
            assert event["dur"] >= 0
            assert (event["pid"], event["tid"]) in named


RECORDS = ("gpu", "simulated", "empty", "ranked", "nasty", "large")


@pytest.mark.parametrize("name", RECORDS)
def test_a_viewer_takes_all_of_it(name):
    assert faults(json.loads(trace.render(getattr(records, name)()))) == []


SPOILED = {
    "no phase": lambda e: e.update(ph="?"),
    "no name": lambda e: e.update(name=""),
    "pid is no number or name": lambda e: e.update(pid=None),
    "ts is no number": lambda e: e.update(ts=float("nan")),
    "dur is negative": lambda e: e.update(dur=-1),
    "outside of every slice": lambda e: e.update(ts=e["ts"] + 1e9),
    "args are no object": lambda e: e.update(args=[]),
}


@pytest.mark.parametrize("fault", SPOILED)
def test_the_rules_find_what_is_wrong(fault):
    made = json.loads(trace.render(records.gpu()))
    event = next(e for e in made["traceEvents"] if e["ph"] == "X" and e["cat"] == "syncguard" and e["name"] != "idle")
    SPOILED[fault](event)
    assert any(fault in one for one in faults(made))


def test_the_rules_find_slices_that_cross_and_arrows_that_lead_nowhere():
    made = json.loads(trace.render(records.gpu()))
    first, second = [e for e in made["traceEvents"] if e["ph"] == "X" and e["name"].startswith("wait: ")][:2]
    first["dur"] = second["ts"] + second["dur"] / 2 - first["ts"]
    assert any("crosses" in one for one in faults(made))
    half = json.loads(trace.render(records.gpu()))
    half["traceEvents"].remove(next(e for e in half["traceEvents"] if e["ph"] == "f"))
    assert any("1 beginnings and 0 ends" in one for one in faults(half))


def test_beside_a_trace_of_torch_it_is_as_valid(tmp_path):
    torch = pytest.importorskip("torch")
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], record_shapes=True) as profile:
        x = torch.ones(4, 4, requires_grad=True)
        (x @ x).relu().sum().backward()
    file = tmp_path / "torch.json"
    profile.export_chrome_trace(str(file))
    theirs = json.loads(file.read_text())
    alone = faults(theirs)
    for record in (records.gpu(), records.simulated()):
        ours = json.loads(trace.render(record))
        both = {**theirs, "traceEvents": theirs["traceEvents"] + ours["traceEvents"]}
        assert sorted(faults(both)) == sorted(alone)
        known = {(e["pid"], e["tid"]) for e in theirs["traceEvents"] if e["ph"] == "X"}
        assert not known & {(e["pid"], e["tid"]) for e in ours["traceEvents"] if e["ph"] == "X"}


def test_waits_are_named_and_say_what_is_known():
    first = events(records.gpu(), category="syncguard")[0]
    assert first["name"] == "wait: torch.nonzero(labels != 0) (loss.py:6)"
    assert first["args"]["rule"] == "SG101"
    assert first["args"]["verdict"] == "host-bound"
    assert first["args"]["called from"] == ["train.py:8"]


def test_every_span_is_there_once():
    record = records.gpu()
    assert len(events(record)) == len(record.timeline)
    assert [e["name"] for e in events(record, category="user_annotation")] == [
        "ProfilerStep#4",
        "ProfilerStep#5",
        "ProfilerStep#6",
    ]
    kernels = events(record, category="kernel")
    assert {(e["pid"], e["args"]["device"], e["args"]["stream"]) for e in kernels} == {(0, 0, 7)}


def test_events_of_a_track_nest():
    tracks: dict[tuple[int, int], list[dict]] = {}
    for event in events(records.gpu()):
        tracks.setdefault((event["pid"], event["tid"]), []).append(event)
    for track in tracks.values():
        over: list[float] = []
        for event in sorted(track, key=lambda e: (e["ts"], -e["dur"])):
            while over and over[-1] <= event["ts"] + 1e-6:
                over.pop()
            assert not over or event["ts"] + event["dur"] <= over[-1] + 1e-6
            over.append(event["ts"] + event["dur"])


def test_arrows_lead_from_work_to_the_wait_and_from_it_to_the_next_work():
    record = records.gpu()
    slices = events(record)
    starts = {e["id"]: e for e in events(record, "s")}
    ends = {e["id"]: e for e in events(record, "f")}
    assert set(starts) == set(ends)
    assert len(starts) == 2 * 15 - 1  # nothing follows the last wait

    def within(arrow):
        return [
            e for e in slices
            if (e["pid"], e["tid"]) == (arrow["pid"], arrow["tid"]) and e["ts"] <= arrow["ts"] <= e["ts"] + e["dur"]
        ]  # fmt: skip

    for number, start in starts.items():
        end = ends[number]
        assert within(start)
        assert within(end)
        assert end["bp"] == "e"
        assert {start["pid"], end["pid"]} == {0, trace.HOST}
        assert start["ts"] <= end["ts"]
        wait = within(end if start["name"] == "waited for" else start)
        assert all(e["name"].startswith("wait: ") for e in wait)


def test_calls_and_their_work_share_a_number():
    pairs = [e["args"].get("correlation") for e in events(records.large(4)) if e["cat"] in ("cuda_runtime", "kernel")]
    assert pairs == [None] * 8  # aten::sum and reduce_kernel have different names
    host, work = records.Span("host", "k", 0.0, 2.0), records.Span("gpu", "k", 5.0, 4.0, thread="0:7")
    spans = tuple(msgspec.structs.replace(s, start_us=s.start_us + n) for n in (0.0, 10.0, 20.0) for s in (host, work))
    record = msgspec.structs.replace(records.empty(), timeline=spans)
    numbers = [e["args"]["correlation"] for e in events(record)]
    assert numbers == [1, 1, 3, 3, 5, 5]


def test_a_simulated_run_gives_counts_and_says_so():
    record = records.simulated()
    made = json.loads(trace.render(record))
    assert "no times" in made["otherData"]["notes"][0]
    assert "counts, not times" in next(e["args"]["name"] for e in made["traceEvents"] if e["name"] == "process_name")
    steps = [(e["name"], e["ts"], e["dur"]) for e in events(record, category="user_annotation")]
    assert steps == [(f"ProfilerStep#{n}", (n - 1) * 5, 5) for n in range(1, 6)]
    assert sum(e["dur"] for e in events(record, category="syncguard")) == sum(wait.count for wait in record.waits)


def test_counts_outside_the_steps_are_there_too():
    record = msgspec.structs.replace(records.gpu(), timeline=())
    counted = sum(e["dur"] for e in events(record, category="syncguard"))
    assert counted == sum(wait.count for wait in record.waits)
    assert events(record, category="user_annotation")[0]["name"] == "outside the steps"


def test_ranks():
    assert json.loads(trace.render(records.ranked()))["distributedInfo"]["world_size"] == 4


def compared(before, after) -> list[str]:
    return list(diff.render(before, after, difference(before, after), Look(width=100)))


def test_two_runs_side_by_side():
    before = records.gpu()
    steps = records.Steps("optimizer", 3, 20, (12.0,) * 23, (11.4,) * 23)
    after = msgspec.structs.replace(before, waits=before.waits[2:], steps=steps)
    lines = compared(before, after)
    assert lines[0].startswith("Before and after: train.py --limit 4 on NVIDIA H200")
    assert [line.split()[:4] for line in lines if line.startswith("gone")] == [["gone", "1", "->", "0"]] * 2
    assert lines[-2] == "6 -> 4 waits a step (2 gone, 6 same)."
    assert lines[-1] == "A step took 15.2 ms and takes 11.4 ms: 25% shorter."


def test_the_gain_is_only_told_where_it_is_known():
    gpu, simulated = records.gpu(), records.simulated()
    assert compared(gpu, gpu)[-1].endswith("no difference that can be measured.")
    assert compared(simulated, simulated)[-1].startswith("No times")
    host = msgspec.structs.replace(gpu, steps=records.Steps("optimizer", 3, 20, (30.0,) * 23))
    assert "by the clock of the host: 97% longer" in compared(gpu, host)[-1]
    other = msgspec.structs.replace(gpu, machine=records.Machine("cuda", "NVIDIA A100"))
    assert "different devices" in compared(gpu, other)[-1]


def test_two_runs_without_waits():
    assert "Neither run waits." in compared(records.empty(), records.empty())
