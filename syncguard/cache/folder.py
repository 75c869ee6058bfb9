"""The folder in which checks keep what they found: where it is, and that it is ours."""

from __future__ import annotations

import errno
import os
import re
import time
import zlib
from hashlib import blake2b
from pathlib import Path

from syncguard import atomic
from syncguard.config import CACHE, Config
from syncguard.pack import packed
from syncguard.read import project

CHECKSUM = 4  # bytes in front of a file
LEFT = 3600  # seconds after which what a killed run left half written is taken away
MARK = "CACHEDIR.TAG"
TAG = "Signature: 8a477f597d28d172789f06886806bc55\n# This folder is a cache of SyncGuard and can be deleted.\n"
ALL = "*\n"  # what git is not to look at
# As `atomic.write` calls what it has not finished.
DRAFT = re.compile(r"\.(?:CACHEDIR\.TAG|\.gitignore|[0-9a-f]+(?:\.\w+)?)\.\d+")
OURS = re.compile(r"CACHEDIR\.TAG|\.gitignore|[0-9a-f]+(?:\.\w+)?")


def folder_of(config: Config) -> Path:
    """The folder in the project; where there is no project, one in the user's cache."""
    if config.cache_dir != CACHE or any(Path(config.root, mark).exists() for mark in project.MARKS):
        return Path(config.root, config.cache_dir)
    return packed.users_cache() / f"found-{blake2b(config.root.encode(), digest_size=8).hexdigest()}"


def prepare(folder: Path) -> None:
    """Make the folder, marked as a cache and hidden from git. Raises `OSError`, also where it is somebody else's."""
    folder.mkdir(parents=True, exist_ok=True)
    names = [name for name in os.listdir(folder) if name != ".gitignore" and not DRAFT.fullmatch(name)]
    if not is_ours(folder):  # the mark is written first: whoever has written more has written it
        if names:
            raise OSError(errno.EEXIST, "it holds other files")
        atomic.write(folder / MARK, TAG.encode())
    if not (folder / ".gitignore").exists():
        atomic.write(folder / ".gitignore", ALL.encode())


def is_ours(folder: Path) -> bool:
    """Whether a folder has our mark. Raises `OSError`."""
    try:
        return "SyncGuard" in (folder / MARK).read_text("utf-8", "replace")
    except FileNotFoundError:
        return False


def sweep(folder: Path, age: float) -> None:
    """Take away what runs that were killed left half written this many seconds ago. Raises `OSError`."""
    for path, status in entries(folder):
        if DRAFT.fullmatch(path.name) and status.st_mtime < time.time() - age:
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
    """Remove the folder, if it is ours, but for files of others in it; tells whether it was there. Raises `OSError`."""
    folder = folder_of(config)
    try:
        if not is_ours(folder):
            return False
    except NotADirectoryError:
        return False
    for cores in folder.glob("cores-*"):
        _emptied(cores)
    _emptied(folder)
    return True


def _emptied(folder: Path) -> None:
    for path in folder.iterdir():
        if not path.is_dir() and (OURS.fullmatch(path.name) or DRAFT.fullmatch(path.name)) and not _rules(path):
            path.unlink()
    if not any(folder.iterdir()):
        folder.rmdir()


def _rules(path: Path) -> bool:
    """Whether this is a .gitignore that somebody has written more into."""
    return path.name == ".gitignore" and path.read_text("utf-8", "replace") != ALL
