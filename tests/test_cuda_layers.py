"""The layers of a CUDA run, on a machine that has none: their hooks fire as torch fires them, their profiles are made.

What a device really does is in docs/unseen-on-a-device.md until `make device` has seen it.
"""

from __future__ import annotations

import _thread
import ctypes
import itertools
import json
import operator
import os
import subprocess
import sys
import threading
import time
import types
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch.cuda import _gpu_trace  # noqa: E402

from syncguard import pack  # noqa: E402
from syncguard.observe import cost  # noqa: E402
from syncguard.observe.callee import decides, step_at  # noqa: E402
from syncguard.observe.cuda import Device, costs_of, said  # noqa: E402
from syncguard.observe.layers import WAITS, Missing, Nodes, Traces, Warnings, made_by  # noqa: E402
from syncguard.observe.profile import Unreadable, read, timeline  # noqa: E402
from syncguard.observe.window import Window  # noqa: E402
from syncguard.record import load as record_of  # noqa: E402

PACK = pack.load()


class Fired:
    """What torch calls when it waits, looked up each time, as torch does."""

    def __init__(self, kind: str) -> None:
        self.name = f"{kind}SynchronizationCallbacks"

    @property
    def fire_callbacks(self) -> Any:
        return getattr(_gpu_trace, self.name).fire_callbacks


STREAM, DEVICE, EVENT = Fired("Stream"), Fired("Device"), Fired("Event")
# A tensor whose every operation waits, as if in C++: the frames of this text count as torch's own.
WAITING = """
import torch
from torch.cuda import _gpu_trace

class Waiting(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if kwargs is None: kwargs = {}
        _gpu_trace.StreamSynchronizationCallbacks.fire_callbacks(0)
        return super().__torch_function__(func, types, args, kwargs)
"""
SPACE: dict[str, Any] = {"__name__": "torch._waiting"}
exec(compile(WAITING, os.path.join(os.path.dirname(torch.__file__), "_waiting.py"), "exec"), SPACE)
Waiting = SPACE["Waiting"]


def waiting(*values: float, dtype: Any = None) -> Any:
    return torch.tensor(values, dtype=dtype).as_subclass(Waiting)


def bound(kind: Any = STREAM) -> None:
    """One call into C that waits, and warns of it when it returns, as torch's bindings do."""
    [*map(operator.call, (partial(kind.fire_callbacks, 0), partial(warnings.warn, WAITS, stacklevel=1)))]


def told(run: Any, **settings: Any) -> list[tuple[str, str]]:
    """The op and hazard of every wait of a function."""
    found: list[tuple[str, str]] = []
    with Device(PACK, lambda seen: found.append((seen.op, seen.hazard)), **settings):
        run()
    return found


# -- traces -------------------------------------------------------------------------------------------


def test_traces_tell_the_kind_on_the_waiting_thread_and_stop_when_closed():
    found = []
    layer = Traces(lambda kind: found.append((kind, threading.get_ident())))
    layer.open()
    STREAM.fire_callbacks(7)
    DEVICE.fire_callbacks()
    thread = threading.Thread(target=EVENT.fire_callbacks, args=(3,))
    thread.start()
    thread.join()
    layer.close()
    STREAM.fire_callbacks(7)
    here = threading.get_ident()
    assert [kind for kind, _ in found] == ["stream", "device", "event"]
    assert [ident == here for _, ident in found] == [True, True, False]


def test_a_torch_without_callbacks_is_said(monkeypatch):
    monkeypatch.delattr(torch._C, "_activate_gpu_trace")
    with pytest.raises(Missing, match="no GPU-trace callbacks"):
        Traces(lambda kind: None).open()


# -- what waits ---------------------------------------------------------------------------------------


def test_the_operation_is_read_off_the_waiting_frame():
    x, m, n = waiting(1.0, 2.0), waiting(1, 0, dtype=torch.bool), waiting(3)

    def program():
        if m[0]:
            pass
        float(n)
        x.tolist()
        torch.unique(x)
        x[m]
        x[m] = x[m] + 1
        f"{n}"
        assert 2.0 in x
        torch.linalg.cholesky(torch.eye(2).as_subclass(Waiting))
        torch.nn.functional.one_hot(waiting(3, dtype=torch.int64))

    found = told(program)
    for one in (
        ("torch.Tensor.__bool__", "tensor-as-condition"),
        ("builtins.float", "python-number"),
        ("torch.Tensor.tolist", "copy-to-host"),
        ("torch.unique", "unique"),
        ("torch.Tensor.__format__", "print-tensor"),
        ("torch.Tensor.__contains__", "tensor-equality"),
        ("torch.linalg.cholesky", "linalg-check"),
        ("torch.nn.functional.one_hot", "one-hot"),
    ):
        assert one in found, one
    assert {op for op, _ in found} >= {"torch.Tensor.__getitem__", "torch.Tensor.__setitem__"}


def test_a_remainder_of_a_text_formats_it():
    words, n = "step %d: %.1f", waiting(3.0)
    assert told(lambda: "%.1f" % n) == [("torch.Tensor.__format__", "print-tensor")]  # noqa: UP031
    assert told(lambda: words % (1, n)) == [("torch.Tensor.__format__", "print-tensor")]
    assert ("torch.Tensor.__format__", "print-tensor") not in told(lambda: 7 % n)


def test_what_a_library_function_waits_for_is_told_under_the_name_that_the_program_called():
    def program():
        torch.nn.utils.clip_grad_norm_([parameter], 1.0, error_if_nonfinite=True)

    parameter = torch.nn.Parameter(torch.ones(2))
    parameter.grad = waiting(1.0, 2.0)
    assert ("torch.nn.utils.clip_grad_norm_", "clip-grad-check") in told(program)


def without_device(monkeypatch):
    """What torch asks of a device before it waits for it is nothing."""

    class Nothing:
        def __init__(self, device): ...
        def __enter__(self): ...
        def __exit__(self, *_): ...

    monkeypatch.setattr(torch.cuda, "_lazy_init", lambda: None)
    monkeypatch.setattr(torch.cuda, "device", Nothing)


def test_a_call_without_source_goes_by_the_function_that_waits_in_torch(monkeypatch):
    without_device(monkeypatch)
    text = compile("torch.cuda.synchronize()", "no file", "eval")

    def program():
        monkeypatch.setattr(torch._C, "_cuda_synchronize", DEVICE.fire_callbacks, raising=False)
        eval(text, {"torch": torch})

    assert told(program) == [("torch.cuda.synchronize", "synchronize")]


def test_what_a_with_enters_goes_by_its_own_name(monkeypatch):
    without_device(monkeypatch)
    monkeypatch.setattr(torch.cuda.graph, "__init__", lambda self: None)

    def program():
        monkeypatch.setattr(torch._C, "_cuda_synchronize", DEVICE.fire_callbacks, raising=False)
        with pytest.raises(AttributeError), torch.cuda.graph():  # it was never made
            pass

    assert told(program) == [("torch.cuda.graph", "setup")]


def test_what_is_inherited_goes_by_the_public_name_of_what_was_called():
    layer = torch.nn.Linear(1, 1)
    layer.bias = None
    with torch.no_grad():
        layer.weight = torch.nn.Parameter(waiting(1.0).reshape(1, 1))

    class Prior(torch.distributions.LogNormal):
        def log_prob(self, x):
            return super().log_prob(x)

    prior = Prior(torch.ones(1), torch.ones(1))
    assert {op for op, _ in told(lambda: layer.to("cpu"))} == {"torch.nn.Module.to"}
    assert {op for op, _ in told(lambda: torch.nn.Sequential(layer).to("cpu"))} == {"torch.nn.Module.to"}
    assert {op for op, _ in told(lambda: prior.log_prob(waiting(1.0)))} == {
        "torch.distributions.TransformedDistribution.log_prob"
    }


def test_a_hazard_is_the_one_that_fits_what_can_be_read():
    x, held, host = waiting(1.0, 2.0), {"x": waiting(1.0, 2.0)}, torch.tensor([0])

    def program():
        held["x"][host]
        x[0] = 1.0
        (
            x.abs()
            .to(device="cpu")
        )  # fmt: skip

    found = told(program)
    assert ("torch.Tensor.__getitem__", "host-index") in found
    assert ("torch.Tensor.__setitem__", "host-data") in found
    assert ("torch.Tensor.to", "copy-to-host") in found


def test_methods_of_modules_and_optimizers_go_by_their_public_names():
    class Mine(torch.optim.SparseAdam):
        def step(self, closure=None):
            return super().step(closure)

    loss = torch.nn.CTCLoss()
    optimizer = torch.optim.LBFGS([torch.nn.Parameter(torch.ones(1))])

    def program():
        loss(waiting(1.0).reshape(1, 1), waiting(1), waiting(1), waiting(1))
        optimizer.step(lambda: waiting(1.0).sum())

    names = set()
    with Device(PACK, lambda seen: names.add(seen.op)):
        try:
            program()
        except (RuntimeError, ValueError):
            pass
    assert "torch.nn.CTCLoss.forward" in names


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("if x: pass", True),
        ("if x.item() > 0: pass", True),
        ("while not x.any(): break", True),
        ("y = 1 if x else 2", True),
        ("assert x", True),
        ("y = x.item()", False),
        ("print(x)", False),
        ("y = bool(x); z = 1", False),
        ("if x is None: pass", None),
    ],
)
def test_a_branch_on_the_value_is_a_decision(text, expected):
    code = compile(f"def f(x):\n    {text}\n", "text", "exec").co_consts[0]
    found = []

    class Probe:
        def _here(self, *_):
            frame = sys._getframe(1)
            found.append(decides(frame.f_code, frame.f_lasti) if frame.f_code is inner else None)
            return self

        item = any = _here

        def __bool__(self):
            frame = sys._getframe(1)
            found.append(decides(frame.f_code, frame.f_lasti))
            return True

        def __gt__(self, other):
            return True

        def __repr__(self):
            return ""

    inner = code
    types.FunctionType(code, {"__builtins__": __builtins__})(Probe())
    assert (found[:1] or [None]) == [expected if expected is not False or found else None]
    assert step_at(code, 0).offset == 0


# -- warnings -----------------------------------------------------------------------------------------

BYTES = "indexing with dtype torch.uint8"  # what torch warns of on a CPU, by the way that it warns of waits


def byte_index():
    return torch.ones(3)[torch.ones(3, dtype=torch.uint8)]


@pytest.fixture
def layer():
    found: list[Any] = []
    one = Warnings(lambda: found.append(sys._getframe(2)), message=BYTES)
    one.found = found
    with warnings.catch_warnings():
        one.hook()
        yield one
        one.close()


def test_every_warning_is_heard_at_the_line_that_waits(layer):
    for _ in range(3):
        byte_index()
    assert [frame.f_code.co_name for frame in layer.found] == ["byte_index"] * 3


@pytest.mark.parametrize("action", ["ignore", "error", "once"])
def test_filters_of_the_program_hide_nothing_and_are_left_alone(layer, action):
    with warnings.catch_warnings(record=True) as mine:
        warnings.simplefilter(action)
        before = warnings.filters[:]
        layer.insist()
        byte_index()
        warnings.warn("mine", stacklevel=1) if action == "once" else None
    assert len(layer.found) == 1
    assert [str(w.message) for w in mine] == (["mine"] if action == "once" else [])
    assert before == [one for one in warnings.filters if one in before] or action


def test_what_we_raise_is_raised_in_the_program(layer):
    layer.told = lambda: (_ for _ in ()).throw(ValueError("not here"))
    with pytest.raises(ValueError, match="not here"):
        byte_index()


def test_closing_puts_everything_back():
    filters, shown = warnings.filters[:], warnings._showwarnmsg
    one = Warnings(lambda: None, message=BYTES)
    one.hook()
    one.close()
    assert warnings.filters == filters
    assert warnings._showwarnmsg is shown


@pytest.fixture
def modes(monkeypatch):
    """The switch of a torch that was built with CUDA."""
    state = [0]
    monkeypatch.setattr(torch._C, "_cuda_set_sync_debug_mode", lambda mode: state.__setitem__(0, mode), raising=False)
    monkeypatch.setattr(torch._C, "_cuda_get_sync_debug_mode", lambda: state[0], raising=False)
    return state


def test_the_users_mode_is_kept_and_restored(modes):
    modes[0] = 0
    with Device(PACK, lambda seen: None, layers=["warnings"]):
        assert modes == [1]
        assert torch.cuda.get_sync_debug_mode() == 0
        torch.cuda.set_sync_debug_mode("error")
        assert (modes, torch.cuda.get_sync_debug_mode()) == ([2], 2)
        torch.cuda.set_sync_debug_mode("warn")
        assert (modes, torch.cuda.get_sync_debug_mode()) == ([1], 1)
        with pytest.raises(RuntimeError, match="debug_mode"):
            torch.cuda.set_sync_debug_mode("loud")
    assert modes == [1]
    assert torch.cuda.set_sync_debug_mode.__module__ == "torch.cuda"


def test_the_users_own_mode_shows_each_place_once(modes):
    shown = []
    with Device(PACK, lambda seen: None, layers=["warnings"]) as device, warnings.catch_warnings():
        torch.cuda.set_sync_debug_mode("warn")
        warnings.showwarning = lambda message, *_: shown.append(str(message))
        for _ in range(3):
            device._warnings.insist()
            warnings.warn(f"{WAITS} (in a test)", stacklevel=1)
    assert shown == [f"{WAITS} (in a test)"]


def test_without_traces_the_warnings_tell_the_waits(modes):
    found = []
    with Device(PACK, found.append, layers=["warnings"]):
        warnings.warn(WAITS, stacklevel=1)
    assert [seen.kind for seen in found] == ["synchronizing operation"]


def test_with_both_a_wait_is_told_once_and_its_length_is_known(modes):
    found = []
    device = Device(PACK, lambda seen: found.append(seen) or 7)
    with device:
        for _ in range(2):
            bound()
    assert len(found) == 2
    assert list(device.measured().costs) == [7]  # both are the record's line 7
    assert [0 <= wait < 1e6 for wait in device.measured().costs[7].wait_us] == [True, True]


def test_a_wait_that_python_was_not_warned_of_is_counted(modes):
    with Device(PACK, lambda seen: None) as device:
        STREAM.fire_callbacks(0)
        bound()
    assert list(device.waited) == [1]
    assert any("1 waits came with no Python warning" in note for note in device.notes)


class Forbidden(PermissionError):
    place = ""


def forbid(seen):
    fault = Forbidden("forbidden", seen.kind)
    fault.place = "here"
    raise fault


def silent(kind=STREAM, times=1):
    """A call into C that waits without a word of Python."""
    list(map(operator.call, (partial(kind.fire_callbacks, 0),) * times))


@pytest.mark.parametrize(
    "wait", [bound, silent, partial(silent, EVENT), partial(silent, DEVICE), partial(silent, times=3)]
)
def test_what_seen_raises_is_raised_by_the_call_that_waits(modes, wait):
    caught = []

    def program():
        try:
            wait()
            caught.append("passed")
        except Forbidden as fault:
            caught.append(fault)

    with Device(PACK, forbid):
        program()
        program()
    assert [type(fault).__name__ for fault in caught] == ["Forbidden"] * 2
    assert all(isinstance(fault, Forbidden) and fault.place == "here" for fault in caught)
    assert {fault.args[0] for fault in caught} == {"forbidden"}


def test_what_seen_raises_is_raised_where_no_call_is(modes):
    """An index, a condition: Python raises nothing behind these, but the warning does."""

    class Indexed:
        def __getitem__(self, _):
            bound()

        def __bool__(self):
            bound()
            return True

    caught = []
    with Device(PACK, forbid):
        for use in (lambda x: x[0], lambda x: 1 if x else 2):
            try:
                use(Indexed())
            except Forbidden:
                caught.append(use)
    assert len(caught) == 2


def test_what_seen_raises_comes_once_however_it_comes(modes):
    with Device(PACK, forbid) as device:
        for wait in (silent, bound, silent):
            with pytest.raises(PermissionError, match="forbidden"):
                wait()
        for _ in range(20):
            time.sleep(0.001)  # nothing is left to raise
    assert not any("Python warning" in note for note in device.notes)


def test_others_hear_of_a_wait_that_is_forbidden(modes):
    heard = []
    _gpu_trace.register_callback_for_stream_synchronization(heard.append)
    try:
        with Device(PACK, forbid), pytest.raises(Forbidden):
            bound()
        STREAM.fire_callbacks(3)
    finally:
        getattr(_gpu_trace, STREAM.name).callback_list.remove(heard.append)
    assert heard == [0, 3]


def test_a_wait_of_whose_beginning_torch_could_not_tell_is_told_at_its_end(modes):
    found = []
    with Device(PACK, found.append):
        warnings.warn(WAITS, stacklevel=1)
        bound()
    assert [seen.kind for seen in found] == ["synchronizing operation", "cudaStreamSynchronize"]


def test_what_backward_warned_of_is_not_told_again_when_it_is_over(modes):
    found = []
    text = compile("warn(message, stacklevel=1)", os.path.join("torch", "autograd", "graph.py"), "eval")
    with Device(PACK, found.append):
        eval(text, {"warn": warnings.warn, "message": WAITS})
    assert found == []


def test_a_torch_without_cuda_is_said(monkeypatch):
    monkeypatch.setattr(torch.version, "cuda", None)
    with Device(PACK, lambda seen: None) as device:
        pass
    assert any("built without CUDA" in note for note in device.notes)


def test_threads_keep_to_themselves(modes):
    found = []
    device = Device(PACK, lambda seen: found.append(threading.get_ident()))
    together = threading.Barrier(4)

    def work():
        together.wait()
        for _ in range(20):
            bound()

    with device:
        threads = [threading.Thread(target=work) for _ in range(4)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
    assert len(found) == len(device.waited) == 80
    assert len(set(found)) == 4


# -- backward -----------------------------------------------------------------------------------------


def test_a_node_knows_the_line_that_made_it():
    layer = Nodes()
    layer.open()
    try:
        x = torch.ones(3, requires_grad=True)
        y = x.exp()
        line = sys._getframe().f_lineno - 1
    finally:
        layer.close()
    frames = made_by(y.grad_fn)
    assert (frames[0].line, frames[0].code.co_name) == (line, "test_a_node_knows_the_line_that_made_it")
    assert not torch.is_anomaly_enabled()
    assert made_by(x.exp().grad_fn) is None


def test_an_error_in_backward_is_still_the_users():
    class Fails(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            raise ArithmeticError("mine")

    layer = Nodes()
    layer.open()
    try:
        with pytest.warns(UserWarning, match="Error detected"), pytest.raises(ArithmeticError, match="mine"):
            Fails.apply(torch.ones(2, requires_grad=True)).sum().backward()
    finally:
        layer.close()


def test_a_wait_in_backward_goes_to_its_forward_line():
    found = []

    class Watch(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            if inside:
                frame = sys._getframe()
                while frame and not frame.f_code.co_filename.endswith(os.path.join("autograd", "graph.py")):
                    frame = frame.f_back
                if frame:
                    device._tell("cudaStreamSynchronize", frame)  # as from C++: no frame of Python is nearer
            return func(*args, **(kwargs or {}))

    x, m = torch.ones(4, requires_grad=True), torch.tensor([True, False, True, True])
    device, inside = Device(PACK, found.append), False
    with device:
        for _ in range(2):  # the first wait in backward switches the nodes on
            loss = x[m].sum()
            line = sys._getframe().f_lineno - 1
            inside = True
            with Watch():
                loss.backward()
            inside = False
    assert {seen.phase for seen in found} == {"backward"}
    assert found[0].forward is None
    known = [seen for seen in found if seen.forward]
    assert {seen.forward[0].line for seen in known} == {line}
    assert ("torch.Tensor.__getitem__", "mask-read") in {(seen.op, seen.hazard) for seen in known}
    assert not torch.is_anomaly_enabled()


# -- the profile --------------------------------------------------------------------------------------


class Script:
    """A Chrome trace, written call by call as Kineto writes them: one main thread, one stream, an autograd thread."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.now, self.free, self.numbers = 1000.0, 0.0, itertools.count(1)
        self.thread = 11

    def row(self, cat: str, name: str, at: float, dur: float, tid: Any = None, **args: Any) -> None:
        tid = self.thread if tid is None else tid
        self.rows.append(
            {"ph": "X", "cat": cat, "name": name, "ts": at, "dur": dur, "tid": tid, "pid": 1, "args": args}
        )

    def mark(self, text: str) -> None:
        self.row("user_annotation", f"syncguard:{text}", self.now, 0.1)

    def host(self, us: float) -> None:
        self.now += us

    def kernel(self, us: float, cat: str = "kernel", name: str = "gemm", stream: int = 7) -> int:
        number = next(self.numbers)
        start = max(self.now + 3, self.free)
        self.row(
            "cuda_runtime",
            "cudaLaunchKernel" if cat == "kernel" else "cudaMemcpyAsync",
            self.now,
            5,
            correlation=number,
        )
        self.row(cat, name, start, us, tid=stream, device=0, stream=stream, correlation=number)
        self.now, self.free = self.now + 5, start + us
        return number

    def item(self, number: int, before: bool = True, after: bool = True) -> None:
        begin = self.now
        if before:
            self.mark(f"before {number}")
        self.kernel(2, "gpu_memcpy", "Memcpy DtoH (Device -> Pinned)")
        end = max(self.now, self.free) + 1
        self.row("cuda_runtime", "cudaStreamSynchronize", self.now, end - self.now, correlation=next(self.numbers))
        self.now = end
        self.row("cpu_op", "aten::item", begin - 0.5, self.now - begin + 0.5)
        if after:
            self.mark(f"after {number}")

    def data(self) -> dict[str, Any]:
        return {"schemaVersion": 1, "traceEvents": self.rows}


def story(gpu: float, steps: int = 3, **marks: bool) -> Script:
    script = Script()
    script.kernel(50)  # before the window
    for n in range(steps):
        script.mark(f"step {n}")
        script.kernel(gpu)
        script.item(2 * n, **marks)
        script.host(120)
        script.kernel(gpu)
        script.item(2 * n + 1, **marks)
        script.host(60)
    script.mark("step end")
    # The profiler's own.
    script.row("cuda_runtime", "cudaDeviceSynchronize", script.now + 5, 900, correlation=next(script.numbers))
    return script


@pytest.mark.parametrize("marks", [{}, {"after": False}, {"before": False}])
def test_stops_are_joined_to_their_waits_by_the_marks(marks):
    profile = read(story(400, **marks).data())
    trace = profile.trace
    assert (len(trace.works), len(trace.stops), trace.steps) == (12, 6, 3)  # neither the one before nor the profiler's
    assert [stop.wait for stop in trace.stops] == [0, 1, 2, 3, 4, 5]
    assert {stop.op for stop in trace.stops} == {"aten::item"}
    assert {stop.kind for stop in trace.stops} == {"cudaStreamSynchronize"}


def test_a_window_costs_each_line():
    lines = {n: n % 2 for n in range(6)}
    small, large = (costs_of(read(story(gpu).data()), lines) for gpu in (400, 60_000))
    assert set(small.of) == {0, 1}
    assert [len(small.of[line].wait_us) for line in (0, 1)] == [3, 3]
    assert sum(small.of[0].bubble_us) > sum(small.of[1].bubble_us) > 0
    assert {one.verdict for one in small.of.values()} == {"host-bound"}
    assert {one.verdict for one in large.of.values()} == {"gpu-bound"}
    assert small.what_if[0].waits == (0, 1)
    assert 0.05 < small.what_if[0].saved_ms < small.device_us / 1e3
    assert large.what_if[0].saved_ms < 0.01 * large.device_us / 1e3
    assert {span.lane for span in small.timeline} == {"step", "host", "wait", "gpu", "copy", "idle"}
    steps = [span for span in small.timeline if span.lane == "step"]
    assert [span.name for span in steps] == ["step 0", "step 1", "step 2"]
    assert steps[0].start_us == 0
    assert all(a.start_us + a.duration_us == pytest.approx(b.start_us) for a, b in itertools.pairwise(steps))
    waits = [span for span in small.timeline if span.lane == "wait"]
    assert [sum(s.start_us <= w.start_us < s.start_us + s.duration_us for w in waits) for s in steps] == [2, 2, 2]
    assert {span.thread for span in steps} == {span.thread for span in waits}


def asked(size: int, before: bool = True, other: bool = False) -> cost.Stop:
    """A read of so many bytes: 4 us until our mark, 30 us of ours, a copy of 12 us, the waiting, 6 us."""
    script = Script()
    script.mark("step 0")
    script.kernel(50)
    script.host(100)
    begin = script.now
    script.host(4)
    if before:
        script.mark("before 0")
    script.host(30)
    if other:
        script.kernel(2)
    number = next(script.numbers)
    script.row("cuda_runtime", "cudaMemcpyAsync", script.now, 12, correlation=number)
    name = "Memcpy DtoH (Device -> Pinned)"
    script.row("gpu_memcpy", name, script.now + 12, 1, tid=7, device=0, stream=7, correlation=number, bytes=size)
    script.host(12)
    script.row("cuda_runtime", "cudaStreamSynchronize", script.now, 8, correlation=next(script.numbers))
    script.host(8 + 6)
    script.row("cpu_op", "aten::_local_scalar_dense", begin + 1, script.now - begin - 2)
    script.row("cpu_op", "aten::item", begin, script.now - begin)
    script.mark("after 0")
    script.host(20)
    script.mark("step 1")
    (stop,) = read(script.data()).trace.stops
    return stop


def test_a_read_of_a_number_is_known_with_its_call_but_for_what_is_ours():
    number = asked(4)
    assert (number.op, number.before, number.after) == ("aten::item", pytest.approx(4 + 12), pytest.approx(6))
    assert len(number.copies) == 1
    assert asked(4, before=False).before == pytest.approx(4 + 30 + 12)  # nothing is ours
    for stop in (asked(4096), asked(4, other=True)):  # what stands in its place is not known
        assert (stop.call, stop.copies) == (0.0, ())


def test_how_much_of_the_time_the_device_works():
    idle, busy = (cost.utilised(read(story(gpu).data()).trace) for gpu in (4, 60_000))
    assert 0 < idle < 0.2
    assert 0.99 < busy <= 1
    ahead = Script()  # the host is done long before the device, which works on two streams at once
    ahead.mark("step 0")
    ahead.kernel(1000)
    ahead.kernel(500, stream=8)
    ahead.kernel(1000)
    ahead.mark("step 1")
    trace = read(ahead.data()).trace
    assert trace.end < max(work.end for work in trace.works)
    assert cost.utilised(trace) <= 1
    assert cost.utilised(cost.Trace()) == 0
    apart = (cost.Work("0:7", 0, 10, 0), cost.Work("0:7", 30, 40, 0), cost.Work("0:8", 5, 15, 0))
    assert cost.utilised(cost.Trace(apart)) == pytest.approx(25 / 40)


def test_a_decision_is_a_true_dependency():
    profile = read(story(400).data(), decides={0, 2, 4})
    costs = costs_of(profile, {n: n % 2 for n in range(6)})
    assert (costs.of[0].verdict, costs.of[1].verdict) == ("true-dependency", "host-bound")


def test_a_stop_without_a_mark_is_kept_and_has_no_line():
    script = story(400, before=False, after=False)
    costs = costs_of(read(script.data()), {})
    assert (len(costs.of), len(costs.unjoined)) == (0, 6)
    assert {stop.op for stop in costs.unjoined} == {"aten::item"}
    assert [note.partition(":")[2] for note in said(costs)] == [" 6 x cudaStreamSynchronize in aten::item."]


def test_a_mark_does_not_take_the_stop_of_a_later_call():
    script = Script()
    script.mark("step 0")
    script.mark("before 5")  # a wait that did not reach the runtime
    script.kernel(100)
    script.item(6, before=False, after=False)
    script.mark("step 1")
    assert [stop.wait for stop in read(script.data()).trace.stops] == [-1]


def test_pageable_copies_hold_the_host_up():
    script = Script()
    script.mark("step 0")
    number = next(script.numbers)
    script.kernel(500)
    begin = script.now
    script.row(
        "gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", script.free, 80, tid=7, device=0, stream=7, correlation=number
    )
    script.row("cuda_runtime", "cudaMemcpyAsync", begin, script.free + 82 - begin, correlation=number)
    script.now = script.free + 82
    script.mark("step 1")
    profile = read(script.data())
    assert profile.pageable == 1
    assert [(stop.kind, stop.length) for stop in profile.trace.stops] == [("cudaMemcpyAsync", script.now - begin)]


@pytest.mark.parametrize("kind", ["DtoD (Device -> Device)", "DtoH (Device -> Pinned)", "HtoD (Pinned -> Device)"])
@pytest.mark.parametrize("call", ["cudaMemcpyAsync", "cudaMemcpy"])
def test_a_copy_that_took_long_to_queue_is_no_wait(kind, call):
    script = Script()
    script.mark("step 0")
    number = next(script.numbers)
    script.row("gpu_memcpy", f"Memcpy {kind}", script.now + 3, 2, tid=7, device=0, stream=7, correlation=number)
    script.row("cuda_runtime", call, script.now, 40, correlation=number)
    script.host(50)
    script.mark("step 1")
    held = call == "cudaMemcpy" and "DtoD" not in kind
    trace = read(script.data()).trace
    assert [stop.kind for stop in trace.stops] == [call] * held
    assert [work.taken for work in trace.works] == [0 if held else 40]


def test_what_was_queued_before_the_window_keeps_its_stream():
    script = Script()
    script.kernel(50)
    script.kernel(700)
    script.mark("step 0")
    script.kernel(100)
    script.mark("step 1")
    trace = read(script.data()).trace
    assert trace.carried == (("0:7", trace.works[0].start),)
    assert cost.replay(trace).device_us == pytest.approx(100)


def test_an_allocation_waits_only_where_it_takes_long_and_something_ended():
    script = Script()
    script.mark("step 0")
    script.kernel(300)
    script.row("cuda_runtime", "cudaFree", script.now, 350, correlation=next(script.numbers))
    script.now += 360
    script.row("cuda_runtime", "cudaMalloc", script.now, 200, correlation=next(script.numbers))
    script.now += 210
    script.row("cuda_runtime", "cudaFree", script.now, 4, correlation=next(script.numbers))
    script.mark("step 1")
    assert [stop.kind for stop in read(script.data()).trace.stops] == ["cudaFree"]


def test_the_autograd_thread_works_for_the_thread_that_steps():
    script = Script()
    script.mark("step 0")
    script.kernel(100)
    script.thread = 12
    script.row("cpu_op", "autograd::engine::evaluate_function: IndexBackward0", script.now, 400)
    script.kernel(100)
    script.item(0)
    script.thread = 11
    script.now += 10
    script.mark("step 1")
    trace = read(script.data()).trace
    assert {work.thread for work in trace.works} == {stop.thread for stop in trace.stops} == {11}


def test_a_stream_that_waits_for_another():
    script = Script()
    script.mark("step 0")
    script.kernel(500, stream=7)
    record = next(script.numbers)
    script.row("cuda_runtime", "cudaEventRecord", script.now, 2, correlation=record)
    waits = next(script.numbers)
    script.row("cuda_runtime", "cudaStreamWaitEvent", script.now + 3, 2, correlation=waits)
    script.row("cuda_sync", "Stream Wait Event", script.now + 3, 0, tid=20, device=0, stream=20, wait_on_stream=7,
               correlation=waits, wait_on_cuda_event_record_corr_id=record)  # fmt: skip
    script.host(10)
    script.kernel(100, stream=20)
    script.mark("step 1")
    assert [work.after for work in read(script.data()).trace.works] == [(), (0,)]


def test_the_stream_of_a_stop_is_known_where_the_profiler_says_it():
    script = Script()
    script.mark("step 0")
    script.kernel(50)
    number = next(script.numbers)
    script.row("cuda_runtime", "cudaStreamSynchronize", script.now, 60, correlation=number)
    script.row("cuda_sync", "Stream Sync", script.now, 60, tid=1_000_007, device=0, stream=7, correlation=number)
    script.now += 70
    script.mark("step 1")
    assert [stop.lane for stop in read(script.data()).trace.stops] == ["0:7"]


@pytest.mark.parametrize("data", [None, [], {}, {"traceEvents": 3}])
def test_what_is_no_trace_is_refused(data):
    with pytest.raises(Unreadable, match="not a trace"):
        read(data)


def test_an_empty_trace_costs_nothing():
    profile = read({"traceEvents": []})
    assert (profile.trace.works, profile.trace.stops, timeline(profile.trace)) == ((), (), ())
    assert cost.replay(profile.trace).device_us == 0


def test_a_real_profile_of_a_cpu_carries_our_marks():
    window = Window(2, 2)
    for number in range(1, 6):
        window.step(number)
        window.mark("before", number)
        torch.ones(4).sum().item()
    data = window.data()
    names = [row["name"] for row in data["traceEvents"] if str(row.get("name", "")).startswith("syncguard:")]
    assert [name for name in names if "step" in name] == ["syncguard:step 2", "syncguard:step 3", "syncguard:step 4"]
    assert window.watched == (1, 4)
    assert read(data).trace.steps == 2
    assert window.data() is None


def test_a_program_that_profiles_itself_is_left_alone():
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]):
        window = Window(2, 2)
        window.step(1)
        window.step(2)
    assert window.profile() is None
    assert any("profiles itself" in note for note in window.notes)


def test_a_device_that_steps_closes_what_it_opened():
    with Device(PACK, lambda seen: None, window=(2, 1)) as device:
        for _ in range(4):
            device.step()
            torch.ones(2).sum()
    assert device.profiled() == (1, 3)
    measured = device.measured()
    assert (measured.costs, measured.device_ms, measured.what_if) == ({}, (), ())
    assert any("does not see the device" in note for note in measured.notes)
    assert device.measured() == measured


RECORDED = [
    pytest.param(result, id=f"{path.stem} {result['twin']} {result['batch']}x{result['side']}")
    for path in sorted((Path(__file__).parent.parent / "evidence").glob("*-torch*.json"))
    for result in json.loads(path.read_text("utf-8"))["parts"].get("profiles", {"results": []})["results"]
]


@pytest.mark.parametrize("result", RECORDED)
def test_recorded_profiles_are_read(result):
    """Profiles of real devices, where `make device` has recorded any."""
    trace = read({"traceEvents": result["rows"]}).trace
    assert len(trace.works) == result["works"] > 0
    assert len(trace.stops) <= result["stops"]  # a copy that merely took long was one when the first were recorded
    assert sum(cost.bubbles(trace)) <= cost.idle_time(trace) + 1e-6
    replayed = cost.replay(trace)
    carried = dict(trace.carried)
    worked = max(work.end - carried.get(work.lane, 0.0) for work in trace.works)
    assert replayed.device_us * trace.steps == pytest.approx(worked, rel=0.02)
    if result["twin"] == "before":
        assert [stop for stop in trace.stops if stop.wait >= 0], "no stop was joined to a wait"


# -- the record ---------------------------------------------------------------------------------------


def test_a_run_on_a_device_is_recorded_by_line(modes, tmp_path):
    from syncguard.observe.recorder import Recorder, machine
    from syncguard.observe.watch import Watch

    recorder = Recorder(PACK, str(tmp_path))
    watch = Watch("cuda", recorder)
    watch.engine = Device(PACK, watch.hear)
    with watch.engine:
        for _ in range(3):
            bound()
        x = waiting(1.0, 2.0)
        x.tolist()
    record = recorder.record(machine("cuda", "NVIDIA of the mind"), measured=watch.measured())
    counts = {wait.op: (wait.count, len(wait.wait_us), wait.kind) for wait in record.waits}
    assert counts["torch.Tensor.tolist"] == (1, 0, "cudaStreamSynchronize")
    assert max(len(wait.wait_us) for wait in record.waits) == 3
    assert any("no wait has a cost" in note for note in record.notes)


def test_a_region_holds_for_the_threads_of_its_backward(modes, tmp_path, monkeypatch):
    """A device's backward runs on threads of torch's own, and is warned of where it was called."""
    from syncguard.observe import cuda
    from syncguard.observe.forbid import budget, region
    from syncguard.observe.recorder import Recorder
    from syncguard.observe.watch import SyncError, Watch

    space = {}
    exec(compile(WARNED, os.path.join(os.path.dirname(torch.__file__), "autograd", "graph.py"), "exec"), space)
    node = torch.ones(1, requires_grad=True).exp().grad_fn
    watch = Watch("cuda", Recorder(PACK, str(tmp_path)))
    watch.engine = Device(PACK, watch.hear)
    watch.engine.over = watch.over
    monkeypatch.setattr(Watch, "current", watch)

    def there():
        _thread.start_new_thread(STREAM.fire_callbacks, (0,))
        until = time.monotonic() + 30
        while not watch._left and time.monotonic() < until:
            time.sleep(0.01)

    def backward():
        monkeypatch.setattr(cuda, "node_now", lambda: node)
        space["_engine_run_backward"](there, lambda: monkeypatch.setattr(cuda, "node_now", lambda: None), WAITS)

    with watch.engine:
        backward()  # in no region
        for inside, allowed in ((region(), False), (budget(1), True), (budget(0), False)):
            caught = []
            with inside:
                try:
                    backward()
                except SyncError as fault:
                    caught.append(fault)
            assert len(caught) == (not allowed)
        backward()
    assert not watch._left


WARNED = """
import warnings
def _engine_run_backward(wait, end, message):
    wait()
    end()
    warnings.warn(message, stacklevel=1)
"""
ENGINE = """
def _engine_run_backward(wait):
    wait()
"""


@pytest.mark.parametrize("callers", [1, 2])
def test_a_wait_on_a_thread_of_backward_is_placed_where_backward_was_called(modes, tmp_path, monkeypatch, callers):
    from syncguard.observe import cuda
    from syncguard.observe.recorder import Recorder, machine
    from syncguard.observe.watch import Watch

    space = {}
    exec(compile(ENGINE, os.path.join(os.path.dirname(torch.__file__), "autograd", "graph.py"), "exec"), space)
    node = torch.ones(1, requires_grad=True).exp().grad_fn
    monkeypatch.setattr(cuda, "node_now", lambda: node)
    recorder = Recorder(PACK, str(tmp_path))
    watch = Watch("cuda", recorder)
    watch.engine = Device(PACK, watch.hear)
    locks = [threading.Lock() for _ in range(callers)]

    def backward(lock):
        space["_engine_run_backward"](lock.acquire)

    with watch.engine:
        [lock.acquire() for lock in locks]
        threads = [threading.Thread(target=backward, args=(lock,)) for lock in locks]
        [thread.start() for thread in threads]
        time.sleep(0.2)
        _thread.start_new_thread(STREAM.fire_callbacks, (0,))  # a thread without a frame of the program
        until = time.monotonic() + 30
        while not recorder.entries and time.monotonic() < until:
            time.sleep(0.05)
        [lock.release() for lock in locks]
        [thread.join() for thread in threads]
    (wait,) = recorder.record(machine("cuda", "NVIDIA of the mind")).waits
    assert wait.phase == "backward"
    assert wait.place.source.strip().startswith('space["_engine_run_backward"]' if callers == 1 else "")
    assert bool(wait.place.path) == (callers == 1)


@pytest.mark.parametrize("waits", ["traced", "warned"])
def test_what_torch_calls_in_the_middle_of_compiled_code_is_not_compiled(modes, waits):
    from torch._dynamo.utils import counters

    def fire():
        STREAM.fire_callbacks(0) if waits == "traced" else warnings.warn(WAITS, stacklevel=1)

    def broken(x):
        y = x + 1
        hook()  # a graph breaks where C calls Python
        return y * 2

    hook, found = ctypes.CFUNCTYPE(None)(fire), []
    compiled, x = torch.compile(broken, backend="eager"), torch.ones(4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(2):
            compiled(x)
    before = {name: dict(counters[name]) for name in ("frames", "stats")}
    with Device(PACK, found.append, layers=("traces", "warnings")):
        for _ in range(2):
            compiled(x)
    after = {name: dict(counters[name]) for name in ("frames", "stats")}
    torch._dynamo.reset()
    assert len(found) == 2
    assert after["stats"] == before["stats"]
    assert after["frames"]["total"] <= before["frames"]["total"] + 2  # C's callback may be seen anew


# -- on a device --------------------------------------------------------------------------------------

EXAMPLES = Path(__file__).parent.parent / "examples"


def recorded(name, tmp_path):
    """The record of an example, run as a user would."""
    file = tmp_path / f"{name}.json"
    command = [sys.executable, "-m", "syncguard", "run", "--device", "cuda", "--save", str(file), "-q"]
    done = subprocess.run([*command, str(EXAMPLES / f"{name}.py")], capture_output=True, text=True)
    assert file.exists(), done.stderr
    return record_of(str(file))


@pytest.mark.device
def test_the_loss_shows_its_four_questions_with_their_bubbles(tmp_path):
    record = recorded("segmentation_loss", tmp_path)
    assert {wait.code for wait in record.waits if wait.steps} >= {"SG101", "SG102", "SG104", "SG204"}
    for wait in record.waits:
        if wait.code in ("SG101", "SG102", "SG104", "SG204") and wait.phase == "forward":
            assert wait.wait_us, wait
            assert wait.verdict, wait
    assert record.what_if
    assert record.steps.device_ms


@pytest.mark.device
def test_the_fixed_loss_waits_nowhere_in_a_step(tmp_path):
    record = recorded("segmentation_loss_fixed", tmp_path)
    assert [wait for wait in record.waits if wait.steps and wait.steps[-1][0] > 2] == []


@pytest.mark.device
@pytest.mark.parametrize(
    ("text", "op"),
    [
        ("x.sum().item()", "torch.Tensor.item"),
        ("x[x > 0]", "torch.Tensor.__getitem__"),
        ("1 if x.sum() else 0", "torch.Tensor.__bool__"),
        ("torch.cuda.synchronize()", "torch.cuda.synchronize"),
        ("torch.ops.aten.nonzero(x)", None),
    ],
)
def test_a_wait_is_told_once_and_by_its_name(text, op):
    space = {"torch": torch, "x": torch.ones(8, device="cuda")}
    code = compile(text, "probe.py", "eval")
    eval(code, space)
    found = []
    with Device(PACK, found.append) as device:
        eval(code, space)
    assert len(found) == 1, (found, device.waited, device.notes)
    assert op is None or found[0].op in (op, ""), found


@pytest.mark.device
def test_a_wait_in_backward_is_told_on_its_thread_with_its_forward_line():
    found = []
    x, m = torch.ones(8, device="cuda", requires_grad=True), torch.ones(8, dtype=torch.bool, device="cuda")
    with Device(PACK, found.append):
        for _ in range(3):
            x[m].sum().backward()
    backward = [seen for seen in found if seen.phase == "backward"]
    assert backward
    assert backward[-1].forward
    assert backward[-1].forward[0].code.co_name == "test_a_wait_in_backward_is_told_on_its_thread_with_its_forward_line"


@pytest.mark.device
def test_what_is_forbidden_raises_on_a_device():
    def forbid(seen):
        raise PermissionError("forbidden")

    x, shown = torch.ones(8, device="cuda"), []

    def program(text):
        try:
            eval(text, {"x": x, "torch": torch})
            shown.append(f"{text} passed")
        except BaseException as fault:
            shown.append(repr(fault))

    waits = ("x.sum().item()", "x[x > 0]", "1 if x.sum() else 2", "torch.unique(x)", "torch.ops.aten.nonzero(x)",
             "torch.cuda.synchronize()", "torch.cuda.current_stream().synchronize()")  # fmt: skip
    with Device(PACK, forbid) as device:
        for text in waits:
            program(text)
    assert shown == ["PermissionError('forbidden')"] * len(waits), (shown, device.notes, warnings.filters[:3])


@pytest.mark.device
def test_an_error_of_the_program_is_the_programs_though_memory_is_freed_with_it():
    x = torch.ones(8, device="cuda")
    with Device(PACK, lambda seen: None):
        for _ in range(3):
            with pytest.raises(RuntimeError, match="size"):
                torch.matmul(x[:3] + 1, x[:4] + 1)
