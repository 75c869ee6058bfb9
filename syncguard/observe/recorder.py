"""Waits as they are seen -> the record of a run."""

from __future__ import annotations

import os
import platform
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import CodeType, FrameType
from typing import Any, NamedTuple, Protocol

import msgspec

import syncguard
from syncguard.observe import steps
from syncguard.observe.attribute import (
    NOWHERE,
    Files,
    Gone,
    Places,
    Spot,
    callers,
    calling_backward,
    entrance,
    in_backward,
    library,
    spot,
    spot_of,
)
from syncguard.observe.calls import call_of
from syncguard.pack import Pack
from syncguard.record import VERSION, Machine, Place, Record, Span, Wait, WhatIf

ENTRANCES = 16  # lines of the project that led to one wait in a library
NUMBERED = re.compile(r"[-_ ]?\d+( \(.*\))?$")


class Seen(Protocol):
    """The host waits here, as an engine tells it on the waiting thread, at the wait."""

    @property
    def op(self) -> str: ...
    @property
    def hazard(self) -> str: ...
    @property
    def phase(self) -> str: ...
    @property
    def forward(self) -> tuple[Gone, ...] | None: ...
    @property
    def kind(self) -> str: ...
    @property
    def depends(self) -> str: ...


class Key(NamedTuple):
    """What makes two waits one."""

    code: CodeType
    instruction: int
    op: str
    hazard: str
    phase: str
    forward: tuple[CodeType, int] | None
    thread: str
    allowed: str


@dataclass(slots=True)
class Entry:
    """A wait and how often it was seen at each moment of the clock. The place is made when the record is."""

    number: int
    key: Key
    kind: str
    stack: tuple[Spot, ...]
    call: str
    depends: str = ""
    moments: dict[int, int] = field(default_factory=dict)
    entrances: dict[tuple[int, int], Spot] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Cost:
    """What an engine measured of one wait: each time blocked, each idle time caused (microseconds), a verdict."""

    wait_us: tuple[float, ...] = ()
    bubble_us: tuple[float, ...] = ()
    verdict: str = ""


@dataclass(frozen=True, slots=True)
class Measured:
    """What an engine knows at the end beyond the waits that it told of, which it counts from 0."""

    costs: Mapping[int, Cost] = field(default_factory=dict)
    timeline: tuple[Span, ...] = ()
    what_if: tuple[WhatIf, ...] = ()
    device_ms: tuple[float, ...] = ()
    notes: tuple[str, ...] = ()
    begins: tuple[float, ...] = ()  # when the host came to each step of `device_ms`, in seconds
    slowed: tuple[float, float] = (0.0, 0.0)  # from when to when a profiler took the host's time
    utilised: float = 0.0  # the share of the profiled time in which the device worked


class Recorder:
    """Counts the waits of one run."""

    def __init__(self, pack: Pack, folder: str = "", command: tuple[str, ...] = (), warmup: int = 1) -> None:
        self.pack, self.command, self.warmup = pack, command, warmup
        self.clock = steps.Clock()
        self.files = Files()
        self.places = Places(folder or os.getcwd())
        # By identity, here and below: to hash a code takes as long as it is. Each is kept, so its number is its own.
        self.entries: dict[tuple[object, ...], Entry] = {}
        self.notes: list[str] = []
        self._same: dict[tuple[int, int], tuple[CodeType, int, CodeType]] = {}
        self._at: dict[Place, tuple[CodeType, int]] = {}
        self.started = datetime.now(UTC)
        self.seen = 0  # waits that are not allowed
        self.paused = False
        self.group = (0, 1)  # rank and size of the process group, as of the last new wait
        self.device_of: Callable[[Any], str] = lambda tensor: str(tensor.device.type)
        self._lock = threading.RLock()  # a signal may ask for the record while a wait is being counted

    def forget(self) -> None:
        """Begin anew, in a forked process: another thread of its parent may have been counting."""
        self.entries, self.seen, self._lock = {}, 0, threading.RLock()
        self.clock.forget()

    def find(self, frame: FrameType | None, seen: Seen) -> tuple[Spot, FrameType | None]:
        """The user's place of a wait, from the innermost frame; of a thread of backward, where that was called."""
        at, found = spot(frame, self.files)
        if seen.phase == "backward" and (at.code is NOWHERE or self.files[at.code.co_filename][0]):
            return spot(calling_backward(), self.files)
        return at, found

    def count(self, seen: Seen, at: Spot, frame: FrameType | None, allowed: str = "") -> int:
        """Count a wait; its number among the record's waits, or -1 where the run is over."""
        if self.clock.ended or self.paused:
            return -1
        # Where the program's own code waits in a backward, that line says more than the one that made the node.
        made = spot_of(seen.forward, self.files) if seen.forward and not in_backward(frame) else None
        phase = at.errand if at.errand and seen.phase == "forward" else seen.phase
        code, instruction = self._first(at)
        forward = self._first(made) if made else None
        rest = (seen.op, seen.hazard, phase, _thread(), allowed)
        number = (id(code), instruction, (id(forward[0]), forward[1]) if forward else None, *rest)
        with self._lock:
            entry = self.entries.get(number)
            if entry is None:
                key = Key(code, instruction, seen.op, seen.hazard, phase, forward, rest[3], allowed)
                stack = tuple(callers(frame, self.files))
                entry = Entry(len(self.entries), key, seen.kind, stack, call_of(frame, self.device_of), seen.depends)
                self.entries[number] = entry
                self.group = rank_in_group() or self.group
            self.seen += not allowed
            now = self.clock.now
            entry.moments[now] = entry.moments.get(now, 0) + 1
            if library((made or at).code.co_filename) and len(entry.entrances) < ENTRANCES:
                led = entrance(frame, seen.forward if made else None, self.files)
                if led is not None:
                    entry.entrances.setdefault((id(led.code), led.instruction), led)
        return entry.number

    def record(
        self,
        machine: Machine,
        ended: str = "exit 0",
        complete: bool = True,
        executed: Mapping[str, tuple[tuple[int, int], ...]] | None = None,
        measured: Measured | None = None,
    ) -> Record:
        """All that was seen until now."""
        measured = measured or Measured()
        told = steps.told(self.clock)
        timed = steps.measured(told, self.warmup)
        with self._lock:
            entries = list(self.entries.values())
        waits = tuple(self._wait(entry, told, measured.costs.get(entry.number, Cost())) for entry in entries)
        rank, world = rank_and_world()
        return Record(
            VERSION,
            f"syncguard {syncguard.__version__}",
            machine,
            self.command,
            self.places.folder.rstrip(os.sep) or os.sep,
            self.started.isoformat(timespec="seconds").replace("+00:00", "Z"),
            round(time.perf_counter() - self.clock.started, 3),
            complete,
            ended,
            rank,
            world,
            msgspec.structs.replace(
                timed,
                device_ms=steps.aligned(told, timed.warmup, measured.begins, measured.device_ms),
                profiled=steps.within(told, *measured.slowed),
                utilised=measured.utilised or timed.utilised,
            ),
            waits,
            {self.places.path(name): lines for name, lines in sorted((executed or {}).items())},
            measured.timeline,
            measured.what_if,
            (),
            tuple(dict.fromkeys((*self.notes, *measured.notes, *self._late()))),
        )

    def _wait(self, entry: Entry, told: steps.Told, cost: Cost) -> Wait:
        key = entry.key
        numbers: dict[int, int] = {}
        for moment, times in entry.moments.items():
            if step := told.step(moment):
                numbers[step] = numbers.get(step, 0) + times
        if not any(told.step(moment) for moment in entry.moments if moment != told.tail):
            numbers = {}
        often = sum(step > self.warmup for step in numbers) > 1
        hazard = self.pack.again(key.op, key.hazard) if often else key.hazard
        return Wait(
            place=self._place(Spot(key.code, key.instruction)),
            op=key.op,
            hazard=hazard,
            kind=entry.kind,
            code=self.pack.code_of(hazard),
            phase=key.phase,
            forward=self._place(Spot(*key.forward)) if key.forward else None,
            thread=key.thread,
            stack=tuple(self._place(caller) for caller in entry.stack),
            count=sum(entry.moments.values()),
            steps=tuple(sorted(numbers.items())),
            wait_us=cost.wait_us,
            bubble_us=cost.bubble_us,
            verdict=cost.verdict,
            allowed=key.allowed,
            call=entry.call,
            depends=entry.depends,
            entrances=tuple(dict.fromkeys(map(self._place, entry.entrances.values()))),
        )

    def _first(self, at: Spot) -> tuple[CodeType, int]:
        """The first instruction that was seen at the same place: a loop tests its condition with two."""
        number = (id(at.code), at.instruction)
        if (known := self._same.get(number)) is None:
            code, instruction = self._at.setdefault(self._place(at), (at.code, at.instruction))
            known = self._same[number] = code, instruction, at.code
        return known[:2]

    def _place(self, at: Spot) -> Place:
        return self.places.place(at)

    def _late(self) -> Iterator[str]:
        if self.clock.now == steps.LATE:
            yield f"Only the first {steps.MOST:,} marks of steps are told apart: later waits count as outside of steps."


def machine(mode: str, device: str = "", used: bool = True) -> Machine:
    """Where this process runs. Torch is asked only if the program has imported it."""
    torch = sys.modules.get("torch")
    version = getattr(torch, "version", None)
    return Machine(
        mode,
        device,
        str(getattr(torch, "__version__", "")),
        platform.python_version(),
        str(getattr(version, "cuda", None) or getattr(version, "hip", None) or ""),
        "",
        f"{platform.system()} {platform.machine()}",
        used,
    )


def rank_and_world() -> tuple[int, int]:
    """What torchrun says of this process."""
    try:
        return int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    except (KeyError, ValueError):
        return 0, 1


def rank_in_group() -> tuple[int, int] | None:
    """What torch.distributed says of this process; None where it belongs to no group."""
    distributed = sys.modules.get("torch.distributed")
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return None
    return distributed.get_rank(), distributed.get_world_size()


def _thread() -> str:
    """The name of this thread without its number, which may differ from run to run."""
    if threading.get_ident() == threading.main_thread().ident:
        return "main"
    name = threading.current_thread().name
    return "autograd" if name.startswith("Dummy-") else NUMBERED.sub("", name) or name
