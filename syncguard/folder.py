"""The folder in which checks keep what they found: where it is, and that it is ours."""

from __future__ import annotations

import os
import time
import zlib
from hashlib import blake2b
from pathlib import Path

from syncguard import atomic, packed
from syncguard.config import CACHE, Config
from syncguard.read import project

CHECKSUM = 4  # bytes in front of a file
LEFT = 3600  # seconds after which what a killed run left half written is taken away
TAG = "Signature: 8a477f597d28d172789f06886806bc55\n# This folder is a cache of SyncGuard and can be deleted.\n"


def folder_of(config: Config) -> Path:
    """The folder in the project; where there is no project, one in the user's cache."""
    if config.cache_dir != CACHE or any(Path(config.root, mark).exists() for mark in project.MARKS):
        return Path(config.root, config.cache_dir)
    return packed.users_cache() / f"found-{blake2b(config.root.encode(), digest_size=8).hexdigest()}"


def prepare(folder: Path) -> None:
    """Make the folder, marked as a cache and hidden from git. Raises `OSError`."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in ((".gitignore", "*\n"), ("CACHEDIR.TAG", TAG)):
        if not (folder / name).exists():
            (folder / name).write_text(text)


def sweep(folder: Path, age: float) -> None:
    """Take away what runs that were killed left half written this many seconds ago. Raises `OSError`."""
    for path, status in entries(folder):
        if path.name.startswith(".") and path.name != ".gitignore" and status.st_mtime < time.time() - age:
            atomic.remove(path)


def entries(folder: Path) -> list[tuple[Path, os.stat_result]]:
    """The files of a folder, less those that somebody else takes away at this moment. Raises `OSError`."""
    found = []
    for path in folder.iterdir():
        try:
            found.append((path, path.stat()))
        except FileNotFoundError:
            continue
    return found


def seal(path: Path, body: bytes) -> None:
    """Write a file with its checksum, whole or not at all. Raises `OSError`."""
    atomic.write(path, zlib.crc32(body).to_bytes(CHECKSUM) + body)


def unseal(path: Path) -> memoryview:
    """What was sealed. Raises `OSError`, and `ValueError` where it is damaged."""
    return unseal_marked(path)[0]


def unseal_marked(path: Path) -> tuple[memoryview, int]:
    """The same, and its checksum."""
    data = memoryview(path.read_bytes())
    mark = int.from_bytes(data[:CHECKSUM])
    if zlib.crc32(data[CHECKSUM:]) != mark:
        raise ValueError(f"{path}: damaged")
    return data[CHECKSUM:], mark


def clean(config: Config) -> bool:
    """Remove the folder, if it is ours; tells whether it was there. Raises `OSError`."""
    folder = folder_of(config)
    if not (folder / "CACHEDIR.TAG").is_file():
        return False
    for path in folder.iterdir():
        if path.is_dir():
            for inner in path.iterdir():
                inner.unlink()
            path.rmdir()
        else:
            path.unlink()
    folder.rmdir()
    return True
