"""Sources and what is asked about in, the private modules of a package out that nothing in it names; and the private
functions."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Final

from syncguard.judge.called import Where
from syncguard.places import Places
from syncguard.read.project import MARKS
from syncguard.read.source import Source, read

PRIVATE: Final = re.compile(r"_[^_].*\.py")
NAMES: Final = re.compile(r"(?<!\w)_\w+")
FEW: Final = 4  # names that are looked for one by one
READABLE: Final = (".py", ".pyi", ".pyx", ".ipynb")
# What brings modules in by names that are made up or read from the folder.
UNSEEN: Final = re.compile(r"(?:import_module|iter_modules|walk_packages|__import__|spec_from_file_location)\b")
FROM_FOLDER: Final = re.compile(r"\b__(?:file|path|getattr)__\b")
SCRIPT: Final = re.compile(r"""^if __name__ == ["']__main__["']""", re.MULTILINE)

MADE_UP: Final = re.compile(r"""\bgetattr\([^,()]+,\s*(?!["'])""")  # a method by a name that is not written there
MADE_UP_HERE: Final = re.compile(r"\b(?:globals\(|vars\(\)|sys\.modules\b)")  # the same of what a file defines

Texts = Mapping[str, "str | bytes"]


def unnamed(asked: Iterable[str], sources: Sequence[Source], places: Places, given: Texts) -> frozenset[str]:
    """These of the files that are asked about: private modules that nobody imports and no command runs."""
    private = [path for path in asked if PRIVATE.fullmatch(os.path.basename(path))]
    if not private:
        return frozenset()
    files = Files({source.path: source.text for source in sources}, given, several=len(private) > FEW)
    return frozenset(path for path in private if not _named(path, files, places))


def uncalled(asked: Collection[Where], sources: Sequence[Source], places: Places, given: Texts) -> frozenset[Where]:
    """These of the private functions that are asked about, which their own files do not name: those that no other file
    of their package does, but for tests."""
    if not asked:
        return frozenset()
    files = Files({source.path: source.text for source in sources}, given, several=len(asked) > FEW)
    return frozenset([where for where in asked if not _called(*where, files, places)])


def _called(path: str, function: str, files: Files, places: Places) -> bool:
    """Whether anything but tests may call a private function."""
    packages = [*_packages(os.path.dirname(path))]
    owner, _, name = function.rpartition(".")
    own = re.findall(rf"\b{name}\b", files.text(path))
    if not packages or len(own) > 1 or files.has(path, MADE_UP if owner else MADE_UP_HERE):
        return True
    every = (files.known, files.inside(packages[-1]))
    return any(files.names(other, name) for some in every for other in some if _counts(other, path, places))


class Files:
    """The texts of files, each read once, and the private names in each: of several names, all are noted at once."""

    def __init__(self, known: Mapping[str, str], given: Texts, *, several: bool) -> None:
        self.known = known
        self._given, self._several = given, several
        self._texts: dict[str, str] = {}
        self._names: dict[str, frozenset[str]] = {}
        self._inside: dict[str, list[str]] = {}
        self._has: dict[tuple[str, re.Pattern[str]], bool] = {}

    def inside(self, package: str) -> Iterable[str]:
        """The files of a package: of one name, as far as they are asked for."""
        if not self._several:
            return _files(package, deep=True)
        if package not in self._inside:
            self._inside[package] = [*_files(package, deep=True)]
        return self._inside[package]

    def text(self, path: str) -> str:
        """The text of a file; nothing where it cannot be read."""
        if path in self.known:
            return self.known[path]
        if path not in self._texts:
            self._texts[path] = read(path, self._given).text
        return self._texts[path]

    def has(self, path: str, pattern: re.Pattern[str]) -> bool:
        """Whether something in a file is like this."""
        if (path, pattern) not in self._has:
            self._has[path, pattern] = pattern.search(self.text(path)) is not None
        return self._has[path, pattern]

    def names(self, path: str, name: str) -> bool:
        """Whether a file names a private module."""
        if not self._several and name not in self.text(path):
            return False
        if path not in self._names:
            self._names[path] = frozenset(NAMES.findall(self.text(path)))
        return name in self._names[path]


def _named(path: str, files: Files, places: Places) -> bool:
    """Whether anything but tests may bring in a private module."""
    folder, name = os.path.split(path)
    packages = [*_packages(folder)]
    if not packages or files.has(path, SCRIPT):
        return True

    def brings(other: str) -> bool:
        beside, init = os.path.dirname(other) == folder, os.path.basename(other) == "__init__.py"
        return bool(
            files.names(other, name.removesuffix(".py"))
            or ((beside or (init and os.path.dirname(other) in packages)) and files.has(other, UNSEEN))
            or (beside and init and files.has(other, FROM_FOLDER))
        )

    tops = (os.path.dirname(packages[-1]), os.path.dirname(os.path.dirname(packages[-1])))
    others = (*_files(folder, deep=False), *[os.path.join(top, mark) for top in tops for mark in MARKS[:-1]])
    every = (others, files.inside(packages[-1]), files.known)
    return any(brings(other) for some in every for other in some if _counts(other, path, places))


def _counts(other: str, path: str, places: Places) -> bool:
    return other != path and not places.is_test(other)


def _packages(folder: str) -> Iterator[str]:
    """The folders of the packages around a module, from within."""
    while os.path.isfile(os.path.join(folder, "__init__.py")):
        yield folder
        if os.path.dirname(folder) == folder:
            return
        folder = os.path.dirname(folder)


def _files(folder: str, *, deep: bool) -> Iterator[str]:
    """What may name a module, in a folder and below it."""
    for here, _, names in os.walk(folder):
        yield from (os.path.join(here, name) for name in sorted(names) if PurePath(name).suffix in READABLE)
        if not deep:
            return
