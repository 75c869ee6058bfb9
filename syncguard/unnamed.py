"""Files and what is asked about in, the private modules of a package out that nothing in it names; and the private
functions."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Container, Iterable, Mapping
from typing import Final

from syncguard.judge.called import Function, Where
from syncguard.places import Places
from syncguard.read.project import MARKS
from syncguard.texts import Files, files_in, packages

PRIVATE: Final = re.compile(r"_[^_].*\.py")
# What brings modules in by names that are made up or read from the folder.
UNSEEN: Final = re.compile(r"(?:import_module|iter_modules|walk_packages|__import__|spec_from_file_location)\b")
FROM_FOLDER: Final = re.compile(r"\b__(?:file|path|getattr)__\b")
SCRIPT: Final = re.compile(r"""^if __name__ == ["']__main__["']""", re.MULTILINE)
MADE_UP: Final = re.compile(r"""\bgetattr\([^,()]+,\s*(?!["'])""")  # a method by a name that is not written there
MADE_UP_HERE: Final = re.compile(r"\b(?:globals\(|vars\(\)|sys\.modules\b)")  # the same of what a file defines


def unnamed(asked: Iterable[str], files: Files, places: Places) -> frozenset[str]:
    """These of the files that are asked about: private modules that nobody imports and no command runs."""
    private = [path for path in asked if PRIVATE.fullmatch(os.path.basename(path))]
    return frozenset([path for path in private if not _named(path, files, places)])


def uncalled(asked: Iterable[Where], files: Files, places: Places) -> frozenset[Where]:
    """These of the private functions that are asked about, which their own files do not name: those that no other file
    of their package does, but for tests."""
    return frozenset([where for where in asked if not _called(*where, files, places)])


def left_to(where: Where, calls: Mapping[str, tuple[Function, ...]], among: Container[Where], files: Files) -> bool:
    """Whether no file of its package names a function, or one of some that lead to it, but its own and those that are
    known to call it."""
    todo = [where]
    for one in todo:
        every = [(path, f.name) for path, functions in calls.items() for f in functions if _calls(f, one)]
        if named_beside(one, {path for path, _ in every}, files):
            return False
        todo += [caller for caller in every if caller in among and caller not in todo]
    return True


def _calls(function: Function, where: Where) -> bool:
    return any((call.path, call.name) == where for call in function.calls)


def named_beside(where: Where, but: Container[str], files: Files) -> bool:
    """Whether a file of its package names a function, but for its own and some others."""
    path, function = where
    return _beside(path, function.rpartition(".")[2], files, lambda other: other != path and other not in but)


def _beside(path: str, name: str, files: Files, counts: Callable[[str], bool]) -> bool:
    """Whether a file that counts, of those that are known or in the package of this one, has a name."""
    around = [*packages(os.path.dirname(path))]
    every = (files.known, files.inside(around[-1])) if around else (files.known,)
    return any(files.names(other, name) for some in every for other in some if counts(other))


def _called(path: str, function: str, files: Files, places: Places) -> bool:
    """Whether anything but tests may call a private function."""
    around = [*packages(os.path.dirname(path))]
    owner, _, name = function.rpartition(".")
    own = re.findall(rf"\b{name}\b", files.text(path))
    if not around or len(own) > 1 or files.has(path, MADE_UP if owner else MADE_UP_HERE):
        return True
    return _beside(path, name, files, lambda other: _counts(other, path, places))


def _named(path: str, files: Files, places: Places) -> bool:
    """Whether anything but tests may bring in a private module."""
    folder, name = os.path.split(path)
    around = [*packages(folder)]
    if not around or files.has(path, SCRIPT):
        return True

    def brings(other: str) -> bool:
        beside, init = os.path.dirname(other) == folder, os.path.basename(other) == "__init__.py"
        return bool(
            files.names(other, name.removesuffix(".py"))
            or ((beside or (init and os.path.dirname(other) in around)) and files.has(other, UNSEEN))
            or (beside and init and files.has(other, FROM_FOLDER))
        )

    tops = (os.path.dirname(around[-1]), os.path.dirname(os.path.dirname(around[-1])))
    others = (*files_in(folder, deep=False), *[os.path.join(top, mark) for top in tops for mark in MARKS[:-1]])
    every = (others, files.inside(around[-1]), files.known)
    return any(brings(other) for some in every for other in some if _counts(other, path, places))


def _counts(other: str, path: str, places: Places) -> bool:
    return other != path and not places.is_test(other)
