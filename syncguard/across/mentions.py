"""Files in, where their code names methods out: a comment and a docstring name none."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from syncguard.across.texts import SAID, TEXT, Files, Remembered, spots
from syncguard.judge.around.called import Mention
from syncguard.pack.places import Places

OTHERS: Final = re.compile(r"\b(?:set|frozenset|dict|list|tuple|str|bytes)\([^()\n]*\)\.\Z")  # what Python itself makes
APART: Final = re.compile(f"{SAID}|{TEXT}", re.DOTALL | re.MULTILINE)
OWN: Final = re.compile(r"\b(?:self|cls|super\(\))\s*\.\Z")
ALIAS: Final = re.compile(r"[ \t]+\w+ ?= ?")
GOES_ON: Final = re.compile(r"\s*[(.\[=]")
REMOTE: Final = re.compile(r"\s*\.\s*(?:remote|options)\b")
NEAR: Final = 80  # characters before a name that tell of whom it is asked
BEFORE: Final = (".", '"', "'", "= ", "=")  # a name


class Mentions:
    """Where the code of the packages around some files, but for tests, names methods."""

    def __init__(self, files: Files, places: Places) -> None:
        self._files, self._places = files, places
        self._told: dict[str, Remembered[Mention]] = {}
        self._around: dict[tuple[str, ...], list[str]] = {}
        self._apart: dict[str, Apart] = {}

    def __call__(self, name: str, told_by: Iterable[str]) -> Iterable[Mention]:
        """The places, as far as they are asked for, in the packages around these files; each file is searched once."""
        if name not in self._told:
            self._told[name] = Remembered(self._every(name, tuple(told_by)))
        return self._told[name]

    def _every(self, name: str, told_by: tuple[str, ...]) -> Iterator[Mention]:
        if told_by not in self._around:
            tops = {top for path in told_by if (top := self._files.home(path))}
            paths = {*self._files.known, *(path for top in tops for path in self._files.inside(top))}
            self._around[told_by] = sorted(path for path in paths if not self._places.is_test(path))
        yield from self.within([path for path in self._around[told_by] if self._holds(path, name)], name)

    def within(self, paths: Iterable[str], name: str) -> Iterator[Mention]:
        """The places in some files."""
        for path in paths:
            text = self._files.text(path)
            if path not in self._apart:
                self._apart[path] = apart(text)
            yield from mentions_in(text, path, name, self._apart[path])

    def _holds(self, path: str, name: str) -> bool:
        """Whether a file may name this."""
        return self._files.names(path, name) and self._files.may_hold(path, [f"{before}{name}" for before in BEFORE])


class Apart(msgspec.Struct, frozen=True):
    """What stands apart from the code of a text, in order: where each begins and ends, and whether it is a text that
    code reads."""

    begins: list[int]
    ends: list[int]
    texts: list[bool]

    def at(self, place: int) -> int:
        """The one that a place is in; -1 of a place in code."""
        number = bisect_right(self.begins, place) - 1
        return number if number >= 0 and place < self.ends[number] else -1


def apart(text: str) -> Apart:
    """What stands apart from the code of a text."""
    found = Apart([], [], [])
    for met in APART.finditer(text):
        found.begins.append(met.start())
        found.ends.append(met.end())
        found.texts.append(met.lastindex is not None)
    return found


def mentions_in(text: str, path: str, name: str, beside: Apart | None = None) -> Iterator[Mention]:
    """The places in a text that name it: behind a dot, as what a class calls otherwise, or in a text by which it may be
    found. What another process is asked for stands nowhere: who knows where that runs?"""
    beside = beside if beside is not None else apart(text)
    line, last = 1, 0
    for begin in spots(text, name):
        end = begin + len(name)
        number = beside.at(begin)
        if number >= 0:
            start = beside.begins[number]
            if beside.texts[number] and (text[begin - 1] == "." or begin == start + 1):
                yield Mention(path, text.count("\n", 0, start) + 1)
            continue
        line, last = line + text.count("\n", last, begin), begin
        dotted, before = text[begin - 1 : begin] == ".", text.rfind("\n", 0, begin) + 1
        if dotted and text[begin - 2 : begin - 1] == ")" and OTHERS.search(text, before, begin):
            continue
        alias = not dotted and ALIAS.fullmatch(text, before, begin)
        if dotted or (alias and not GOES_ON.match(text, end)):
            own = dotted and OWN.search(text, max(0, begin - NEAR), begin) is not None
            yield Mention(path, 0 if REMOTE.match(text, end) else line, own=own)
