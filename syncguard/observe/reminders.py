"""What a program ends by SIGTERM leaves its record first, in a handler of Python: it must not miss the signal.

A process that is told to end right before it waits for something sleeps on, as handlers of Python run between two
instructions; one that was forked a moment ago forgets what it was told; one that waits in C++ does not hear it before
that ends. Who then joins it would wait for ever.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partialmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from syncguard.observe.stand_in import named

if TYPE_CHECKING:
    from multiprocessing.popen_fork import Popen

REMINDER: int | None = getattr(signal, "SIGURG", None)  # ignored where nobody handles it, and hardly anybody does
SIGTERM, WNOHANG = signal.SIGTERM, getattr(os, "WNOHANG", 1)
PATIENCE = 0.2  # seconds between two reminders
SHORTEST, LONGEST = 0.001, 0.05  # seconds between two looks at whether a process has ended
GRACE = 5.0  # seconds in which a process that only our handler keeps from ending must have ended
FORGOTTEN = 3600.0  # seconds after which another process may have the number of one that was told to end
TOLD, OURS = "told", "ours"  # what is known of a process: it was told to end; nobody but us handles that
DEAF = "A process was told to end while it waited for what no signal interrupts: its waits are not known."


class Reminders:
    """While it is entered, who asks whether a process that it told to end has ended reminds it: by `os.waitpid`, as
    subprocess does, or as multiprocessing does.
    """

    def __init__(self, folder: Callable[[], Path], notes: list[str]) -> None:
        from multiprocessing.popen_fork import Popen

        self._folder, self._notes, self._patched = folder, notes, Popen
        self._told: dict[int, list[float]] = {}  # by process: when it was told, and when it was reminded last
        self._wait, self._poll, self._terminate = Popen.wait, Popen.poll, Popen.terminate
        self._kill, self._waitpid = os.kill, os.waitpid

    def __enter__(self) -> Reminders:
        if REMINDER is not None:
            self._patch(partialmethod(_wait, self), partialmethod(_poll, self), partialmethod(_terminate, self))
            os.kill, os.waitpid = self._killing(), self._waiting()
        return self

    def __exit__(self, *_: object) -> None:
        self._patch(self._wait, self._poll, self._terminate)
        os.kill, os.waitpid = self._kill, self._waitpid

    def _patch(self, wait: Any, poll: Any, terminate: Any) -> None:
        popen: Any = self._patched
        popen.wait, popen.poll, popen.terminate = wait, poll, terminate

    def _killing(self) -> Callable[[int, int], None]:
        @named("os", "kill")
        def kill(pid: int, signal: int, /) -> None:
            """`os.kill`, noted."""
            self._kill(pid, signal)
            if signal == SIGTERM and pid > 0:
                self._note(pid)

        return kill

    def _waiting(self) -> Callable[[int, int], tuple[int, int]]:
        @named("os", "waitpid")
        def waitpid(pid: int, options: int, /) -> tuple[int, int]:
            """`os.waitpid`: the process that ended and how, or 0 where none has."""
            pause = SHORTEST
            while told := [one for one in self._told if pid in (one, -1, 0)]:
                ended = self._reaped(pid, options | WNOHANG, told)
                if ended[0] or options & WNOHANG:
                    return ended
                time.sleep(pause)
                pause = min(2 * pause, LONGEST)
            return self._waitpid(pid, options)

        return waitpid

    def _reaped(self, pid: int, options: int, told: list[int]) -> tuple[int, int]:
        """What `os.waitpid` says at once of a process, or of any, some of which were told to end."""
        try:
            ended = self._waitpid(pid, options)
        except ChildProcessError:  # somebody else has asked how it ended
            for one in told:
                self._told.pop(one, None)
            raise
        if ended[0]:
            if os.WIFEXITED(ended[1]) or os.WIFSIGNALED(ended[1]):
                self._told.pop(ended[0], None)
            return ended
        deaf = next((one for one in told if self._see_to(one)), 0)
        if deaf:
            self._waitpid(deaf, 0)
        return deaf, SIGTERM if deaf else 0

    def terminate(self, process: Popen) -> None:
        """`Popen.terminate`, noted."""
        self._note(process.pid)
        self._terminate(process)

    def poll(self, process: Popen, flag: int = WNOHANG) -> int | None:
        """`Popen.poll`: the exit code, or None where the process has not ended."""
        code = self._poll(process, flag)
        return self._ended(process) if code is None else code

    def wait(self, process: Popen, timeout: float | None = None) -> int | None:
        """`Popen.wait`: the exit code, or None where the process has not ended in these seconds."""
        if process.pid not in self._told or process.returncode is not None:
            return self._wait(process, timeout)
        end = float("inf") if timeout is None else time.monotonic() + timeout
        while True:
            code = self._wait(process, max(0.0, min(PATIENCE, end - time.monotonic())))
            code = process.poll() if code is None else code
            code = self._ended(process) if code is None else code
            if code is not None or time.monotonic() >= end:
                return code

    def _ended(self, process: Popen) -> int | None:
        if not self._see_to(process.pid):
            return None
        self._wait(process)
        process.returncode = -SIGTERM
        return process.returncode

    def _note(self, pid: int) -> None:
        now = time.monotonic()
        self._told = {one: times for one, times in self._told.items() if now < times[0] + FORGOTTEN}
        self._told.setdefault(pid, [now, now])

    def _see_to(self, pid: int) -> bool:
        """Remind a process that nobody but us keeps from ending; if that does not help, end it, as SIGTERM would."""
        told, now = self._told.get(pid), time.monotonic()
        if told is None or now < told[1] + PATIENCE:
            return False
        if not mark(self._folder(), pid, OURS).exists():
            if now > told[0] + GRACE:  # it ends as it likes
                del self._told[pid]
            return False
        told[1] = now
        if now < told[0] + GRACE:
            with suppress(OSError):  # it has just ended
                mark(self._folder(), pid, TOLD).touch()
                self._kill(pid, REMINDER or 0)
            return False
        del self._told[pid]
        self._kill(pid, signal.SIGKILL)
        self._notes.append(DEAF)
        return True


def _wait(process: Popen, reminders: Reminders, timeout: float | None = None) -> int | None:
    return reminders.wait(process, timeout)


def _poll(process: Popen, reminders: Reminders, flag: int = WNOHANG) -> int | None:
    return reminders.poll(process, flag)


def _terminate(process: Popen, reminders: Reminders) -> None:
    reminders.terminate(process)


def mark(folder: Path, pid: int, what: str) -> Path:
    """The file by which a process and its parent tell one another what they know."""
    return folder / f"{pid}.{what}"
