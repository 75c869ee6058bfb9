"""Processes that a program spawns: they are watched as their parent is, and leave their records for it."""

from __future__ import annotations

import atexit
import multiprocessing.spawn
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

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


class Children:
    """While it is entered, a Python that multiprocessing spawns is told to watch itself. A fork is not."""

    def __init__(self, wishes: Wishes) -> None:
        self.wishes = wishes
        self.folder: Path | None = None
        self._plain = multiprocessing.spawn.get_command_line

    def __enter__(self) -> Children:
        multiprocessing.spawn.get_command_line = self._command
        return self

    def __exit__(self, *_: object) -> None:
        multiprocessing.spawn.get_command_line = self._plain

    def gather(self) -> tuple[Record, ...]:
        """The records of the children that waited at all, numbered as they were started."""
        if self.folder is None:
            return ()
        found = []
        for path in sorted(self.folder.glob("*.json"), key=lambda path: path.stat().st_mtime_ns):
            try:
                found.append(records.load(str(path)))
            except RecordError:
                continue
        shutil.rmtree(self.folder, ignore_errors=True)
        return tuple(
            msgspec.structs.replace(record, rank=number, world=len(found)) for number, record in enumerate(found)
        )

    def _command(self, **named: object) -> list[str]:
        words = list(self._plain(**named))
        if "-c" in words:
            if self.folder is None:
                self.folder = Path(tempfile.mkdtemp(prefix="syncguard-"))
            at = words.index("-c") + 1
            wishes = self.wishes
            packs = [str(pack) for pack in wishes.packs]
            given = (wishes.device, wishes.warmup, wishes.steps, packs, list(wishes.step_over), str(self.folder))
            words[at] = BEGIN.format(given) + words[at]
        return words


def begin(device: Mode, warmup: int | None, steps: int, packs: list[str], step_over: list[str], folder: str) -> None:
    """In a spawned process: watch it from when it imports torch to its end."""
    from syncguard.observe.launch import Session, Wishes
    from syncguard.observe.program import Ended, Program

    def keep(record: Record) -> None:
        if record.waits and Path(folder).is_dir():
            name = f"{multiprocessing.current_process().name}-{session.pid}.json"
            (Path(folder) / name).write_bytes(records.text(record))

    def end() -> None:
        session.close()
        keep(session.record(Ended("exit 0", 0)))

    wishes = Wishes(device, warmup, steps, tuple(map(Path, packs)), tuple(step_over))
    session = Session(Program("spawned"), wishes, keep)
    session.open()
    atexit.register(end)
