"""Functions in, those out that their package calls nowhere but in what runs seldom, as far as it names them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from syncguard.judge.called import Function, Where
from syncguard.judge.idle import by_setup
from syncguard.mentions import SAID, TEXT
from syncguard.places import Places
from syncguard.terms import Fact, Heat
from syncguard.texts import Files, is_inner, outermost

MOST: Final = 24  # files that name what we follow
BROUGHT: Final = re.compile(r"^[ \t]*(?:from\s+[\w.]+\s+)?import\s+(?:\([^)]*\)|[^\n]*)", re.MULTILINE)
UNREAD: Final = re.compile(f"(?P<said>{SAID})|{TEXT}", re.DOTALL | re.MULTILINE)
LOOPS: Final = re.compile(r"(?:async )?for\b|while\b")
EPOCH: Final = "runs once in an epoch"

Told = tuple[Heat, tuple[Fact, ...]]
Calls = Mapping[str, tuple[Function, ...]]


class Errands:
    """Which functions only what runs seldom calls: nobody has a name for them but who calls them there."""

    def __init__(self, calls: Calls, hot: Mapping[Where, tuple[Fact, ...]], files: Files, places: Places) -> None:
        self._calls, self._hot, self._files, self._places = calls, hot, files, places
        self._functions: dict[str, dict[str, Function]] = {}
        self._told: dict[Where, Told | None] = {}
        self._unread: dict[str, list[tuple[int, int]]] = {}

    def of(self, asked: Iterable[Where]) -> dict[Where, Told]:
        """Those that are asked about, with their heat and a call that shows it."""
        wanted: dict[str, set[str]] = {}
        every = [where for where in asked if self._outer(where) is not None]
        for path, name in filter(None, map(self._outer, every)):
            wanted.setdefault(outermost(path), set()).add(_last(name))
        for package, names in wanted.items():  # each file is looked at once for all
            if package:
                self._files.naming(names, package)
        return {where: told for where in every if (told := self._of(where)) is not None}

    def _of(self, where: Where) -> Told | None:
        """How seldom a function runs; None where somebody may call it often, or nobody is seen to."""
        if where not in self._told:
            self._told[where] = None  # while we look, for those that call one another
            self._told[where] = self._called(where)
        return self._told[where]

    def _called(self, where: Where) -> Told | None:
        outer, package = self._outer(where), outermost(where[0])
        if outer is None or not package or where in self._hot:
            return None
        if outer != where:
            return self._of(outer)
        name = _last(where[1])
        having = [path for path in self._files.naming((name,), package)[name] if not self._places.is_test(path)]
        if len(having) > MOST:
            return None
        method = "." in where[1]
        found: list[Told] = []
        for path in having:
            mentions = [*self._mentions(path, name, method)]
            if not (mentions or method or path == where[0] or is_inner(path)):
                return None  # who has it from there?
            for line, called in mentions:
                told = self._by(path, line, name) if called else None
                if told is None:
                    return None
                found += told
        return min(found, key=lambda told: (told[0] == "cold", len(told[1]), str(told[1])), default=None)

    def _outer(self, where: Where) -> Where | None:
        """A function that is called by its name alone, or such a one that it is defined in; None of any other."""
        path, name = where
        function, around = self._function(where), name.rpartition(".")[0]
        if function is None or not function.by_name:
            return None
        return self._outer((path, around)) if self._function((path, around)) is not None else where

    def _by(self, path: str, line: int, name: str) -> list[Told] | None:
        """How seldom a call is made: nothing where those that it stands in are called so themselves; None where it may
        be often."""
        caller = self._around(path, line)
        if caller is None or (path, caller.name) in self._hot:
            return None
        if _last(caller.name) == name:
            return []
        shown = Fact(f"calls `{name}`", line, path)
        if by_setup(caller, self._places):
            if self._works(caller) and self._in_loop(path, line, caller):
                return None
            return [("cold", (Fact(f"but only for `{caller.name}`, which runs seldom", line, path),))]
        if caller.heat == "amortized" and not caller.here:
            epoch = any(fact.text.endswith(EPOCH) for fact in caller.path[:1])
            often = self._in_loop(path, line, caller) if epoch else self._works(caller)
            return None if often else [("amortized", (*caller.path, shown))]
        told = self._of((path, caller.name))
        return None if told is None else [(told[0], (*told[1], shown))]

    def _works(self, caller: Function) -> bool:
        """Whether a function's name does not say that it runs seldom: it may do a script's work, whose loops run
        long."""
        name = _last(caller.name)
        return not (self._places.seldom(name) or self._places.is_("cold", "undone", name.removeprefix("un")))

    def _around(self, path: str, line: int) -> Function | None:
        """The innermost function that stands around a line."""
        inside = (one for one in self._calls.get(path, ()) if one.lines[0] <= line <= one.lines[1])
        return max(inside, key=lambda one: one.lines[0], default=None)

    def _in_loop(self, path: str, line: int, caller: Function) -> bool:
        lines = self._files.text(path).split("\n")
        depth = len(lines[line - 1]) - len(lines[line - 1].lstrip())
        for text in reversed(lines[caller.lines[0] : line - 1]):
            bare = text.lstrip()
            if bare and len(text) - len(bare) < depth:
                depth = len(text) - len(bare)
                if LOOPS.match(bare):
                    return True
        return False

    def _mentions(self, path: str, name: str, method: bool) -> Iterator[tuple[int, bool]]:
        """The lines on which code names this, and whether it is called there."""
        text = self._files.text(path)
        for met in re.finditer(rf"\b{name}\b", text):
            begin, end = met.span()
            before, after = text[text.rfind("\n", 0, begin) + 1 : begin], text[end : end + 8].lstrip()
            said = _said(before, text[begin - 1 : begin], after, method)
            if said and not self._is_unread(path, begin):
                yield text.count("\n", 0, begin) + 1, said == "called"

    def _is_unread(self, path: str, at: int) -> bool:
        """Whether a place stands in a comment, a docstring or an import."""
        if path not in self._unread:
            text = self._files.text(path)
            said = [met.span() for met in UNREAD.finditer(text) if met["said"]]
            self._unread[path] = [*said, *[met.span() for met in BROUGHT.finditer(text)]]
        return any(begin <= at < end for begin, end in self._unread[path])

    def _function(self, where: Where) -> Function | None:
        path, name = where
        if path not in self._functions:
            self._functions[path] = {one.name: one for one in self._calls.get(path, ())}
        return self._functions[path].get(name)


def _said(before: str, last: str, after: str, method: bool) -> str:
    """What a name is there for, by what stands around it: "called", "handed" about, or "" for nothing of the kind."""
    word = before.split()[-1:]
    if word in (["def"], ["class"]) or before.lstrip().startswith("#"):
        return ""
    if last in ("'", '"') and after[:1] in ("'", '"'):
        return "handed"  # somebody may find it by that
    if method and last != "." and not re.fullmatch(r"\s+\w+\s*=\s*", before):
        return ""
    if last != "." and re.match(r"=[^=]|:", after):
        return ""  # an argument, or what is bound there, goes by another rule
    return "called" if after.startswith("(") else "handed"


def _last(function: str) -> str:
    return function.rpartition(".")[2]
