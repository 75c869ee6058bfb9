"""An import and the file that it stands in, the project's own file that it leads to out."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from functools import cache

MARKS = ("pyproject.toml", "setup.py", "setup.cfg", ".git")
MODULE = "setup.py"  # of these, what may be a module as any other
INSTALLED = ("site-packages", "dist-packages")
SOURCES = ("", "src", "lib", "python")  # where a project keeps its packages, below its top
STANDARD = sys.stdlib_module_names
_files: dict[str, bool] = {}


def absolute(path: str, module: str) -> str:
    """The file, or folder without `__init__.py`, of `import module` in the file at `path`; "" for another's module."""
    first = module.partition(".")[0]
    if first in STANDARD or first == "torch":
        return ""
    for root, only in _roots(os.path.dirname(path)):
        found = within(root, module) if not only or first == only else ""
        if found:
            return found
    return ""


def relative(path: str, level: int, module: str) -> str:
    """The file or folder of `from ...module import`, with `level` dots, in the file at `path`."""
    folder = _above(os.path.dirname(path), level - 1)
    return within(folder, module) if module else _package(folder)


def submodule(place: str, name: str) -> str:
    """The file or folder of a module in a package, by the package's own file or folder."""
    folder, last = os.path.split(place)
    if last == "__init__.py":
        return within(folder, name)
    return "" if last.endswith(".py") else within(place, name)


@cache
def within(folder: str, module: str) -> str:
    """The file or folder that a dotted name has below a folder."""
    place = folder
    for part in module.split("."):
        if place.endswith(".py"):
            place, last = os.path.split(place)
            if last != "__init__.py":
                return ""
        place = _entry(place, part)
        if not place:
            return ""
    return place


@cache
def listing(folder: str) -> frozenset[str]:
    """The names in a folder; none where it cannot be read."""
    try:
        return frozenset(os.listdir(folder or "."))
    except OSError:
        return frozenset()


def is_file(path: str) -> bool:
    """Whether a file is there."""
    if path not in _files:
        _files[path] = os.path.isfile(path)
    return _files[path]


def looked_for() -> dict[str, bool]:
    """The files that were asked for, and whether they are there."""
    return dict(_files)


def forget() -> None:
    """What stood in folders may have changed: the next question looks again."""
    _files.clear()
    for known in (listing, _roots, _entry, within):
        known.cache_clear()


def _package(folder: str) -> str:
    return os.path.join(folder, "__init__.py") if "__init__.py" in listing(folder) else folder


@cache
def _entry(folder: str, name: str) -> str:
    names = listing(folder)
    if name in names:
        inner = os.path.join(folder, name)
        if "__init__.py" in listing(inner):
            return os.path.join(inner, "__init__.py")
    if f"{name}.py" in names:
        return os.path.join(folder, f"{name}.py")
    return os.path.join(folder, name) if name in names and _holds_python(os.path.join(folder, name)) else ""


def _holds_python(folder: str) -> bool:
    """Whether a folder without `__init__.py` can be a package: there is Python in it or below."""
    return any(
        name.endswith(".py") or (name.isidentifier() and listing(f"{folder}/{name}")) for name in listing(folder)
    )


@cache
def _roots(folder: str) -> tuple[tuple[str, str], ...]:
    """Where absolute imports of a file in `folder` are looked up: folders, and the one package that counts there."""
    start = folder
    while "__init__.py" in listing(folder) and not _is_top(folder):
        folder = _up(folder)
    if "__init__.py" in listing(folder):  # a project's top may look like a package, and may be one
        inside = [(os.path.join(folder, source) if source else folder, "") for source in SOURCES]
        return (*inside, (_up(folder), ""))
    top = folder
    while not any(mark in listing(top) for mark in MARKS):
        above = _up(top)
        if os.path.basename(top) in INSTALLED or os.path.abspath(above) == os.path.abspath(top):
            # No project: a package sees itself, for what stands beside it is somebody else's; a script sees its folder.
            seen = (folder, os.path.relpath(start or ".", folder or ".").split(os.sep)[0] if start != folder else "")
            return (seen, *_packages(folder))
        top = above
    return tuple(
        dict.fromkeys([(folder, ""), *[(os.path.join(top, source) if source else top, "") for source in SOURCES]])
    )


def _is_top(package: str) -> bool:
    """Whether a folder with `__init__.py` is a project's top, too; in a package, `setup.py` is one of its modules."""
    marks = listing(package).intersection(MARKS)
    return bool(marks) and (marks != {MODULE} or "__init__.py" not in listing(_up(package)))


def _packages(folder: str) -> Iterator[tuple[str, str]]:
    """The packages around a folder that is none, as one without `__init__.py` in a package, and folders that may be
    packages, for they hold nothing but these; and where each stands."""
    while os.path.basename(folder).isidentifier():
        above, name = os.path.split(folder)
        if "__init__.py" in listing(folder) or not any(file.endswith(".py") for file in listing(folder)):
            yield above, name
        folder = above


@cache
def _above(folder: str, levels: int) -> str:
    return _up(_above(folder, levels - 1)) if levels > 0 else folder


def _up(folder: str) -> str:
    """The folder above, written as the given one is: relative paths stay relative while they can."""
    if folder in ("", "."):
        return ".."
    head, tail = os.path.split(folder)
    return os.path.join(folder, "..") if tail == ".." else head
