"""What earlier runs found, on disk: read, judged for what is still true, and written again. Never a wrong result."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec.structs import replace

import syncguard
from syncguard import atomic, folder, pack, workers
from syncguard.config import Config
from syncguard.examine import Asked, Examined, Interface
from syncguard.infer.parts import digest, parts_of
from syncguard.infer.routine import Used
from syncguard.judge.reach import Function
from syncguard.read import project
from syncguard.read.lower import Unreadable, lower
from syncguard.read.source import read

T = TypeVar("T")
FORMAT = 2
ROOMS = ("", "read", "infer", "judge")  # what a finding is made by
KEPT = 6  # files in the folder: other settings, other versions
LARGEST = 256 << 20  # bytes of all files: what was written first goes, and what is larger by itself is not written


class Kept(msgspec.Struct, frozen=True, array_like=True):
    """A file that was examined: what every run asks of it, and the rest, which is read when it is asked for."""

    digest: str
    calls: tuple[Function, ...]
    stamp: tuple[int, int]  # when it was last written, and its size
    rest: msgspec.Raw


class Table(msgspec.Struct, frozen=True, array_like=True):
    """What the file on disk holds."""

    examined: dict[str, Kept] = {}
    interfaces: dict[str, msgspec.Raw] = {}


class State:
    """All that is remembered."""

    def __init__(self, table: Table | None = None) -> None:
        self.table = table or Table()
        self._interfaces: dict[str, Interface | None] = {}

    def examined(self, path: str) -> Examined:
        """What was found in a file that is remembered. Raises `msgspec.MsgspecError` where it is damaged."""
        kept = self.table.examined[path]
        return replace(msgspec.msgpack.decode(kept.rest, type=Examined), calls=kept.calls)

    def interface(self, path: str) -> Interface | None:
        """A file as those knew it who import it."""
        if path not in self._interfaces:
            raw = self.table.interfaces.get(path)
            self._interfaces[path] = None if raw is None else msgspec.msgpack.decode(raw, type=Interface)
        return self._interfaces[path]

    def unchanged(self, path: str) -> bool:
        """Whether a file that is not read now looks as it did."""
        return self.table.examined[path].stamp == _stamp(path)


def file_of(config: Config, rules: str) -> Path:
    """The file for these settings, these rules, this Python and this SyncGuard."""
    settings = (
        config.root, config.select, config.extend_select, config.ignore, config.per_file_ignores, config.hot,
        config.cold, config.default_device, config.torch_version, config.packs,
    )  # fmt: skip
    ours = [stamp for room in ROOMS for stamp in pack.stamps(Path(syncguard.__file__).parent / room, (".py",))]
    told = repr((FORMAT, syncguard.__version__, sys.version_info[:3], rules, settings, ours))
    return folder.folder_of(config) / f"{blake2b(told.encode(), digest_size=10).hexdigest()}.msgpack"


def load(path: Path) -> State:
    """What the file holds; nothing where it is missing, damaged or foreign."""
    try:
        return State(msgspec.msgpack.decode(folder.unseal(path), type=Table))
    except (OSError, msgspec.MsgspecError, ValueError):
        return State()


def save(path: Path, table: Table) -> str:
    """Write it whole or not at all; returns why it could not be written, or ""."""
    body = msgspec.msgpack.encode(table)
    if len(body) > LARGEST:
        return f"the cache in {path.parent} was not written: it would take more than {LARGEST:,} bytes"
    try:
        folder.prepare(path.parent)
        folder.seal(path, body)
        _tidy(path)
    except OSError as fault:
        return f"the cache in {path.parent} was not written: {fault.strerror or fault}"
    return ""


def _tidy(path: Path) -> None:
    """Keep the newest files, as many and as large as they may be, and nothing half written."""
    folder.sweep(path.parent, folder.LEFT)
    found = [(other, status) for other, status in folder.entries(path.parent) if other.suffix == ".msgpack"]
    found.sort(key=lambda item: (item[0] == path, item[1].st_mtime_ns), reverse=True)
    size = 0
    for n, (other, status) in enumerate(found):
        size += status.st_size
        if n >= KEPT or size > LARGEST:
            atomic.remove(other)


def grown(state: State, fresh: Iterable[Examined], interfaces: Mapping[str, Interface]) -> Table:
    """What is remembered after a run; files that are gone are forgotten."""
    examined = {path: kept for path, kept in state.table.examined.items() if _stamp(path) is not None}
    for one in fresh:
        stamp = _stamp(one.note.path)
        if one.digest and stamp is not None:
            rest = msgspec.Raw(msgspec.msgpack.encode(replace(one, calls=())))
            examined[one.note.path] = Kept(one.digest, one.calls, stamp, rest)
    kept = {path: raw for path, raw in state.table.interfaces.items() if path in examined or os.path.exists(path)}
    for path, interface in interfaces.items():
        before = state.interface(path)
        now = interface if before is None else workers.merged(before, interface)
        kept[path] = msgspec.Raw(msgspec.msgpack.encode(now))
    return Table(examined, kept)


def _stamp(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def still_true(
    state: State, digests: dict[str, str], given: Mapping[str, str | bytes] | None = None
) -> dict[str, Examined]:
    """What is remembered of these files and would be found again; `digests` has the present digest of each, `given`
    the texts that count in place of those on the disk.
    """
    remembered = state.table.examined
    same = [path for path, told in digests.items() if path in remembered and remembered[path].digest == told]
    try:
        known = {path: state.examined(path) for path in same}
        known = {path: one for path, one in known.items() if _led_there(path, one.asked)}
        return _still_true(state, known, digests, given or {})
    except msgspec.MsgspecError:
        return {}


def _still_true(
    state: State, known: dict[str, Examined], digests: dict[str, str], texts: Mapping[str, str | bytes]
) -> dict[str, Examined]:
    @cache
    def present(path: str) -> str:
        """The digest of a file as it is now."""
        return digests[path] if path in digests else _text(path, digest, texts)

    def as_cited(path: str) -> bool:
        interface = state.interface(path)
        return interface is not None and present(path) == interface.digest

    looked_at = _reachable(state, (used for one in known.values() for used in one.uses))
    changed = {path: _changed_parts(path, state, present, texts) for path in {path for path, _ in looked_at}}
    bad = _infected(state, looked_at, {used for used in looked_at if _is_in(used, changed[used[0]], state)})
    return {
        path: one
        for path, one in known.items()
        if not any(used in bad for used in one.uses) and all(map(as_cited, one.cites))
    }


def _reachable(state: State, start: Iterable[Used]) -> set[Used]:
    """The parts looked at, and those that they looked at."""
    seen = set(start)
    todo = list(seen)
    while todo:
        for used in _uses(state, todo.pop()):
            if used not in seen:
                seen.add(used)
                todo.append(used)
    return seen


def _uses(state: State, used: Used) -> tuple[Used, ...]:
    interface = state.interface(used[0])
    return interface.uses.get(used[1], ()) if interface is not None else ()


def _infected(state: State, parts: set[Used], bad: set[Used]) -> set[Used]:
    """The parts that are bad or looked at one that is."""
    if not bad:
        return bad
    users: dict[Used, list[Used]] = {}
    for part in parts:
        for used in _uses(state, part):
            users.setdefault(used, []).append(part)
    todo = list(bad)
    while todo:
        for user in users.get(todo.pop(), ()):
            if user not in bad:
                bad.add(user)
                todo.append(user)
    return bad


ALL = frozenset({"*"})


def _changed_parts(
    path: str, state: State, present: Callable[[str], str], texts: Mapping[str, str | bytes]
) -> frozenset[str]:
    """The parts of a file that are not what they were; ALL of them where nothing can be told."""
    if not path.endswith(".py"):
        return frozenset()  # a folder without `__init__.py` holds nothing itself
    interface = state.interface(path)
    if interface is None or not _led_there(path, interface.asked):
        return ALL
    if present(path) == interface.digest:
        return frozenset()
    now = _text(path, _parts, texts)
    before = interface.parts
    return frozenset(name for name in before.keys() | now.keys() if before.get(name) != now.get(name)) if now else ALL


def _parts(text: str) -> dict[str, str]:
    try:
        return parts_of(lower(text), text.split("\n"))
    except Unreadable:
        return {}


def _is_in(used: Used, changed: frozenset[str], state: State) -> bool:
    """Whether the part that was looked at has changed: of a function inside a function, the outer one counts."""
    if not changed or changed is ALL:
        return changed is ALL
    name = used[1]
    interface = state.interface(used[0])
    parts = interface.parts if interface is not None else {}
    while name and name not in parts:
        name = name.rpartition(".")[0]
    return name in changed


def _led_there(path: str, asked: tuple[Asked, ...]) -> bool:
    """Whether imports lead where they led."""
    return all(
        (project.relative(path, level, module) if level else project.absolute(path, module)) == place
        for module, level, place in asked
    )


def _text(path: str, make: Callable[[str], T], texts: Mapping[str, str | bytes]) -> T:
    source = read(path, texts)
    return make(source.text if source.note.state == "read" else "")
