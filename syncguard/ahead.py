"""Changed sources in, what was found in them out: by a process beside this one, which asks what is still true."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress

import msgspec

from syncguard import workers
from syncguard.config import Config
from syncguard.examine import Examined, Interface
from syncguard.read.source import Source
from syncguard.workers import Done, Texts

LEAST = 20_000  # characters of source that pay for a process beside this one


class Ahead:
    """Sources that another process examines from now on, where this one has something else to do."""

    def __init__(
        self, sources: Sequence[Source], config: Config, fixes: frozenset[str], given: Texts, busy: bool
    ) -> None:
        self.sources, self.task = sources, (config, fixes, given)
        self.child, self.pipe = self._begun() if busy and pays(sources, config) else (0, -1)

    def result(self, more: Sequence[Source] = ()) -> tuple[list[Examined], dict[str, Interface]]:
        """What was found in each of them, and in `more`, which this process examines now."""
        if not self.child:
            return workers.examine([*self.sources, *more], *self.task)
        ours = self._examined(more)
        theirs = self._heard() or self._examined(self.sources)
        return [*theirs.examined, *ours.examined], workers.together(theirs.interfaces, ours.interfaces)

    def _examined(self, sources: Sequence[Source]) -> Done:
        found, interfaces = workers.examine(sources, *self.task)
        return Done(tuple(found), interfaces)

    def _begun(self) -> tuple[int, int]:
        """Fork: such a process has all that is imported and read here."""
        reads, writes = os.pipe()
        if child := os.fork():
            os.close(writes)
            return child, reads
        try:
            os.close(reads)
            with os.fdopen(writes, "wb") as pipe:
                pipe.write(msgspec.msgpack.encode(self._examined(self.sources)))
        finally:
            os._exit(0)  # whatever came between: who asked sees that nothing came

    def _heard(self) -> Done | None:
        """What the other process has found; None where it was killed."""
        with os.fdopen(self.pipe, "rb") as pipe:
            body = pipe.read()
        with suppress(ChildProcessError):  # somebody else has waited for it
            os.waitpid(self.child, 0)
        try:
            return msgspec.msgpack.decode(body, type=Done)
        except msgspec.MsgspecError:
            return None


def pays(sources: Sequence[Source], config: Config) -> bool:
    """Whether one more process is worth its start, and more of them are not; and whether it is safe to fork."""
    worth = LEAST <= sum(len(source.text) for source in sources) < workers.WORTH
    return worth and (config.jobs or workers.available()) > 1 and sys.platform == "linux" and not threaded()


def threaded() -> bool:
    """Whether there are other threads in this process, of which a fork would have the locks."""
    threading = sys.modules.get("threading")
    return threading is not None and threading.active_count() > 1
