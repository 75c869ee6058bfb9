"""A module in, whether a file of its project may take things out of it by names that are made up: `getattr(models,
kind)`, `models.__dict__[kind]`, `globals()[kind]` beside `from models import *`; or out of anything: `eval(name)`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from syncguard.across.imported_names import means
from syncguard.across.texts import HUB, RENAMED, Files, module_name, spelled_out
from syncguard.pack.places import Places
from syncguard.read.project import is_file

HINTS: Final = ("getattr", "__dict__", "vars", "globals", "modules")
ASKS: Final = re.compile(r"\bgetattr\(\s*([\w.]+)\s*,\s*(?![\"'])|\b([\w.]+)\.__dict__\b|\bvars\(\s*([\w.]+)\s*\)")
OWN: Final = re.compile(  # the same of what a file has itself
    r"""\b(?:globals|vars)\(\)(?:\s*\[\s*(?!["'])|\.get\(\s*(?!["'])|\.items|\.values)|\bsys\.modules\[__name__\]"""
)
WORDS: Final = (
    "eval", "exec", "locals", "import_module", "__import__", "getmembers", "__subclasses__", "__init_subclass__",
    "metaclass", "attrgetter", "methodcaller", "locate", "get_class", "register", "walk_packages", "iter_modules",
    "run_module", "run_path", "spec_from_file_location", "SourceFileLoader", "load_source", "import_submodules",
    "import_module_and_submodules", "import_all_modules", "fire", "Fire", "CLI", "LightningCLI", "jsonargparse", "dir",
    "getattr", "OmegaConf", "safe_load", "globals", "load_hyperpyyaml",
)  # fmt: skip
SETTINGS: Final = "args|cfg|config|conf|opts?|options|hparams|hps|params|settings|FLAGS|torch|nn|F|np|optim|os"
KNOWN: Final = rf"(?!(?:\w+\.)*(?:{SETTINGS})\b)"  # not of these
MADE_UP: Final = r"""(?:[fF]["']|["'][^"'\n]*["']\s*[+%.])"""  # a text that is put together
ANYTHING: Final = re.compile(  # code that may come to whatever there is in a project
    r"""(?<![\w.])exec\(\s*(?:\w?["'][^()]{0,200}?\bimport\b|(?:open|compile|\w+\.read\w*)\()|"""
    r"""\b(?:walk_packages|iter_modules|run_module|run_path|"""
    r"""spec_from_file_location|SourceFileLoader|load_source|import_(?:module_and_)?submodules|import_all_modules|"""
    r"""locate|get_class|load_hyperpyyaml|\w*CLI|__subclasses__)\(|"""
    r"""\b(?:create|load|safe_load)\(\s*[rRfF]?(["'])\1\1"""
)
RUNS: Final = re.compile(r"(?<![\w.])exec\(")
WRITTEN: Final = re.compile(r"""["'][^"'\n]*\bimport\b[^"'\n]*(?:[{%]|["']\s*[+%])""")  # an import that is put together
IMPORTS: Final = re.compile(  # the same of modules: of one that is named, of those whose names begin so, of any
    r"""\b(?:import_module|__import__)\(\s*(?:\w*(["'])(?P<text>[^"'\n]*)\1(?P<more>\s*(?:[+%]|\.format\b))?)?"""
)
FILLED: Final = re.compile(r"[{%]")
BESIDE: Final = re.compile(r"[^()\n]*,\s*(?:package\s*=\s*)?__(?:name|package)__")
OF_FILE: Final = (  # to whatever there is in a file, from there
    r"""(?<![\w.])(?:eval|exec|dir)\((?!\s*\))|(?<![\w.])locals\(\)(?:\[|\.)|=\s*(?:locals|globals)\(\)|"""
    r"""\((?:locals|globals)\(\)\)|\b(?:getmembers|attrgetter|Fire)\("""
)
HERE: Final = re.compile(OF_FILE)
SEEN: Final = re.compile(  # to whatever a file sees
    rf"""{OF_FILE}|\bgetattr\(\s*{KNOWN}(?!self\b)[\w.]+\s*,\s*(?:[A-Za-z_]\w*\s*[,)]|{MADE_UP})"""
)
BELOW: Final = re.compile(r"__init_subclass__\b|\bmetaclass\s*=")  # to what descends from a class
METHODS: Final = re.compile(  # to whatever methods an object has
    r"""\b(?:methodcaller|attrgetter|Fire|register)\(|(?<![\w.])dir\((?!\s*\))"""
)
BY_NAME: Final = re.compile(r"""\bgetattr\(\s*[^,()\n]+,\s*(?!["']\w+["']\s*[,)])""")  # to those of one name or another
SPELLED: Final = re.compile(  # a name that is put together, or spelled otherwise than it was given
    r"""["'](?P<text>[\w.]*(?:\{[^{}"'\n]*\}|%[sdr]|\$\w+)[^"'\n ]*)["']|["'](?P<first>\w+)["']\s*\+|"""
    r"""\+\s*["'](?P<last>\w+)["']|\.(?P<other>lower|upper|replace|capitalize|title|sub)\("""
)
TARGET: Final = "_target_"
FILLED_IN: Final = re.compile(rf"{TARGET}:[^\n]*\$\{{")
FILLS: Final = re.compile(r"\{[^{}]*\}|%[sdr]|\$\w+")
WHOLE: Final = re.compile(r"\bfrom\s+([\w.]+)\s+import\s+\*")
ALIAS: Final = re.compile(r"\bimport\s+(?:[\w., \t]*[., \t])?(\w+)\s+as\s+(\w+)")


def looked_up(path: str, files: Files, places: Places) -> bool:
    """Whether this may be so of a module."""
    home = files.home(path)
    around = [*_folders(os.path.dirname(path), home)]
    names = {module_name(path), *map(os.path.basename, around)}
    modules = [path, *[os.path.join(one, "__init__.py") for one in around]]
    if _reached(path, home, files, places) or _filled_in(home, files):
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


def _filled_in(home: str, files: Files) -> bool:
    """Whether settings of a project name what is to be made by what stands elsewhere: `_target_: models.${name}`."""
    having = files.naming((TARGET,), home)[TARGET]
    return any(FILLED_IN.search(files.text(one)) is not None for one in having if one.endswith((".yaml", ".yml")))


def method_asked(method: str, path: str, files: Files, places: Places) -> bool:
    """Whether code of a project may come to a method that it does not name: to whatever methods an object has, or by a
    name that is put together so, or spelled otherwise. One that somebody else gives would stand somewhere."""
    for one in _asking(files.home(path), files, places):
        if files.has(one, METHODS):
            return True
        if files.has(one, BY_NAME) and any(each.fullmatch(method) for each in _spelled(files.text(one))):
            return True
    return False


@lru_cache(maxsize=256)
def _spelled(text: str) -> tuple[re.Pattern[str], ...]:
    """What the names look like that a file puts together: `"forward_" + kind`, `f"{a}_loss"`."""
    return tuple([re.compile(like) for like in {_like(met): None for met in SPELLED.finditer(text)}])


def _like(met: re.Match[str]) -> str:
    if met["text"] is not None:
        return ".*".join(map(re.escape, FILLS.split(met["text"])))
    return ".*" if met["other"] is not None else f"{met['first']}.*" if met["first"] is not None else f".*{met['last']}"


def _asking(home: str, files: Files, places: Places) -> list[str]:
    """The files of a project that have a word by which names may be made up, but for tests."""
    having = files.naming(WORDS, home)
    every = sorted({one for word in WORDS for one in having[word] if one.endswith((".py", ".ipynb"))})
    return [one for one in every if not places.is_test(one)]


def _reached(path: str, home: str, files: Files, places: Places) -> bool:
    """Whether code of a project may come to whatever there is in a module."""
    hub = os.path.join(home, HUB)
    if WHOLE.search(files.text(hub) if is_file(hub) else ""):
        return True
    whole = [*_taking_all(path, home, files)]
    for one in _asking(home, files, places):
        if files.has(one, ANYTHING) or (files.has(one, RUNS) and files.has(one, WRITTEN)):
            return True
        brings = files.has(one, IMPORTS) or files.has(one, RENAMED)
        code = spelled_out(files.text(one)) if brings else ""
        if brings and any(_imports(code, one, at) for at in (path, *whole)):
            return True
        if files.has(one, HERE) if one == path else files.has(one, SEEN) and _brings(one, path, files):
            return True
        if files.has(one, BELOW) and (one == path or _brings(path, one, files, parts=True)):
            return True
    return False


def _taking_all(path: str, home: str, files: Files) -> Iterator[str]:
    """The files of a project that take all that a module has, which is theirs, too, by then."""
    name = module_name(path)
    for one in files.naming({name}, home)[name]:
        if one != path and any(means(dotted, one, path) for dotted in WHOLE.findall(files.text(one))):
            yield one


def _imports(text: str, one: str, path: str) -> bool:
    """Whether a file may bring in a module, or a package around it, by a name that is made up, or written there."""
    dotted = "." + path.removesuffix(".py").removesuffix(f"{os.sep}__init__").replace(os.sep, ".")
    for met in IMPORTS.finditer(text):
        said = met["text"] or ""
        begin = FILLED.split(said, maxsplit=1)[0]
        if begin.startswith("."):  # beside the file, if it says so
            beside = BESIDE.match(text, met.end()) is not None and not begin.startswith("..")
            begin = os.path.dirname(one).replace(os.sep, ".") + begin if beside else ""
        whole = begin == said and not met["more"]
        if not begin or (f".{begin}." in f"{dotted}." if whole else f".{begin}" in dotted):
            return True
    return False


def _brings(one: str, path: str, files: Files, parts: bool = False) -> bool:
    """Whether a file brings in a module, or all that it has, or else some parts, as far as its name tells."""
    text, name = files.text(one), module_name(path)
    if any(means(dotted, one, path) for dotted in WHOLE.findall(text)):
        return True
    first = r"(?:from|import)\b" if parts else r"(?:from\b[^\n]*)?\bimport\b"
    return re.search(rf"^[ \t]*{first}[^\n]*\b{name}\b", text, re.MULTILINE) is not None


def _folders(folder: str, home: str) -> Iterator[str]:
    """The folders around a module, up to its home."""
    while folder != home and os.path.dirname(folder) != folder:
        yield folder
        folder = os.path.dirname(folder)


@lru_cache(maxsize=256)
def _asked(text: str) -> frozenset[str]:
    """What a file asks for things by names that are made up, as the modules are called."""
    of = {next(filter(None, met.groups())) for met in ASKS.finditer(text)}
    known = {met[2]: met[1] for met in ALIAS.finditer(text)} if of else {}
    return frozenset([known.get(one, one) for one in of])
