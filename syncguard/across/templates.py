"""Files and those that are asked about in, which of them others are generated from out: what stands in a template runs
in what is made of it, and is mended in the template."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import msgspec
from msgspec.structs import replace

from syncguard.across.texts import Files, module_name, outermost
from syncguard.judge.heat.warmth import TEMPLATE
from syncguard.pack.places import Places
from syncguard.read.project import is_file
from syncguard.terms import Fact, Finding

HEAD: Final = 1_500  # characters at the top of a file, where it says what it is made of
SAID: Final = re.compile(r"""\bgenerated\b[^\n]{0,40}?\bfrom[ \t]+["'`]{0,2}([\w./\\-]+\.py)\b""")


class Templates(msgspec.Struct, frozen=True):
    """By path: of a file that is generated, what from; of one that nothing imports, what is generated from it."""

    made_from: Mapping[str, str] = {}
    made_into: Mapping[str, str] = {}

    def told(self, finding: Finding, path: str) -> Finding:
        """A finding in a template as one of what does not run; one in what is generated names the place to change, and
        is not mended where that would be lost."""
        made = self.made_into.get(path)
        if made is not None:
            text = f"{TEMPLATE}: `{os.path.basename(made)}` is generated from it"
            return replace(finding, heat="cold", hot_path=(Fact(text, 0),))
        source = self.made_from.get(path)
        if source is None:
            return finding
        where = f"Change `{os.path.basename(source)}`, from which this file is generated"
        return replace(finding, hint=f"{where}. {finding.hint}" if finding.hint else where, fix=None)


def templates(asked: Iterable[str], files: Files, places: Places) -> Templates:
    """What these files are generated from, and which of them others are generated from that nothing imports."""
    paths = {*asked}
    made = Made(files)
    for path in paths:
        made.look_beside(path)
    into = {source: path for source, path in made.into.items() if source in paths}
    imported = _named({*into}, made, places) if into else frozenset()
    kept = {source: path for source, path in into.items() if module_name(source) not in imported}
    return Templates({path: source for path, source in made.of.items() if path in paths}, kept)


class Made:
    """What is generated from what in the folders that were looked at."""

    def __init__(self, files: Files) -> None:
        self.files = files
        self.of: dict[str, str] = {}
        self.into: dict[str, str] = {}
        self._folders: set[str] = set()

    def look_beside(self, path: str) -> None:
        """Look at the files of Python in the folder of one."""
        folder = os.path.dirname(path)
        if folder in self._folders:
            return
        self._folders.add(folder)
        names = sorted(self.files.names_in(folder))
        for one in (os.path.join(folder, name) for name in names if name.endswith(".py")):
            if source := _source(one, self.files):
                self.of[one], self.into[source] = source, one


def _source(path: str, files: Files) -> str:
    """The file that another one says it is generated from, where it is there; ''."""
    head = files.head(path, HEAD)
    said = SAID.search(head.lower())
    if said is None:
        return ""
    named = head[said.start(1) : said.end(1)].replace("\\", "/")
    folder = os.path.dirname(path)
    for place in (os.path.join(folder, os.path.basename(named)), *_above(folder, named)):
        if place != path and is_file(place):
            return place
    return ""


def _above(folder: str, named: str) -> Iterator[str]:
    """Where a path may lead that is told from a folder above."""
    while True:
        yield os.path.normpath(os.path.join(folder, named))
        if os.path.dirname(folder) == folder:
            return
        folder = os.path.dirname(folder)


def _named(templates: set[str], made: Made, places: Places) -> frozenset[str]:
    """The names of templates that are named anywhere but in tests, comments, other templates and what they are made
    into, where that says so."""
    files, stems = made.files, {*map(module_name, templates)}
    tops = {outermost(path) or os.path.dirname(path) for path in templates}
    having: dict[str, set[str]] = {}
    for top in tops:
        naming = files.naming(stems, top)
        for stem in stems:
            having.setdefault(stem, set()).update(naming[stem])
    found: set[str] = set()
    for stem, paths in having.items():
        said = re.compile(rf"{re.escape(stem)}\b")  # which is found faster than what begins with a boundary
        for path in paths - templates:
            if places.is_test(path) or not _is_said(said, files.text(path)):
                continue
            made.look_beside(path)
            if path not in made.into and not (path in made.of and module_name(made.of[path]) == stem):
                found.add(stem)
                break
    return frozenset(found)


def _is_said(pattern: re.Pattern[str], text: str) -> bool:
    """Whether this is said anywhere but in comments, and not as the end of another word."""
    lines = (text[text.rfind("\n", 0, met.start()) + 1 : met.start()] for met in pattern.finditer(text))
    return any("#" not in before and not (before[-1:].isalnum() or before.endswith("_")) for before in lines)
