"""A module in, which of its names other files take out of it, one by one or all; and whether what a file says of a name
is more than a text that nobody runs."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Final

from syncguard.across.texts import BRINGS, HUB, LISTED, Files, module_name, packages

ALL: Final = "*"
HINT: Final = ("import *",)  # without which no file takes all
FEW: Final = 4  # files that are looked at for what they say of a name
TAKES: Final = re.compile(r"^[ \t]*from\s+([\w.]+)\s+import\s*(\([^)]*\)|[^\n#]*)", re.MULTILINE)
LIBRARIES: Final = r"(?<![\w.])(?:torch|nn|F|np|numpy|math|jnp|scipy)(?:\.\w+)*"  # that have functions of common names
NAMES: Final = re.compile(r"\*|\b\w+(?:\s+as\s+\w+)?")
SOME: Final = 16  # the same in an application
SETTINGS: Final = (".yaml", ".yml", ".toml", ".sh", ".bash", ".cfg")
COMMENT: Final = re.compile(r"(?:^|(?<=\s))#[^\n]*")  # of these
WORDS: Final = re.compile(r"""(?P<quote>["'])[A-Z]?[a-z\d]*(?: (?!import\b)\w+)+(?P=quote)""")  # a text for people
REMARK: Final = re.compile(r"#[^\n]*")


def picked(path: str, naming: Iterable[str], files: Files) -> frozenset[str]:
    """What the `__init__.py`s around a module take out of it by name for others; none where a file takes all."""
    around = {os.path.join(one, "__init__.py") for one in packages(os.path.dirname(path))} - {path}
    taken = {one: {*_taken(path, one, files)} for one in naming if one != path}
    names = {name for one in taken.keys() & around for name in taken[one]}
    return frozenset(names) if not any(ALL in some for some in taken.values()) else frozenset()


def takes(one: str, path: str, name: str, files: Files) -> bool:
    """Whether a file takes a name out of a module, or asks the module for it."""
    return name in _taken(path, one, files) or f"{module_name(path)}.{name}" in files.text(one)


def taken_whole(path: str, naming: Iterable[str], files: Files) -> bool:
    """Whether one of the files that name a module takes all that it has, or all of another one by its name: `from
    .module import *`."""
    takes = re.compile(rf"\bfrom\s+[\w.]*\b{module_name(path)}\s+import\s+\*")
    return any(files.has(one, takes) for one in naming if one != path and files.may_hold(one, HINT))


def runs_in(path: str, name: str, having: Iterable[str], files: Files) -> bool:
    """Whether a file that has the name of what stands in another may mean that: it does more than tell of it, has none
    of its own by that name, and takes it out of no other that has. In an application it must do more than bring it
    in."""
    others, ours = [one for one in having if one != path], files.is_ours(path)
    if len(others) > (SOME if ours else FEW):
        return True
    return any(_runs(name, one, files, ours) and not _is_another(path, name, one, others, files) for one in others)


def _is_another(path: str, name: str, one: str, others: Iterable[str], files: Files) -> bool:
    """Whether a file takes a name out of another module that defines it, and out of none that may be the module that is
    asked about, or a package around that: what has the same name there is not meant."""
    text = files.bare(one) if one.endswith(".py") else ""
    taken = [met[1] for met in TAKES.finditer(text) if name in _names_of(met)]
    if not taken or f".{name}" in BRINGS.sub("", text):
        return False
    around = (path, *[os.path.join(folder, "__init__.py") for folder in packages(os.path.dirname(path))])
    defined = [other for other in others if other != one and _defines(other, name, files)]
    return all(
        any(means(dotted, one, other) for other in defined) and not any(means(dotted, one, at) for at in around)
        for dotted in taken
    )


def _names_of(met: re.Match[str]) -> list[str]:
    """The names that an import takes."""
    return [name.split()[0] for name in NAMES.findall(REMARK.sub("", met[2]))]


def _defines(path: str, name: str, files: Files) -> bool:
    return re.search(rf"^(?:(?:async )?def|class) {name}\b", files.bare(path), re.MULTILINE) is not None


def sets(name: str, path: str, files: Files) -> bool:
    """Whether a file that is no Python, and has a name, may mean that: settings do more than tell of it."""
    return not path.endswith(SETTINGS) or re.search(rf"\b{name}\b", COMMENT.sub("", files.text(path))) is not None


def _runs(name: str, path: str, files: Files, ours: bool) -> bool:
    """Whether a file means a name that another one has, as far as its own text tells."""
    named = re.compile(rf"\b{name}\b")
    if not path.endswith(".py"):
        return sets(name, path, files)
    code = files.bare(path)
    if _defines(path, name, files):
        if any(named.search(met[0]) for met in TAKES.finditer(code)):
            return True
        return f".{name}" in code and f".{name}" in re.sub(rf"{LIBRARIES}\.{name}\b", "", code)
    if ours and os.path.basename(path) != HUB and not re.search(rf"\b{name}\s+as\b", code):
        code = WORDS.sub("", LISTED.sub("", BRINGS.sub("", code)))
    return named.search(code) is not None


def _taken(path: str, one: str, files: Files) -> Iterable[str]:
    """The names that a file takes out of a module."""
    for met in TAKES.finditer(files.text(one)):
        if means(met[1], one, path):
            yield from _names_of(met)


def means(dotted: str, one: str, path: str) -> bool:
    """Whether a module is what a file calls so: `.loss`, `pkg.core.loss`."""
    name = dotted.lstrip(".")
    parts = name.replace(".", os.sep)
    if name == dotted:
        return path.removesuffix(".py").removesuffix(f"{os.sep}__init__").endswith(os.sep + parts)
    folder = os.path.dirname(one)
    for _ in range(len(dotted) - len(name) - 1):
        folder = os.path.dirname(folder)
    return path in (os.path.join(folder, f"{parts}.py"), os.path.join(folder, parts, "__init__.py"))
