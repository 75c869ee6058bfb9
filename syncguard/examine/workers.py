"""Sources in, what was found in each out, in their order, by as many processes as are worth it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import msgspec

from syncguard import house
from syncguard.config import Config
from syncguard.examine import own_process
from syncguard.examine.examine import Examiner, unchecked
from syncguard.examined import Examined, Interface, together
from syncguard.read.source import Source

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

Texts = Mapping[str, str | bytes]  # by whole path
Task = tuple[Config, frozenset[str], Texts]

WORTH = 600_000  # characters of source that pay for a second process
CHUNK = 300_000  # characters that a worker is given at once


class Done(msgspec.Struct, frozen=True, array_like=True):
    """What a worker has examined; what it knows of the files that they import comes when it ends."""

    examined: tuple[Examined, ...] = ()
    interfaces: dict[str, Interface] = {}


def examine(
    sources: Sequence[Source],
    config: Config,
    fixes: frozenset[str] = frozenset(),
    given: Texts | None = None,
) -> tuple[list[Examined], dict[str, Interface]]:
    """Examine every source, with the rewrites of those in `fixes`; the result does not depend on how many work.
    Files that are imported are read from `given` where they are in it.
    """
    chunks = list(chunked(sources))
    jobs = min(config.jobs or available(), len(chunks))
    if not are_few(sources) and (jobs > 1 or own_process.needed()):
        return _spread(chunks, config, fixes, given or {}, jobs)
    task = config, fixes, given or {}
    try:
        done = examined(sources, task)
    except own_process.Crashed as crash:
        return [alone(source, task, str(crash)) for source in sources], {}
    return [*done.examined], done.interfaces


def are_few(sources: Iterable[Source]) -> bool:
    """Whether no second process pays for them."""
    return sum(len(source.text) for source in sources) < WORTH


def examined(sources: Iterable[Source], task: Task) -> Done:
    """What is found in sources, by a fork where compiled code could end this process. Raises `own_process.Crashed`."""
    if own_process.needed() and (made := own_process.sheltered(lambda: told(sources, task))):
        return msgspec.msgpack.decode(made, type=Done)
    return _examined(sources, task)


def told(sources: Iterable[Source], task: Task) -> bytes:
    """What is found in sources, as a fork tells it."""
    return msgspec.msgpack.encode(_examined(sources, task))


def _examined(sources: Iterable[Source], task: Task) -> Done:
    examiner = Examiner(*task)
    return Done(tuple([examiner.examine(source) for source in sources]), examiner.interfaces())


def available() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def chunked(sources: Sequence[Source]) -> Iterator[tuple[Source, ...]]:
    """Neighbouring sources together, up to CHUNK characters."""
    chunk: list[Source] = []
    size = 0
    for source in sources:
        if chunk and size + len(source.text) > CHUNK:
            yield tuple(chunk)
            chunk, size = [], 0
        chunk.append(source)
        size += len(source.text)
    if chunk:
        yield tuple(chunk)


def _spread(
    chunks: list[tuple[Source, ...]], config: Config, fixes: frozenset[str], given: Texts, jobs: int
) -> tuple[list[Examined], dict[str, Interface]]:
    """The same by so many processes; what those had who were killed is done here, in the end, but for what kills
    whoever examines it."""
    task = config, fixes, given
    crew = Crew(chunks, task)
    crew.work(jobs)
    found, interfaces = crew.found, crew.interfaces
    for number, ended in crew.crashed.items():
        found[number] = tuple(alone(source, task, ended) for source in chunks[number])
    lost = [number for number in range(len(chunks)) if number not in found]
    if lost:
        examiner = Examiner(*task)
        found |= {number: tuple(examiner.examine(source) for source in chunks[number]) for number in lost}
        interfaces = together(interfaces, examiner.interfaces())
    return [examined for number in range(len(chunks)) for examined in found[number]], interfaces


def alone(source: Source, task: Task, ended: str) -> Examined:
    """What a process of its own finds in a source; where that crashes too, how the first one `ended`."""
    crew = Crew([(source,)], task)
    crew.work(1)
    if found := crew.found.get(0, ()):
        return found[0]
    reason = house.crashed(ended)
    return unchecked(source.path, reason, reason)


class Crew:
    """Processes that work through chunks: what they found in each, and what they know of the files imported there.

    Neighbours import the same files, which each process reads for itself: each has one stretch of the chunks to begin
    with.
    """

    def __init__(self, chunks: Sequence[tuple[Source, ...]], task: Task) -> None:
        self.found: dict[int, tuple[Examined, ...]] = {}
        self.interfaces: dict[str, Interface] = {}
        self.crashed: dict[int, str] = {}  # the chunks that processes crashed at, each with the signal
        self._chunks, self._task = chunks, task
        self._workers: dict[Connection, BaseProcess] = {}
        self._waiting: dict[Connection, list[int]] = {}  # the chunks that each is to be given, the next one last
        self._at_work: dict[Connection, int] = {}

    def work(self, jobs: int) -> None:
        """Start so many, and hear them until the last one has ended."""
        from multiprocessing.connection import wait

        try:
            for number in range(jobs):
                ends = (len(self._chunks) * n // jobs for n in (number, number + 1))
                self._hire(range(*ends))
            while self._workers:
                for ready in wait(list(self._workers)):
                    self._hear(cast("Connection", ready))
        finally:
            for worker in self._workers.values():
                worker.terminate()

    def _hire(self, share: Sequence[int]) -> None:
        import multiprocessing

        # A fork shares what is already imported and compiled; elsewhere it is not safe or not there.
        forks = sys.platform == "linux"
        start: Any = multiprocessing.get_context("fork" if forks else "spawn")
        ours, theirs = start.Pipe()
        inherited = (*self._workers, ours) if forks else ()
        worker = start.Process(target=_work, args=(theirs, inherited, *self._task), daemon=True)
        worker.start()
        theirs.close()
        self._workers[ours], self._waiting[ours] = worker, [*share][::-1]
        self._hand(ours)

    def _hear(self, ours: Connection) -> None:
        """Take what a worker has found, or in the end what it knows; one that was killed says nothing any more."""
        try:
            done = msgspec.msgpack.decode(ours.recv_bytes(), type=Done)
        except EOFError:
            worker = self._workers.pop(ours)
            worker.join()
            crash = own_process.crash(-(worker.exitcode or 0))
            if ours in self._at_work and crash:
                self.crashed[self._at_work[ours]] = crash
                share = self._waiting.pop(ours)[::-1]
                if share or any(self._waiting.values()):
                    self._hire(share)
            return
        if ours in self._at_work:
            self.found[self._at_work.pop(ours)] = done.examined
            self._hand(ours)
        else:
            self.interfaces = together(self.interfaces, done.interfaces)
            self._workers.pop(ours).join()

    def _hand(self, ours: Connection) -> None:
        """Give a worker the next chunk of its share, the last one of who has most left, or tell it to end."""
        most = max(self._waiting.values(), key=len)
        if not most:
            ours.send(None)
            return
        self._at_work[ours] = self._waiting[ours].pop() if self._waiting[ours] else most.pop(0)
        ours.send(self._chunks[self._at_work[ours]])


def _work(
    connection: Connection, inherited: Sequence[Connection], config: Config, fixes: frozenset[str], given: Texts
) -> None:
    """A worker's life."""
    for end in inherited:  # held open here too, they would hide that whoever asks was killed
        end.close()
    try:
        examiner = Examiner(config, fixes, given)
        while (chunk := connection.recv()) is not None:
            done = Done(tuple(examiner.examine(source) for source in chunk))
            connection.send_bytes(msgspec.msgpack.encode(done))
        connection.send_bytes(msgspec.msgpack.encode(Done(interfaces=examiner.interfaces())))
    except (EOFError, BrokenPipeError, KeyboardInterrupt):
        pass  # whoever asked has gone
