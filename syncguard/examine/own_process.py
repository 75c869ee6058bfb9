"""Work in, what it made out, by a process of its own: what crashes there does not end this one.

A build that mypyc compiled has no guard against recursion that does not end: it overflows the stack, and a signal ends
the process. A fork costs a few milliseconds, and has all that is imported and read here.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress

from syncguard.read import lower

CRASHES = (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS) if sys.platform != "win32" else (signal.SIGSEGV,)
COMPILED = not lower.__file__.endswith(".py")


class Crashed(Exception):
    """A process that compiled code has ended; the message is the signal's name."""


def needed() -> bool:
    """Whether what is examined here could end this process, and a fork can be made."""
    return COMPILED and forks()


def forks() -> bool:
    """Whether it is safe to fork: elsewhere than on Linux it may not be."""
    return sys.platform == "linux" and not threaded()


def threaded() -> bool:
    """Whether there are other threads in this process, of which a fork would have the locks."""
    threading = sys.modules.get("threading")
    return threading is not None and threading.active_count() > 1


def forked(make: Callable[[], bytes]) -> tuple[int, int]:
    """A fork that makes something, and the pipe by which that comes."""
    reads, writes = os.pipe()
    child = os.fork()
    if child:
        os.close(writes)
        return child, reads
    try:
        os.close(reads)
        with os.fdopen(writes, "wb") as pipe:
            pipe.write(make())
    finally:
        os._exit(0)  # whatever came between: who asked sees that nothing came


def sheltered(make: Callable[[], bytes]) -> bytes:
    """What a fork makes; nothing where somebody has ended it. Raises `Crashed`."""
    child, reads = forked(make)
    try:
        with os.fdopen(reads, "rb") as pipe:
            made = pipe.read()
    except BaseException:
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        raise
    finally:
        ended = crash(waited(child))
    if ended:
        raise Crashed(ended)
    return made


def waited(child: int) -> int:
    """The signal that ended a child, for which this waits; 0 where none did."""
    with suppress(ChildProcessError):  # somebody else has waited for it
        status = os.waitpid(child, 0)[1]
        return os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    return 0


def crash(number: int) -> str:
    """The name of a signal that compiled code ends with; who is ended by another one did nothing wrong."""
    return signal.Signals(number).name if number in CRASHES else ""
