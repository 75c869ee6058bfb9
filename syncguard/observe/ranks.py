"""Where the ranks of one run leave their records, and how rank 0 gathers them."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from syncguard import atomic
from syncguard import record as records
from syncguard.observe.recorder import rank_and_world
from syncguard.record import Record, RecordError

PATIENCE = 15.0  # seconds that rank 0 waits for the others, once it has ended itself
TOGETHER = 1.0  # seconds within which a launcher starts them all
PAUSE = 0.05
DAY = 86400.0
JOINED = "joined"  # a file that says that rank 0 is there
TORCHRUN = ("TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT", "MASTER_ADDR", "MASTER_PORT")


class Keeper:
    """Keeps the record of this process: in a file where one is wanted, and for rank 0 to find where there are ranks.

    Without a file the ranks of rank 0's node meet in a temporary folder, which goes with rank 0; without it, with them.
    """

    def __init__(self, save: str = "") -> None:
        self.save = Path(save).absolute() if save else None
        self.lost = ""  # why the file that the user named has no record
        self.rank, self.world = rank_and_world()
        self.started, self.pid = time.time(), os.getpid()
        # Without a file that all nodes may share, only the ranks of this node can meet.
        self.expected = self.world if save else int(os.environ.get("LOCAL_WORLD_SIZE", self.world))
        self.meets = not save and self.world > 1 and self.rank < self.expected
        if self.meets:
            _sweep()
            self._meet()
        if self.meets or (save and self.world > 1):
            self.file(self.rank).unlink(missing_ok=True)

    def __enter__(self) -> Keeper:
        return self

    def __exit__(self, *_: object) -> None:
        self.leave()

    def file(self, rank: int) -> Path:
        """Where a rank leaves its record: `run.json` and rank 1 make `run.rank1.json`."""
        if self.save is None:
            return self._meeting() / f"rank{rank}.json"
        return self.save.with_name(f"{self.save.stem}.rank{rank}{self.save.suffix}")

    def keep(self, record: Record) -> None:
        """Write the record of this rank; what is there is replaced at once or not at all."""
        if self.save:
            self._save(self.file(self.rank) if self.world > 1 else self.save, record)
        elif self.meets and self._meeting().is_dir():  # else rank 0 has gone, and nobody asks any more
            write(self.file(self.rank), record)

    def write(self, record: Record) -> None:
        """Write the final record to the file that the user named."""
        assert self.save is not None
        self._save(self.save, record)

    def _save(self, file: Path, record: Record) -> None:
        try:
            write(file, record)
        except OSError as fault:  # the report can still be shown
            self.lost = f"{file}: cannot be written: {fault.strerror or fault}"

    def others(self, patience: float = PATIENCE) -> tuple[Record, ...]:
        """What the other ranks have left, for rank 0; it waits for them a little."""
        if self.world == 1 or self.rank:
            return ()
        ranks = range(1, self.expected)
        until = time.monotonic() + patience
        while any(not self._there(rank) for rank in ranks) and time.monotonic() < until:
            time.sleep(PAUSE)
        return tuple(self._read(rank for rank in ranks if self._there(rank)))

    def leave(self) -> None:
        """This process ends, if it is not one that it forked: what waited for rank 0 goes with it.

        A rank that rank 0 did not join has come after its end, or alone: nobody will ask for what it leaves. One that
        ends as soon as it has begun may only have been the quicker of both.
        """
        if not self.meets or os.getpid() != self.pid:
            return
        if self.rank == 0:
            shutil.rmtree(self._meeting(), ignore_errors=True)
            return
        while self._alone() and time.time() < self.started + TOGETHER:
            time.sleep(PAUSE)
        if self._alone():
            with suppress(OSError):
                self.file(self.rank).unlink(missing_ok=True)
                self._meeting().rmdir()  # by the last of them: before, it is not empty

    def _alone(self) -> bool:
        """Whether rank 0 has not come; where it has gone it took the folder away."""
        return self._meeting().is_dir() and not (self._meeting() / JOINED).exists()

    def _meet(self) -> None:
        """Be in the folder."""
        for _ in range(2):  # a rank that leaves may take it away beneath us
            self._meeting().mkdir(parents=True, exist_ok=True, mode=0o700)
            with suppress(FileNotFoundError):
                if self.rank == 0:
                    (self._meeting() / JOINED).touch()
                return

    def _there(self, rank: int) -> bool:
        try:
            return self.file(rank).stat().st_mtime > self.started - 60
        except OSError:
            return False

    def _read(self, ranks: Iterator[int]) -> Iterator[Record]:
        for rank in ranks:
            try:
                yield records.load(str(self.file(rank)))
            except RecordError:
                continue

    def _meeting(self) -> Path:
        words = [str(os.getppid()), *(os.environ.get(name, "") for name in TORCHRUN)]
        name = "-".join("".join(c for c in word if c.isalnum()) for word in words)
        return Path(tempfile.gettempdir()) / f"{_prefix()}{name}"


def _prefix() -> str:
    return f"syncguard-{os.getuid() if hasattr(os, 'getuid') else ''}-"


def _sweep() -> None:
    """Remove what ranks that nobody could warn of their end left, once its launcher has been gone for a day."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_prefix()}*"):
        launcher = folder.name.removeprefix(_prefix()).partition("-")[0]
        try:
            if folder.stat().st_mtime < time.time() - DAY and not _lives(int(launcher)):
                shutil.rmtree(folder, ignore_errors=True)
        except (OSError, ValueError):
            continue


def _lives(pid: int) -> bool:
    """Whether there is such a process; yes where that cannot be asked without harm."""
    if os.name != "posix":
        return True
    try:
        os.kill(pid, 0)
    except OSError as fault:
        return not isinstance(fault, ProcessLookupError)
    return True


def write(path: Path, record: Record) -> None:
    """Write a record, replacing what is there at once or not at all; what is no file, a pipe say, is written into."""
    if path.exists() and not path.is_file():
        path.write_bytes(records.text(record))
    else:
        atomic.write(path.resolve(), records.text(record))
