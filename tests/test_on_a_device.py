"""Streams, threads, graphs, backwards and compiled code on a device: programs whose truth is known without us.

What may break a process's device, or has exit codes, are programs of their own, which run beside one another.
"""

from __future__ import annotations

import copy
import gc
import linecache
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from syncguard import pack  # noqa: E402
from syncguard.observe import cost  # noqa: E402
from syncguard.observe.attribute import Files, position, spot, spot_of  # noqa: E402
from syncguard.observe.cuda import Device  # noqa: E402
from syncguard.observe.forbid import SyncError, budget, forbid  # noqa: E402
from syncguard.record import load as record_of  # noqa: E402

os.environ.setdefault("CUDA_DEVICE_MAX_CONNECTIONS", "32")  # streams that share one wait for each other
PACK = pack.load()
ROOT = Path(__file__).parent.parent
WHERE = "cuda"
pytestmark = pytest.mark.device
LONG = 200.0  # milliseconds of a sleep that is measured: others may use the device at the same time


@pytest.fixture(scope="module")
def sleep():
    """Queues a sleep of so many milliseconds. The device is warm: what is loaded at its first use would wait, too."""
    if not torch.cuda.is_available():
        pytest.skip("there is no device")
    x = torch.ones(8, device=WHERE)
    for _ in range(2):
        x.sum().item()
        (x * 2).add_(1).fill_(1)[x > 0].tolist()
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        torch.cuda._sleep(50_000_000)
        end.record()
        end.synchronize()
    rate = 50_000_000 / begin.elapsed_time(end)
    return lambda ms: torch.cuda._sleep(int(rate * ms))


@dataclass(frozen=True)
class Heard:
    """A wait: its row, its part of the program, what held the thread up, and the texts of its lines."""

    op: str
    phase: str
    kind: str
    line: str
    forward: str
    thread: str


class Ear:
    """A device that is listened to."""

    def __init__(self, **settings: Any) -> None:
        self.heard: list[Heard] = []
        self.order: list[int] = []  # of each wait that was heard: its number in `places`
        self.places: list[Heard] = []
        self.files = Files()
        self.device = Device(PACK, self.tell, **settings)

    def __enter__(self) -> Ear:
        self.device.__enter__()
        return self

    def __exit__(self, *fault: Any) -> None:
        self.device.__exit__(*fault)

    def tell(self, seen: Any) -> int:
        at, _ = spot(sys._getframe(1), self.files)
        forward = spot_of(seen.forward, self.files) if seen.forward else None
        thread = threading.current_thread().name
        one = Heard(seen.op, seen.phase, seen.kind, text(at), text(forward), thread)
        if one not in self.places:
            self.places.append(one)
        self.heard.append(one)
        self.order.append(self.places.index(one))
        return self.order[-1]

    @property
    def lines(self) -> list[str]:
        return [one.line for one in self.heard]

    @property
    def lengths(self) -> list[tuple[str, float]]:
        """Of each wait whose end torch told: its line and its milliseconds."""
        told = sorted(self.device.waited.items())
        return [(self.places[self.device.lines[number]].line, length / 1e3) for number, length in told]

    def __str__(self) -> str:
        waits = "\n".join(f"  {one}" for one in self.heard)
        return f"heard:\n{waits}\nlengths: {self.lengths}\nnotes: {self.device.notes}"


def text(at: Any) -> str:
    if at is None:
        return ""
    return linecache.getline(at.code.co_filename, position(at.code, at.instruction)[0]).strip()


# -- programs of their own ----------------------------------------------------------------------------

STEPS = """
import torch
side = torch.cuda.Stream()
w = torch.ones(64, device="cuda", requires_grad=True)
optimizer = torch.optim.SGD([w], 0.1)
for n in range(16):
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        beside = torch.ones(64, device="cuda") * n
    torch.cuda.current_stream().wait_stream(side)
    loss = (w * beside).sum()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    loss.item()  # waits
torch.cuda.synchronize()
"""
OTHER_STREAM = """
import torch
side = torch.cuda.Stream()
w = torch.ones(4, device="cuda", requires_grad=True)
optimizer = torch.optim.SGD([w], 0.1)
w.grad = torch.ones_like(w)
torch.cuda.synchronize()
for n in range(12):
    if n % 2:
        torch.cuda._sleep(100_000_000)  # of a step that ends in the other stream
    with torch.cuda.stream(side if n % 2 else torch.cuda.default_stream()):
        optimizer.step()
print("done")
"""
WORKERS = """
import torch
from torch.utils.data import DataLoader
data = torch.arange(48.)
w = torch.ones(1, device="cuda", requires_grad=True)
optimizer = torch.optim.SGD([w], 0.1)
for epoch in range(3):
    for batch in DataLoader(data, batch_size=4, num_workers=2, pin_memory=True, multiprocessing_context="fork"):
        loss = (w * batch.to("cuda", non_blocking=True)).sum()
        loss.backward()
        optimizer.step()
        loss.item()  # waits
"""
ASSERTS = """
import torch
w = torch.ones(4, device="cuda", requires_grad=True)
optimizer = torch.optim.SGD([w], 0.1)
for n in range(12):
    loss = w[torch.tensor([3 if n < 8 else 9], device="cuda")].sum()
    loss.backward()
    optimizer.step()
    print(loss.item() > -100, flush=True)
"""
CAPTURES = """
import torch
x = torch.ones(4, device="cuda")
x.sum().item()
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    y = x.sum()
    y.item()
print("not reached")
"""
INTERRUPTED = """
import _thread, threading, torch
x = torch.ones((), device="cuda")
x.item()
def ask():
    threading.Timer(0.2, _thread.interrupt_main).start()
    torch.cuda._sleep(1_500_000_000)
    return x.item()  # waits
for _ in range(2):
    try:
        print(ask())
    except KeyboardInterrupt:
        print("interrupted", flush=True)
print(x.item())
ask()
print("not reached")
"""
CALLBACKS = """
import torch
from torch.cuda import _gpu_trace
from syncguard import pack
from syncguard.observe.cuda import Device
x, ours, heard = torch.ones((), device="cuda"), [], []
def ask():
    heard.clear()
    x.item()
    torch.ones(1 << 20, device="cuda")
    return sorted(set(heard))
for name in ("stream_synchronization", "memory_allocation", "memory_deallocation"):
    getattr(_gpu_trace, f"register_callback_for_{name}")(lambda *_, name=name: heard.append(name))
print("off", ask())
with Device(pack.load(), ours.append):
    print("watched", ask())
print("after", ask())
torch._C._activate_gpu_trace()
print("on", ask())
with Device(pack.load(), ours.append):
    print("both", ask())
print("still on", ask())
print(len(ours))
"""
ALL = ["memory_allocation", "memory_deallocation", "stream_synchronization"]
SMOOTH = """
import torch
def smooth(x):
    y = x.sin() + 1
    n = y.sum().item()  # waits
    return (y * n).sum()
compiled = torch.compile(smooth)
w = torch.zeros(64, device="cuda", requires_grad=True)
compiled(w).backward()
compiled(w).backward()
before = dict(torch._dynamo.utils.counters["stats"])
optimizer = torch.optim.SGD([w], 0.0)
with torch._dynamo.config.patch(error_on_recompile=True):
    for n in range(12):
        compiled(w).backward()
        w.prod().backward()  # waits in backward, so that nodes keep their frames
        optimizer.step()
print(dict(torch._dynamo.utils.counters["stats"]) == before)
"""
RUN = ("-m", "syncguard", "run", "--device", "cuda", "--warmup", "2", "-q")
PROGRAMS: dict[str, tuple[str, tuple[str, ...]]] = {
    "steps": (STEPS, RUN),
    "budget 0": (STEPS, (*RUN, "--budget", "0")),
    "budget 1": (STEPS, (*RUN, "--budget", "1")),
    "fail on any": (STEPS, (*RUN, "--fail-on", "any")),
    "other stream": (OTHER_STREAM, RUN),
    "workers": (WORKERS, RUN),
    "workers, plain": (WORKERS, ()),
    "asserts": (ASSERTS, RUN),
    "asserts, plain": (ASSERTS, ()),
    "captures": (CAPTURES, RUN),
    "captures, plain": (CAPTURES, ()),
    "interrupted": (INTERRUPTED, RUN),
    "interrupted, plain": (INTERRUPTED, ()),
    "callbacks": (CALLBACKS, ()),
    "compiled": (SMOOTH, RUN),
}


@dataclass(frozen=True)
class Ended:
    """How a program ended, and its record, where it has one."""

    code: int
    out: str
    err: str
    record: Any

    def __str__(self) -> str:
        record = self.record
        waits = [
            (one.op, one.phase, one.place.source.strip(), one.count, one.steps, one.wait_us, one.bubble_us, one.verdict)
            for one in (record.waits if record else ())
        ]
        more = (record.ended, record.notes, record.steps, record.what_if) if record else ()
        return f"code {self.code}\nout: {self.out[-1500:]}\nerr: {self.err[-3000:]}\nwaits: {waits}\nrecord: {more}"


def ran(folder: Path, name: str) -> Ended:
    source, words = PROGRAMS[name]
    home = folder / name.replace(" ", "-").replace(",", "")
    home.mkdir()
    (home / "program.py").write_text(source)
    saved = ("--save", "record.json") if words else ()
    env = (
        os.environ
        | {"PYTHONFAULTHANDLER": "1"}
        | {"PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))}
    )
    try:
        done = subprocess.run([sys.executable, *words, *saved, "program.py"], cwd=home, env=env, capture_output=True,
                              text=True, check=False, timeout=150)  # fmt: skip
    except subprocess.TimeoutExpired as late:
        return Ended(124, str(late.stdout), f"not over after {late.timeout} s: {late.stderr!r}", None)
    file = home / "record.json"
    return Ended(done.returncode, done.stdout, done.stderr, record_of(str(file)) if file.exists() else None)


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """All of them, run at the same time."""
    if not torch.cuda.is_available():
        pytest.skip("there is no device")
    folder = tmp_path_factory.mktemp("programs")
    with ThreadPoolExecutor(len(PROGRAMS)) as pool:
        return dict(zip(PROGRAMS, pool.map(partial(ran, folder), PROGRAMS)))


@pytest.mark.parametrize(("name", "code"), [("steps", 0), ("budget 0", 1), ("budget 1", 0), ("fail on any", 1)])
def test_exit_codes_of_a_program_of_several_streams(programs, name, code):
    assert programs[name].code == code, programs[name]


def test_a_run_of_several_streams_tells_its_wait_once_a_step(programs):
    done = programs["steps"]
    assert done.record, str(done)
    asked = [wait for wait in done.record.waits if wait.steps]
    assert [(wait.op, wait.place.source.strip()) for wait in asked] == [
        ("torch.Tensor.item", "loss.item()  # waits")
    ], str(done)
    assert asked[0].count == 16, str(done)
    assert {times for _, times in asked[0].steps} == {1}, str(done)
    assert asked[0].wait_us, str(done)
    assert all(bubble >= 0 for bubble in asked[0].bubble_us), str(done)
    assert asked[0].verdict, str(done)
    assert done.record.what_if, str(done)
    assert done.record.steps.device_ms, str(done)
    assert all(ms >= 0 for ms in done.record.steps.device_ms), str(done)
    assert any(wait.op == "torch.cuda.synchronize" for wait in done.record.waits), str(done)


def test_steps_that_begin_on_another_stream_have_times(programs):
    done = programs["other stream"]
    assert (done.code, done.out) == (0, "done\n"), str(done)
    assert done.record.steps.device_ms, str(done)
    assert all(ms >= 0 for ms in done.record.steps.device_ms), str(done)


def test_workers_that_end_leave_the_profile(programs):
    done = programs["workers"]
    assert done.code == programs["workers, plain"].code == 0, f"{done}\n---\n{programs['workers, plain']}"
    (wait,) = [wait for wait in done.record.waits if wait.steps]
    assert (wait.place.source.strip(), wait.thread, wait.count) == ("loss.item()  # waits", "main", 36), str(done)
    assert wait.wait_us, str(done)
    assert wait.verdict, str(done)
    assert not any("could not be" in note for note in done.record.notes), str(done)


@pytest.mark.parametrize("name", ["asserts", "captures"])
def test_an_error_of_the_device_is_the_programs(programs, name):
    done, plain = programs[name], programs[f"{name}, plain"]
    assert done.code == plain.code != 0, f"{done}\n---\n{plain}"
    assert done.out == plain.out, f"{done}\n---\n{plain}"
    kinds = [[line.partition(":")[0] for line in one.err.splitlines() if "Error: " in line] for one in (done, plain)]
    assert kinds[1], str(plain)
    assert kinds[0] == kinds[1], f"{done}\n---\n{plain}"
    assert done.record, str(done)
    assert done.record.ended.startswith("exception"), str(done)
    assert not done.record.complete, str(done)


def test_what_was_told_until_the_device_failed_is_told(programs):
    done = programs["asserts"]
    assert [wait.count for wait in done.record.waits if "print(" in wait.place.source] in ([8], [9]), str(done)


def test_an_interrupt_while_the_host_waits_reaches_the_program(programs):
    done, plain = programs["interrupted"], programs["interrupted, plain"]
    assert (done.code, done.out) == (plain.code, plain.out), f"{done}\n---\n{plain}"
    assert plain.out == "interrupted\ninterrupted\n1.0\n", str(plain)
    counts = {wait.place.source.strip(): wait.count for wait in done.record.waits}
    assert counts.get("return x.item()  # waits") == 3, str(done)
    assert counts.get("print(x.item())") == 1, str(done)  # what comes after an interrupt is heard as well
    assert done.record.ended == "signal SIGINT", str(done)


def test_whoever_asks_torch_for_its_callbacks_has_them(programs):
    done = programs["callbacks"]
    assert done.code == 0, str(done)
    assert done.out.splitlines() == [
        "off []", f"watched {ALL[2:]}", "after []", f"on {ALL}", f"both {ALL}", f"still on {ALL}", "2"
    ], str(done)  # fmt: skip


def test_a_program_that_is_compiled_runs_as_it_is(programs):
    done = programs["compiled"]
    if done.code and any(word in done.err for word in ("Triton", "C compiler", "gcc")):
        pytest.skip(f"nothing compiles here: {done.err[-300:]}")
    assert (done.code, done.out) == (0, "True\n"), str(done)
    found = {(wait.place.source.strip(), wait.phase): wait for wait in done.record.waits if wait.steps}
    assert [wait.op for (line, _), wait in found.items() if "y.sum().item()" in line] == ["torch.Tensor.item"], str(
        done
    )
    backward = [wait for wait in found.values() if wait.phase == "backward"]
    assert backward, str(done)
    assert any("w.prod()" in wait.forward.source for wait in backward if wait.forward), str(done)


# -- streams ------------------------------------------------------------------------------------------


def test_a_wait_is_as_long_as_the_work_before_it(sleep):
    x = torch.ones(8, device=WHERE)
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda.synchronize()
    with Ear() as ear:
        begin.record()
        sleep(LONG)
        end.record()
        x.sum().item()  # the wait
    took = begin.elapsed_time(end)
    assert ear.lines == ["x.sum().item()  # the wait"], str(ear)
    assert [length for _, length in ear.lengths] == [pytest.approx(took, rel=0.2)], f"the device slept {took} ms\n{ear}"


def test_what_is_queued_on_another_stream_is_not_waited_for(sleep):
    x, side = torch.ones((), device=WHERE), torch.cuda.Stream()
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda.synchronize()
    with Ear() as ear:
        with torch.cuda.stream(side):
            begin.record()
            sleep(LONG)
            end.record()
        x.item()
        side.synchronize()
    took = begin.elapsed_time(end)
    assert ear.lines == ["x.item()", "side.synchronize()"], str(ear)
    (_, first), (_, second) = ear.lengths
    assert first < took / 2 < second < took * 1.2, f"the device slept {took} ms\n{ear}"


def test_each_way_to_wait_for_a_stream_is_told_once_by_its_name(sleep):
    side, done, never = torch.cuda.Stream(), torch.cuda.Event(), torch.cuda.Event()
    torch.cuda.synchronize()
    with Ear() as ear:
        with torch.cuda.stream(side):
            sleep(5)
            done.record()
        # The device waits here, the host does not.
        torch.cuda.current_stream().wait_event(done)
        torch.cuda.current_stream().wait_stream(side)
        done.wait()
        done.query()
        side.query()
        never.synchronize()  # it was never recorded: there is nothing to wait for
        done.synchronize()
        side.record_event().synchronize()
        side.synchronize()
        torch.cuda.current_stream().synchronize()
        torch.cuda.default_stream().synchronize()
        torch.cuda.synchronize()
    told = [(one.line, one.kind) for one in ear.heard]
    assert told == [
        ("done.synchronize()", "cudaEventSynchronize"),
        ("side.record_event().synchronize()", "cudaEventSynchronize"),
        ("side.synchronize()", "cudaStreamSynchronize"),
        ("torch.cuda.current_stream().synchronize()", "cudaStreamSynchronize"),
        ("torch.cuda.default_stream().synchronize()", "cudaStreamSynchronize"),
        ("torch.cuda.synchronize()", "cudaDeviceSynchronize"),
    ], str(ear)
    assert [one.op.rpartition(".")[2] for one in ear.heard] == ["synchronize"] * 6, str(ear)
    for one, word in zip(ear.heard, ("event", "event", "stream", "stream", "stream", "cuda.synchronize")):
        assert word in one.op.lower(), str(ear)


# -- threads ------------------------------------------------------------------------------------------


def test_each_threads_waits_are_its_own(sleep):
    x, together, streams = torch.ones(8, device=WHERE), threading.Barrier(2), [torch.cuda.Stream() for _ in range(2)]
    for stream in streams:
        with torch.cuda.stream(stream):
            x.sum().item()
    torch.cuda.synchronize()

    def first():
        with torch.cuda.stream(streams[0]):
            together.wait()
            for _ in range(4):
                sleep(20)
                x.sum().item()  # of the first

    def second():
        with torch.cuda.stream(streams[1]):
            together.wait()
            for _ in range(6):
                sleep(10)
                x.sum().tolist()  # of the second

    with Ear() as ear:
        threads = [threading.Thread(target=run, name=run.__name__) for run in (first, second)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
    assert {(one.thread, one.line, one.op) for one in ear.heard} == {
        ("first", "x.sum().item()  # of the first", "torch.Tensor.item"),
        ("second", "x.sum().tolist()  # of the second", "torch.Tensor.tolist"),
    }, str(ear)
    assert [sum(one.thread == name for one in ear.heard) for name in ("first", "second")] == [4, 6], str(ear)
    assert len(ear.lengths) == 10, str(ear)
    assert all(length > (10 if "of the first" in line else 5) for line, length in ear.lengths), str(ear)


def test_a_loader_that_pins_memory_waits_nowhere():
    from torch.utils.data import DataLoader

    if not torch.cuda.is_available():
        pytest.skip("there is no device")
    loader = DataLoader(
        torch.arange(32.0), batch_size=4, num_workers=1, pin_memory=True, multiprocessing_context="fork"
    )
    total = 0.0
    with Ear() as ear:
        for batch in loader:
            total += batch.to(WHERE, non_blocking=True).sum().item()
    assert total == 31 * 16
    assert set(ear.lines) == {"total += batch.to(WHERE, non_blocking=True).sum().item()"}, str(ear)
    assert len(ear.lines) == 8, str(ear)
    assert {one.thread for one in ear.heard} == {"MainThread"}, str(ear)


# -- graphs -------------------------------------------------------------------------------------------


def test_a_graph_waits_where_its_result_is_asked_for(sleep):
    x, graph, values = torch.ones(8, device=WHERE), torch.cuda.CUDAGraph(), []
    with torch.cuda.stream(torch.cuda.Stream()):
        (x * 2).sum()
    torch.cuda.synchronize()
    with Ear() as ear:
        with torch.cuda.graph(graph):
            y = (x * 2).sum()
        captured = len(ear.heard)
        for n in range(3):
            x.fill_(n)
            graph.replay()
            values.append(y.item())
    assert values == [0, 16, 32]
    assert {(one.line, one.op) for one in ear.heard[:captured]} == {
        ("with torch.cuda.graph(graph):", "torch.cuda.graph")
    }, str(ear)  # it synchronizes before it captures
    assert captured == 1, str(ear)
    assert ear.lines[captured:] == ["values.append(y.item())"] * 3, str(ear)
    assert {one.op for one in ear.heard[captured:]} == {"torch.Tensor.item"}, str(ear)


def test_a_module_made_of_graphs_waits_when_it_is_made_and_never_again(sleep):
    torch.manual_seed(0)
    plain = torch.nn.Linear(8, 8).to(WHERE)
    module, x, losses, expected = copy.deepcopy(plain), torch.ones(4, 8, device=WHERE), [], []
    for n in range(3):
        plain.zero_grad(set_to_none=True)
        loss = plain(x * n).square().sum()
        loss.backward()
        expected.append(loss.item())
    torch.cuda.synchronize()
    with Ear() as ear:
        module = torch.cuda.make_graphed_callables(module, (torch.ones(4, 8, device=WHERE),))
        made = len(ear.heard)
        for n in range(3):
            module.zero_grad(set_to_none=True)  # the graph writes its gradients where those of before were
            loss = module(x * n).square().sum()
            loss.backward()
            losses.append(loss.item())
    assert losses == pytest.approx(expected, rel=1e-3)
    assert torch.allclose(module.weight.grad, plain.weight.grad, rtol=1e-3, atol=1e-4)
    text = "module = torch.cuda.make_graphed_callables(module, (torch.ones(4, 8, device=WHERE),))"
    assert set(ear.lines[:made]) <= {text}, str(ear)
    assert ear.lines[made:] == ["losses.append(loss.item())"] * 3, str(ear)


# -- backward -----------------------------------------------------------------------------------------

KEPT = torch.tensor([True, False] * 4)


def host_mask(w: Any) -> Any:
    return w[KEPT]  # host_mask


def scattered(w: Any) -> Any:
    return torch.zeros_like(w).masked_scatter(w.detach() > 0, w)  # scattered


def product(w: Any) -> Any:
    return w.prod()  # product


@pytest.mark.parametrize(
    ("made", "op"),
    [
        (host_mask, "torch.Tensor.__getitem__"),
        (scattered, "torch.Tensor.masked_scatter"),
        (product, "torch.Tensor.prod"),
    ],
)
@pytest.mark.parametrize("zeros", [0, 1, 2])
def test_a_backward_that_waits_is_told_with_its_forward_line(sleep, made, op, zeros):
    w = torch.ones(8, device=WHERE)
    w[:zeros] = 0
    w.requires_grad_()
    made(w).sum().backward()
    torch.cuda.synchronize()
    rounds = []
    with Ear() as ear:
        for _ in range(3):
            before = len(ear.heard)
            made(w).sum().backward()
            rounds.append([one for one in ear.heard[before:] if one.phase == "backward"])
    assert all(rounds), str(ear)
    assert {len(one) for one in rounds} == {len(rounds[0])}, str(ear)
    assert {one.forward for one in rounds[0]} == {""}, str(
        ear
    )  # with the first of them nodes begin to keep their frames
    for one in (*rounds[1], *rounds[2]):
        assert one.forward.endswith(f"# {made.__name__}"), str(ear)
        assert one.op in (op, op.replace("torch.Tensor.", "torch.")), str(ear)
    assert not torch.is_anomaly_enabled()


def test_what_is_forbidden_in_a_backward_raises_where_it_was_called(sleep):
    w = torch.ones(8, device=WHERE, requires_grad=True)
    product(w).backward()
    expected, shown = w.grad.clone(), []
    for inside in (None, forbid(), budget(8), budget(0), None):
        w.grad = None
        loss = product(w)
        try:
            if inside is None:
                loss.backward()
            else:
                with inside:
                    loss.backward()
            shown.append("passed")
        except SyncError as fault:
            shown.append(f"forbidden at {fault.place}")
        except BaseException as fault:
            shown.append(repr(fault))
        assert torch.equal(w.grad, expected), shown
    assert [one.partition(" ")[0] for one in shown] == ["passed", "forbidden", "passed", "forbidden", "passed"], shown
    assert all("test_on_a_device.py" in one for one in shown if one != "passed"), shown


def test_what_the_ear_raises_in_a_backward_is_raised_once(sleep):
    w, shown = torch.ones(8, device=WHERE, requires_grad=True), []
    product(w).backward()
    two = lambda: product(w[:4]) + product(w[4:])  # noqa: E731

    def refuse(seen):
        if seen.phase == "backward":
            raise PermissionError("forbidden")

    with Device(PACK, refuse) as device:
        for _ in range(2):
            loss = two()
            try:
                loss.backward()
                shown.append("passed")
            except BaseException as fault:
                shown.append(repr(fault))
            try:
                w.sum().item()
                shown.append("passed")
            except BaseException as fault:
                shown.append(repr(fault))
    assert shown == ["PermissionError('forbidden')", "passed"] * 2, (shown, device.notes, device._late)


# -- errors and memory --------------------------------------------------------------------------------


def test_no_memory_is_what_it_is(sleep):
    x = torch.ones((), device=WHERE)
    with Ear() as ear:
        for _ in range(3):
            with pytest.raises(torch.OutOfMemoryError, match="out of memory"):
                torch.empty(1 << 50, dtype=torch.uint8, device=WHERE)
            x.item()
    assert ear.lines == ["x.item()"] * 3, str(ear)


def test_memory_is_freed_while_errors_are_on_their_way(sleep):
    caught, x = [], torch.ones((), device=WHERE)

    def fails(n):
        kept = [torch.ones(1000, device=WHERE) for _ in range(4)]
        around = [kept]
        around.append(around)  # freed by a collection only
        if n % 2:
            raise ValueError(n)
        torch.ones(3, device=WHERE) + torch.ones(4, device=WHERE)

    with Ear() as ear:
        for n in range(100):
            try:
                fails(n)
            except Exception as fault:
                if n % 10 == 0:
                    gc.collect()
                caught.append(type(fault).__name__)
            if n % 25 == 0:
                torch.cuda.empty_cache()
        x.item()
    assert caught == ["RuntimeError", "ValueError"] * 50
    assert ear.lines == ["x.item()"], str(ear)


# -- costs --------------------------------------------------------------------------------------------


def measured(ear: Ear) -> tuple[Any, Any, str]:
    """What a window says, of which some things must be so whatever the program did."""
    found = ear.device.measured()
    assert ear.device._profile is not None, f"no profile: {found.notes}\n{ear}"
    trace = ear.device._profile.trace
    idle = cost.idle_time(trace)
    said = (
        f"costs {found.costs}\nwhat if {found.what_if}\nutilised {found.utilised} idle {idle} of {cost.extent(trace)}"
        f"\ndevice {found.device_ms}\nworks {trace.works[:40]}\nstops {trace.stops}\ncarried {trace.carried}"
        f"\nnotes {found.notes}\n{ear}"
    )
    caused = cost.bubbles(trace)
    assert all(0 <= bubble <= stop.length + 1e-6 for bubble, stop in zip(caused, trace.stops)), said
    assert sum(caused) <= idle + 1e-6, said
    assert 0 <= found.utilised <= 1, said
    assert all(0 <= stop.start <= stop.end for stop in trace.stops), said
    longest = max([trace.end, *(work.end for work in trace.works)]) / trace.steps / 1e3
    for one in found.what_if:
        assert one.saved_ms >= -0.01, said
        assert one.step_ms >= 0, said
        assert one.step_ms + one.saved_ms <= longest * 1.05 + 0.1, said
    assert all(ms >= 0 for ms in found.device_ms), said
    return found, trace, said


def stepped(once: Any, many: int = 7) -> Ear:
    """A program of so many steps, of which the profiler sees three."""
    torch.cuda.synchronize()
    with Ear(window=(3, 3)) as ear:
        for _ in range(many):
            ear.device.step()
            once()
    return ear


def test_a_wait_costs_what_the_host_then_does_while_the_device_is_idle(sleep):
    x = torch.ones((), device=WHERE)

    def once():
        sleep(40)
        x.item()
        time.sleep(0.02)  # the device has nothing to do

    found, trace, said = measured(stepped(once))
    assert trace.steps == 3, said
    assert len(found.what_if) == 1, said
    assert 8 < found.what_if[0].saved_ms < 30, said  # the 20 ms
    assert 30 < found.what_if[0].step_ms < 60, said  # the 40 ms of the device stay
    assert 0.45 < found.utilised < 0.85, said
    assert [*found.costs] == [0], said
    assert 20_000 < sum(found.costs[0].bubble_us) < 80_000, said  # between three steps
    assert len(found.device_ms) == 6, said
    assert all(45 < ms < 120 for ms in found.device_ms[2:5]), said  # the others are the profiler's, too


def test_an_idle_device_is_not_said_to_be_busy(sleep):
    x = torch.ones((), device=WHERE)

    def once():
        x.add_(1)
        x.item()
        time.sleep(0.02)

    found, _, said = measured(stepped(once))
    assert found.utilised < 0.2, said
    assert all(one.verdict != "gpu-bound" for one in found.costs.values()), said
    assert all(one.saved_ms < 5 for one in found.what_if), said  # the host is what takes 20 ms


def test_a_wait_beside_a_busy_stream_costs_nothing(sleep):
    x, side = torch.ones((), device=WHERE), torch.cuda.Stream()

    def once():
        with torch.cuda.stream(side):
            sleep(30)
        x.add_(1)
        x.item()
        time.sleep(0.005)

    found, trace, said = measured(stepped(once))
    assert len({work.lane for work in trace.works}) == 2, said
    assert found.utilised > 0.9, said
    assert sum(sum(one.bubble_us) for one in found.costs.values()) < 2000, said
    assert all(one.saved_ms < 4 for one in found.what_if), said
    torch.cuda.synchronize()


def test_a_stop_waits_for_its_own_stream(sleep):
    """What the profiler tells of the streams of stops and of works is the same."""
    x, side = torch.ones((), device=WHERE), torch.cuda.Stream()

    def once():
        x.add_(1)
        x.item()
        with torch.cuda.stream(side):
            sleep(5)
        side.synchronize()

    found, trace, said = measured(stepped(once))
    slept = {work.lane for work in trace.works if "spin" in work.name or "sleep" in work.name}
    assert len(slept) == 1, said
    lanes = [stop.lane for stop in trace.stops if stop.kind == "cudaStreamSynchronize"]
    assert len(lanes) == 6, said
    assert all(lane in slept for lane in lanes[1::2]), said
    assert not any(lane in slept for lane in lanes[::2]), said
    assert len(found.what_if) >= 2, said


def test_what_another_thread_waits_for_is_not_charged_to_a_line_of_this_one(sleep):
    x, y, side = torch.ones((), device=WHERE), torch.ones((), device=WHERE), torch.cuda.Stream()
    over = threading.Event()

    def beside():
        with torch.cuda.stream(side):
            while not over.is_set():
                sleep(5)
                y.item()  # of the other thread

    def once():
        x.add_(1)
        x.item()  # of the steps
        time.sleep(0.01)

    with torch.cuda.stream(side):
        y.item()
    thread = threading.Thread(target=beside)
    thread.start()
    try:
        ear = stepped(once)
    finally:
        over.set()
        thread.join()
    found, trace, said = measured(ear)
    (mine,) = (n for n, one in enumerate(ear.places) if one.line.endswith("# of the steps"))
    (other,) = (n for n, one in enumerate(ear.places) if one.line.endswith("# of the other thread"))
    assert ear.order.count(mine) == 7, said
    assert len(found.costs[mine].wait_us) == 3, said
    assert sorted(found.costs[mine].wait_us)[1] < 4000, said
    assert sorted(found.costs[other].wait_us)[len(found.costs[other].wait_us) // 2] > 2000, said
    strangers = {ear.device.lines.get(stop.wait) for stop in trace.stops if stop.thread != trace.thread}
    assert strangers <= {None, other}, said
    assert strangers, said


# -- compiled code ------------------------------------------------------------------------------------


def smooth(x: Any) -> Any:
    return (x.sin() + 1).sum()


def broken(x: Any) -> Any:
    y = x + 1
    n = y.sum().item()  # the graph breaks here
    return (y * n).sum()


def best(run: Any, times: int = 50) -> float:
    """The shortest of a few rounds, in microseconds a call."""
    found = []
    for _ in range(7):
        begin = time.perf_counter()
        for _ in range(times):
            run()
        found.append((time.perf_counter() - begin) / times * 1e6)
    return min(found)


def test_compiled_code_is_not_compiled_again_nor_slower_when_nodes_keep_their_frames(sleep):
    from torch._dynamo.utils import counters

    fast, slow = torch.compile(smooth), torch.compile(broken)
    w = torch.ones(64, device=WHERE, requires_grad=True)
    try:
        for _ in range(3):
            fast(w).backward()
            slow(w).backward()
    except Exception as fault:
        pytest.skip(f"nothing compiles here: {fault!r}"[:300])
    expected = [fast(w).item(), slow(w).item()]
    alone = best(lambda: fast(w).backward())
    before = {name: dict(counted) for name, counted in counters.items()}
    with torch._dynamo.config.patch(error_on_recompile=True), Ear() as ear:
        product(w).backward()  # nodes keep their frames from here on
        assert WHERE == "cpu" or torch.is_anomaly_enabled(), str(ear)
        watched = best(lambda: fast(w).backward())
        since = len(ear.heard)
        for _ in range(3):
            slow(w).backward()
        lines = ear.lines[since:]
        found = [fast(w).item(), slow(w).item()]
    after = {name: dict(counted) for name, counted in counters.items()}
    assert found == pytest.approx(expected, rel=1e-4)
    assert lines == ["n = y.sum().item()  # the graph breaks here"] * 3, str(ear)
    assert {one.op for one in ear.heard[since : since + 3]} == {"torch.Tensor.item"}, str(ear)
    assert after["stats"] == before["stats"], (before["stats"], after["stats"])
    assert watched < 1.5 * alone + 30, f"{watched} us a call, {alone} alone\n{ear}"
