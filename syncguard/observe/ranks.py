"""Where the ranks of one run leave their records, and how rank 0 gathers them."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from syncguard import atomic
from syncguard import record as records
from syncguard.observe.recorder import rank_and_world
from syncguard.record import Record, RecordError

PATIENCE = 15.0  # seconds that rank 0 waits for the others, once it has ended itself
PAUSE = 0.05
TORCHRUN = ("TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT", "MASTER_ADDR", "MASTER_PORT")


class Keeper:
    """Keeps the record of this process: in a file where one is wanted, and for rank 0 to find where there are ranks."""

    def __init__(self, save: str = "") -> None:
        self.save = Path(save).absolute() if save else None
        self.rank, self.world = rank_and_world()
        self.started = time.time()
        # Without a file that all nodes may share, only the ranks of this node can meet.
        self.expected = self.world if save else int(os.environ.get("LOCAL_WORLD_SIZE", self.world))
        if self.world > 1:
            if not self.save:
                self._meeting().mkdir(parents=True, exist_ok=True, mode=0o700)
            self.file(self.rank).unlink(missing_ok=True)

    def file(self, rank: int) -> Path:
        """Where a rank leaves its record: `run.json` and rank 1 make `run.rank1.json`."""
        if self.save is None:
            return self._meeting() / f"rank{rank}.json"
        return self.save.with_name(f"{self.save.stem}.rank{rank}{self.save.suffix}")

    def keep(self, record: Record) -> None:
        """Write the record of this rank; what is there is replaced at once or not at all."""
        if self.world > 1:
            write(self.file(self.rank), record)
        elif self.save:
            write(self.save, record)

    def write(self, record: Record) -> None:
        """Write the final record to the file that the user named."""
        assert self.save is not None
        write(self.save, record)

    def others(self, patience: float = PATIENCE) -> tuple[Record, ...]:
        """What the other ranks have left, for rank 0; it waits for them a little."""
        if self.world == 1 or self.rank:
            return ()
        ranks = range(1, self.expected)
        until = time.monotonic() + patience
        while any(not self._there(rank) for rank in ranks) and time.monotonic() < until:
            time.sleep(PAUSE)
        found = tuple(self._read(rank for rank in ranks if self._there(rank)))
        if self.save is None:
            for rank in range(self.expected):
                self.file(rank).unlink(missing_ok=True)
        return found

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
        return Path(tempfile.gettempdir()) / f"syncguard-{os.getuid() if hasattr(os, 'getuid') else ''}-{name}"


def write(path: Path, record: Record) -> None:
    """Write a record, replacing what is there at once or not at all."""
    atomic.write(path, records.text(record))
