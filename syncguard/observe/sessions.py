"""A test session -> its record, and how often each test waits."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from syncguard import pack
from syncguard.observe.launch import OnImport
from syncguard.observe.lines import Lines
from syncguard.observe.recorder import Recorder, machine
from syncguard.observe.watch import Mode, Watch
from syncguard.record import Record, text

MOST = 20  # lines of each part of the summary


class Session:
    """Watches torch from when it is imported to the end of the tests; with `lines`, also which lines they execute."""

    def __init__(self, mode: Mode, step_over: tuple[str, ...] = (), lines: bool = False) -> None:
        self.recorder = Recorder(pack.load(), command=("pytest", *sys.argv[1:]))
        self.watch = Watch(mode, self.recorder, step_over=step_over)
        self.lines = Lines() if lines else None
        self.tests: dict[str, int] = {}
        self.received: list[Record] = []
        self._test = ""
        self._before = 0
        self._finder: OnImport | None = None
        self.ended_by, self.status = "", 0  # what ended the session early

    def open(self) -> None:
        if self.lines is not None:
            self.lines.__enter__()
        if "torch" in sys.modules:
            self.watch.start()
        else:
            around = (self.lines.paused,) if self.lines is not None else ()
            self._finder = OnImport("torch", self.watch.start, *around)
            sys.meta_path.insert(0, self._finder)

    def close(self) -> None:
        if self.lines is not None:
            self.lines.__exit__()
        if self._finder in sys.meta_path:
            sys.meta_path.remove(self._finder)
        if Watch.current is self.watch:
            self.watch.stop()

    def told_to_end(self, number: int) -> str:
        """The name of the signal that ends the session early."""
        self.ended_by, self.status = f"signal {signal.Signals(number).name}", 128 + number
        return self.ended_by

    def begin(self, test: str) -> None:
        """A test is called: its waits are its step, and the device is there, whatever became of it in the last one."""
        self.watch.renew()
        if self.lines is not None:
            self.lines.renew()
        self._test, self._before = test, self.recorder.seen

    def end(self) -> None:
        if waits := self.recorder.seen - self._before:
            self.tests[self._test] = self.tests.get(self._test, 0) + waits

    def record(self) -> Record:
        """What was seen here and by the workers."""
        here, measured = machine(self.watch.mode, used=self.watch.used), self.watch.measured()
        ended = self.ended_by or "exit 0"
        executed = None
        if self.lines is not None:
            executed = self.lines.executed()
            self.recorder.notes += [note for note in self.lines.notes if note not in self.recorder.notes]
        record = self.recorder.record(here, ended, not self.ended_by, executed, measured)
        if not self.received:
            return record
        from importlib import import_module

        # Only the command line may know both rooms; under xdist pytest stands in its place.
        merged: Any = import_module("syncguard.compare.merge").merged
        return merged(self.received)  # type: ignore[no-any-return]

    def save(self, file: str) -> None:
        Path(file).write_bytes(text(self.record()))

    def sent(self) -> str:
        """What a worker tells the main process."""
        return msgspec.json.encode((self.record(), self.tests)).decode()

    def receive(self, sent: str) -> None:
        record, tests = msgspec.json.decode(sent, type=tuple[Record, dict[str, int]])
        self.received.append(record)
        for test, waits in tests.items():
            self.tests[test] = self.tests.get(test, 0) + waits

    def summary(self, width: int) -> Iterator[str]:
        """The lines that wait most, and the tests that do."""
        record = self.record()
        waits = sorted((w for w in record.waits if not w.allowed), key=lambda wait: -wait.count)
        if not waits:
            seen = "torch" in sys.modules or self.received
            device = "simulated device" if self.watch.mode == "simulate" else "GPU"
            yield f"No test waits for the {device}." if seen else "No test imported torch."
        for wait in waits[:MOST]:
            place = wait.forward or wait.place
            line = f"{wait.count:>7,}  {place.path}:{place.line}  {wait.code} {wait.op}  {place.source.strip()}"
            yield line if len(line) <= width else f"{line[: width - 3]}..."
        if len(waits) > MOST:
            yield f"         and {len(waits) - MOST:,} more lines"
        tests = sorted(self.tests.items(), key=lambda item: -item[1])
        if tests:
            yield f"{len(tests):,} tests wait; most of all:"
        for name, number in tests[: MOST // 4]:
            yield f"{number:>7,}  {name}"
        yield from dict.fromkeys(record.notes)
