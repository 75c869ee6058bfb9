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
from syncguard.observe.stand_in import named

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
        self._held = threading.local()

    def __enter__(self) -> Exits:
        os._exit = self._exiting()  # type: ignore[assignment]
        if threading.current_thread() is threading.main_thread():
            self._ours = dict.fromkeys(DEADLY, self._killed) | ({} if REMINDER is None else {REMINDER: self._reminded})
            for number, does in self._ours.items():
                if self._asked(number) is signal.SIG_DFL:
                    self._set(number, does)
            signal.signal, signal.getsignal = self._signal(), self._getsignal()  # type: ignore[assignment]
            self.announce()
        return self

    def __exit__(self, *_: object) -> None:
        os._exit, signal.signal, signal.getsignal = self._plain, self._set, self._asked
        for number in self._ours:
            if callable(self._asked(number)):  # the program's own end with it, too
                self._set(number, signal.SIG_DFL)

    def hold(self) -> None:
        """Before a fork: a child would forget what it is told until it is a Python of its own."""
        if hasattr(signal, "pthread_sigmask"):
            self._held.mask = signal.pthread_sigmask(signal.SIG_BLOCK, DEADLY)

    def let(self) -> None:
        """After it, on both sides."""
        mask = self._held.__dict__.pop("mask", None)
        if mask is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)

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

    def _signal(self) -> Callable[[int, Any], Any]:
        @named("signal", "signal")
        def set_signal(signalnum: int, handler: Any) -> Any:
            """`signal.signal`: what nobody handles is ours to handle, and nobody is told of it."""
            does = self._ours.get(signalnum)
            before = self._set(signalnum, does if does is not None and handler == signal.SIG_DFL else handler)
            if signalnum == signal.SIGTERM:
                self.announce()
            return self._told(signalnum, before)

        return set_signal

    def _getsignal(self) -> Callable[[int], Any]:
        @named("signal", "getsignal")
        def get_signal(signalnum: int) -> Any:
            """`signal.getsignal`, which does not tell of us: some programs handle only what nobody handles."""
            return self._told(signalnum, self._asked(signalnum))

        return get_signal

    def _exiting(self) -> Callable[[int], Any]:
        @named("os", "_exit")
        def leave(status: int) -> Any:
            failed = 0
            try:
                failed = self._write(Ended(f"exit {status}", status))
            finally:  # whatever a handler of the program raises meanwhile, there is no way back from here
                self._plain(status or failed)

        return leave

    def _told(self, number: int, handler: Any) -> Any:
        return signal.SIG_DFL if number in self._ours and handler == self._ours[number] else handler

    def _killed(self, number: int, frame: FrameType | None) -> None:
        self._ending = True
        self.announce()
        self._write(Ended(f"signal {signal.Signals(number).name}", 128 + number, False))
        self._set(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    def _reminded(self, _: int, frame: FrameType | None) -> None:
        """Our parent told us to end by SIGTERM; if we have not heard it, it is lost. Who blocks it hears it later."""
        folder = self.session.folder
        if self._ending or folder is None or self._asked(signal.SIGTERM) != self._killed:
            return
        if signal.SIGTERM in signal.pthread_sigmask(signal.SIG_BLOCK, []):
            mark(folder, os.getpid(), OURS).unlink(missing_ok=True)
        elif mark(folder, os.getpid(), TOLD).exists():
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
