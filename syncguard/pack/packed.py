"""A pack as plain data -> kept compiled in the user's cache, by all that it depends on; and read again from there."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import syncguard
from syncguard import atomic
from syncguard.collector import paused_collector

# What it is made of, and by.
PARTS = tuple(".md .toml .json __init__.py packed.py pages.py places.py returns.py rows.py".split())
KEPT = 8  # compiled packs: of other projects' packs, other versions


def digest_of(folders: tuple[Path, ...]) -> str:
    """What the compiled pack depends on, without opening a file."""
    from hashlib import blake2b

    seen = [syncguard.__version__]
    for place in [*(place for folder in folders for place in (folder, folder / "ops")), Path(__file__).parent]:
        seen += [str(place), *stamps(place, PARTS)]
    return blake2b("\n".join(seen).encode(), digest_size=12).hexdigest()


def read(digest: str) -> dict[str, Any] | None:
    """The compiled pack, or None where it is missing or damaged."""
    try:
        checksum, body = _cache(digest).read_bytes().split(b"\n", 1)
        if int(checksum, 16) != zlib.crc32(body):
            return None
        head, results = body.split(b"\n")
        return _decoded(head) | {"results": Table(results)}  # type: ignore[no-any-return]
    except (OSError, ValueError, RuntimeError):
        return None


def write(digest: str, compiled: dict[str, Any]) -> None:
    """Keep a compiled pack; where nothing can be written, it is compiled again."""
    head = {key: value for key, value in compiled.items() if key != "results"}
    body = "\n".join(json.dumps(part, separators=(",", ":")) for part in (head, compiled["results"])).encode()
    try:
        path = _cache(digest)
        path.parent.mkdir(parents=True, exist_ok=True)
        atomic.write(path, f"{zlib.crc32(body):08x}\n".encode() + body)
        for old in sorted(path.parent.glob("pack-*.json"), key=os.path.getmtime)[:-KEPT]:
            old.unlink(missing_ok=True)
    except (OSError, RuntimeError):
        pass


def stamps(place: Path, endings: tuple[str, ...]) -> list[str]:
    """The files of a folder whose names end so, each with its size and when it was written."""
    try:
        with os.scandir(place) as entries:
            stats = [(entry.path, entry.stat()) for entry in entries if entry.name.endswith(endings)]
    except OSError:
        return []
    return sorted(f"{path} {stat.st_size} {stat.st_mtime_ns}" for path, stat in stats)


def users_cache() -> Path:
    """The folder for what belongs to no project."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "syncguard"


def _cache(digest: str) -> Path:
    return users_cache() / f"pack-{digest}.json"


def _decoded(text: bytes) -> Any:
    """What JSON holds has no cycles; the collector would look for them, in all of torch as well."""
    with paused_collector():
        return json.loads(text)


class Table(Mapping[str, list[str]]):
    """The generated table as text, read when it is first asked."""

    def __init__(self, text: bytes) -> None:
        self._text = text

    @cached_property
    def _table(self) -> dict[str, list[str]]:
        return _decoded(self._text)  # type: ignore[no-any-return]

    def __getitem__(self, name: str) -> list[str]:
        return self._table[name]

    def __contains__(self, name: object) -> bool:
        return name in self._table

    def __iter__(self) -> Iterator[str]:
        return iter(self._table)

    def __len__(self) -> int:
        return len(self._table)
