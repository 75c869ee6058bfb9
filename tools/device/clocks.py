"""Calls -> what each takes, by three clocks, asked by turns: the host's, the device's, and the host's of a busy device.

    host_ms    until the call returns, on a device that has nothing else to do: all that the host does, and its waits
    device_ms  what the device works for one call: its kernels and copies, as the profiler has them
    held_ms    until the call returns while the device is busy for `BUSY_MS`: a call that waits is held so long

What a rewrite without a wait saves is in `held_ms`: how long a program that keeps its device busy is held up.
"""

from __future__ import annotations

import statistics
import time
import warnings
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import torch

from syncguard.observe.measure import cycles_of

BUSY_MS = 3.0
TIMES = 9
Call = Callable[[], Any]


def taken(calls: Mapping[str, Call], dry: bool) -> dict[str, float]:
    """`{name}_host_ms`, `{name}_held_ms`, `{name}_device_ms` of each call: medians of a few, one after the other."""
    times = 2 if dry else TIMES
    cycles = 0 if dry else busy_cycles()
    found: dict[str, list[float]] = {}
    for _ in range(times + 1):
        for name, call in calls.items():
            found.setdefault(f"{name}_host_ms", []).append(held(call))
            found.setdefault(f"{name}_held_ms", []).append(held(call, cycles))
    result = {name: round(statistics.median(values[1:]), 4) for name, values in found.items()}  # the first is warm-up
    return result | {f"{name}_device_ms": worked(call) for name, call in calls.items() if not dry}


@cache
def busy_cycles() -> int:
    """Cycles of work that keep this device busy for `BUSY_MS`."""
    return cycles_of(BUSY_MS)


def held(call: Call, cycles: int = 0) -> float:
    """Milliseconds until a call returns, behind so many cycles of work."""
    torch.cuda.synchronize()
    if cycles:
        torch.cuda._sleep(cycles)  # noqa: SLF001
    begin = time.perf_counter()
    call()
    done = time.perf_counter()
    torch.cuda.synchronize()
    return (done - begin) * 1e3


def worked(call: Call, times: int = 3) -> float:
    """Milliseconds that the device works for one call."""
    kinds = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with warnings.catch_warnings(), torch.profiler.profile(activities=kinds) as profile:
        warnings.simplefilter("ignore")
        for _ in range(times):
            call()
        torch.cuda.synchronize()
    there = (event for event in profile.events() or () if event.device_type == torch.autograd.DeviceType.CUDA)
    done = (event for event in there if not getattr(event, "is_user_annotation", False))  # a span around others
    return round(sum(event.time_range.elapsed_us() for event in done) / 1e3 / times, 5)
