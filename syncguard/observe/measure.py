"""A call -> does the host wait for the device in it? By the clock where there is one, else by the rows, simulated.

By the clock: work of a few milliseconds is queued on the device, then the call is made. One that returns while the
work goes on did not wait, whatever it did for itself; one that always returns when the work is over did, whatever
mechanism made it, unless its own time alone is as long: then it is asked again behind more work.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Protocol

import torch

from syncguard.observe.layers import WAITS, Missing, Traces
from syncguard.observe.simulate import Seen, Simulation
from syncguard.pack import Pack

SLEEPS_MS = (10.0, 40.0, 160.0)
TIMES = 3
WELL = 0.5  # of the sleep: what takes less by itself and returns when it is over has waited


@dataclass(frozen=True, slots=True)
class Answer:
    """What one call did. `waited` is None where it was not found out, and `fault` says why."""

    waited: bool | None
    host_ms: float = 0.0
    hazards: tuple[str, ...] = ()  # simulated: what the rows say
    warned: int = 0  # real: how many waits the sync debug mode told
    traced: tuple[str, ...] = ()  # real: what the GPU-trace callbacks told
    fault: str = ""


class Device(Protocol):
    """Something that calls can be tried on."""

    name: str  # of the machine, for evidence
    real: bool

    def ask(self, call: Callable[[], Any]) -> Answer: ...


class Real:
    """A CUDA device of this machine."""

    real = True

    def __init__(self) -> None:
        self.name: str = torch.cuda.get_device_name()
        self.kinds: list[str] = []
        self.cycles = cycles_of(SLEEPS_MS[0])
        self._traces = Traces(self.kinds.append)
        try:
            self._traces.open()
        except Missing:
            pass

    def ask(self, call: Callable[[], Any]) -> Answer:
        """Try a call, warm, behind queued work."""
        try:
            call()
            torch.cuda.synchronize()
            begin = time.perf_counter()
            call()
            alone = (time.perf_counter() - begin) * 1e3
            return judged(alone, lambda sleep: self._once(call, sleep))
        except Exception as fault:
            torch.cuda.synchronize()
            return Answer(None, fault=f"{type(fault).__name__}: {fault}".split("\n")[0][:160])

    def _once(self, call: Callable[[], Any], sleep_ms: float) -> Answer:
        """One call behind a sleep; `waited`: it was over when the call returned."""
        torch.cuda.synchronize()
        over = torch.cuda.Event()  # type: ignore[no-untyped-call]
        torch.cuda._sleep(int(self.cycles * sleep_ms / SLEEPS_MS[0]))  # type: ignore[no-untyped-call]
        over.record()
        self.kinds.clear()
        before = torch.cuda.get_sync_debug_mode()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            torch.cuda.set_sync_debug_mode("warn")
            try:
                begin = time.perf_counter()
                call()
                taken = (time.perf_counter() - begin) * 1e3
                waited = bool(over.query())  # type: ignore[no-untyped-call]
            finally:
                torch.cuda.set_sync_debug_mode(before)
        kinds = tuple(self.kinds)
        torch.cuda.synchronize()
        return Answer(waited, round(taken, 3), (), sum(WAITS in str(w.message) for w in caught), kinds)

    def close(self) -> None:
        self._traces.close()


def judged(alone: float, once: Callable[[float], Answer]) -> Answer:
    """Whether a call waits that takes so long alone. `once`: it behind a sleep, and whether that was over behind it.

    It did not where the sleep goes on once; a host that was held up by something else is asked again. What queues more
    than the device takes in advance (some 1024 kernels) is held up as well, and counts as waiting.
    """
    for sleep in SLEEPS_MS:
        for _ in range(TIMES):
            answer = once(sleep)
            if not answer.waited:
                return answer
        if alone < sleep * WELL:
            return answer
    return replace(answer, waited=answer.host_ms - alone > sleep * WELL)


class Simulated:
    """The simulated device: what the rows say of the very same call. Use it inside `simulated`."""

    real, name = False, "simulated"

    def __init__(self) -> None:
        self.seen: list[Seen] = []

    def ask(self, call: Callable[[], Any]) -> Answer:
        self.seen.clear()
        begin = time.perf_counter()
        try:
            call()
        except Exception as fault:
            return Answer(None, fault=f"{type(fault).__name__}: {fault}".split("\n")[0][:160])
        taken = (time.perf_counter() - begin) * 1e3
        hazards = tuple(dict.fromkeys(seen.hazard for seen in self.seen))
        return Answer(bool(hazards), round(taken, 3), hazards)


@contextmanager
def simulated(rules: Pack, within: bool = False) -> Iterator[Simulated]:
    """A simulated device, for as long as this lasts. `within`: what a row's own Python code waits at is told too."""
    device = Simulated()
    with Simulation(rules, device.seen.append) as simulation:
        if within:
            simulation.verdict.quiet.clear()
        yield device


def cycles_of(milliseconds: float) -> int:
    """Cycles of torch.cuda._sleep that last about so long, measured with events."""
    cycles = 10_000_000
    event: Any = torch.cuda.Event
    for _ in range(3):
        begin, end = event(enable_timing=True), event(enable_timing=True)
        begin.record()
        torch.cuda._sleep(cycles)  # type: ignore[no-untyped-call]
        end.record()
        torch.cuda.synchronize()
        cycles = int(cycles * milliseconds / max(begin.elapsed_time(end), 1e-3))
    return cycles
