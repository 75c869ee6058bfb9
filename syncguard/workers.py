"""Sources in, what was found in each out, in their order, by as many processes as are worth it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import msgspec

from syncguard.config import Config
from syncguard.examine import Examined, Examiner, Interface
from syncguard.read.source import Source

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

Texts = Mapping[str, str | bytes]  # by whole path

WORTH = 600_000  # characters of source that pay for a second process
CHUNK = 300_000  # characters that a worker is given at once: neighbours import the same files


class Done(msgspec.Struct, frozen=True, array_like=True):
    """What a worker has examined; what it knows of the files that they import comes when it ends."""

    examined: tuple[Examined, ...] = ()
    interfaces: dict[str, Interface] = {}


def examine(
    sources: Sequence[Source], config: Config, fixes: frozenset[str] = frozenset(), given: Texts | None = None
) -> tuple[list[Examined], dict[str, Interface]]:
    """Examine every source, with the rewrites of those in `fixes`; the result does not depend on how many work.
    Files that are imported are read from `given` where they are in it.
    """
    chunks = list(chunked(sources))
    jobs = min(config.jobs or available(), len(chunks))
    if jobs < 2 or sum(len(source.text) for source in sources) < WORTH:
        examiner = Examiner(config, fixes, given)
        return [examiner.examine(source) for source in sources], examiner.interfaces()
    return _spread(chunks, config, fixes, given or {}, jobs)


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
    import multiprocessing
    from multiprocessing.connection import wait

    # A fork shares what is already imported and compiled; elsewhere it is not safe or not there.
    start: Any = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    found: dict[int, tuple[Examined, ...]] = {}
    interfaces: dict[str, Interface] = {}
    waiting = list(range(len(chunks)))[::-1]
    workers: dict[Connection, BaseProcess] = {}
    at_work: dict[Connection, int] = {}
    try:
        for _ in range(jobs):
            ours, theirs = start.Pipe()
            worker = start.Process(target=_work, args=(theirs, config, fixes, given), daemon=True)
            worker.start()
            theirs.close()
            workers[ours] = worker
            _hand(ours, waiting, chunks, at_work)
        while workers:
            for ready in wait(list(workers)):
                ours = cast("Connection", ready)
                try:
                    done = msgspec.msgpack.decode(ours.recv_bytes(), type=Done)
                except EOFError:  # it was killed: what it had is done here, in the end
                    workers.pop(ours).join()
                    continue
                if ours in at_work:
                    found[at_work.pop(ours)] = done.examined
                    _hand(ours, waiting, chunks, at_work)
                else:
                    merge(interfaces, done.interfaces)
                    workers.pop(ours).join()
    finally:
        for worker in workers.values():
            worker.terminate()
    lost = [number for number in range(len(chunks)) if number not in found]
    if lost:
        examiner = Examiner(config, fixes, given)
        for number in lost:
            found[number] = tuple(examiner.examine(source) for source in chunks[number])
        merge(interfaces, examiner.interfaces())
    return [examined for number in range(len(chunks)) for examined in found[number]], interfaces


def _hand(
    ours: Connection, waiting: list[int], chunks: list[tuple[Source, ...]], at_work: dict[Connection, int]
) -> None:
    """Give a worker its next chunk, or tell it to end."""
    if waiting:
        at_work[ours] = waiting.pop()
        ours.send(chunks[at_work[ours]])
    else:
        ours.send(None)


def _work(connection: Connection, config: Config, fixes: frozenset[str], given: Texts) -> None:
    """A worker's life."""
    try:
        examiner = Examiner(config, fixes, given)
        while (chunk := connection.recv()) is not None:
            done = Done(tuple(examiner.examine(source) for source in chunk))
            connection.send_bytes(msgspec.msgpack.encode(done))
        connection.send_bytes(msgspec.msgpack.encode(Done(interfaces=examiner.interfaces())))
    except (EOFError, BrokenPipeError, KeyboardInterrupt):
        pass  # whoever asked has gone


def merge(into: dict[str, Interface], more: dict[str, Interface]) -> None:
    """Add what another worker, or an earlier run, knows: each has looked at its own part of a file."""
    for path, interface in more.items():
        known = into.get(path)
        into[path] = interface if known is None else merged(known, interface)


def merged(known: Interface, more: Interface) -> Interface:
    """What two have looked at in a file; where it is no longer the same file, the later one counts."""
    if known.digest != more.digest:
        return more
    names = known.uses.keys() | more.uses.keys()
    uses = {name: tuple(dict.fromkeys((*known.uses.get(name, ()), *more.uses.get(name, ())))) for name in sorted(names)}
    return Interface(more.digest, more.parts, uses, tuple(dict.fromkeys((*known.asked, *more.asked))))
