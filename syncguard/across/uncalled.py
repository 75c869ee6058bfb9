"""Functions of packages in, those out that nothing calls yet: no file of the package has a name that it takes."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping
from itertools import islice
from typing import Final

from syncguard.across.dynamic_lookups import looked_up, method_asked
from syncguard.across.imported_names import picked, runs_in, taken_whole
from syncguard.across.texts import BRINGS, LISTED, Files, code_of, module_name, once
from syncguard.judge.around.called import Function, Where, last_part
from syncguard.judge.heat.warmth import UNMADE, UNUSED, is_dead
from syncguard.pack.places import Places

UNHEARD: Final = "nothing in its package names"
FEW: Final = 3  # files of a package that is there for what calls it from outside
SOME: Final = 2  # functions of a file that other files of its package take, or what an `__init__.py` does
NOT_IN: Final = r"(?<![\w.])"  # a longer name, or what another one has


def uncalled(
    asked: Iterable[tuple[str, Function]], called: Container[Where], files: Files, places: Places
) -> dict[Where, str]:
    """What is said of those of these functions that nothing in their package calls, nor in what is checked beside it,
    for a name that it takes stands nowhere: neither in tests nor in texts. Of other files their calls are known. Who
    looks for it in an application finds it by no other name either."""
    lone = [(path, function, _names(path, function, files)) for path, function in asked]
    placed = [(path, function, names, files.home(path)) for path, function, names in lone if names or function.abstract]
    wanted: dict[str, set[str]] = {}
    for _, function, names, package in placed:
        if package and _is_large(package, files):
            wanted.setdefault(package, set()).update(filter(None, (*names, *function.abstract.split("."))))
    having = {package: files.naming(every, package) for package, every in wanted.items()}
    told = {}
    for path, function, names, package in placed:
        if package in having:
            where = path, function.name
            lacking = [] if where in called or _served(path, function, files, places) else names
            told[where] = _told(path, function, lacking, having[package], files)
    dead = {path for (path, _), text in told.items() if is_dead(text)}
    found = {path for path in dead if looked_up(path, files, places)}

    def said(where: Where, text: str) -> str:
        path, name = where
        doubted = path in found or (
            path in dead and _of_method(name, text) and method_asked(last_part(name), path, files, places)
        )
        return _doubted(text) if doubted else text

    return {where: said(where, text) for where, text in told.items() if text}


def _of_method(name: str, text: str) -> bool:
    """Whether it is a method that nothing names, where its class may be named."""
    owner, _, method = name.rpartition(".")
    return bool(owner) and f"`{method}`" in text


def _served(path: str, function: Function, files: Files, places: Places) -> bool:
    """Whether what serves models loads this out of the files of an application, under the name that it asks for."""
    owner, _, method = function.name.partition(".")
    if not files.is_ours(path):
        return False
    if any(places.is_("names", "served", name) for name in function.names):
        return True
    return is_served(owner, path, files, places) if method else places.is_("names", "served", owner)


def is_served(name: str, path: str, files: Files, places: Places) -> bool:
    """Whether what serves models asks for a class or function of this name, or for classes that descend as this one."""
    if places.is_("names", "served", name):
        return True
    return any(places.is_("names", "served_above", one) for one in _above(name, files.text(path)))


def _above(owner: str, text: str) -> list[str]:
    """The names of what a class descends from, also by what it is brought in as: `import PythonModel as Base`."""
    met = re.search(rf"^class {owner}\s*\(([^)]*)\)", text, re.MULTILINE)
    bases = re.findall(r"([A-Za-z_]\w*)\s*(?:,|$)", met[1]) if met is not None else []
    brought = [re.search(rf"\b(\w+)\s+as\s+{base}\b", text) for base in bases]
    return [*bases, *[one[1] for one in brought if one is not None]]


def _doubted(text: str) -> str:
    """What is said where a name that is made up may be that of what nothing names."""
    return f"{text.replace(UNUSED, UNHEARD)} yet" if is_dead(text) else text


def left_over(found: Mapping[Where, str], calls: Mapping[str, tuple[Function, ...]], files: Files) -> frozenset[Where]:
    """Those of the functions that nothing calls yet beside which their package takes others out of the same file, or
    says by an `__init__.py` which are there for others, or which belong to a module that this file alone makes: what is
    there for whoever comes from outside stands beside such as nothing takes."""
    asked = {where: told for where, told in found.items() if not told.startswith(("`", UNMADE))}  # of an abstract class
    packages = {path: files.home(path) for path, _ in asked}
    own = {(path, f.name): f for path in packages for f in calls.get(path, ())}
    beside = {path: {f.name for f in calls.get(path, ()) if "." not in f.name} for path in packages}
    wanted: dict[str, set[str]] = {}
    for path, name in asked:
        more = (module_name(path), name.partition(".")[0])
        wanted.setdefault(packages[path], set()).update(beside[path], more)
    having = {package: files.naming(names, package) for package, names in wanted.items()}

    def is_left(where: Where, told: str, naming: Mapping[str, list[str]]) -> bool:
        path, (owner, _, method) = where[0], where[1].partition(".")
        others = naming[module_name(path)]
        unnamed = owner in own[where].names and not runs_in(path, owner, naming[owner], files)
        if unnamed and len(picked(path, others, files)) >= SOME:
            return True
        if method:
            alone = f"`{method}`" in told and not {*naming[owner]} - {path} and _makes(files.text(path), owner)
        else:
            alone = len([other for other in beside[path] - {owner} if {*naming[other]} - {path}]) >= SOME
        return alone and not taken_whole(path, others, files)

    return frozenset([where for where, told in asked.items() if is_left(where, told, having[packages[where[0]]])])


def _makes(text: str, owner: str) -> bool:
    """Whether code of a text makes a module, from which none of it descends."""
    code = code_of(text)
    part = re.search(rf"^class\s+{owner}\s*\([^)]*Module\b", code, re.MULTILINE)
    made = re.search(rf"(?<!class ){NOT_IN}{owner}\(", code)
    return part is not None and made is not None and not _descends(code, owner)


def _names(path: str, function: Function, files: Files) -> list[str]:
    """The names that a call of a function takes, but for those that its own file says once more, if only in a text that
    code reads: what the function says itself calls nothing."""
    lines = function.lines
    known = {name: files.has_once(path, name, lines) for name in function.names}
    text = files.bare(path) if not all(known.values()) else ""
    if text and files.is_ours(path):  # who lists it for others uses it no more than these do
        text = LISTED.sub(lambda met: "\n" * met[0].count("\n"), text)
    return [name for name in function.names if known[name] or once(text, name, lines)]


def _told(path: str, function: Function, names: Iterable[str], having: Mapping[str, list[str]], files: Files) -> str:
    above, _, lacking = function.abstract.partition(".")
    alone = above and not any(_descends(files.text(other), above) for other in having[above])
    stale = alone and lacking and any(_writes(files.code(other), lacking) for other in having[lacking])
    if stale and not any(_takes(files.code(other), above) for other in {path, *having[above]}):
        return f"{UNMADE}`{above}`, which lacks `{lacking}`, and nothing in its package descends from it"
    for name in names:
        if not runs_in(path, name, having[name], files):
            return f"{UNUSED} `{name}`" if files.is_ours(path) else f"{UNHEARD} `{name}` yet"
    return f"`{above}` is abstract, and nothing in its package descends from it yet" if alone else ""


def _writes(code: str, name: str) -> bool:
    """Whether some code has a method of this name that is written: what no class of a package writes is left to those
    who use it."""
    return re.search(rf"^(?![ \t]*@)[^\n]*\n[ \t]+(?:async[ \t]+)?def[ \t]+{name}\b", code, re.MULTILINE) is not None


def _takes(code: str, name: str) -> bool:
    """Whether some code does more with a class than to define it, bring it in and speak of it."""
    taken = rf"(?<!class ){NOT_IN}{name}\b\s*(?:[(),:\]}}.]|$)"
    return re.search(taken, BRINGS.sub("", code), re.MULTILINE) is not None


def _descends(text: str, name: str) -> bool:
    """Whether a class of this text may descend from one of this name."""
    return re.search(rf"^\s*class\s+\w+[^:]*[(,\s.]{name}\b|\b{name}\s+as\b", text, re.MULTILINE) is not None


def _is_large(package: str, files: Files) -> bool:
    """Whether a package is more than a few files."""
    return len([*islice((path for path in files.inside(package) if path.endswith(".py")), FEW + 1)]) > FEW
