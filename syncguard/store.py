"""What earlier runs found, on disk: read, judged for what is still true, and written again. Never a wrong result."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import TypeVar

import msgspec

import syncguard
from syncguard import pack, workers
from syncguard.config import CACHE, Config
from syncguard.examine import Asked, Examined, Interface
from syncguard.infer.parts import digest, parts_of
from syncguard.infer.routine import Used
from syncguard.read import project
from syncguard.read.lower import Unreadable, lower
from syncguard.read.source import decode, read

T = TypeVar("T")
FORMAT = 1
ROOMS = ("", "read", "infer", "judge")  # what a finding is made by
KEPT = 6  # files in the folder: other settings, other versions
LARGEST = 256 << 20  # bytes of the folder: what was written first goes, and what is larger by itself is not written
LEFT = 3600  # seconds after which what a killed run left half written is taken away
TAG = "Signature: 8a477f597d28d172789f06886806bc55\n# This folder is a cache of SyncGuard and can be deleted.\n"


class State(msgspec.Struct, array_like=True):
    """All that is remembered."""

    examined: dict[str, Examined] = {}
    interfaces: dict[str, Interface] = {}
    stamps: dict[str, tuple[int, int]] = {}  # of each examined file, when it was last written and its size


def folder_of(config: Config) -> Path:
    """The folder in the project; where there is no project, one in the user's cache."""
    if config.cache_dir != CACHE or any(Path(config.root, mark).exists() for mark in project.MARKS):
        return Path(config.root, config.cache_dir)
    return pack.users_cache() / f"found-{blake2b(config.root.encode(), digest_size=8).hexdigest()}"


def file_of(config: Config, rules: str) -> Path:
    """The file for these settings, these rules, this Python and this SyncGuard."""
    settings = (
        config.root, config.select, config.extend_select, config.ignore, config.per_file_ignores, config.hot,
        config.cold, config.default_device, config.torch_version, config.packs,
    )  # fmt: skip
    ours = [stamp for room in ROOMS for stamp in pack.stamps(Path(syncguard.__file__).parent / room, (".py",))]
    told = repr((FORMAT, syncguard.__version__, sys.version_info[:3], rules, settings, ours))
    return folder_of(config) / f"{blake2b(told.encode(), digest_size=10).hexdigest()}.msgpack"


def load(path: Path) -> State:
    """What the file holds; nothing where it is missing, damaged or foreign."""
    try:
        data = path.read_bytes()
        checksum, body = data[:16], data[16:]
        if blake2b(body, digest_size=16).digest() != checksum:
            return State()
        return msgspec.msgpack.decode(body, type=State)
    except (OSError, msgspec.MsgspecError, ValueError):
        return State()


def save(path: Path, state: State) -> str:
    """Write it whole or not at all; returns why it could not be written, or ""."""
    body = msgspec.msgpack.encode(state)
    if len(body) > LARGEST:
        return f"the cache in {path.parent} was not written: it would take more than {LARGEST:,} bytes"
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        for name, text in ((".gitignore", "*\n"), ("CACHEDIR.TAG", TAG)):
            if not (path.parent / name).exists():
                (path.parent / name).write_text(text)
        with temporary.open("wb") as file:
            file.write(blake2b(body, digest_size=16).digest())
            file.write(body)
        temporary.replace(path)
        _tidy(path)
    except OSError as fault:
        try:
            temporary.unlink()
        except OSError:
            pass
        return f"the cache in {path.parent} was not written: {fault.strerror or fault}"
    return ""


def _tidy(path: Path) -> None:
    """Keep the newest files, as many and as large as they may be, and nothing half written."""
    known = [(entry, entry.stat()) for entry in os.scandir(path.parent) if ".msgpack" in entry.name]
    size = 0
    newest = sorted(known, key=lambda item: (item[0].name == path.name, item[1].st_mtime_ns), reverse=True)
    whole = [(entry, status) for entry, status in newest if not entry.name.startswith(".")]
    for n, (entry, status) in enumerate(whole):
        size += status.st_size
        if n >= KEPT or size > LARGEST:
            Path(entry.path).unlink(missing_ok=True)
    for entry, status in known:
        if entry.name.startswith(".") and status.st_mtime < time.time() - LEFT:
            Path(entry.path).unlink(missing_ok=True)


def grown(state: State, fresh: Iterable[Examined], interfaces: dict[str, Interface]) -> State:
    """The state with what a run has found; files that are gone are forgotten."""
    examined = {**state.examined, **{one.note.path: one for one in fresh if one.digest}}
    stamps = {path: stamp for path in examined if (stamp := _stamp(path)) is not None}
    merged = {path: one for path, one in state.interfaces.items() if path in stamps or os.path.exists(path)}
    workers.merge(merged, interfaces)
    return State({path: one for path, one in examined.items() if path in stamps}, merged, stamps)


def unchanged(state: State, path: str) -> bool:
    """Whether a file that is not read now looks as it did."""
    return state.stamps.get(path) == _stamp(path)


def _stamp(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def clean(config: Config) -> bool:
    """Remove the folder, if it is ours; tells whether it was there."""
    folder = folder_of(config)
    if not (folder / "CACHEDIR.TAG").is_file():
        return False
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    return True


def still_true(
    state: State, digests: dict[str, str], given: Mapping[str, str | bytes] | None = None
) -> dict[str, Examined]:
    """What is remembered of these files and would be found again; `digests` has the present digest of each, `given`
    the texts that count in place of those on the disk.
    """
    texts = given or {}
    known = {path: one for path, one in state.examined.items() if digests.get(path) == one.digest != ""}
    known = {path: one for path, one in known.items() if _led_there(path, one.asked)}

    @cache
    def present(path: str) -> str:
        """The digest of a file as it is now."""
        return digests[path] if path in digests else _text(path, digest, texts)

    looked_at = _reachable(state, (used for one in known.values() for used in one.uses))
    changed = {path: _changed_parts(path, state, present, texts) for path in {path for path, _ in looked_at}}
    bad = _infected(state, looked_at, {used for used in looked_at if _is_in(used, changed[used[0]], state)})
    return {
        path: one
        for path, one in known.items()
        if not any(used in bad for used in one.uses)
        and all(other in state.interfaces and present(other) == state.interfaces[other].digest for other in one.cites)
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
    interface = state.interfaces.get(used[0])
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
    interface = state.interfaces.get(path)
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
    parts = state.interfaces[used[0]].parts
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
    source = decode(path, texts[path]) if path in texts else read(path)
    return make(source.text if source.note.state == "read" else "")
