"""A command in, what it cost out: wall clock, processor time, peak memory, and what it printed."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

WORKER = Path(__file__).with_name("worker.py")


@dataclass(frozen=True)
class Cost:
    """One run: seconds of wall clock and of processor, peak MB of the largest process, standard output.

    `together` is the peak MB of all its processes, where the system tells (Linux).
    """

    wall: float
    cpu: float
    memory: float
    output: str = ""
    together: float = 0.0


def command(words: Sequence[str], accepted: Sequence[int] = (0, 1), folder: Path | None = None) -> Cost:
    """Run a whole process; 1 is accepted, since that is how a linter says that it found something."""
    # Pipes would have to be read while the process runs, and its own report of what it used comes with its end.
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        begun = time.perf_counter()
        child = subprocess.Popen(
            words, stdout=output, stderr=errors, stdin=subprocess.DEVNULL, env=_environment(), cwd=folder
        )
        together = Watcher(child.pid)
        _, status, used = os.wait4(child.pid, 0)
        wall = time.perf_counter() - begun
        peak = together.end()
        child.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0), errors.seek(0)
        if child.returncode not in accepted:
            said = errors.read().decode(errors="replace").strip()[-2000:]
            raise SystemExit(f"{Path(words[0]).name} {' '.join(words[1:3])} ended with {child.returncode}:\n{said}")
        said = output.read().decode(errors="replace")
        largest = _megabytes(used.ru_maxrss)
        return Cost(wall, used.ru_utime + used.ru_stime, largest, said, max(peak, largest))


class Watcher:
    """Watches what a process and its children hold in memory together."""

    EVERY = 0.02  # seconds

    def __init__(self, pid: int) -> None:
        self.peak, self.over = 0.0, threading.Event()
        self.thread = threading.Thread(target=self._watch, args=(pid,), daemon=True)
        self.thread.start()

    def end(self) -> float:
        """Stop; the peak in MB, 0 where it cannot be known."""
        self.over.set()
        self.thread.join()
        return self.peak

    def _watch(self, pid: int) -> None:
        while not self.over.wait(self.EVERY):
            self.peak = max(self.peak, sum(map(_resident, _family(pid))))


def _family(pid: int) -> list[int]:
    """A process and those that it started."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        children = []
    return [pid, *(inner for child in children for inner in _family(int(child)))]


def _resident(pid: int) -> float:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    except (OSError, IndexError):
        return 0.0


def worker(what: str, paths: Sequence[Path], python: Path | None = None) -> dict[str, float]:
    """What the worker measured inside a fresh process, and that process's peak memory."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as listing:
        listing.write("\n".join(map(str, paths)))
        listing.flush()
        cost = command([str(python or sys.executable), str(WORKER), what, listing.name], accepted=(0,))
    return {**json.loads(cost.output), "memory": cost.memory}


def middle(costs: Sequence[Cost]) -> Cost:
    """The median of each number."""
    wall, cpu, memory = (median(each) for each in zip(*((c.wall, c.cpu, c.memory) for c in costs), strict=True))
    return Cost(wall, cpu, memory, costs[-1].output)


def exponent(points: Sequence[tuple[float, float]]) -> float:
    """The slope of the straight line through the logarithms, by least squares: 1.0 is a cost in proportion to size."""
    logs = [(math.log(x), math.log(y)) for x, y in points]
    x0, y0 = (sum(axis) / len(logs) for axis in zip(*logs, strict=True))
    slope: float = sum((x - x0) * (y - y0) for x, y in logs) / sum((x - x0) ** 2 for x, _ in logs)
    return slope


def _environment() -> dict[str, str]:
    """Ours, but Python may keep its bytecode, as it does for a user."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def _megabytes(size: int) -> float:
    return size / (1e6 if sys.platform == "darwin" else 1e6 / 1024)
