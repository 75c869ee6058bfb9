"""A few steps of a run, measured: the device's own clock at each step, and the profiler over a short window."""

from __future__ import annotations

import gzip
import json
import os
import tempfile
import time
from collections.abc import Collection
from inspect import signature
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import torch

from syncguard.observe.profile import MARK, Profile, Unreadable, read

WARM = 1  # steps that the profiler runs before the window opens: its start is slow
KEPT = 100_000  # events of the device's clock


class Clock:
    """An event of the device at the beginning of each step: between two lies the step, however it was queued. Where the
    program uses several devices, that of the first step.
    """

    def __init__(self) -> None:
        self._ticks: list[Any] = []
        self._times: list[float] = []
        self._device = 0
        self.steps: tuple[float, ...] = ()  # milliseconds
        self.begins: tuple[float, ...] = ()  # of each of these steps: when the host came to it, in seconds

    def tick(self) -> None:
        cuda: Any = torch.cuda
        if len(self._ticks) >= KEPT or not cuda.is_initialized() or cuda.is_current_stream_capturing():
            return
        if not self._ticks:
            self._device = cuda.current_device()
        tick = cuda.Event(enable_timing=True)
        tick.record(cuda.current_stream(self._device))
        self._ticks.append(tick)
        self._times.append(time.perf_counter())

    def close(self) -> None:
        if self._ticks:
            for tick in self._ticks:  # they may be of several streams
                tick.synchronize()
            times = accumulate((begin.elapsed_time(end) for begin, end in pairwise(self._ticks)), initial=0.0)
            # Another stream may come to its tick before an earlier one does: no step has less than no time.
            self.steps = tuple(round(end - begin, 4) for begin, end in pairwise(accumulate(times, max)))
            self.begins = tuple(self._times[: len(self.steps)])
            self._ticks.clear()
            self._times.clear()


class Window:
    """torch.profiler over `length` steps from the beginning of step `first`; marks tie its rows to our waits."""

    def __init__(self, first: int, length: int) -> None:
        self.first, self.length = max(first, WARM + 1), length
        self.notes: list[str] = []
        self.watched = (0, 0)
        self.slowed: list[float] = []  # when the profiler began and ended to take the host's time, in seconds
        self._profiler: Any = None
        self._marking = False
        self._file = ""

    def step(self, number: int) -> None:
        """The program begins step `number` (1-based)."""
        if number == self.first - WARM and self._profiler is None and not self._file:
            self._start()
        if self._profiler is None:
            return
        if number >= self.first:
            self._marking = True
            self.mark("step", number)
            self.watched = (self.first - WARM, number)
        if number >= self.first + self.length:
            self.close()

    def mark(self, word: str, number: int) -> None:
        """A row of zero length in the profile, on this thread, now."""
        if self._marking:
            fast = getattr(torch._C._profiler, "_RecordFunctionFast", None)
            with (fast or torch.profiler.record_function)(f"{MARK}{word} {number}"):
                pass

    def close(self) -> None:
        """End the window, if it is open."""
        profiler, self._profiler, self._marking = self._profiler, None, False
        if profiler is None:
            return
        profiler.stop()
        handle, self._file = tempfile.mkstemp(suffix=".json.gz", prefix="syncguard-")
        os.close(handle)
        profiler.export_chrome_trace(self._file)
        self.slowed.append(time.perf_counter())

    def data(self) -> Any:
        """The window's Chrome trace, None where there was no window; the file is removed."""
        if not self._file:
            return None
        raw = Path(self._file).read_bytes()
        os.unlink(self._file)
        self._file = ""
        return json.loads(gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw)

    def profile(self, decides: Collection[int] = ()) -> Profile | None:
        """What the window saw; None where there was none or it cannot be read, which `notes` says."""
        data = self.data()
        if data is None:
            return None
        try:
            return read(data, decides)
        except Unreadable as fault:
            self.notes.append(f"The profile could not be read ({fault}): no wait has a cost.")
            return None

    def _start(self) -> None:
        from torch.profiler import ProfilerActivity, profile

        if getattr(torch.autograd, "_profiler_enabled", bool)():
            self.notes.append("The program profiles itself: the waits are counted, but have no cost.")
            self.first = -1
            return
        activities = {ProfilerActivity.CPU, ProfilerActivity.CUDA} & torch.profiler.supported_activities()  # type: ignore[no-untyped-call]
        if ProfilerActivity.CUDA not in activities:
            self.notes.append("The profiler does not see the device here: the waits have no cost.")
        self.slowed.append(time.perf_counter())
        # It warns of events that it clears between its cycles unless it is told to keep them; ours has one.
        keeps: dict[str, Any] = {"acc_events": True} if "acc_events" in signature(profile).parameters else {}
        self._profiler = profile(activities=activities, experimental_config=_with_sync_rows(), **keeps)
        self._profiler.start()


def _with_sync_rows() -> Any:
    """The profiler's own rows of what waits for which stream, where it has them."""
    from torch._C._profiler import _ExperimentalConfig

    try:
        return _ExperimentalConfig(enable_cuda_sync_events=True)
    except TypeError:
        return None
