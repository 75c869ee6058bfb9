"""The ways out of a process that nobody can catch: each leaves the record first, and the program sees nothing of it."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, Any

from syncguard.observe.program import Ended
from syncguard.observe.reminders import OURS, REMINDER, TOLD, mark

if TYPE_CHECKING:
    from syncguard.observe.launch import Session
    from syncguard.record import Record

# Signals that end a process unless it handles them; of a terminal that is closed, of a time limit, of a scheduler.
DEADLY = [
    getattr(signal, f"SIG{name}") for name in "TERM HUP ALRM VTALRM PROF USR1 USR2 XCPU".split()
    if hasattr(signal, f"SIG{name}")
]  # fmt: skip
Does = Callable[[int, FrameType | None], None]


class Exits:
    """While it is entered, `os._exit` and a deadly signal that the program does not handle leave a record."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._plain, self._set, self._asked = os._exit, signal.signal, signal.getsignal
        self._ours: dict[int, Does] = {}
        self._ending = False

    def __enter__(self) -> Exits:
        os._exit = self._leave
        if threading.current_thread() is threading.main_thread():
            self._ours = dict.fromkeys(DEADLY, self._killed) | ({} if REMINDER is None else {REMINDER: self._reminded})
            for number, does in self._ours.items():
                if self._asked(number) is signal.SIG_DFL:
                    self._set(number, does)
            signal.signal, signal.getsignal = self._signal, self._handler  # type: ignore[assignment]
            self.announce()
        return self

    def __exit__(self, *_: object) -> None:
        os._exit, signal.signal, signal.getsignal = self._plain, self._set, self._asked
        for number, does in self._ours.items():
            if self._asked(number) == does:
                self._set(number, signal.SIG_DFL)

    def announce(self) -> None:
        """In a child: let its parent know whether nobody but us keeps it from ending where it is told to."""
        folder = self.session.folder
        if folder is None or not self._ours:
            return
        try:
            if self._asked(signal.SIGTERM) == self._killed and not self._ending:
                mark(folder, os.getpid(), OURS).touch()
            else:
                mark(folder, os.getpid(), OURS).unlink(missing_ok=True)
        except OSError:
            pass  # its parent has ended

    def _signal(self, number: int, handler: Any) -> Any:
        """`signal.signal`: what nobody handles is ours to handle, and nobody is told of it."""
        does = self._ours.get(number)
        before = self._set(number, does if does is not None and handler == signal.SIG_DFL else handler)
        if number == signal.SIGTERM:
            self.announce()
        return self._told(number, before)

    def _handler(self, number: int) -> Any:
        """`signal.getsignal`, which does not tell of us: some programs handle only what nobody handles."""
        return self._told(number, self._asked(number))

    def _told(self, number: int, handler: Any) -> Any:
        return signal.SIG_DFL if number in self._ours and handler == self._ours[number] else handler

    def _leave(self, status: int) -> Any:
        failed = self._write(Ended(f"exit {status}", status))
        self._plain(status or failed)

    def _killed(self, number: int, frame: FrameType | None) -> None:
        self._ending = True
        self.announce()
        self._write(Ended(f"signal {signal.Signals(number).name}", 128 + number, False))
        self._set(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    def _reminded(self, _: int, frame: FrameType | None) -> None:
        """Our parent told us to end by SIGTERM; if we have not heard it, it has been lost."""
        folder = self.session.folder
        if self._ending or folder is None or self._asked(signal.SIGTERM) != self._killed:
            return
        if mark(folder, os.getpid(), TOLD).exists() or not folder.is_dir():
            self._killed(signal.SIGTERM, frame)

    def _write(self, ended: Ended) -> int:
        if os.getpid() != self.session.pid:
            return 0  # of a process that nobody watches
        records: tuple[Record, ...] = ()
        try:
            record = self.session.record(ended)
            self.session.keep(record)
            if self.session.folder is None:  # not a child itself
                records = (record, *self.session.children())  # they end with us, and nobody will ask for theirs
        except Exception as fault:
            sys.stderr.write(f"syncguard: the record could not be kept: {fault}\n")
        return self.session.leave(records) if self.session.folder is None else 0
