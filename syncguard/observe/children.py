"""Processes that multiprocessing or a fork starts: watched as their parent is, they leave it their records."""

from __future__ import annotations

import atexit
import multiprocessing.spawn
import multiprocessing.util
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from syncguard import record as records
from syncguard.record import Record, RecordError

if TYPE_CHECKING:
    from syncguard.observe.launch import Wishes
    from syncguard.observe.watch import Mode

# A child may lack us on its path; then it runs as it would without us.
BEGIN = """\
try:
    from syncguard.observe.children import begin
    begin(*{0!r})
except ImportError:
    pass
"""
SERVER = "from multiprocessing.forkserver import main"  # a process that is forked for each child


class Children:
    """While it is entered, a Python that multiprocessing starts is told to watch itself."""

    def __init__(self, wishes: Wishes, folder: Path | None = None) -> None:
        self.wishes, self.folder = wishes, folder
        self._plain = multiprocessing.spawn.get_command_line
        self._start: Callable[..., Any] = multiprocessing.util.spawnv_passfds

    def __enter__(self) -> Children:
        multiprocessing.spawn.get_command_line = self._command
        multiprocessing.util.spawnv_passfds = self._server  # type: ignore[assignment]
        return self

    def __exit__(self, *_: object) -> None:
        multiprocessing.spawn.get_command_line = self._plain
        multiprocessing.util.spawnv_passfds = self._start

    def place(self) -> Path:
        """The folder in which the records meet."""
        if self.folder is None:
            self.folder = Path(tempfile.mkdtemp(prefix="syncguard-"))
        return self.folder

    def keep(self, record: Record) -> None:
        """Leave the record of this process, if it waited at all."""
        folder = self.place()
        if record.waits and folder.is_dir():
            (folder / f"{multiprocessing.current_process().name}-{os.getpid()}.json").write_bytes(records.text(record))

    def gather(self) -> tuple[Record, ...]:
        """The records of the children that waited at all, as they ended."""
        if self.folder is None:
            return ()
        found = []
        for path in sorted(self.folder.glob("*.json"), key=lambda path: path.stat().st_mtime_ns):
            try:
                found.append(records.load(str(path)))
            except RecordError:
                continue
        shutil.rmtree(self.folder, ignore_errors=True)
        several = (
            f"{len(found)} processes that the program started waited, too: each number is that of the one with most."
        )
        notes = (several,) if len(found) > 1 and all(record.world == 1 for record in found) else ()
        return tuple(
            msgspec.structs.replace(record, notes=(*record.notes, *notes)) for record in map(of_a_child, found)
        )

    def _begin(self) -> str:
        wishes = self.wishes
        packs = [str(pack) for pack in wishes.packs]
        given = (wishes.device, wishes.warmup, wishes.steps, packs, list(wishes.step_over), str(self.place()))
        return BEGIN.format(given)

    def _command(self, **named: object) -> list[str]:
        words = list(self._plain(**named))
        if "-c" in words:
            at = words.index("-c") + 1
            words[at] = self._begin() + words[at]
        return words

    def _server(self, path: Any, words: Sequence[Any], descriptors: Any) -> Any:
        if words and str(words[-1]).startswith(SERVER):
            words = [*words[:-1], self._begin() + str(words[-1])]
        return self._start(path, words, descriptors)


def of_a_child(record: Record) -> Record:
    """A child's record: how it ended is not how the program ended. A pool ends its workers by SIGTERM."""
    cut = not record.complete and record.ended != "signal SIGTERM"
    note = f"A process that the program started ended with {record.ended}: of it, what ran until then is shown."
    notes = (*record.notes, *((note,) if cut else ()))
    return msgspec.structs.replace(record, ended="exit 0", complete=True, notes=notes)


def begin(device: Mode, warmup: int | None, steps: int, packs: list[str], step_over: list[str], folder: str) -> None:
    """In a process that multiprocessing started: watch it from when it imports torch to its end."""
    from syncguard.observe.launch import Session, Wishes
    from syncguard.observe.program import Ended, Program

    wishes = Wishes(device, warmup, steps, tuple(map(Path, packs)), tuple(step_over))
    session = Session(Program("spawned"), wishes, Children(wishes, Path(folder)).keep, Path(folder))

    def end() -> None:
        session.close()
        session.keep(session.record(Ended("exit 0", 0)))

    session.open()
    atexit.register(end)
