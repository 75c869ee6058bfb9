"""Modules of an application in, those out that hold nothing but definitions and that nothing in it brings in: nobody
runs what is in them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Final

from syncguard.across.at_start import does
from syncguard.across.dynamic_lookups import looked_up
from syncguard.across.imported_names import COMMENT, SETTINGS, runs_in
from syncguard.across.texts import Files, module_name
from syncguard.across.uncalled import is_served
from syncguard.across.unreferenced import brought_in, counts, is_module
from syncguard.pack.places import Places

DEFINED: Final = re.compile(r"^(?:class|(?:async )?def) (\w+)", re.MULTILINE)
REGISTERS: Final = re.compile(r"^@[\w.]*register", re.MULTILINE)
LOADERS: Final = ("import_module", "importlib", "__import__", "pkgutil", "runpy", "exec", "user_dir", "listdir", "glob")
# What brings something in, and what stands in a text.
IMPORTS: Final = re.compile(
    r"(?:^|:|;)[ \t]*(?:from\s+[\w.]+\s+)?import\s*(?:\([^)]*\)|(?:[^\n\\]|\\\n?)*)|^[ \t]*from\s+[\w.]+", re.MULTILINE
)
QUOTED: Final = re.compile(r"""(["'])[\w./: -]*\1""")
AS_TEXT: Final = r"\b{0}\.py\b|\.{0}\b|-m\s+{0}\b|\b(?:from|import)\s[^\n]*\b{0}\b"  # a module as texts name it


def unimported(asked: Iterable[str], files: Files, places: Places) -> frozenset[str]:
    """These of the files that are asked about: modules of an application that nothing in it brings in, tests aside, nor
    names in a text, as little as what they define; and that do nothing as they are started."""
    wanted: dict[str, set[str]] = {}
    for path in {*asked}:
        if files.is_ours(path) and is_module(path, places):
            wanted.setdefault(files.home(path), set()).add(path)
    found = {path for home, some in wanted.items() for path in _unnamed(some, home, files, places)}
    unseen = [p for p in found if not (brought_in(p, files, places) or looked_up(p, files, places))]
    return frozenset([p for p in unseen if not (does(files.text(p), places) or _may_register(p, files, places))])


def _may_register(path: str, files: Files, places: Places) -> bool:
    """Whether a module lists what it defines in a registry, and something in its project may bring modules in by
    names that are made up, whatever these are."""
    if not files.has(path, REGISTERS):
        return False
    having = files.naming(LOADERS, files.home(path))
    return any(not places.is_test(one) for word in LOADERS for one in having[word] if one.endswith(".py"))


def _unnamed(paths: Collection[str], home: str, files: Files, places: Places) -> Iterator[str]:
    """Those of some modules that no other file brings in, nor names what they define."""
    defined = {path: {*DEFINED.findall(files.bare(path))} for path in paths}
    having = files.naming({module_name(path) for path in paths}.union(*defined.values()), home)
    for path, names in defined.items():
        brought = any(
            _may_bring(one, module_name(path), files) for one in having[module_name(path)] if counts(one, path, places)
        )
        if brought or any(is_served(name, path, files, places) for name in names):
            continue
        naming = {name: [one for one in having[name] if counts(one, path, places)] for name in names}
        if not any(runs_in(path, name, some, files) for name, some in naming.items()):
            yield path


def _may_bring(other: str, name: str, files: Files) -> bool:
    """Whether a file may bring a module in, or have it brought in or started by what a text names."""
    if not other.endswith(".py"):
        text = COMMENT.sub("", files.text(other)) if other.endswith(SETTINGS) else files.text(other)
        return re.search(AS_TEXT.format(name), text) is not None
    code = files.bare(other)
    return any(re.search(rf"\b{name}\b", met[0]) for met in IMPORTS.finditer(code)) or any(
        re.search(AS_TEXT.format(name), met[0]) for met in QUOTED.finditer(code)
    )
