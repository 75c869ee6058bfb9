"""Files in, where their code names methods out: a comment and a docstring name none."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import Final

from syncguard.judge.called import Mention
from syncguard.places import Places
from syncguard.texts import Files, Remembered, packages

# What no code reads.
SAID: Final = r"""#[^\n]*|^__all__\b[^\])]*|(?<![fF])(?<![fF][rR])(?:'''|\"\"\")(?:\\.|.)*?(?:'''|\"\"\")"""
TEXT: Final = r"""(?P<text>'''(?:\\.|.)*?'''|\"\"\"(?:\\.|.)*?\"\"\"|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*")"""
OTHERS: Final = r"\b(?:set|frozenset|dict|list|tuple|str|bytes)\([^()\n]*\)\.\w+"  # methods of Python's own
ASKED: Final = r"(?:(?P<own>\b(?:self|cls|super\(\))\s*)?\.|(?P<alias>^[ \t]+\w+ ?= ?))"
BEFORE: Final = (".", '"', "'", "= ", "=")  # a name


class Mentions:
    """Where the code of the packages around some files, but for tests, names methods."""

    def __init__(self, files: Files, places: Places) -> None:
        self._files, self._places = files, places
        self._told: dict[str, Remembered[Mention]] = {}

    def __call__(self, name: str, told_by: Iterable[str]) -> Iterable[Mention]:
        """The places, as far as they are asked for, in the packages around these files; each file is searched once."""
        if name not in self._told:
            self._told[name] = Remembered(self._every(name, told_by))
        return self._told[name]

    def _every(self, name: str, told_by: Iterable[str]) -> Iterator[Mention]:
        tops = {top for path in told_by for top in [*packages(os.path.dirname(path))][-1:]}
        for path in sorted({*self._files.known, *(path for top in tops for path in self._files.inside(top))}):
            if not self._places.is_test(path) and self._holds(path, name):
                yield from mentions_in(self._files.text(path), path, name)

    def _holds(self, path: str, name: str) -> bool:
        """Whether a file may name this."""
        return self._files.names(path, name) and self._files.may_hold(path, [f"{before}{name}" for before in BEFORE])


def mentions_in(text: str, path: str, name: str) -> Iterator[Mention]:
    """The places in a text that name it: behind a dot, as what a class calls otherwise, or in a text by which it may be
    found. What another process is asked for stands nowhere: who knows where that runs?"""
    asked = rf"{ASKED}(?P<name>{name})\b(?(alias)(?!\s*[(.\[=]))(?P<remote>\s*\.\s*(?:remote|options)\b)?"
    line, last = 1, 0
    for met in re.finditer(f"{SAID}|{TEXT}|{OTHERS}|{asked}", text, re.DOTALL | re.MULTILINE):
        line, last = line + text.count("\n", last, met.start()), met.start()
        if met["name"]:
            yield Mention(path, 0 if met["remote"] else line, own=bool(met["own"]))
        elif met["text"] and re.search(rf"(?:\.|^['\"]){name}\b", met["text"]):
            yield Mention(path, line)
