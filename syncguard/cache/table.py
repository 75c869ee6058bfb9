"""What earlier runs found, as it lies on disk: one table, and beside it what was added since. Never half of one."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec.structs import replace

from syncguard import atomic
from syncguard.cache import folder
from syncguard.examined import Examined, Interface
from syncguard.judge.around.called import Function
from syncguard.read.source import stamp

WHOLE, ADDED, ENDS = ".msgpack", ".added", ".ends"
KEPT = 6  # tables in the folder: other settings, other versions
LARGEST = 256 << 20  # bytes of all tables: what was written first goes, and what is larger by itself is not written
SHARE = 8  # the table is written anew when what was added to it has grown to this part of it


class Kept(msgspec.Struct, frozen=True, array_like=True):
    """A file that was examined: what every run asks of it, and the rest, which is read when it is asked for."""

    digest: str
    calls: tuple[Function, ...]
    stamp: tuple[int, int]  # when it was last written, and its size
    run: int  # in which it was examined
    passes: tuple[str, ...]  # the files to whose functions it passes tensors
    words: bytes  # that are in its text, as numbers
    rest: memoryview  # packed by itself: who decodes the table passes over it


class Table(msgspec.Struct, frozen=True, array_like=True):
    """Files as they were found, files as those know them who import them, and in which run such a one was last found
    changed: each part by its name, and under "*" anything about it.
    """

    examined: dict[str, Kept] = {}
    interfaces: dict[str, memoryview] = {}
    changes: dict[str, dict[str, int]] = {}

    def with_(self, more: Table) -> Table:
        """This table, with what is newer."""
        return Table(
            {**self.examined, **more.examined},
            {**self.interfaces, **more.interfaces},
            {**self.changes, **more.changes},
        )


class Added(msgspec.Struct, frozen=True, array_like=True):
    """What belongs to the table that has this checksum."""

    to: int
    table: Table


class State:
    """All that is remembered."""

    def __init__(self, whole: bytes | memoryview = b"", added: bytes | memoryview = b"", mark: int = 0) -> None:
        """Of what lies on disk, and the checksum of the table. Raises `msgspec.MsgspecError` where that is damaged."""
        self.size, self.mark = len(whole), mark
        base = msgspec.msgpack.decode(whole, type=Table) if whole else Table()
        self.added = _added(added, self.mark)
        self.table = base.with_(self.added)
        self.run = 1 + max((kept.run for kept in self.table.examined.values()), default=0)
        self._interfaces: dict[str, Interface | None] = {}

    def examined(self, path: str) -> Examined:
        """What was found in a file that is remembered. Raises `msgspec.MsgspecError` where it is damaged."""
        kept = self.table.examined[path]
        return replace(msgspec.msgpack.decode(kept.rest, type=Examined), calls=kept.calls, words=kept.words)

    def interface(self, path: str) -> Interface | None:
        """A file as those knew it who import it; None where that is not known, or damaged."""
        if path not in self._interfaces:
            self._interfaces[path] = self._decoded(path)
        return self._interfaces[path]

    def _decoded(self, path: str) -> Interface | None:
        raw = self.table.interfaces.get(path)
        try:
            return None if raw is None else msgspec.msgpack.decode(raw, type=Interface)
        except msgspec.MsgspecError:
            return None

    def same(self, digests: Mapping[str, str]) -> list[str]:
        """The files that are remembered as they are, by their present digests."""
        examined = self.table.examined
        return [path for path, told in digests.items() if path in examined and examined[path].digest == told]

    def unchanged(self, path: str) -> bool:
        """Whether a file that is not read now looks as it did."""
        return self.table.examined[path].stamp == stamp(path)

    def latest(self) -> frozenset[str]:
        """The files that the last run examined."""
        return frozenset([path for path, kept in self.table.examined.items() if kept.run == self.run - 1])

    def grown(self, more: Table) -> State:
        """What the next run of this process remembers, which may be of texts that lie on no disk."""
        state = State()
        state.table, state.run = self.table.with_(more), self.run + 1
        return state


def load(path: Path) -> State:
    """What lies on disk; nothing where it is missing, damaged or foreign."""
    try:
        whole, mark = folder.unseal_marked(path)
        return State(whole, _unsealed(path.with_suffix(ADDED)), mark)
    except (OSError, msgspec.MsgspecError, ValueError):
        return State()


def save(path: Path, state: State, fresh: Table) -> str:
    """Write what a run found, whole or not at all; returns why it could not be written, or ""."""
    added = state.added.with_(fresh)
    body = msgspec.msgpack.encode(Added(state.mark, added))
    beside = len(body) * SHARE <= state.size
    if not beside:
        body = msgspec.msgpack.encode(_swept(state.table.with_(fresh)))
    if len(body) > LARGEST:
        return f"the cache in {path.parent} was not written: it would take more than {LARGEST:,} bytes"
    try:
        folder.prepare(path.parent)
        folder.seal(path.with_suffix(ADDED) if beside else path, body)
        if not beside:
            atomic.remove(path.with_suffix(ADDED))
        _tidy(path)
    except OSError as fault:
        return f"the cache in {path.parent} was not written: {fault.strerror or fault}"
    return ""


def _unsealed(path: Path) -> bytes | memoryview:
    try:
        return folder.unseal(path)
    except (OSError, ValueError):
        return b""


def _added(body: bytes | memoryview, mark: int) -> Table:
    """What was added to the table of this checksum: nothing that was added to another one."""
    try:
        added = msgspec.msgpack.decode(body, type=Added) if body else None
    except (msgspec.MsgspecError, ValueError):
        return Table()
    return added.table if added is not None and added.to == mark else Table()


def _swept(table: Table) -> Table:
    """A table without files that are gone, and without changes that everybody has seen."""
    examined = {path: kept for path, kept in table.examined.items() if stamp(path) is not None}
    interfaces = {path: raw for path, raw in table.interfaces.items() if path in examined or os.path.exists(path)}
    seen = min((kept.run for kept in examined.values()), default=0)
    changes = {path: {part: run for part, run in parts.items() if run > seen} for path, parts in table.changes.items()}
    return Table(examined, interfaces, {path: parts for path, parts in changes.items() if parts})


def _tidy(path: Path) -> None:
    """Keep the newest tables, as many and as large as they may be, nothing half written, and no additions to what is
    not there.
    """
    folder.sweep(path.parent, folder.LEFT)
    entries = folder.entries(path.parent)
    found = [(other, status) for other, status in entries if other.suffix == WHOLE]
    found.sort(key=lambda item: (item[0] == path, item[1].st_mtime_ns), reverse=True)
    size, kept = 0, {path}
    for n, (other, status) in enumerate(found):
        size += status.st_size
        if n >= KEPT or size > LARGEST:
            atomic.remove(other)
        else:
            kept.add(other)
    for other, _ in entries:
        if other.suffix in (ADDED, ENDS) and other.with_suffix(WHOLE) not in kept:
            atomic.remove(other)
