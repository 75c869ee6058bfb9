"""A program and wishes -> the program run under an engine, and the record of what made it wait."""

from __future__ import annotations

import atexit
import importlib.machinery
import importlib.util
import os
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from importlib.abc import Loader, MetaPathFinder
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from syncguard import pack
from syncguard.observe import program
from syncguard.observe.exits import Exits
from syncguard.observe.lines import Lines
from syncguard.observe.program import CannotRun, Ended, Program
from syncguard.observe.recorder import Recorder, machine
from syncguard.observe.steps import Hooks
from syncguard.observe.watch import Mode, NoDevice, Watch
from syncguard.record import COMMANDS, Record

if TYPE_CHECKING:
    from syncguard.observe.children import Children

# On a device, memory pools, libraries and tuned kernels take a few steps to settle.
WARMUP = {"simulate": 1, "cuda": 3}
# What the end of a program says where it lacked a module or a compiler that is only there with a GPU.
LACKS = ("ModuleNotFoundError", "ImportError", "libcuda", "active driver", "CUDA_HOME", "NVIDIA driver")
STEP_OVER = "What only runs on a GPU (a CUDA extension, a Triton kernel) can be skipped: `--step-over NAME`."
LONG = 1.0  # seconds of computing: what only asks the system something takes less


class Wishes(NamedTuple):
    """How to watch: on which device, which steps not to count, how many to count (0: all), engine options."""

    device: Mode = "auto"
    warmup: int | None = None  # None: as many as the device needs
    steps: int = 0
    packs: tuple[Path, ...] = ()
    step_over: tuple[str, ...] = ()  # modules that cannot be simulated


class Outcome(NamedTuple):
    """What a program left: its record, those of the processes that it spawned (none in a forked child), how it ended,
    and whether the device failed with it.
    """

    record: Record
    children: tuple[Record, ...]
    ended: Ended
    failed: bool


Leave = Callable[[tuple[Record, ...]], int]


def launch(what: Program, wishes: Wishes, keep: Callable[[Record], None], leave: Leave = lambda records: 0) -> Outcome:
    """Run a program to its end. CannotRun: it or the device is not there.

    `keep` is given the record even where the program is killed. Then `leave` is given it too, with those of the
    processes that it started: what it answers is the exit code of a program that ended at once, and well.
    """
    program.check(what)
    session = Session(what, wishes, keep, leave=leave)
    begun = session.pid
    session.open()
    try:
        ended = program.run(what)
        program.finish()
    finally:
        session.close()
    if session.refused:
        raise CannotRun(session.refused)
    record = session.record(ended)
    session.keep(record)
    failed = session.watch is not None and session.watch.failed
    return Outcome(record, session.children() if os.getpid() == begun else (), ended, failed)


class Session:
    """From before the program's first line to after its last. Torch is watched from the moment it is imported."""

    def __init__(
        self,
        what: Program,
        wishes: Wishes,
        keep: Callable[[Record], None],
        folder: Path | None = None,
        leave: Leave = lambda records: 0,
    ) -> None:
        self.wishes, self.keep, self.folder, self.leave = wishes, keep, folder, leave
        self.recorder = Recorder(pack.load(wishes.packs), command=what.command, warmup=wishes.warmup or 0)
        self.lines = Lines()
        if what.flag == "-c":
            self.recorder.files[program.TEXT] = (False, "")
            self.recorder.places.texts[program.TEXT] = what.name.split("\n")
        self.watch: Watch | None = None
        self.spawned: Children | None = None
        self.refused = ""  # why there is no device
        self.pid = os.getpid()
        self.opened = False
        self.exits = Exits(self)
        self._undo = ExitStack()

    def open(self) -> None:
        """Before the program's first line."""
        self.opened = True
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(before=self._before_a_fork, after_in_parent=self.exits.let, after_in_child=self._forked)
        self._undo.enter_context(self.exits)
        if "torch" in sys.modules:
            self.start()
        else:
            finder = OnImport("torch", self.start, self.lines.paused)
            sys.meta_path.insert(0, finder)
            self._undo.callback(lambda: sys.meta_path.remove(finder) if finder in sys.meta_path else None)
        self._undo.enter_context(self.lines)

    def close(self) -> None:
        """After its last."""
        self.opened = False
        self._undo.close()

    def children(self) -> tuple[Record, ...]:
        """What the processes that the program started have left."""
        return self.spawned.gather() if self.spawned else ()

    def _before_a_fork(self) -> None:
        if self.opened:
            self._watched().place()
            self.exits.hold()

    def _watched(self) -> Children:
        if self.spawned is None:
            from syncguard.observe.children import Children
            from syncguard.observe.reminders import Reminders

            self.spawned = Children(self.wishes, self.folder)
            self._undo.enter_context(Reminders(self.spawned.place, self.recorder.notes))
        return self.spawned

    def _forked(self) -> None:
        """In a forked child: from here on it is watched for itself, and leaves its record where its parent finds it."""
        if self.opened and self.spawned is not None:
            (self.watch or self.recorder).forget()
            self.keep, self.folder = self.spawned.keep, self.spawned.place()
            self.pid = os.getpid()
            self.exits.announce()
        self.exits.let()

    def start(self) -> None:
        """Torch is there: start the engine."""
        watch = Watch(self.wishes.device, self.recorder, step_over=self.wishes.step_over, forks=True)
        try:
            watch.start()
        except NoDevice as fault:
            self.refused = str(fault)
            raise SystemExit from None
        self.watch = watch
        if self.wishes.warmup is None:
            self.recorder.warmup = WARMUP[watch.mode]
        if self.wishes.steps:
            self.recorder.clock.limit = self.recorder.warmup + self.wishes.steps
        # What a program does at its exit may still need the device that we simulate; it ends with the process.
        self._undo.callback(watch.stop if watch.mode == "cuda" else watch.mute)
        self._undo.enter_context(Hooks(self.recorder.clock))
        children = self._watched()
        children.wishes = self.wishes._replace(device=watch.mode)
        self._undo.enter_context(children)

    def only_commands(self) -> bool:
        """Whether the program has others run by commands, which nobody watches, and no process of its own."""
        apart = self.spawned is None or self.spawned.folder is None
        spent = os.times()
        return self.folder is None and apart and spent.children_user + spent.children_system > LONG

    def record(self, ended: Ended) -> Record:
        """What was seen until now."""
        mode = self.watch.mode if self.watch else self.wishes.device
        if self.watch is None:
            self.recorder.notes.append("The program did not import torch, so there was nothing to see.")
        elif mode == "simulate" and ended.said.startswith("exception") and any(word in ended.said for word in LACKS):
            self.recorder.notes.append(STEP_OVER)
        measured = self.watch.measured() if self.watch else None
        device, used = (self.watch.name, self.watch.used) if self.watch else ("", False)
        if not used and self.only_commands():
            self.recorder.notes.append(COMMANDS)
        executed = self.lines.executed()
        self.recorder.notes += [note for note in self.lines.notes if note not in self.recorder.notes]
        found = self.recorder.record(machine(mode, device, used), ended.said, ended.complete, executed, measured)
        if self.folder is None or found.world > 1:
            return found
        rank, world = self.recorder.group  # what starts a process itself tells it its rank by other means than torchrun
        return msgspec.structs.replace(found, rank=rank, world=world)


class OnImport(MetaPathFinder):
    """Calls a function right after a module was imported, before whoever imports it goes on."""

    def __init__(
        self, name: str, then: Callable[[], None], during: Callable[[], AbstractContextManager[None]] = nullcontext
    ) -> None:
        self.name, self.then, self.during = name, then, during
        self.looking = False

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self.name or self.looking:
            return None
        self.looking = True
        try:
            spec = importlib.util.find_spec(fullname)
        finally:
            self.looking = False
        # Many only ask whether there is one: we stay until it is imported.
        if spec is not None and spec.loader is not None:
            spec.loader = _Then(spec.loader, self)
        return spec


class _Then(Loader):
    def __init__(self, plain: Loader, finder: OnImport) -> None:
        self.plain, self.finder = plain, finder

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        return self.plain.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        if self.finder in sys.meta_path:
            sys.meta_path.remove(self.finder)
        # The module must look as if we had never been here.
        if module.__spec__ is not None:
            module.__spec__.loader = self.plain
        module.__loader__ = self.plain
        with self.finder.during():
            self.plain.exec_module(module)
            self.finder.then()


def leave_with(code: int) -> None:
    """End this process with a code, after everything else that Python does at its end, and before what C++ does: torch
    cannot end a profile of a device that has failed.
    """

    def leave() -> None:
        flush()
        os._exit(code)

    atexit.register(leave)


def flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            pass


def die_of(number: int) -> None:
    """End this process by a signal, after everything else that is done at its end, as Python itself does."""

    def die() -> None:
        flush()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    atexit.register(die)
