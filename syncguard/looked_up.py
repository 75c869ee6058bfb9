"""A module in, whether a file of its project may take things out of it by names that are made up: `getattr(models,
kind)`, `models.__dict__[kind]`, `globals()[kind]` beside `from models import *`; or out of anything: `eval(name)`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Final

from syncguard.brings import means
from syncguard.places import Places
from syncguard.texts import HUB, Files, module_name

HINTS: Final = ("getattr", "__dict__", "vars", "globals", "modules")
ASKS: Final = re.compile(r"\bgetattr\(\s*([\w.]+)\s*,\s*(?![\"'])|\b([\w.]+)\.__dict__\b|\bvars\(\s*([\w.]+)\s*\)")
OWN: Final = re.compile(  # the same of what a file has itself
    r"""\b(?:globals|vars)\(\)(?:\s*\[\s*(?!["'])|\.get\(\s*(?!["'])|\.items|\.values)|\bsys\.modules\[__name__\]"""
)
WORDS: Final = (
    "eval", "exec", "locals", "import_module", "__import__", "getmembers", "__subclasses__", "__init_subclass__",
    "metaclass", "attrgetter", "methodcaller", "locate", "get_class", "walk_packages", "iter_modules", "run_module",
    "run_path", "spec_from_file_location", "fire", "Fire", "CLI", "LightningCLI", "jsonargparse", "dir", "getattr",
    "OmegaConf", "safe_load", "globals",
)  # fmt: skip
ANYTHING: Final = re.compile(  # code that may come to whatever there is
    r"""(?<![\w.])(?:eval|exec|__import__|dir)\((?!\s*\))|(?<![\w.])locals\(\)(?:\[|\.)|=\s*(?:locals|globals)\(\)|"""
    r"""\((?:locals|globals)\(\)\)|\b(?:import_module|getmembers|attrgetter|methodcaller|locate|get_class|walk_packages|"""
    r"""iter_modules|run_module|run_path|spec_from_file_location|Fire|\w*CLI|__subclasses__)\(|__init_subclass__\b|"""
    r"""\bgetattr\(\s*(?!(?:\w+\.)*(?:args|cfg|config|conf|opts?|options|hparams|hps|params|settings|FLAGS|torch|nn|F|np|optim|os)\b)"""
    r"""[\w.]+\s*,\s*[A-Za-z_]\w*\s*[,)]|\bmetaclass\s*=|\bgetattr\(\s*self\s*,\s*(?!["'])|\bgetattr\(\s*[\w.]+\s*,\s*(?:[fF]["']|["'][^"'\n]*["']\s*[+%.])|"""
    r"""\b(?:create|load|safe_load)\(\s*[rRfF]?(["'])\1\1"""
)
WHOLE: Final = re.compile(r"\bfrom\s+([\w.]+)\s+import\s+\*")
ALIAS: Final = re.compile(r"\bimport\s+(?:[\w., \t]*[., \t])?(\w+)\s+as\s+(\w+)")


def looked_up(path: str, files: Files, places: Places) -> bool:
    """Whether this may be so of a module."""
    home = files.home(path)
    around = [*_folders(os.path.dirname(path), home)]
    names = {module_name(path), *map(os.path.basename, around)}
    modules = [path, *[os.path.join(one, "__init__.py") for one in around]]
    if _anything(home, files, places):
        return True
    having = files.naming(HINTS, home)
    asking = {one for hint in HINTS for one in having[hint] if one.endswith(".py") and not places.is_test(one)}

    def asks(one: str) -> bool:
        """Whether a file does so."""
        text = files.text(one)
        if OWN.search(text) is not None:
            return one == path or any(means(dotted, one, at) for dotted in WHOLE.findall(text) for at in modules)
        return one != path and any(names.issuperset(dotted.split(".")) for dotted in _asked(text))

    return any(map(asks, sorted(asking)))


def _anything(home: str, files: Files, places: Places) -> bool:
    """Whether code of a project may come to whatever there is."""
    hub = os.path.join(home, HUB)
    if WHOLE.search(files.text(hub) if os.path.isfile(hub) else ""):
        return True
    having = files.naming(WORDS, home)
    every = sorted({one for word in WORDS for one in having[word] if one.endswith((".py", ".ipynb"))})
    return any(files.has(one, ANYTHING) for one in every if not places.is_test(one))


def _folders(folder: str, home: str) -> Iterator[str]:
    """The folders around a module, up to its home."""
    while folder != home and os.path.dirname(folder) != folder:
        yield folder
        folder = os.path.dirname(folder)


def _asked(text: str) -> set[str]:
    """What a file asks for things by names that are made up, as the modules are called."""
    of = {next(filter(None, met.groups())) for met in ASKS.finditer(text)}
    known = {met[2]: met[1] for met in ALIAS.finditer(text)} if of else {}
    return {known.get(one, one) for one in of}
