"""Folders in, the files of the packages there out, and their texts: each is read once."""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Final, Generic, TypeVar

from syncguard.infer.parts import digest
from syncguard.judge.around.called import Function
from syncguard.read.application import Project, files_of, project_of
from syncguard.read.project import INSTALLED, MARKS, is_file, listing
from syncguard.read.source import Source, read, stamp
from syncguard.read.words import FEW, Wanted, numbers_of

READABLE: Final = (".py", ".pyi", ".pyx", ".ipynb", ".yaml", ".yml", ".gin")  # which may say what is made
SCRIPTS: Final = 300  # that are looked at beside a package
DEEP: Final = 2  # folders below the top
HUB: Final = "hubconf.py"  # what `torch.hub` takes out of a repository
MODULES: Final = 3  # files that may be there for whoever copies them
PROGRAM: Final = ("__main__", "argparse", "ArgumentParser", "argv", "hydra", "fire", "click", "absl")
ENVIRONMENT: Final = ("pyvenv.cfg", "node_modules", *INSTALLED)  # what tells a folder of other people's files
# What no code reads, and a text that it may: an alternative that begins with a letter is found at once, and what must
# stand before that is looked for from there.
DOC: Final = r"{0}(?<![fF]{0})(?<![fF][rR]{0})(?:\\.|[^\\])*?(?:'''|\"\"\")"
SAID: Final = rf"""#[^\n]*|__all__(?<=^__all__)\b[^\])]*|{DOC.format("'''")}|{DOC.format('"' * 3)}"""
TEXT: Final = r"""'''(?:\\.|[^\\])*?'''()|\"\"\"(?:\\.|[^\\])*?\"\"\"()|'(?:\\.|[^'\\\n])*'()|"(?:\\.|[^"\\\n])*"()"""
# A text that is read, for it asks for what stands in it: `f"""{rows}"""`.
FORMAT: Final = r"{0}(?:(?<=[fF]{0})|(?<=[fF][rR]{0}))(?:\\.|[^\\])*?{0}()"
FORMATS: Final = f"""{FORMAT.format("'''")}|{FORMAT.format('"' * 3)}"""

BRINGS: Final = re.compile(r"^[ \t]*from[ \t]+[\w.]+[ \t]+import[ \t]*(?:\([^)]*\)|[^\n;]*)", re.MULTILINE)
RENAMED: Final = re.compile(r"\bimport_module[ \t]+as[ \t]+(\w+)")
UNREAD: Final = re.compile(f"{SAID}|{FORMATS}", re.DOTALL | re.MULTILINE)
MARKED: Final = re.compile(rf"#[^\n]*|{TEXT}", re.DOTALL)
QUOTES: Final = ("'''", '"""')
LISTED: Final = re.compile(r"^__all__\b[^\])]*", re.MULTILINE)

Item = TypeVar("Item")
Texts = Mapping[str, "str | bytes"]


class Remembered(Generic[Item]):
    """What an iterator gives, for all who ask: each item is made once, and none before somebody asks for it."""

    def __init__(self, rest: Iterator[Item]) -> None:
        self._met: list[Item] = []
        self._rest = rest

    def __iter__(self) -> Iterator[Item]:
        yield from self._met
        for item in self._rest:
            self._met.append(item)
            yield item


class Files:
    """The texts of files, each read once, and which of some words are in each: of what is known by its words no text is
    read."""

    def __init__(self, sources: Iterable[Source], given: Texts, words: Mapping[str, bytes] | None = None) -> None:
        """With the numbers of the words that are known to be in files."""
        self.known = {source.path: source.text for source in sources}
        self._given = given
        self._texts: dict[str, str] = {}
        self._words = {path: numbers for path, numbers in (words or {}).items() if numbers}
        self._naming: dict[str, dict[str, list[str]]] = {}
        self._inside: dict[str, Remembered[str]] = {}
        self._scripts: dict[str, Remembered[str]] = {}
        self._has: dict[tuple[str, re.Pattern[str]], bool] = {}
        self._listed: dict[str, str] = {}
        self._code: dict[str, str] = {}
        self._bare: dict[str, str] = {}
        self._projects: dict[str, Project] = {}  # by folder
        self._every: dict[str, tuple[str, ...]] = {}
        self._names: dict[str, frozenset[str]] = {}
        self.stamps: dict[str, tuple[int, int] | None] = {}  # of the files that were looked into, as they were then
        self._started: dict[str, bool] = {}
        self._homes: dict[tuple[str, bool], str] = {}  # by folder, of an application or none

    def home(self, path: str) -> str:
        """The folder of the files that may have a name for what stands in a file: of all its application, or of the
        outermost package around it, or what stands in place of one; "" where nobody knows."""
        key = os.path.dirname(path), self.is_ours(path)
        if key not in self._homes:
            top = self.project(path).top
            self._homes[key] = top if key[1] else outermost(path) or _below(top, path)
        return self._homes[key]

    def is_ours(self, path: str) -> bool:
        """Whether a file stands in an application: it is started where it lies, and nobody else has a name for what is
        in it."""
        found = self.project(path)
        hub = os.path.basename(path) == HUB
        return bool(found.top) and not (found.installs or hub) and self._is_started(found.top)

    def project(self, path: str) -> Project:
        """The project that a file belongs to, as far as it is an application."""
        folder = os.path.dirname(path)
        if folder not in self._projects:
            found = project_of(folder)
            self._projects[folder] = found if found.installs or self.whole(found.top) else Project()
        return self._projects[folder]

    def whole(self, top: str) -> tuple[str, ...]:
        """The files of an application, whose folders are gone through once."""
        if top not in self._every:
            self._every[top] = files_of(top)
        return self._every[top]

    def _is_started(self, top: str) -> bool:
        """Whether a project is more than a few files, one of which is a program."""
        if top not in self._started:
            code = [path for path in self.whole(top) if path.endswith(".py")]
            self._started[top] = len(code) > MODULES and any(self._met(path, Wanted(PROGRAM)) for path in code)
        return self._started[top]

    def inside(self, package: str) -> Iterable[str]:
        """The files of a package, which is walked once, and as far as they are asked for."""
        if package not in self._inside:
            every = self._every.get(package)
            self._inside[package] = Remembered(iter(every) if every else files_in(package, deep=True))
        return self._inside[package]

    def text(self, path: str) -> str:
        """The text of a file; nothing where it cannot be read."""
        if path in self.known:
            return self.known[path]
        if path not in self._texts:
            self._look(path)
            self._texts[path] = read(path, self._given).text
        return self._texts[path]

    def head(self, path: str, size: int) -> str:
        """The beginning of a file of UTF-8, of which no more is read than that."""
        return self.text(path)[:size] if self._is_text(path) else self._bytes(path, size).decode("utf-8", "replace")

    def may_hold(self, path: str, words: Iterable[str]) -> bool:
        """Whether one of some words of ASCII may be in a file, which is not decoded for this."""
        if self._is_text(path):
            return any(word in self.text(path) for word in words)
        held = self._bytes(path)
        return any(word.encode() in held for word in words)

    def _bytes(self, path: str, size: int = -1) -> bytes:
        """The beginning of a file, or all of it; nothing where it cannot be read."""
        self._look(path)
        try:
            with Path(path).open("rb") as file:
                return file.read(size)
        except OSError:
            return b""

    def _look(self, path: str) -> None:
        """Remember how a file looks before it is read."""
        if path not in self.stamps:
            self.stamps[path] = stamp(path)

    def _is_text(self, path: str) -> bool:
        return path in self.known or path in self._texts or path in self._given

    def has(self, path: str, pattern: re.Pattern[str]) -> bool:
        """Whether something in a file is like this."""
        if (path, pattern) not in self._has:
            self._has[path, pattern] = pattern.search(self.text(path)) is not None
        return self._has[path, pattern]

    def code(self, path: str) -> str:
        """The text of a file without what no code reads: comments, docstrings and what it lists for others."""
        if path not in self._code:
            self._code[path] = code_of(self.text(path))
        return self._code[path]

    def bare(self, path: str) -> str:
        """The text of a file without comments and docstrings, with as many lines."""
        if path not in self._bare:
            self._bare[path] = bare(self.text(path))
        return self._bare[path]

    def listed(self, path: str) -> str:
        """What a file lists of its own as there for others, as it is written."""
        if path not in self._listed:
            self._listed[path] = "\n".join(LISTED.findall(self.text(path)))
        return self._listed[path]

    def has_once(self, path: str, name: str, within: tuple[int, int] = (0, 0)) -> bool:
        """Whether a file has a name in one place, but where a class asks for those above it; the lines of one function
        are one."""
        return once(self.text(path), name, within)

    def names(self, path: str, name: str) -> bool:
        """Whether a file has a name."""
        return bool(self._met(path, Wanted((name,))))

    def naming(self, names: Iterable[str], package: str = "") -> dict[str, list[str]]:
        """The files that have each of these names, of those that are known, in a package or scripts beside it; each is
        looked at once for all names that were not asked for before."""
        found = self._naming.setdefault(package, {})
        lacking = {name for name in names if name not in found}
        if lacking:
            found.update({name: [] for name in lacking})
            wanted = Wanted(lacking)
            more = (*self.inside(package), *self.beside(package)) if package else ()
            for path in dict.fromkeys((*self.known, *more)):
                for name in self._met(path, wanted):
                    found[name].append(path)
        return found

    def expect(self, told: Iterable[tuple[str, Iterable[Function]]]) -> None:
        """Look once for the names of all that is likely to be asked about: of modules, and of what stands in them."""
        wanted: dict[str, set[str]] = {}
        for path, functions in told:
            if package := self.home(path):
                names = {part for function in functions for part in function.name.split(".")}
                wanted.setdefault(package, set()).update(names, {module_name(path)})
        for package, names in wanted.items():
            self.naming({name for name in names if name.isidentifier()}, package)

    def beside(self, package: str) -> Iterable[str]:
        """The scripts of a package's project, which are looked for once."""
        if package not in self._scripts:
            beside = () if self._every.get(package) else islice(scripts_beside(package), SCRIPTS)
            self._scripts[package] = Remembered(iter(beside))
        return self._scripts[package]

    def names_in(self, folder: str) -> frozenset[str]:
        """What stands in a folder."""
        if folder not in self._names:
            self._names[folder] = listing(folder)
        return self._names[folder]

    def looks(self) -> dict[str, dict[str, str]]:
        """The questions that were asked of folders, and their answers."""
        return {
            "project": {folder: repr(project) for folder, project in self._projects.items()},
            "whole": {top: digest(repr(every)) for top, every in self._every.items()},
            "inside": {top: digest(repr([*self.inside(top)])) for top in self._inside},
            "beside": {top: digest(repr([*self.beside(top)])) for top in self._scripts},
            "names": {folder: digest(repr(sorted(names))) for folder, names in self._names.items()},
        }

    def ask_again(self, looks: Mapping[str, Mapping[str, str]]) -> None:
        """Ask the same."""
        for folder in looks["project"]:
            self.project(os.path.join(folder, "_"))
        for top in looks["whole"]:
            self.whole(top)
        for top in looks["inside"]:
            self.inside(top)
        for top in looks["beside"]:
            self.beside(top)
        for folder in looks["names"]:
            self.names_in(folder)

    def _met(self, path: str, wanted: Wanted) -> list[str]:
        """Those of some names that a file has."""
        if path not in self._words:
            if len(wanted.words) <= FEW and not self.may_hold(path, wanted.words):
                return []
            self._words[path] = numbers_of(self.text(path))
        return wanted.among(self._words[path])


def bare(text: str) -> str:
    """A text without its comments and docstrings, with as many lines."""
    kept: list[str] = []
    last = 0
    for met in MARKED.finditer(text):
        begin = met.start()
        if text[begin] != "#":
            line = text.rfind("\n", 0, begin) + 1
            if not met[0].startswith(QUOTES) or line < last or text[line:begin].strip() not in ("", "r", "R"):
                continue
            begin = line
        kept += (text[last:begin], "\n" * met[0].count("\n"))
        last = met.end()
    return "".join((*kept, text[last:]))


def _below(top: str, path: str) -> str:
    """The folder in the top one of a project, in which a file stands; "" where it stands in the top itself."""
    first, deeper, _ = path.removeprefix(top).lstrip(os.sep).partition(os.sep) if top else ("", "", "")
    return os.path.join(top, first) if deeper else ""


def spelled_out(text: str) -> str:
    """A text in which what brings modules in is called by its own name: `import_module as load`."""
    for alias in RENAMED.findall(text):
        text = re.sub(rf"(?<![\w.]){alias}(?=\()", "import_module", text)
    return text


def code_of(text: str) -> str:
    """A text without what no code reads."""
    return UNREAD.sub(lambda met: met[0] if met.lastindex else "", text)


def once(text: str, name: str, within: tuple[int, int] = (0, 0)) -> bool:
    """The same of a text."""
    if text.count(name) == 1:
        return True
    begins = [begin for begin in spots(text, name) if not text.endswith("super(", 0, begin)]
    lines = [text.count("\n", 0, begin) + 1 for begin in begins]
    inside = [line for line in lines if within[0] <= line <= within[1]]
    return len(lines) - len(inside) + bool(inside) == 1


def spots(text: str, name: str) -> Iterator[int]:
    """Where a name begins in a text, and is not part of a longer one."""
    end = 0
    while (begin := text.find(name, end)) >= 0:
        end = begin + len(name)
        if not _goes_on(text[begin - 1 : begin] + text[end : end + 1]):
            yield begin


def _goes_on(around: str) -> bool:
    """Whether a word goes on in what stands at its ends."""
    return any(one.isalnum() or one == "_" for one in around)


def packages(folder: str) -> Iterator[str]:
    """The folders of the packages around a module, from within."""
    while is_file(os.path.join(folder, "__init__.py")):
        yield folder
        if os.path.dirname(folder) == folder:
            return
        folder = os.path.dirname(folder)


def outermost(path: str) -> str:
    """The folder of the outermost package around a file; "" of one in no package."""
    return ([*packages(os.path.dirname(path))] or [""])[-1]


def module_name(path: str) -> str:
    """The name of a module."""
    return os.path.basename(path).removesuffix(".py")


def is_inner(path: str) -> bool:
    """Whether a file says what a part of a package brings to the rest of it."""
    folder, name = os.path.split(path)
    return name == "__init__.py" and outermost(path) != folder


def scripts_beside(package: str) -> Iterator[str]:
    """The files of the project around a package that are in no package: in its top folder and two folders deep."""
    top = os.path.dirname(package)
    while listing(top).isdisjoint(MARKS):
        if os.path.basename(top) in INSTALLED or os.path.dirname(top) == top:
            return
        top = os.path.dirname(top)
    folders = deque([(top, 0)])
    while folders:
        folder, deep = folders.popleft()
        names = sorted(listing(folder))
        if deep and ("__init__.py" in names or any(name in names for name in ENVIRONMENT)):
            continue
        yield from (os.path.join(folder, name) for name in names if name.endswith(READABLE))
        if deep < DEEP:
            inner = (os.path.join(folder, name) for name in names if "." not in name)
            folders.extend((one, deep + 1) for one in inner if os.path.isdir(one))


def files_in(folder: str, *, deep: bool) -> Iterator[str]:
    """What may name a module, in a folder and below it."""
    for here, _, names in os.walk(folder):
        yield from (os.path.join(here, name) for name in sorted(names) if name.endswith(READABLE))
        if not deep:
            return
