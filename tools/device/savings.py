"""Training steps that differ in nothing but whether the host asks: what its waits cost, foreseen and measured."""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import story
import torch

from syncguard.observe import cost

ASKING = ("at the end", "before backward", "in each layer")
WIDTHS, BATCH, LAYERS = (64, 1024, 2048, 4096), 512, 6
ROUNDS, STEPS, WATCHED = 5, 40, 5


def told(desk: Any) -> Iterator[dict[str, Any]]:
    """Each way of asking at each width, with the twin that computes the same and never asks."""
    with story.inside(desk):
        for width, asking in itertools.product((16,) if desk.dry else WIDTHS, ASKING):
            yield {"asking": asking, "width": width, **compared(width, asking, desk.dry)}
            if desk.late:
                return


def compared(width: int, asking: str, dry: bool) -> dict[str, Any]:
    """Milliseconds of a step of both twins, by turns; and what one profile of the first says of the second."""
    twins = [step_of(width, asking), step_of(width, "")]
    times: list[list[float]] = [[], []]
    for _ in range(1 if dry else ROUNDS):
        for twin, kept in zip(twins, times):
            kept.append(taken(twin, 2 if dry else STEPS))
    measured = [round(statistics.median(kept), 4) for kept in times]
    result: dict[str, Any] = {"with_ms": measured[0], "without_ms": measured[1]}
    return result | foreseen(twins[0], 1 if dry else WATCHED)


def step_of(width: int, asking: str) -> Callable[[], None]:
    """A training step that asks the device at one place, at several, or (`asking` is empty) nowhere."""
    torch.manual_seed(0)
    layers = torch.nn.ModuleList(torch.nn.Linear(width, width) for _ in range(LAYERS)).to("cuda")
    optimizer = torch.optim.SGD(layers.parameters(), lr=1e-4)
    rows = torch.randn(BATCH, width, device="cuda")

    def step() -> None:
        optimizer.zero_grad()
        x = rows
        for layer in layers:
            x = torch.relu(layer(x))
            large = x.sum() > 1e30
            if asking == "in each layer" and large:
                raise OverflowError
        loss = x.square().mean()
        beyond = loss > 1e30
        if asking == "before backward" and large:
            raise OverflowError
        loss.backward()
        optimizer.step()
        if asking == "at the end" and beyond:
            raise OverflowError

    return step


def taken(step: Callable[[], None], steps: int) -> float:
    """Milliseconds of one of several steps in a row, until the device is done with them."""
    for _ in range(3):
        step()
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(steps):
        step()
    torch.cuda.synchronize()
    return (time.perf_counter() - begin) * 1e3 / steps


def foreseen(step: Callable[[], None], length: int) -> dict[str, Any]:
    """A profiled window: how long its steps took, as they were and as they would be without their waits."""
    trace = story.watched(step, 3, length)
    if trace is None:
        return {}
    now, then = cost.replay(trace), cost.replay(trace, range(len(trace.stops)))
    return {
        "waits": len(trace.stops) / trace.steps, "window_ms": round(now.step_us / 1e3, 4),
        "predicted_ms": round(then.step_us / 1e3, 4), "host_ms": round(then.host_us / 1e3, 4),
        "device_ms": round(then.device_us / 1e3, 4),
    }  # fmt: skip
