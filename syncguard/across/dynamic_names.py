"""A file in, whether code of its package may bring it in by a text, and ask it, or an object, for what it has by a name
that is made up."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Final

from syncguard.across.texts import Files, module_name, spelled_out, spots
from syncguard.judge.around.called import Where
from syncguard.pack.places import Places
from syncguard.read.project import is_file

BRINGS: Final = re.compile(r"\bimport_module\(\s*[rRfF]*([\"'])(?P<text>[^\"'\n]*)\1(?P<more>\s*(?:[+%]|\.format\b))?")
FILLED: Final = "{"
# What is asked for by a name that is no text, or one that is put together.
ASKS: Final = r"(?![\"'])|[\"'][^\"'\n]*[\"']\s*[+%]"
# They begin with a text, which is found at once, and look back from there for the word's own beginning.
GETS: Final = r"getattr\((?<!\wgetattr\()"
ASKED: Final = re.compile(rf"{GETS}(?!self\b)(?:[^,()]|\([^()]*\))+,\s*+(?:{ASKS})")
OF: Final = (
    re.compile(rf"{GETS}(?:[\w.]*\.)?(\w+),\s*+(?:{ASKS})"),
    re.compile(r"vars\((?<!\wvars\()(?:[\w.]*\.)?(\w+)\)"),
)
DICT: Final = re.compile(r"\.__dict__\b")
LAST: Final = re.compile(r"\w+\Z")
LONGEST: Final = 80  # characters of a name
ME: Final = ("self", "cls")
WORDS: Final = ("getattr", "vars", "__dict__")  # without which a text asks for nothing so
TRAINS: Final = re.compile(r"\.backward\(")


class DynamicNames:
    """What the files of packages bring in, and ask for, by such names: each package is asked once."""

    def __init__(self, files: Files, places: Places) -> None:
        self._files, self._places = files, places
        self._brought: dict[str, list[tuple[str, bool, bool]]] = {}
        self._asked: dict[str, Mapping[str, frozenset[str]]] = {}
        self._trained: dict[str, bool] = {}
        self._runs: dict[str, tuple[str, ...]] = {}
        self._told: dict[tuple[str, str], bool] = {}  # of what a file has, or a class of it

    def brings(self, path: str, asked: bool = False) -> bool:
        """Whether a file may be brought in by a text; if it is `asked`, by one that asks for something by a made-up
        name, and calls or returns it."""
        package = self._files.home(path)
        if not package:
            return False
        name = _dotted(path, package)
        return any(
            (name == text if whole else name.startswith(text)) and (asks or not asked)
            for text, whole, asks in self._texts(package)
        )

    def may_fetch(self, where: Where) -> bool:
        """Whether code of the package may come to a function by a name that is made up."""
        return self.brings(where[0], asked=True) or self._asks(where)

    def _asks(self, where: Where) -> bool:
        """Whether another file may ask a module, or what it has made of a class, for a function by a made-up name."""
        path, (owner, _, method) = where[0], where[1].partition(".")
        key = path, owner if method else ""
        if key not in self._told:
            package = self._files.home(path)
            self._told[key] = bool(package) and (
                self._asks_object(path, owner, package) if method else self._asks_module(path, package)
            )
        return self._told[key]

    def _asks_object(self, path: str, owner: str, package: str) -> bool:
        return any(one != path and self._files.may_hold(one, (owner,)) for one in self._running(package))

    def _asks_module(self, path: str, package: str) -> bool:
        name = module_name(path)
        return any(
            one != path and self._files.may_hold(one, (name,)) and _brings_in(name, self._files.text(one), asked)
            for one, asked in self._asking(package).items()
        )

    def _running(self, package: str) -> tuple[str, ...]:
        """The files of a package that call what they ask an object for by a name that is made up."""
        if package not in self._runs:
            every = [one for one in self._files.naming(WORDS, package)["getattr"] if self._is_code(one)]
            running = [one for one in every if self._files.has(one, ASKED) and _runs(self._files.text(one))]
            self._runs[package] = tuple(sorted(running))
        return self._runs[package]

    def _is_code(self, path: str) -> bool:
        return path.endswith(".py") and not self._places.is_test(path)

    def _asking(self, package: str) -> Mapping[str, frozenset[str]]:
        """What the files of a package ask for something by a name that is made up, by the files that do."""
        if package not in self._asked:
            having = self._files.naming(WORDS, package)
            every = {one for word in WORDS for one in having[word] if self._is_code(one)}
            told = {one: _names_asked(self._files.text(one)) for one in sorted(every)}
            self._asked[package] = {one: names for one, names in told.items() if names}
        return self._asked[package]

    def trains(self, package: str) -> bool:
        """Whether a file of a package that trains asks something for a part by a name that is made up."""
        if package not in self._trained:
            having = self._files.naming({"getattr", "backward"}, package)
            both = [one for one in having["getattr"] if one in having["backward"] and not self._places.is_test(one)]
            self._trained[package] = any(self._files.has(one, TRAINS) and self._files.has(one, ASKED) for one in both)
        return self._trained[package]

    def _texts(self, package: str) -> list[tuple[str, bool, bool]]:
        """The names of modules that are written there, or what they begin with."""
        if package not in self._brought:
            self._brought[package] = [*self._written(package)]
        return self._brought[package]

    def _written(self, package: str) -> Iterator[tuple[str, bool, bool]]:
        top = f"{os.path.basename(package)}." if _root(package) != package else ""
        for one in self._files.naming({"import_module"}, package)["import_module"]:
            if one.endswith(".py") and not self._places.is_test(one):
                code = spelled_out(self._files.text(one))
                asks = _runs(code)
                for met in BRINGS.finditer(code):
                    text, filled, _ = met["text"].partition(FILLED)
                    if f"{text}.".startswith(top):
                        yield text, not (filled or met["more"]), asks


def _names_asked(text: str) -> frozenset[str]:
    """What a text asks for something by a name that is made up, but for the object of a method."""
    found = [met[1] for asked in OF for met in asked.finditer(text)]
    found += [
        last[0]
        for met in DICT.finditer(text)
        if (last := LAST.search(text, max(met.start() - LONGEST, 0), met.start()))
    ]
    return frozenset([name for name in found if name not in ME])


def _brings_in(name: str, text: str, asked: frozenset[str]) -> bool:
    """Whether a text brings a module in by a name that is one of some."""
    brought = rf"^[ \t]*(?:from[ \t]+[\w.]+[ \t]+)?import\b[^\n]*?\b{name}\b(?:[ \t]+as[ \t]+(\w+))?"
    return any((met[1] or name) in asked for met in re.finditer(brought, text, re.MULTILINE))


def _runs(text: str) -> bool:
    """Whether a text calls what it asks for by a name that is made up, or gives it back."""
    for met in ASKED.finditer(text):
        before = text[text.rfind("\n", 0, met.start()) + 1 : met.start()]
        if re.search(r"\breturn\s+\Z", before) or text[_end(text, met.start()) :].startswith("("):
            return True
        bound = re.search(r"\b(\w+)\s*=\s*\Z", before)
        if bound is not None and any(text.startswith("(", at + len(bound[1])) for at in spots(text, bound[1])):
            return True
    return False


def _end(text: str, begin: int) -> int:
    """Where a call ends that begins at a place of a text."""
    deep = 0
    for at in range(text.index("(", begin), len(text)):
        deep += (text[at] == "(") - (text[at] == ")")
        if not deep:
            return at + 1
    return len(text)


def _dotted(path: str, package: str) -> str:
    """The name by which a module is imported."""
    inside = os.path.relpath(path, _root(package)).removesuffix(".py")
    return inside.removesuffix(f"{os.sep}__init__").replace(os.sep, ".")


def _root(package: str) -> str:
    """The folder from which a package is imported; of an application its own."""
    return os.path.dirname(package) if is_file(os.path.join(package, "__init__.py")) else package
