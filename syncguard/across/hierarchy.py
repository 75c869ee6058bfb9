"""A class of a package in, the classes of that package out that it descends from and that descend from it, as they are
written."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from syncguard.across.texts import Files, spots
from syncguard.judge.around.called import Where
from syncguard.pack.places import Places

MOST: Final = 600  # files that are asked whether they have a class
CLASS: Final = "class "
BEGINS: Final = re.compile(r"^[^\s)#]", re.MULTILINE)  # what stands at the top of a file
DEEPEST: Final = 12  # classes above another one, or below it


class Hierarchy:
    """The classes around others, each looked for once."""

    def __init__(self, files: Files, places: Places) -> None:
        self._files, self._places = files, places
        self._having: dict[tuple[str, str], list[str]] = {}
        self._texts: dict[Where, str] = {}
        self._parsed: dict[Where, ast.ClassDef | None] = {}
        self._asks: dict[Where, dict[str, list[ast.Call]]] = {}

    def text(self, where: Where) -> str:
        """A class at the top of its file, as it is written; nothing of any other."""
        if where not in self._texts:
            path, name = where
            text = self._files.text(path) if self._files.may_hold(path, (f"class {name}",)) else ""
            self._texts[where] = _class_in(text, name)
        return self._texts[where]

    def parsed(self, where: Where) -> ast.ClassDef | None:
        """The same, parsed; None where that cannot be."""
        if where not in self._parsed:
            self._parsed[where] = _parsed(self.text(where))
        return self._parsed[where]

    def asks(self, where: Where, name: str) -> list[ast.Call]:
        """The calls in a class by which it asks something for a method of this name."""
        if where not in self._asks:
            asks: dict[str, list[ast.Call]] = {}
            self._asks[where] = asks
            tree = self.parsed(where)
            for part in ast.walk(tree) if tree is not None else ():
                if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute):
                    asks.setdefault(part.func.attr, []).append(part)
        return self._asks[where].get(name, [])

    def above(self, where: Where) -> list[Where]:
        """The classes that a class descends from."""
        return _reached(where, self._bases)

    def below(self, where: Where) -> list[Where]:
        """The classes that descend from a class, but for those of tests."""
        return _reached(where, self._heirs)

    def takes_over(self, where: Where) -> bool:
        """Whether a class that descends from that of a method has the method as it is written there."""
        path, (owner, _, name) = where[0], where[1].partition(".")
        own = re.compile(rf"^\s+(?:async )?def {name.partition('.')[0]}\b", re.MULTILINE)
        return any(own.search(self.text(heir)) is None for heir in self.below((path, owner)))

    def naming(self, name: str, package: str) -> list[str]:
        """The files of a package that have a name, but for tests; none where these are many."""
        every = self._files.naming({name}, package)[name] if package else []
        having = [one for one in every if one.endswith(".py")]
        return [one for one in having if not self._places.is_test(one)] if len(having) <= MOST else []

    def with_class(self, name: str, package: str) -> list[str]:
        """Those of them that have a class of that name."""
        if (package, name) not in self._having:
            every = self.naming(name, package)
            self._having[package, name] = [one for one in every if self.text((one, name))]
        return self._having[package, name]

    def _bases(self, where: Where) -> Iterator[Where]:
        for name in _bases_in(self.text(where)):
            if self.text((where[0], name)):
                yield where[0], name
            else:
                yield from [(path, name) for path in self.with_class(name, self._files.home(where[0]))]

    def _heirs(self, where: Where) -> Iterator[Where]:
        path, name = where
        heir = re.compile(rf"^class (\w+)\([^):]*\b{name}\b[^):]*\)", re.MULTILINE)
        for one in self.naming(name, self._files.home(path)):
            if self._files.has(one, heir):
                yield from [(one, met[1]) for met in heir.finditer(self._files.text(one))]


def _reached(where: Where, further: Callable[[Where], Iterable[Where]]) -> list[Where]:
    found: list[Where] = []
    todo = [where]
    while todo and len(found) < DEEPEST:
        more = [one for one in further(todo.pop()) if one != where and one not in found]
        found += more
        todo += more
    return found


def _bases_in(text: str) -> list[str]:
    """The names of the classes that one says it descends from, but for those of torch."""
    met = re.match(r"class \w+\(([^):]*)\)", text)
    every = [one.strip() for one in met[1].split(",")] if met is not None else []
    plain = [one for one in every if re.fullmatch(r"[\w.]+", one) and not one.startswith(("nn.", "torch."))]
    return [one.rpartition(".")[2] for one in plain]


def _class_in(text: str, name: str) -> str:
    """A class at the top of a text: each of many is looked for once, for which no pattern is worth its making."""
    for begin in spots(text, name):
        start = begin - len(CLASS)
        if text.startswith(CLASS, start) and (not start or text[start - 1] == "\n"):
            end = BEGINS.search(text, begin)
            return text[start : end.start() if end is not None else len(text)]
    return ""


def _parsed(text: str) -> ast.ClassDef | None:
    try:
        with warnings.catch_warnings(action="ignore"):
            made = ast.parse(text).body if text else []
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return made[0] if made and isinstance(made[0], ast.ClassDef) else None
