"""Changed sources in, what was found in them out: by this process and another one beside it, which has begun while this
one still asks what has changed."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import reduce
from itertools import chain

import msgspec

from syncguard.config import Config
from syncguard.examine import own_process, workers
from syncguard.examine.workers import Done, Texts
from syncguard.examined import Examined, Interface, together
from syncguard.read.source import Source

LEAST = 20_000  # characters of source that pay for a process beside this one
MOST = 1_000  # sources whose numbers fit into the smallest pipe that there is, of 4,096 bytes
DIGITS = 4  # bytes of such a number


class Ahead:
    """Sources that this process and another one examine, each taking the next one that is left. Where they are few, the
    other one begins before it is known which of them have changed."""

    def __init__(self, sources: Sequence[Source], config: Config, fixes: frozenset[str], given: Texts) -> None:
        self.sources, self.task, self.child = sources, (config, fixes, given), 0
        self.changed = {source.path for source in sources}
        if pays(sources, config):
            self._begin()

    def only(self, changed: Sequence[Source]) -> None:
        """These have changed: what was found in others is not asked for."""
        if self.child and not changed:
            self._end()
        if not self.child:
            self.sources = changed
            if pays(changed, self.task[0]):
                self._begin()
        self.changed = {source.path for source in changed}

    def result(self, more: Sequence[Source] = ()) -> tuple[list[Examined], dict[str, Interface]]:
        """What was found in each that has changed, and in `more`."""
        if not self.child:
            return workers.examine([*self.sources, *more], *self.task)
        few = workers.are_few(more)
        try:
            ours = workers.examined(chain(self._taken(), more if few else ()), self.task)
        except own_process.Crashed:
            ours = Done()  # it is not known at which
        found = {one.note.path: one for one in ours.examined}
        lacking = self.changed - found.keys()
        theirs = self._heard() if lacking else self._end()
        found |= {one.note.path: one for one in theirs.examined if one.note.path in lacking}
        left = [source for source in self.sources if source.path in lacking - found.keys()]
        left += [source for source in more if source.path not in found]
        rest, others = workers.examine(left, *self.task) if left else ([], {})
        return [*found.values(), *rest], reduce(together, (theirs.interfaces, others, ours.interfaces))

    def _begin(self) -> None:
        """Fork: such a process has all that is imported and read here."""
        self.numbers, numbers = os.pipe()
        # The largest first: then both end at about the same time.
        order = sorted(range(len(self.sources)), key=lambda n: len(self.sources[n].text), reverse=True)
        os.write(numbers, b"".join(number.to_bytes(DIGITS, "big") for number in order))
        os.close(numbers)
        self.child, self.pipe = own_process.forked(lambda: workers.told(self._next(), self.task))

    def _next(self) -> Iterator[Source]:
        """The sources that nobody has taken yet: a number that one of the two reads is gone for the other."""
        with os.fdopen(self.numbers, "rb", buffering=0) as numbers:
            while number := numbers.read(DIGITS):
                yield self.sources[int.from_bytes(number, "big")]

    def _taken(self) -> Iterator[Source]:
        return (source for source in self._next() if source.path in self.changed)

    def _heard(self) -> Done:
        """What the other process has found; nothing where it was killed."""
        self._close(self.numbers)
        with os.fdopen(self.pipe, "rb") as pipe:
            body = pipe.read()
        self._wait()
        try:
            return msgspec.msgpack.decode(body, type=Done)
        except msgspec.MsgspecError:
            return Done()

    def _end(self) -> Done:
        """Do without the other process."""
        self._close(self.pipe)
        self._close(self.numbers)
        with suppress(ProcessLookupError):
            os.kill(self.child, signal.SIGKILL)
        self._wait()
        return Done()

    def _wait(self) -> None:
        own_process.waited(self.child)
        self.child = 0

    def _close(self, end: int) -> None:
        with suppress(OSError):  # it is closed where its numbers have been read here
            os.close(end)


def pays(sources: Sequence[Source], config: Config) -> bool:
    """Whether one more process is worth its start, and more of them are not; and whether it is safe to fork."""
    worth = LEAST <= sum(len(source.text) for source in sources) < workers.WORTH and 1 < len(sources) < MOST
    return worth and (config.jobs or workers.available()) > 1 and own_process.forks()
