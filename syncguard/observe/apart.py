"""A generator in a process of its own: what it yields comes here one by one, and where it dies another goes on behind.

What is asked of a device can end the process that asks. So the generator says what it is about before each thing that
it does; when its process ends there, or does not come back, that thing is told as `Died` and a new process leaves out
all up to it. As long as nothing dies there is one process.
"""

from __future__ import annotations

import faulthandler
import itertools
import multiprocessing
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

Next = Callable[[Any], bool]  # told what is done next: whether it is to be done
PROCESSES = 16  # that are started, before what is left is given up
PATIENCE = 90.0  # seconds for one thing


@dataclass(frozen=True, slots=True)
class About:
    """What is done next."""

    what: Any


@dataclass(frozen=True, slots=True)
class Died:
    """The process ended in the middle of this; None: before it began with anything."""

    what: Any
    how: str


def apart(make: Callable[..., Iterator[Any]], *args: Any, patience: float = PATIENCE) -> Iterator[Any]:
    """What `make(about, *args)` yields; a function of a module, since it is sent by its name.

    It calls `about(what)` before each thing, in the same order in every process, and does it where the answer is True.
    """
    context: Any = multiprocessing.get_context("spawn")
    done = 0
    for _ in range(PROCESSES):
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(target=_send, args=(theirs, make, done, args))
        process.start()
        theirs.close()
        about: About | None = None
        with ours:
            try:
                while ours.poll(patience):
                    came = ours.recv()
                    if isinstance(came, About):
                        about, done = came, done + 1
                    else:
                        yield came
                how = f"did not come back in {patience:.0f} s"
            except (EOFError, OSError):
                process.join()
                how = ended(process.exitcode)
            finally:
                process.kill()
                process.join()
        if not how:
            return
        yield Died(about and about.what, how)
        if about is None:
            return


def ended(code: int | None) -> str:
    """How a process ended, in words; empty: as it should."""
    if not code:
        return ""
    try:
        name = signal.Signals(-code).name if code < 0 else f"exit code {code}"
    except ValueError:
        name = f"signal {-code}"
    return f"ended the process ({name})"


def _send(to: Connection, make: Callable[..., Iterator[Any]], skip: int, args: tuple[Any, ...]) -> None:
    """In the process: its last words are where it died."""
    faulthandler.enable()
    coming = itertools.count()

    def about(what: Any) -> bool:
        if next(coming) < skip:
            return False
        to.send(About(what))
        return True

    with to:
        for one in make(about, *args):
            to.send(one)
