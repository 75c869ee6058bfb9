"""A program on a CUDA device -> every wait, told while the thread stands there; afterwards, what the waits cost.

Used as `Simulation` is, but that `seen` answers with the number of the record's line that it counted the wait for;
what is known only later is then told by line.

    device = Device(pack, seen)
    with device:
        ...                     # the program; device.step() at the beginning of each of its steps
    device.measured()           # how long each line waited, what it cost, what removing it would save, a timeline
"""

from __future__ import annotations

import ctypes
import itertools
import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import FrameType, TracebackType
from typing import Any

import torch

from syncguard.observe import cost
from syncguard.observe.callee import UNKNOWN, Callee, callee, program_frames, spelled
from syncguard.observe.layers import Held, Missing, Nodes, Traces, Warnings, arm, made_by, node_now
from syncguard.observe.profile import Profile, timeline
from syncguard.observe.recorder import Cost, Measured
from syncguard.observe.simulate.seen import Frame, Seen
from syncguard.observe.window import Clock, Window
from syncguard.pack import Pack
from syncguard.record import Span, WhatIf

LAYERS = ("traces", "warnings", "nodes", "clock", "window")
KINDS = {"stream": "cudaStreamSynchronize", "device": "cudaDeviceSynchronize", "event": "cudaEventSynchronize"}
WARNED = "synchronizing operation"
HELD = 64  # waits of a thread that torch has not yet told the end of
ENGINE = os.path.join("autograd", "graph.py")  # where Python calls the autograd engine
SHORT_CALLS = ("stream",)  # the kinds that the sync debug mode tells too


@dataclass(frozen=True, slots=True)
class Costs:
    """A window in the record's words: `of[line]` for each of its lines, and what no line of Python is known of."""

    of: Mapping[int, cost.Cost]
    unjoined: tuple[cost.Stop, ...] = ()
    what_if: tuple[WhatIf, ...] = ()
    timeline: tuple[Span, ...] = ()
    host_us: float = 0.0
    device_us: float = 0.0
    steps: int = 0
    pageable: int = 0
    utilised: float = 0.0


class Device:
    """While it is entered, `seen` hears of every wait for the device, on the waiting thread, before it waits.

    `layers` picks from LAYERS. `window` is (the step before which the profiler starts, how many steps it watches).
    `notes`: what could not be seen, a sentence each. What `seen` raises is raised in the program at the end of the
    call that waits.
    """

    def __init__(
        self,
        pack: Pack,
        seen: Callable[[Seen], int | None],
        *,
        layers: Iterable[str] = LAYERS,
        window: tuple[int, int] = (6, 4),
    ) -> None:
        self.pack, self.seen, self.layers = pack, seen, frozenset(layers)
        self.notes: list[str] = []
        self.lines: dict[int, int] = {}  # the record's line of each wait
        self.waited: dict[int, float] = {}  # microseconds, of the waits whose end torch told
        self.steps = 0
        self.failed = False  # the device answers no more
        self.over: Callable[[], object] = bool  # called where a backward that waited is over, may raise
        self._numbers = itertools.count()
        self._held, self._lock = Held(), threading.Lock()
        self._late: list[BaseException] = []  # raised in a backward thread, for the thread that called backward
        self._callees: dict[tuple[tuple[int, int], ...], tuple[Callee, tuple[Any, ...]]] = {}
        self._deciding: set[int] = set()
        self._silent = 0
        self._traces, self._warnings, self._nodes = Traces(self._begins), Warnings(self._ended), Nodes()
        self._watches = window
        self._clock, self._window = Clock(), Window(*window)
        self._open: list[Any] = []
        self._profile: Profile | None = None

    def __enter__(self) -> Device:
        if torch.version.cuda is None and torch.version.hip is None:
            self.notes.append("This torch was built without CUDA: no wait can be seen.")
        for name, layer in (("traces", self._traces), ("warnings", self._warnings)):
            if name in self.layers:
                try:
                    layer.open()
                    self._open.append(layer)
                except Missing as lack:
                    self.notes.append(str(lack))
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        for layer in (*self._open, self._nodes):
            layer.close()
        self._open.clear()
        self._ask(self._clock.close)
        self._ask(self._window.close)
        if self._silent:
            self.notes.append(
                f"{self._silent} waits came with no Python warning (torch.ops, compiled code): torch writes these to "
                "standard error, and how long they took is known from the profiled window alone."
            )

    def step(self) -> None:
        """The program begins a step: the clock of the device is read, and the profiler's window opens or closes."""
        self.steps += 1
        if "clock" in self.layers:
            self._ask(self._clock.tick)
        if "window" in self.layers:
            self._ask(lambda: self._window.step(self.steps))

    def forget(self) -> None:
        """Begin anew, in a forked process: what was measured is its parent's, and so may the device be."""
        self.steps, self._silent, self._profile = 0, 0, None
        self._held, self._lock = Held(), threading.Lock()
        # An event of the parent's device cannot be destroyed here: torch ends the process that tries to.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object((self._clock, self._window)))
        self._clock, self._window = Clock(), Window(*self._watches)
        for kept in (self.lines, self.waited, self._deciding, self._late):
            kept.clear()
        if torch.cuda._is_in_bad_fork():
            self.layers -= {"clock", "window"}

    def _ask(self, ask: Callable[[], object]) -> None:
        """Ask something of the device for ourselves: what waits in it is not the program's, and that the device has
        failed the program knows or learns without us.
        """
        self._held.inside = True
        try:
            ask()
        except RuntimeError as fault:
            self.failed = True
            self.layers -= {"clock", "window"}
            text = str(fault).strip().split("\n", 1)[0]
            self.notes.append(f"The device could not be asked how long steps and waits took ({text}).")
        finally:
            self._held.inside = False

    def profiled(self) -> tuple[int, int]:
        """The first and last step that the profiler slowed down; (0, 0) where there was none."""
        return self._window.watched

    def trace(self) -> Any:
        """The window's Chrome trace as the profiler wrote it, once; None where there is none."""
        return self._window.data()

    @property
    def name(self) -> str:
        """What the device is called; empty where the program never used it."""
        cuda: Any = torch.cuda
        try:
            return cuda.get_device_name() if cuda.is_initialized() else ""
        except RuntimeError:  # it has failed
            return ""

    def measured(self) -> Measured:
        """What became known after the waits, by line of the record."""
        self._profile = self._profile or self._window.profile(self._deciding)
        profile = self._profile
        window = costs_of(profile, self.lines) if profile is not None else Costs({})
        lengths: dict[int, list[float]] = {}
        for number, wait in self.waited.items():
            if number in self.lines:
                lengths.setdefault(self.lines[number], []).append(wait)
        costs = {line: Cost(tuple(waits)) for line, waits in lengths.items()}
        costs |= {line: Cost(one.wait_us, one.bubble_us, one.verdict) for line, one in window.of.items()}
        notes = (*self._window.notes, *said(window))
        if not notes and not self._window.watched[1] and "window" in self.layers:
            first = self._window.first
            notes = (
                f"The program made {self.steps} steps, the profiler begins with step {first}: no wait has a cost.",
            )
        return Measured(
            costs,
            window.timeline,
            window.what_if,
            self._clock.steps,
            notes,
            self._clock.begins,
            (self._window.slowed[0], self._window.slowed[-1]) if self._window.slowed else (0.0, 0.0),
            window.utilised,
        )

    def _begins(self, kind: str) -> object:
        """A GPU-trace callback: the thread is about to wait."""
        if self._held.inside:
            return None
        frame = sys._getframe(1).f_back  # none where the thread is torch's own
        warned = kind in SHORT_CALLS and self._warnings in self._open
        if warned:
            self._warnings.insist()
        number = self._tell(KINDS[kind], frame)
        fault, self._held.owed = self._held.owed, None
        # What the autograd engine itself waits for is told when all of backward is over.
        if fault is None and warned and frame is not None and not _is_engine(frame):
            self._silent += len(self._held.begun) == HELD
            del self._held.begun[: 1 - HELD]
            self._held.begun.append((number, _place(frame), time.perf_counter()))
        if fault is None:
            return None
        self._traces.pause()
        return arm(fault, self._traces.resume)

    def _ended(self) -> None:
        """A warning: the binding in which the thread waited is over. A wait whose beginning torch could not tell (it
        looks for our callback from the frame that waits, which may lack all that is built in) is told now.
        """
        if self._held.inside:
            return
        self._traces.resume()
        frame = sys._getframe(2)
        if self._traces not in self._open or not (self._settle(_place(frame)) or _is_engine(frame)):
            self._tell(WARNED, frame, after=True)
        fault, self._held.owed = self._held.owed, None
        if fault is None and self._late:
            fault = self._late[0]
            self._late.clear()  # one error ends a backward, however many waits of it were forbidden
        if fault is not None:
            raise fault
        if _is_engine(frame):
            self.over()

    def _settle(self, place: tuple[int, int]) -> bool:
        """The first wait that this thread began here is over; what it began elsewhere before ended without a word.
        False where it had begun none at all.
        """
        begun = self._held.begun
        any_begun = bool(begun)
        while begun and begun[0][1] != place:
            self._silent += 1
            begun.pop(0)
        if begun:
            number, _, since = begun.pop(0)
            self.waited[number] = round((time.perf_counter() - since) * 1e6, 1)
            self._window.mark("after", number)
        return any_begun

    def _tell(self, kind: str, frame: FrameType | None, after: bool = False) -> int:
        number = next(self._numbers)
        self._held.inside = True
        try:
            self._window.mark("after" if after else "before", number)
            node = node_now()
            one, forward = self._callee(frame, node)
            if one.decides:
                self._deciding.add(number)
            with self._lock:
                seen = Seen(
                    one.op, one.hazard, "forward" if node is None else "backward", forward, 0, kind, one.depends
                )
                line = self.seen(seen)
            if line is not None and line >= 0:
                self.lines[number] = line
            if node is not None and "nodes" in self.layers and not self._nodes.is_open:
                self._open_nodes()
        except BaseException as fault:
            if node_now() is not None:
                self._late.append(fault)
            else:
                self._held.owed = fault
        finally:
            self._held.inside = False
        return number

    def _callee(self, frame: FrameType | None, node: Any) -> tuple[Callee, tuple[Frame, ...] | None]:
        forward = made_by(node) if node is not None else None
        found = program_frames(frame)
        if node is not None and (not found or _is_engine(found[0])):
            return self._of_node(node, forward), forward
        key = tuple((id(f.f_code), f.f_lasti) for f in found)
        if key not in self._callees:
            # The codes are kept, so that no other gets their place in memory.
            self._callees[key] = callee(found, self.pack), tuple(f.f_code for f in found)
        return self._callees[key][0], forward

    def _of_node(self, node: Any, forward: tuple[Frame, ...] | None) -> Callee:
        """A node waits: under the name of the operation that made it, where that is known."""
        key = tuple((id(frame.code), frame.instruction) for frame in forward or ())
        if not forward:
            return Callee(str(node.name()), UNKNOWN)
        if key not in self._callees:
            self._callees[key] = self._of_forward(node, forward), tuple(frame.code for frame in forward)
        return self._callees[key][0]

    def _of_forward(self, node: Any, forward: tuple[Frame, ...]) -> Callee:
        for frame in forward:
            for name in spelled(frame.code, frame.instruction):
                row = self.pack.op(name)
                waits = (*row.waits, *row.backward) if row is not None else ()
                if waits:
                    return Callee(name, waits[0].hazard)
        return Callee(str(node.name()), UNKNOWN)

    def _open_nodes(self) -> None:
        try:
            self._nodes.open()
        except Missing as lack:
            self.layers -= {"nodes"}
            self.notes.append(str(lack))


def said(window: Costs) -> Iterator[str]:
    """What the window saw beyond the lines, a sentence each."""
    if window.unjoined:
        kinds = Counter(f"{stop.kind}{f' in {stop.op}' if stop.op else ''}" for stop in window.unjoined)
        most = ", ".join(f"{times} x {kind}" for kind, times in kinds.most_common(5))
        yield (
            f"The profiler saw {len(window.unjoined)} waits in {window.steps} steps that have no line of Python "
            f"(allocator, libraries): {most}."
        )
    if window.pageable:
        yield f"{window.pageable} copies in {window.steps} steps are from or to pageable memory."


def _is_engine(frame: FrameType) -> bool:
    return frame.f_code.co_filename.endswith(ENGINE)


def _place(frame: FrameType | None) -> tuple[int, int]:
    return (id(frame.f_code), frame.f_lasti) if frame is not None else (0, 0)


def costs_of(profile: Profile, line_of: Mapping[int, int]) -> Costs:
    """A window's costs by line of the record."""
    trace = cost.renumbered(profile.trace, line_of)
    base = cost.replay(trace)
    return Costs(
        {one.wait: one for one in cost.costs(trace)},
        tuple(stop for stop in trace.stops if stop.wait < 0),
        cost.what_ifs(trace),
        timeline(trace),
        base.host_us,
        base.device_us,
        trace.steps,
        profile.pageable,
        round(cost.utilised(trace), 4),
    )
