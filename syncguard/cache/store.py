"""What earlier runs found, judged for what is still true, and what this one adds to it. Never a wrong result."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec.structs import replace

import syncguard
from syncguard.cache import folder
from syncguard.cache.cores import lowered
from syncguard.cache.table import Kept, State, Table
from syncguard.config import Config
from syncguard.examined import Asked, Examined, Interface, merged
from syncguard.infer.parts import ANY, NAMED, digest, quoted, whole_parts
from syncguard.infer.routine import Used
from syncguard.pack import packed
from syncguard.pack.places import Places
from syncguard.read import project
from syncguard.read.lower import Unreadable
from syncguard.read.source import read, stamp

T = TypeVar("T")
FORMAT = 7
ROOMS = (
    "across",
    "cache",
    "examine",
    "infer",
    "judge",
    "pack",
    "read",
)  # what a finding is made by, beside what stands around them
ALL = frozenset({"*"})  # of the parts of a file
MIXED = "?"  # behind the digest of a file that was searched since: no text has such a one
NOW = sys.maxsize  # later than any run that is remembered
# The settings that change nothing in what is found in a file: which files are read, what is shown, how it is kept.
APART = frozenset(
    "preset heat confidence exclude extend_exclude respect_gitignore jobs baseline baseline_commit"
    " error_stale_baseline cache cache_dir stdin_filename origins".split()
)


def file_of(config: Config, rules: str) -> Path:
    """The file for these settings, these rules, this Python and this SyncGuard."""
    settings = [(name, getattr(config, name)) for name in config.__struct_fields__ if name not in APART]
    told = repr((FORMAT, syncguard.__version__, sys.version_info[:3], rules, settings, _ours()))
    return folder.folder_of(config) / f"{blake2b(told.encode(), digest_size=10).hexdigest()}.msgpack"


@cache
def _ours() -> list[str]:
    """Our own files as this process found them: it goes on with what they held then."""
    return [stamp for place in _places() for stamp in packed.stamps(place, (".py",))]


def _places() -> Iterator[Path]:
    """The folders of our own files."""
    package = Path(syncguard.__file__).parent
    yield package
    for room in ROOMS:
        for place, inner, _ in os.walk(package / room):
            inner[:] = sorted({*inner} - {"__pycache__"})
            yield Path(place)


def grown(state: State, fresh: Iterable[Examined], interfaces: Mapping[str, Interface]) -> Table:
    """What a run adds to what is remembered. What earlier runs found has looked at files as they were then: where one
    is not the same now, the table says since when.
    """
    examined = {}
    for one in fresh:
        seen = stamp(one.note.path)
        if one.digest and seen is not None:
            rest = memoryview(msgspec.msgpack.encode(replace(one, calls=(), words=b"")))
            examined[one.note.path] = Kept(one.digest, one.calls, seen, state.run, one.passes, one.words, rest)
    kept, changes = {}, {}
    for path, now in interfaces.items():
        known, changed = _learnt(path, state.interface(path), now)
        kept[path] = memoryview(msgspec.msgpack.encode(known))
        if changed is not None:
            changes[path] = {**state.table.changes.get(path, {}), **dict.fromkeys(changed, state.run)}
    return Table(examined, kept, changes)


def _learnt(path: str, before: Interface | None, now: Interface) -> tuple[Interface, frozenset[str] | None]:
    """What is known of a file now, for each run looks at its own parts of it; and what has changed in it."""
    if before is not None and before.digest != now.digest and "" not in now.parts:  # it was only searched for words
        said = frozenset([name for name, told in now.parts.items() if before.parts.get(name) != told])
        latest = f"{before.digest.removesuffix(MIXED)}{MIXED}" if "" in before.parts else now.digest
        return replace(before, digest=latest, parts={**before.parts, **now.parts}), said or None
    changed = _changed(path, before, now.digest, lambda: now.parts)
    if before is None or (changed is not None and changed >= ALL):
        return now, changed
    if changed is None:
        return merged(before, now), changed
    uses = {name: used for name, used in before.uses.items() if not _is_in(name, changed, before.parts)}
    same = replace(before, digest=now.digest, parts=now.parts, uses=uses)
    return merged(same, now), changed


def _changed(
    path: str, before: Interface | None, digest: str, parts: Callable[[], Mapping[str, str]]
) -> frozenset[str] | None:
    """The parts of a file that are not what they were, ALL of them where nothing can be told; None where not even a
    comment is another one. `parts` are asked for only where the digest is another one.
    """
    if before is None or not _led_there(path, before.asked):
        return ALL
    if before.digest == digest:
        return None
    now = parts()
    if not now:
        return ALL
    return frozenset([name for name in before.parts.keys() | now.keys() if before.parts.get(name) != now.get(name)])


def still_true(
    state: State, digests: dict[str, str], places: Places, given: Mapping[str, str | bytes] | None = None
) -> dict[str, Examined]:
    """What is remembered of these files and would be found again; `digests` has the present digest of each, `given`
    the texts that count in place of those on the disk.
    """
    try:
        known = {path: state.examined(path) for path in state.same(digests)}
        known = {
            path: one
            for path, one in known.items()
            if _led_there(path, one.asked) and one.standing == places.standing(path)
        }
        return _still_true(state, known, digests, given or {})
    except msgspec.MsgspecError:
        return {}


def _still_true(
    state: State, known: dict[str, Examined], digests: dict[str, str], texts: Mapping[str, str | bytes]
) -> dict[str, Examined]:
    @cache
    def present(path: str) -> str:
        """The digest of a file as it is now."""
        if path in digests:
            return digests[path]
        same = path not in texts and path in state.table.examined and state.unchanged(path)
        return state.table.examined[path].digest if same else _text(path, digest, texts)

    @cache
    def lines(path: str) -> list[str]:
        return _text(path, lambda text: text.split("\n"), texts)

    looked_at = _reachable(state, (used for one in known.values() for used in one.uses))

    def changed_in(path: str) -> frozenset[str]:
        if not path.endswith(".py"):
            return frozenset()  # a folder without `__init__.py` holds nothing itself
        found = _changed(path, state.interface(path), present(path), lambda: _text(path, _parts, texts))
        return found if found is not None else frozenset()

    changed = {path: changed_in(path) for path in {path for path, _ in looked_at}}
    doubtful = [used for used in looked_at if changed[used[0]] or used[0] in state.table.changes]
    since = _since(state, looked_at, {used: _run_of(used, changed[used[0]], state) for used in doubtful})
    runs = {path: state.table.examined[path].run for path in known}
    return {
        path: one
        for path, one in known.items()
        if not (since and any(since.get(used, 0) > runs[path] for used in one.uses))
        and all(quoted(lines(cited), numbers) == told for cited, numbers, told in one.cites)
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
    part = "" if used[1].startswith(NAMED) else used[1]  # a name is what the top level makes of it
    return interface.uses.get(part, ()) if interface is not None else ()


def _since(state: State, parts: set[Used], runs: dict[Used, int]) -> dict[Used, int]:
    """The last run in which a part, or one that it looked at, was found changed; nothing of those that never were."""
    found: dict[Used, int] = {}
    changed = sorted((part for part, run in runs.items() if run), key=runs.__getitem__)
    if not changed:
        return found
    users: dict[Used, list[Used]] = {}
    for part in parts:
        for used in _uses(state, part):
            users.setdefault(used, []).append(part)
    while changed:  # the latest first: whoever is met again has changed later than that
        todo = [changed.pop()]
        run = runs[todo[0]]
        while todo:
            part = todo.pop()
            if part not in found:
                found[part] = run
                todo += users.get(part, ())
    return found


def _run_of(used: Used, changed: frozenset[str], state: State) -> int:
    """The run in which a part was last found changed: this one, an earlier one, or 0."""
    interface = state.interface(used[0])
    parts = interface.parts if interface is not None else {}
    if _is_in(used[1], changed, parts):
        return NOW
    earlier = state.table.changes.get(used[0], {})
    return max((run for part, run in earlier.items() if _is_in(used[1], frozenset([part]), parts)), default=0)


def _parts(text: str) -> dict[str, str]:
    try:
        return whole_parts(lowered(text), text)
    except Unreadable:
        return {}


def _is_in(name: str, changed: frozenset[str], parts: Mapping[str, str]) -> bool:
    """Whether the part that was looked at has changed: of a name, what stands around counts, too; of a function inside
    a function, the outer one."""
    if not changed or changed >= ALL or name in changed:
        return bool(changed)
    if name.startswith(NAMED):
        return "" in changed or (name == ANY and any(part.startswith(NAMED) for part in changed))
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
