"""Files in, where their code names methods out: a comment and a docstring name none."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import Final

from syncguard.judge.processes import Mention
from syncguard.places import Places
from syncguard.texts import Files, packages

SAID: Final = r"""#[^\n]*|^__all__\b[^\])]*|(?<![fF])(?:'''|\"\"\")(?:\\.|.)*?(?:'''|\"\"\")"""  # which no code reads
TEXT: Final = r"""(?P<text>'''(?:\\.|.)*?'''|\"\"\"(?:\\.|.)*?\"\"\"|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*")"""
OTHERS: Final = r"\b(?:set|frozenset|dict|list|tuple|str|bytes)\([^()\n]*\)\.\w+"  # methods of Python's own
ASKED: Final = r"(?:(?P<own>\b(?:self|cls|super\(\))\s*)|(?P<alias>^[ \t]+\w+[ \t]*=[ \t]*)|(?=\.))"


class Mentions:
    """Where the code of the packages around some files, but for tests, names methods."""

    def __init__(self, files: Files, places: Places) -> None:
        self._files, self._places = files, places
        self._told: dict[str, tuple[Mention, ...]] = {}

    def __call__(self, names: frozenset[str], said_in: frozenset[str]) -> dict[str, tuple[Mention, ...]]:
        """The places by name, of the names that these files hold."""
        here = {name for name in names if any(name in self._files.text(path) for path in said_in)}
        new = sorted(here - self._told.keys())
        if new:
            found: dict[str, list[Mention]] = {name: [] for name in new}
            for path in sorted(self._paths(said_in)):
                if not self._places.is_test(path) and self._files.may_hold(path, new):
                    for name, mention in mentions_in(self._files.text(path), path, new):
                        found[name].append(mention)
            self._told.update((name, tuple(places)) for name, places in found.items())
        return {name: self._told[name] for name in here}

    def _paths(self, said_in: Iterable[str]) -> set[str]:
        tops = {top for path in said_in for top in [*packages(os.path.dirname(path))][-1:]}
        return {*self._files.known, *(path for top in tops for path in self._files.inside(top))}


def mentions_in(text: str, path: str, names: Iterable[str]) -> Iterator[tuple[str, Mention]]:
    """The places in a text that name one of these: behind a dot, as what a class calls otherwise, or in a text by which
    it may be found. What another process is asked for stands nowhere: who knows where that runs?"""
    any_of = "|".join(map(re.escape, names))
    asked = (
        rf"{ASKED}\.?\s*(?<!\w)(?P<name>{any_of})\b(?(alias)(?!\s*[(.\[=]))(?P<remote>\s*\.\s*(?:remote|options)\b)?"
    )
    line, last = 1, 0
    for met in re.finditer(f"{SAID}|{TEXT}|{OTHERS}|{asked}", text, re.DOTALL | re.MULTILINE):
        line, last = line + text.count("\n", last, met.start()), met.start()
        if met["text"]:
            for name in re.findall(rf"(?:\.|^['\"])({any_of})\b", met["text"]):
                yield name, Mention(path, line)
        elif met["name"]:
            there = line + met.group().count("\n", 0, met.start("name") - met.start())
            yield met["name"], Mention(path, 0 if met["remote"] else there, own=bool(met["own"]))
