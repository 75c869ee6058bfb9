"""What multiprocessing ends by SIGTERM leaves its record first, in a handler of Python: it must not miss the signal.

A process that is told to end right before it waits for something sleeps on, as handlers of Python run between two
instructions; one that was forked a moment ago forgets what it was told; one that waits in C++ does not hear it before
that ends. Who then joins it would wait for ever.
"""

from __future__ import annotations

import os
import signal
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from functools import partialmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from multiprocessing.popen_fork import Popen

REMINDER: int | None = getattr(signal, "SIGURG", None)  # ignored where nobody handles it, and hardly anybody does
WNOHANG = getattr(os, "WNOHANG", 1)
PATIENCE = 0.2  # seconds between two reminders
GRACE = 5.0  # seconds in which a process that only our handler keeps from ending must have ended
TOLD, OURS = "told", "ours"  # what is known of a process: it was told to end; nobody but us handles that
DEAF = "A process was told to end while it waited for what no signal interrupts: its waits are not known."


class Reminders:
    """While it is entered, who asks whether a process of multiprocessing that was told to end has ended reminds it."""

    def __init__(self, folder: Callable[[], Path], notes: list[str]) -> None:
        from multiprocessing.popen_fork import Popen

        self._folder, self._notes, self._patched = folder, notes, Popen
        self._told: weakref.WeakKeyDictionary[Popen, list[float]] = weakref.WeakKeyDictionary()
        self._wait, self._poll, self._terminate = Popen.wait, Popen.poll, Popen.terminate

    def __enter__(self) -> Reminders:
        if REMINDER is not None:
            self._patch(partialmethod(_wait, self), partialmethod(_poll, self), partialmethod(_terminate, self))
        return self

    def __exit__(self, *_: object) -> None:
        self._patch(self._wait, self._poll, self._terminate)

    def _patch(self, wait: Any, poll: Any, terminate: Any) -> None:
        popen: Any = self._patched
        popen.wait, popen.poll, popen.terminate = wait, poll, terminate

    def terminate(self, process: Popen) -> None:
        """`Popen.terminate`, noted."""
        now = time.monotonic()
        self._told.setdefault(process, [now, now])
        self._terminate(process)

    def poll(self, process: Popen, flag: int = WNOHANG) -> int | None:
        """`Popen.poll`: the exit code, or None where the process has not ended."""
        code = self._poll(process, flag)
        return self._see_to(process) if code is None and process in self._told else code

    def wait(self, process: Popen, timeout: float | None = None) -> int | None:
        """`Popen.wait`: the exit code, or None where the process has not ended in these seconds."""
        if process not in self._told or process.returncode is not None:
            return self._wait(process, timeout)
        end = float("inf") if timeout is None else time.monotonic() + timeout
        while True:
            code = self._wait(process, max(0.0, min(PATIENCE, end - time.monotonic())))
            code = process.poll() if code is None else code
            code = self._see_to(process) if code is None else code
            if code is not None or time.monotonic() >= end:
                return code

    def _see_to(self, process: Popen) -> int | None:
        """Remind a process that nobody but us keeps from ending; if that does not help, end it as SIGTERM would."""
        told, now = self._told[process], time.monotonic()
        if now < told[1] + PATIENCE or not mark(self._folder(), process.pid, OURS).exists():
            return None
        told[1] = now
        if now < told[0] + GRACE:
            with suppress(OSError):  # it has just ended
                mark(self._folder(), process.pid, TOLD).touch()
                os.kill(process.pid, REMINDER or 0)
            return None
        process.kill()
        self._wait(process)
        process.returncode = -signal.SIGTERM
        self._notes.append(DEAF)
        return process.returncode


def _wait(process: Popen, reminders: Reminders, timeout: float | None = None) -> int | None:
    return reminders.wait(process, timeout)


def _poll(process: Popen, reminders: Reminders, flag: int = WNOHANG) -> int | None:
    return reminders.poll(process, flag)


def _terminate(process: Popen, reminders: Reminders) -> None:
    reminders.terminate(process)


def mark(folder: Path, pid: int, what: str) -> Path:
    """The file by which a process and its parent tell one another what they know."""
    return folder / f"{pid}.{what}"
