"""Sources and the files that are asked about in, those of them out that are private modules of a package and that
nothing in it names."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Final

from syncguard.places import Places
from syncguard.read.project import MARKS
from syncguard.read.source import Source, read

PRIVATE: Final = re.compile(r"_[^_].*\.py")
READABLE: Final = (".py", ".pyi", ".pyx", ".ipynb")
# What brings modules in by names that are made up or read from the folder.
UNSEEN: Final = re.compile(r"\b(?:import_module|iter_modules|walk_packages|__import__|spec_from_file_location)\b")
FROM_FOLDER: Final = re.compile(r"\b__(?:file|path|getattr)__\b")
SCRIPT: Final = re.compile(r"""^if __name__ == ["']__main__["']""", re.MULTILINE)

Texts = Mapping[str, "str | bytes"]


def unnamed(asked: Iterable[str], sources: Sequence[Source], places: Places, given: Texts) -> frozenset[str]:
    """These of the files that are asked about: private modules that nobody imports and no command runs."""
    private = [path for path in asked if PRIVATE.fullmatch(os.path.basename(path))]
    if not private:
        return frozenset()
    known = {source.path: source.text for source in sources}
    return frozenset(path for path in private if not _named(path, known, places, given))


def _named(path: str, known: Mapping[str, str], places: Places, given: Texts) -> bool:
    """Whether anything but tests may bring in a private module."""
    folder, name = os.path.split(path)
    packages = [*_packages(folder)]
    if not packages or SCRIPT.search(known[path] if path in known else _text(path, given)):
        return True
    word = re.compile(rf"(?<!\w){re.escape(name.removesuffix('.py'))}(?!\w)")

    def names(other: str) -> bool:
        text = known[other] if other in known else _text(other, given)
        beside, init = os.path.dirname(other) == folder, os.path.basename(other) == "__init__.py"
        return bool(
            word.search(text)
            or ((beside or (init and os.path.dirname(other) in packages)) and UNSEEN.search(text))
            or (beside and init and FROM_FOLDER.search(text))
        )

    tops = (os.path.dirname(packages[-1]), os.path.dirname(os.path.dirname(packages[-1])))
    others = (*_files(folder, deep=False), *[os.path.join(top, mark) for top in tops for mark in MARKS[:-1]])
    inside = _files(packages[-1], deep=True)
    return any(names(other) for every in (others, inside, known) for other in every if _counts(other, path, places))


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


def _text(path: str, given: Texts) -> str:
    """The text of a file; nothing where it cannot be read."""
    return read(path, given).text
