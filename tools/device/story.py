"""The loss example before and after, by every clock there is: the host's, the device's, and that of 200 steps."""

from __future__ import annotations

import importlib.util
import itertools
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import torch

from syncguard.observe import cost
from syncguard.observe.cuda import LAYERS, Device, costs_of
from syncguard.observe.profile import MARK, read
from syncguard.observe.simulate import Simulation
from syncguard.observe.window import Window

EXAMPLES = Path(__file__).parents[2] / "examples"
TWINS = {"before": "segmentation_loss", "after": "segmentation_loss_fixed"}
# Batch and side; the published one is 256 images of 256 by 256, ten classes.
SIZES = ((2, 32), (8, 64), (8, 256), (64, 256), (256, 256), (64, 512))
DRY = ((2, 16),)
STEPS, WARM = 100, 10


def told(desk: Any) -> Iterator[dict[str, Any]]:
    """The story: host time, device time, throughput and utilisation of a step, before and after, at several sizes."""
    with inside(desk):
        for batch, side in DRY if desk.dry else SIZES:
            for work in ("step", "loss"):
                for twin, name in TWINS.items():
                    result = {"work": work, "batch": batch, "side": side, "twin": twin}
                    try:
                        yield result | measured(step_of(name, batch, side, work), desk.dry)
                    except torch.OutOfMemoryError:
                        yield result | {"fault": "out of memory"}
                    if desk.late:
                        return


def inside(desk: Any) -> AbstractContextManager[Any]:
    return Simulation(desk.rules, lambda seen: None) if desk.dry else nullcontext()


def step_of(name: str, batch: int, side: int, work: str) -> Callable[[], Any]:
    """One training step of an example at a size, or only its loss, forward and backward."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    torch.manual_seed(0)
    labels = torch.randint(0, example.CLASSES, (batch, side, side), device="cuda")
    labels = torch.where(torch.rand(batch, side, side, device="cuda") < 0.5, labels, example.BACKGROUND)
    if work == "loss":
        logits = torch.randn(batch, example.CLASSES, side, side, device="cuda", requires_grad=True)

        def step() -> None:
            logits.grad = None
            example.foreground_loss(logits, labels).backward()

        return step
    images = torch.rand(batch, 3, side, side, device="cuda")
    model = example.Segmenter(width=16).to("cuda")
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

    def train() -> None:
        optimizer.zero_grad()
        example.foreground_loss(model(images), labels).backward()
        optimizer.step()

    return train


def measured(step: Callable[[], Any], dry: bool) -> dict[str, Any]:
    """Milliseconds of a step: of the host (median, until it is queued), of the device (events), of 200 in a row."""
    warm, steps = (1, 2) if dry else (WARM, STEPS)
    for _ in range(warm):
        step()
    torch.cuda.synchronize()
    host, ticks = [], [tick()]
    begin = time.perf_counter()
    for _ in range(steps):
        start = time.perf_counter()
        step()
        host.append((time.perf_counter() - start) * 1e3)
        ticks.append(tick())
    torch.cuda.synchronize()
    whole = (time.perf_counter() - begin) * 1e3
    device = [one.elapsed_time(other) for one, other in itertools.pairwise(ticks)]
    result = {"host_ms": round(statistics.median(host), 4), "device_ms": round(statistics.median(device), 4)}
    result |= {"step_ms": round(whole / steps, 4), "steps": steps}
    return result | utilised(step, dry)


def tick() -> Any:
    event: Any = torch.cuda.Event(enable_timing=True)
    event.record()
    return event


def utilised(step: Callable[[], Any], dry: bool) -> dict[str, Any]:
    """The share of a window in which the device worked, and what the model says of removing every wait in it."""
    trace = watched(step, 2, 1 if dry else 5)
    if trace is None:
        return {}
    idle, span = cost.idle_time(trace), cost.extent(trace)
    everything = cost.replay(trace, range(len(trace.stops)))
    return {
        "utilised": round(cost.utilised(trace), 4), "busy_ms": round((span - idle) / 1e3 / trace.steps, 4),
        "window_ms": round(max(trace.end, span) / 1e3 / trace.steps, 4),
        "idle_ms": round(idle / 1e3 / trace.steps, 4), "waits": len(trace.stops) / trace.steps,
        "bubbles_ms": round(sum(cost.bubbles(trace)) / 1e3 / trace.steps, 4),
        "predicted_ms": round(everything.step_us / 1e3, 4),
    }  # fmt: skip


def watched(step: Callable[[], Any], first: int, length: int) -> cost.Trace | None:
    """A profiled window over steps from the `first` on; None where the device did nothing in it."""
    window = Window(first, length)
    for number in range(1, window.first + window.length + 1):
        window.step(number)
        step()
    window.close()
    profile = window.profile()
    return profile.trace if profile is not None and profile.trace.works else None


LAYERED = ((), ("traces",), ("warnings",), ("traces", "warnings"), ("traces", "warnings", "nodes", "clock"), LAYERS)
ROUNDS = 8  # of all layers by turns, so that what changes on the machine changes for all


def overhead(desk: Any) -> Iterator[dict[str, Any]]:
    """A step under each recording layer, by turns. `fresh_ms`: under none, before torch's hooks were ever on."""
    rounds, steps = (2, 2) if desk.dry else (ROUNDS, 25)
    for batch, side in DRY if desk.dry else SIZES[:3]:
        with inside(desk):
            step = step_of(TWINS["before"], batch, side, "step")
            for _ in range(2 if desk.dry else WARM):
                step()
            times: dict[tuple[str, ...], list[float]] = {layers: [] for layers in LAYERED}
            counts = dict.fromkeys(LAYERED, 0)
            for _ in range(rounds):
                for layers in LAYERED:
                    found, waits = under(layers, step, steps, desk)
                    times[layers].append(statistics.median(found))
                    counts[layers] += waits
                if desk.late:
                    break
        for layers, found in times.items():
            middle = statistics.median(found)
            ratio = statistics.median(one / other for one, other in zip(found, times[()]))
            yield {"layers": list(layers), "batch": batch, "side": side, "step_ms": round(middle, 4),
                   "ratio": round(ratio, 4), "least": round(min(found) / min(times[()]), 4),
                   "fresh_ms": round(times[()][0], 4), "rounds": len(found),
                   "waits": counts[layers] / len(found) / steps}  # fmt: skip


def under(layers: tuple[str, ...], step: Callable[[], Any], steps: int, desk: Any) -> tuple[list[float], int]:
    """Milliseconds of each step under these layers, and the waits that were told."""
    told = [0]

    def tell(seen: Any) -> None:
        told[0] += 1

    device = Device(desk.rules, tell, layers=layers, window=(3, 2))
    times = []
    with device:
        for _ in range(steps):
            torch.cuda.synchronize()
            begin = time.perf_counter()
            device.step()
            step()
            torch.cuda.synchronize()
            times.append((time.perf_counter() - begin) * 1e3)
    device.measured()
    return times, told[0]


def profiles(desk: Any) -> Iterator[dict[str, Any]]:
    """Recorded profiles of one step, small enough to be test data: the rows of the Chrome trace that we read."""
    for batch, side in DRY if desk.dry else SIZES[:3:2]:
        for twin, name in TWINS.items():
            with inside(desk):
                step = step_of(name, batch, side, "step")
                device = Device(desk.rules, lambda seen: 0, window=(3, 1))
                with device:
                    for _ in range(5):
                        device.step()
                        step()
                data = device.trace()
            events = (data or {}).get("traceEvents", [])
            stops = [row for row in events if row.get("ph") == "X" and "Synchronize" in row.get("name", "")]
            rows = [slim(row) for row in events if wanted(row, stops)]
            profile = read({"traceEvents": rows})
            window = costs_of(profile, dict.fromkeys(range(1000), 0))
            verdict = window.of[0].verdict if 0 in window.of else ""
            yield {"twin": twin, "batch": batch, "side": side, "works": len(profile.trace.works),
                   "stops": len(profile.trace.stops), "verdict": verdict, "rows": rows}  # fmt: skip


def wanted(row: dict[str, Any], stops: list[dict[str, Any]]) -> bool:
    kinds = ("cuda_runtime", "cuda_driver", "kernel", "gpu_memcpy", "gpu_memset", "cuda_sync")
    ours = str(row.get("name", "")).startswith(MARK) and row.get("cat") != "gpu_user_annotation"
    return row.get("ph") == "X" and (
        ours
        or row.get("cat") in kinds
        or (row.get("cat") == "cpu_op" and ("engine" in row["name"] or any(holds(row, stop) for stop in stops)))
    )


def holds(row: dict[str, Any], stop: dict[str, Any]) -> bool:
    """Whether an operator is one that waits there."""
    return bool(row["tid"] == stop["tid"] and row["ts"] <= stop["ts"] < row["ts"] + row.get("dur", 0))


def slim(row: dict[str, Any]) -> dict[str, Any]:
    """Only what is read; long names of kernels cut."""
    kept = ("correlation", "stream", "bytes", "device", "wait_on_stream", "wait_on_cuda_event_record_corr_id")
    args = {key: row["args"][key] for key in kept if key in row.get("args", {})}
    return {"ph": "X", "cat": row["cat"], "name": row["name"][:60], "ts": row["ts"], "dur": row.get("dur", 0),
            "tid": row["tid"], "args": args}  # fmt: skip
