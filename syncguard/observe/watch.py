"""The engine of this process and what it must not pass: one door for every wait that an engine sees."""

from __future__ import annotations

import sys
import threading
from collections import deque
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

from syncguard.observe.attribute import Spot, calls_backward
from syncguard.observe.comments import Comments
from syncguard.observe.recorder import Measured, Recorder, Seen
from syncguard.pack import Pack

Mode = Literal["auto", "cuda", "simulate"]


class SyncError(RuntimeError):
    """The host would wait where it must not. `place` is `path:line:column`, `op` the operation, `code` the rule."""

    def __init__(self, message: str, place: str = "", op: str = "", code: str = "") -> None:
        super().__init__(message)
        self.place, self.op, self.code = place, op, code


class NoDevice(RuntimeError):
    """The device that was asked for is not here; the message is one line."""


class Engine(Protocol):
    """A device that is watched, real or simulated, while it is entered."""

    notes: list[str]

    def __enter__(self) -> Any: ...
    def __exit__(self, *fault: Any) -> None: ...


@dataclass(slots=True)
class Region:
    """Code in which waits are forbidden, few, or allowed for a reason."""

    kind: Literal["forbid", "budget", "allow"]
    most: int = 0
    reason: str = ""
    watch: Watch | None = None  # what it keeps running
    seen: list[str] = field(default_factory=list)


LEFT = 64  # waits of a backward that the thread which called it has still to judge
REGIONS: ContextVar[tuple[Region, ...]] = ContextVar("syncguard_regions", default=())


class Watch:
    """An engine and a recorder: what a run, a test session or a `forbid` starts, and others then share."""

    current: Watch | None = None
    lock = threading.RLock()

    def __init__(
        self,
        mode: Mode,
        recorder: Recorder,
        borrowed: bool = False,
        step_over: tuple[str, ...] = (),
        forks: bool = False,
        **options: Any,
    ) -> None:
        self.mode, self.recorder, self.borrowed, self.options = mode, recorder, borrowed, options
        self.simulated = {"step_over": step_over, "forks": forks}
        self.comments = Comments(recorder.pack)
        self.engine: Engine | None = None
        self.users = 0
        self._left: deque[tuple[Seen, Spot]] = deque(maxlen=LEFT)  # waits of threads that have called no backward

    def start(self) -> None:
        """Start the engine. NoDevice where there is no device such as was asked for."""
        self.mode, self.engine = engine_of(self.mode, self.recorder.pack, self.hear, self.options, self.simulated)
        self.engine.__enter__()
        if self.mode == "simulate":
            from syncguard.observe.simulate.marks import on_device

            # While it tells of a wait, the simulation itself is off, and tensors say that they are on the CPU.
            self.recorder.device_of = lambda tensor: "cuda" if on_device(tensor) else "cpu"
        self.recorder.clock.begins = getattr(self.engine, "step", None)
        if hasattr(self.engine, "over"):
            self.engine.over = self.over
        Watch.current = self

    def stop(self) -> None:
        """Stop it."""
        if self.engine is not None:
            Watch.current = None
            self.engine.__exit__(None, None, None)

    @property
    def used(self) -> bool:
        """Whether a tensor was on the device; an engine that does not say so has seen one if anything waited."""
        return bool(getattr(self.engine, "used", self.recorder.entries))

    @property
    def name(self) -> str:
        """What the device is called."""
        return str(getattr(self.engine, "name", "simulated"))

    @property
    def failed(self) -> bool:
        """Whether the device answers no more."""
        return bool(getattr(self.engine, "failed", False))

    def renew(self) -> None:
        """Put back what a test may have taken away of the device."""
        if renew := getattr(self.engine, "renew", None):
            renew()

    def forget(self) -> None:
        """Begin anew, in a forked process."""
        self.recorder.forget()
        self._left.clear()
        if forget := getattr(self.engine, "forget", None):
            forget()

    def mute(self) -> None:
        """Let the engine go on, and count nothing more."""
        self.recorder.paused = True

    def hear(self, seen: Seen) -> int:
        """What the engine calls at a wait, on the waiting thread; SyncError where it is forbidden."""
        at, frame = self.recorder.find(sys._getframe(1), seen)
        regions = REGIONS.get()
        reason = self.comments.reason(at, seen.hazard) or _allowed(regions)
        number = self.recorder.count(seen, at, frame, reason)
        if regions and not reason:
            self._held(regions, seen, at)
        elif seen.phase == "backward" and not reason and not calls_backward():
            self._left.append((seen, at))
        return number

    def over(self) -> None:
        """What the engine calls when a backward that waited is over, on the thread that called it: SyncError where a
        wait on a thread of the autograd engine, which is in no region, was forbidden here.
        """
        left = [*self._left]
        self._left.clear()
        regions = REGIONS.get()
        for seen, at in left if regions else ():
            self._held(regions, seen, at)

    def measured(self) -> Measured:
        """What the engine measured besides, once it has stopped."""
        ask = getattr(self.engine, "measured", None)
        found: Measured = ask() if ask is not None else Measured()
        return replace(found, notes=(*found.notes, *getattr(self.engine, "notes", ())))

    def _held(self, regions: tuple[Region, ...], seen: Seen, at: Spot) -> None:
        """The innermost region decides; a budget counts whatever is in it."""
        permitted = False
        for region in reversed(regions):
            if region.kind == "allow":
                return
            if region.kind == "budget":
                region.seen.append(self._told(seen, at))
                if len(region.seen) > region.most:
                    raise self._error(seen, at, region)
                permitted = True
            elif not permitted:
                raise self._error(seen, at, region)

    def _error(self, seen: Seen, at: Spot, region: Region) -> SyncError:
        place = self.recorder.places.place(at)
        code = self.recorder.pack.code_of(seen.hazard)
        where = f"{place.path}:{place.line}:{place.column}"
        source = f": `{place.source.strip()}`" if place.source.strip() else ""
        said = f"{self._told(seen, at)}{source}"
        if region.kind == "budget":
            before = f"; before it: {', '.join(region.seen[:-1][-3:])}" if region.most else ""
            said = f"wait {len(region.seen)} where the budget is {region.most}: {said}{before}"
        more = f". See `syncguard explain {code}`" if code else ""
        return SyncError(f"{said}{more}", where, seen.op, code)

    def _told(self, seen: Seen, at: Spot) -> str:
        place = self.recorder.places.place(at)
        return f"{place.path}:{place.line}:{place.column} `{seen.op}` makes the host wait"


def _allowed(regions: tuple[Region, ...]) -> str:
    return regions[-1].reason if regions and regions[-1].kind == "allow" else ""


def engine_of(
    mode: Mode, pack: Pack, hear: Any, options: dict[str, Any], simulated: dict[str, Any]
) -> tuple[Mode, Engine]:
    """The engine for a mode, not yet entered. `auto` is the GPU where there is one, else the simulation.

    `options` are those of the GPU's engine, `simulated` those of the other.
    """
    if mode == "cuda" and not has_gpu():
        raise NoDevice("there is no GPU that torch can use here; `--device simulate` needs none")
    if mode == "cuda" or (mode == "auto" and has_gpu()):
        from syncguard.observe.cuda import Device

        return "cuda", Device(pack, hear, **options)
    from syncguard.observe.simulate import Simulation

    return "simulate", Simulation(pack, hear, **simulated)


def has_gpu() -> bool:
    """Whether torch can use a GPU, asked without starting CUDA in this process: it may still fork."""
    import os

    import torch

    if torch.version.cuda is None and torch.version.hip is None:
        return False
    key, before = "PYTORCH_NVML_BASED_CUDA_CHECK", os.environ.get("PYTORCH_NVML_BASED_CUDA_CHECK")
    os.environ[key] = "1"
    try:
        return torch.cuda.is_available()
    finally:
        os.environ.pop(key) if before is None else os.environ.update({key: before})
