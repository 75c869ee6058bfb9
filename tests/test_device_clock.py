"""The device's clock and the profiler's window, on a device made by hand: several streams, a fork, a failure."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from syncguard import pack  # noqa: E402
from syncguard.observe.cuda import Device  # noqa: E402
from syncguard.observe.layers import Nodes, made_by  # noqa: E402
from syncguard.observe.recorder import Recorder  # noqa: E402
from syncguard.observe.watch import Watch  # noqa: E402
from syncguard.observe.window import Clock, Window  # noqa: E402

PACK = pack.load()
FAILED = "CUDA error: device-side assert triggered\nCompile with TORCH_USE_CUDA_DSA"


class Event:
    """As torch's: there is no time to it until it is over."""

    times: list[float] = []  # noqa: RUF012
    streams: list[object] = []  # noqa: RUF012

    def __init__(self, enable_timing: bool) -> None:
        self.at, self.over = Event.times.pop(0), False

    def record(self, stream: object) -> None:
        Event.streams.append(stream)

    def synchronize(self) -> None:
        self.over = True

    def elapsed_time(self, other: Event) -> float:
        if not (self.over and other.over):
            raise RuntimeError("Both events must be completed before calculating elapsed time.")
        return other.at - self.at


@pytest.fixture
def device(monkeypatch):
    """A torch that has a device, which is the second one of a few."""
    monkeypatch.setattr(torch.cuda, "Event", Event)
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: False)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 1)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device=None: f"current of {device}")
    Event.streams.clear()


@pytest.mark.parametrize(
    ("times", "steps"),
    [
        ([1.0, 3.0, 6.5], (2.0, 3.5)),
        ([1.0, 9.0, 4.0, 11.0], (8.0, 0.0, 2.0)),  # the third is of a stream that had nothing to do
        ([1.0], ()),
    ],
)
def test_steps_that_begin_on_several_streams_have_no_time_below_none(device, times, steps):
    Event.times[:] = times
    clock = Clock()
    for _ in times:
        clock.tick()
    clock.close()
    assert clock.steps == pytest.approx(steps)
    assert len(clock.begins) == len(steps)


def test_the_clock_is_that_of_one_device(device, monkeypatch):
    Event.times[:] = [0.0, 1.0]
    clock = Clock()
    clock.tick()
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    clock.tick()
    assert Event.streams == ["current of 1"] * 2


def test_a_device_that_has_failed_fails_nobody_else(device, monkeypatch):
    def failed(*_):
        raise RuntimeError(FAILED)

    Event.times[:] = [0.0, 1.0]
    one = Device(PACK, lambda seen: None, layers=["clock"])
    with one:
        one.step()
        monkeypatch.setattr(Event, "synchronize", failed)
        one.step()
    assert one.measured().device_ms == ()
    assert any("(CUDA error: device-side assert triggered)" in note for note in one.notes)
    monkeypatch.setattr(torch.cuda, "get_device_name", failed)
    assert one.name == ""
    monkeypatch.setattr(Event, "record", failed)
    with Device(PACK, lambda seen: None, layers=["clock"]) as other:
        Event.times[:] = [0.0]
        other.step()
        other.step()  # it is not asked again
    assert len([note for note in other.notes if "could not be asked" in note]) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a fork")
def test_a_forked_process_leaves_its_parent_what_was_measured():
    watch = Watch("cuda", Recorder(PACK))
    watch.engine = one = Device(PACK, watch.hear, window=(2, 1))
    with one:
        for _ in range(4):
            one.step()
            torch.ones(2).sum()
        kept = Path(one._window._file)
        child = os.fork()
        if child == 0:
            left = 1
            try:
                watch.forget()
                watch.measured()
                one.__exit__(None, None, None)
                left = int(one.steps != 0)
            finally:
                os._exit(left)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert kept.is_file()
    assert one.measured() is not None
    assert not kept.exists()
    assert one.profiled() == (1, 3)


def test_one_error_ends_a_backward_and_none_is_left_of_it(monkeypatch):
    import warnings

    from syncguard.observe import cuda
    from syncguard.observe.layers import WAITS

    def forbid(seen):
        raise PermissionError("forbidden")

    monkeypatch.setattr(torch._C, "_cuda_set_sync_debug_mode", lambda mode: None, raising=False)
    monkeypatch.setattr(torch._C, "_cuda_get_sync_debug_mode", lambda: 0, raising=False)
    node = torch.ones(1, requires_grad=True).exp().grad_fn
    with Device(PACK, forbid) as one:
        monkeypatch.setattr(cuda, "node_now", lambda: node)
        for _ in range(2):
            one._tell("cudaStreamSynchronize", None)
        monkeypatch.setattr(cuda, "node_now", lambda: None)
        over = compile("warn(message, stacklevel=1)", os.path.join("torch", "autograd", "graph.py"), "eval")
        with pytest.raises(PermissionError):
            eval(over, {"warn": warnings.warn, "message": WAITS})
        assert one._late == []


def test_what_torch_keeps_itself_while_it_compiles_stays_as_it_is():
    from torch.fx import traceback

    layer = Nodes()
    layer.open()
    try:
        with traceback.preserve_node_meta():
            traceback.set_stack_trace(["mine"])
            kept = torch.ones(1, requires_grad=True).exp().grad_fn
            assert traceback.format_stack() == ["mine"]
        ours = torch.ones(1, requires_grad=True).exp().grad_fn
    finally:
        layer.close()
    assert kept.metadata["traceback_"] == ["mine"]
    assert made_by(kept) is None
    assert made_by(ours)


def test_a_window_that_was_never_open_has_nothing():
    window = Window(2, 2)
    window.close()
    assert window.profile() is None
