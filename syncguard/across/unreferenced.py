"""Files and what is asked about in, the modules of a package out that nothing in it names, and the private functions
that nothing does."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final

from syncguard.across.texts import BRINGS, Files, files_in, is_inner, module_name, packages
from syncguard.judge.around.called import Where, last_part
from syncguard.judge.callers.entries import Callers
from syncguard.pack.places import Places
from syncguard.read.project import MARKS

PRIVATE: Final = re.compile(r"_[^_].*\.py")
# What brings modules in by names that are made up or read from the folder.
UNSEEN: Final = re.compile(r"(?:import_module|iter_modules|walk_packages|__import__|spec_from_file_location)\b")
FROM_FOLDER: Final = re.compile(r"\b__(?:file|path|getattr)__\b")
SCRIPT: Final = re.compile(r"""^if __name__ == ["']__main__["']""", re.MULTILINE)
# What a file does as it is started, or what starts it: a call that stands for itself there, too.
STARTS: Final = re.compile(r"""^if\b[^\n]*\b__main__\b|^(?:async )?def main\b|^[A-Za-z_][\w.]*\(""", re.MULTILINE)
LIBRARIES: Final = r"(?<![\w.])(?:torch(?:\.\w+)*|np|numpy|math|jnp|F)"  # that have functions of common names
MANY: Final = 20  # modules of a package of which most are named by others
RARE: Final = 10  # one of so many modules may not be
MADE_UP: Final = re.compile(r"""\bgetattr\([^,()]+,\s*(?!["'])""")  # a method by a name that is not written there
MADE_UP_HERE: Final = re.compile(r"\b(?:globals\(|vars\(\)|sys\.modules\b)")  # the same of what a file defines
ASKED_FOR: Final = re.compile(r"\b(?:vars\(|import_module\()|\bdef __getattr__\(")  # the same of what another has


def unreferenced_modules(asked: Iterable[str], files: Files, places: Places) -> frozenset[str]:
    """These of the files that are asked about: private modules that nobody imports and no command runs."""
    private = [path for path in asked if PRIVATE.fullmatch(os.path.basename(path))]
    return frozenset([path for path in private if not _named(path, files, places)])


def astray(asked: Iterable[str], files: Files, places: Places) -> frozenset[str]:
    """These of the files that are asked about: modules that nothing in their package names but tests, nor beside it,
    where nearly all others are named: nobody uses what is in them."""
    around: dict[str, set[str]] = {}
    for path in {*asked}:
        if (package := files.home(path)) and is_module(path, places) and not files.has(path, STARTS):
            around.setdefault(package, set()).add(path)
    found = {path for package, some in around.items() for path in _lone(some, package, files, places)}
    seldom = {package for package in {files.home(path) for path in found} if _takes_most(package, files, places)}
    return frozenset([path for path in found if files.home(path) in seldom and not brought_in(path, files, places)])


def _lone(paths: Collection[str], package: str, files: Files, places: Places) -> list[str]:
    """Those of some modules of a package whose names no other file has."""
    having = files.naming({module_name(path) for path in paths}, package)
    return [path for path in paths if not any(counts(one, path, places) for one in having[module_name(path)])]


def _takes_most(package: str, files: Files, places: Places) -> bool:
    """Whether the modules of a package are many, and nearly all of them named by others."""
    modules = [path for path in files.inside(package) if path.endswith(".py") and is_module(path, places)]
    return len(modules) >= MANY and RARE * len(_lone(modules, package, files, places)) <= len(modules)


def is_module(path: str, places: Places) -> bool:
    """Whether a file is one that others name: neither what stands for its package, or is started for it, nor a test."""
    return not (os.path.basename(path).startswith("__") or places.is_test(path))


def unreferenced_functions(asked: Iterable[Where], files: Files, places: Places) -> frozenset[Where]:
    """These of the private functions that are asked about, which their own files do not name: those that no other file
    of their package does, but for tests."""
    known = {where: files.home(where[0]) for where in asked}
    named_by = _naming(known, files)
    return frozenset(
        [
            where
            for where, package in known.items()
            if package
            and not _dynamic_names(where, files)
            and not any(counts(other, where[0], places) for other in named_by[where])
        ]
    )


def left_to(
    asked: Iterable[Where],
    callers: Callers,
    among: Collection[Where],
    files: Files,
    places: Places,
) -> Iterator[Where]:
    """Those of the functions that are asked about, and are among some, that nobody may call unseen: no file of the
    package but tests names one of them, nor what leads to it among these, but its own and those that are known to call
    it."""
    calling = {where: {caller for caller, _, _ in callers.get(where, ())} for where in among}
    leading = {where: _leading(where, calling) for where in asked if where in calling}
    every = {one: files.home(one[0]) for ways in leading.values() for one in ways}
    for one, others in _naming(every, files).items():
        known = {path for path, _ in calling[one]}
        unseen = (other for other in others if counts(other, one[0], places) and other not in known)
        name = last_part(one[1])
        if not all(_only_brings(other, name, files) or _of_library(other, name, files) for other in unseen):
            del every[one]
    return (where for where, ways in leading.items() if every.keys() >= ways)


def lonely(functions: Collection[Where], callers: Callers, files: Files, places: Places) -> bool:
    """Whether nobody may call one of these functions but those that are known to: the code of no other file of the
    package names it, nor does an `__init__.py` bring it in for others."""
    for where, others in _naming({one: files.home(one[0]) for one in functions}, files).items():
        known = {caller[0] for caller, _, _ in callers.get(where, ())}
        unseen = [one for one in others if counts(one, where[0], places) and one not in known]
        handing = [one for one in others if one in known and one != where[0] and "." not in where[1]]
        if any(_hands_on(where[1], files.code(one)) for one in handing if not places.is_test(one)):
            return False
        if not files.home(where[0]) or any(_may_call(where[1], files.code(one)) for one in unseen):
            return False
    return True


def _hands_on(function: str, code: str) -> bool:
    """Whether some code names a function somewhere else than where it brings it in, or calls it."""
    return re.search(rf"\b{function}\b(?!\s*\()", BRINGS.sub("", code)) is not None


def is_handed_on(where: Where, naming: Iterable[str], files: Files) -> bool:
    """Whether the own file of a function does more with it than to define and call it, or it may be asked for by a name
    that is made up, there or in a file that names this one."""
    path, function = where
    name = last_part(function)
    if re.search(rf"(?<!def )\b{name}\b(?!\s*\()", files.code(path)) or files.has(path, MADE_UP_HERE):
        return True
    return any(files.has(one, MADE_UP) or files.has(one, ASKED_FOR) for one in naming)


def _may_call(function: str, code: str) -> bool:
    """Whether some code may call a function, or hand it on: a method, if it has a name for the class, or asks
    for it what it has not imported."""
    owner, _, name = function.rpartition(".")
    if not owner or re.search(rf"\b{owner}\b", code):
        return re.search(rf"\b{name}\b", code) is not None
    brought = " ".join(re.findall(r"^[ \t]*(?:from|import)\b[^\n]*", code, re.MULTILINE))
    return any(
        not met[1] or not re.search(rf"\b{met[1]}\b", brought)
        for met in re.finditer(rf"(?:\b([A-Za-z_]\w*)(?:\.\w+)*)?\.{name}\b", code)
    )


def _only_brings(path: str, name: str, files: Files) -> bool:
    """Whether a file says what a part of its package is there for, and calls nothing by this name."""
    return is_inner(path) and not re.search(rf"\b{name}\s*\(", files.text(path))


def _of_library(path: str, name: str, files: Files) -> bool:
    """Whether what a file calls by a name is a library's, wherever it says so: `torch.allclose(a, b)`."""
    return re.search(rf"\b{name}\b", re.sub(rf"{LIBRARIES}\.{name}\b", "", files.code(path))) is None


def _leading(where: Where, callers: Mapping[Where, set[Where]]) -> set[Where]:
    """A function, and those that lead to it, as far as they are known."""
    found, todo = {where}, [where]
    while todo:
        more = callers[todo.pop()] & callers.keys() - found
        found |= more
        todo += more
    return found


def _naming(functions: Mapping[Where, str], files: Files) -> dict[Where, list[str]]:
    """The files that name each of these functions, of those that are known or in the package that is told of it."""
    names: dict[str, set[str]] = {}
    for (_, function), package in functions.items():
        names.setdefault(package, set()).add(last_part(function))
    found = {package: files.naming(some, package) for package, some in names.items()}
    return {where: found[package][last_part(where[1])] for where, package in functions.items()}


def _dynamic_names(where: Where, files: Files) -> bool:
    """Whether the own file of a function names it once more, or makes up names by which it may."""
    path, function = where
    owner, _, name = function.rpartition(".")
    return not files.has_once(path, name) or files.has(path, MADE_UP if owner else MADE_UP_HERE)


def _named(path: str, files: Files, places: Places) -> bool:
    """Whether anything but tests may bring in a private module."""
    folder, name = os.path.split(path)
    around = [*packages(folder)]
    if not around or files.has(path, SCRIPT):
        return True

    def brings(other: str) -> bool:
        return files.names(other, name.removesuffix(".py")) or _by_made_up_name(other, folder, around, files)

    tops = (os.path.dirname(around[-1]), os.path.dirname(os.path.dirname(around[-1])))
    others = (*files_in(folder, deep=False), *[os.path.join(top, mark) for top in tops for mark in MARKS[:-1]])
    every = (others, files.inside(around[-1]), files.known)
    return any(brings(other) for some in every for other in some if counts(other, path, places))


def brought_in(path: str, files: Files, places: Places) -> bool:
    """Whether something around a module may bring it in by a name that is made up, or a project says to start it."""
    folder, name = os.path.split(path)
    around = [*packages(folder)] or [folder]
    inits = [os.path.join(one, "__init__.py") for one in around]
    beside = {*files_in(folder, deep=False), *inits} - {path}
    tops = (os.path.dirname(around[-1]), os.path.dirname(os.path.dirname(around[-1])))
    marks = [os.path.join(top, mark) for top in tops for mark in MARKS[:-1]]
    return any(_by_made_up_name(one, folder, around, files) for one in beside) or any(
        files.names(mark, name.removesuffix(".py")) for mark in marks
    )


def _by_made_up_name(other: str, folder: str, around: Collection[str], files: Files) -> bool:
    """Whether a file may bring in a module of a folder, with the packages around it, by a name that is made up."""
    beside, init = os.path.dirname(other) == folder, os.path.basename(other) == "__init__.py"
    unseen = (beside or (init and os.path.dirname(other) in around)) and files.has(other, UNSEEN)
    return unseen or (beside and init and files.has(other, FROM_FOLDER))


def counts(other: str, path: str, places: Places) -> bool:
    """Whether what a file says of a module counts: another one, and no test."""
    return other != path and not places.is_test(other)
