"""A place that fills what its object keeps, or runs until a flag is turned, in, whether another file empties that, or
turns it back, at every step out; or whether such an object is made anew at each."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator, Mapping
from itertools import takewhile
from pathlib import PurePath
from typing import Final

from syncguard.across.hierarchy import Hierarchy
from syncguard.across.imported_names import TAKES
from syncguard.across.stepwise import Stepwise
from syncguard.across.texts import Files, module_name, once
from syncguard.infer.branches.begun import FIRST
from syncguard.infer.branches.keeps import BUILDS
from syncguard.judge.around.called import Function, Where, innermost, last_part
from syncguard.judge.callers.made import class_of

UNSURE: Final = re.compile(r"\b(?:if|or|and|lambda|setdefault|get)\b")  # before what may not be made, or not be kept
WHERE: Final = re.compile(r"[ \t]*if\b")  # the same, behind it
BRACKETS: Final = re.compile(r"\([^()\n]*\)")
# What a name of a module stands for: `import pkg.net as name`, `from pkg import net as name`.
BOUND: Final = re.compile(
    r"^[ \t]*(?:import[ \t]+([\w.]+)|from[ \t]+[\w.]+[ \t]+import[ \t]+(\w+))[ \t]+as[ \t]+(\w+)", re.MULTILINE
)
KEEPS: Final = tuple([f"but only {gate}" for gate in (BUILDS, FIRST)])
Calls = Mapping[str, tuple[Function, ...]]


class Resets:
    """What other files give objects of classes, as it is asked for."""

    def __init__(self, calls: Calls, stepwise: Stepwise, hierarchy: Hierarchy, files: Files) -> None:
        self._calls, self._stepwise, self._hierarchy, self._files = calls, stepwise, hierarchy, files

    def at(self, where: Where, line: int) -> bool:
        """Whether another file does so to what a line of a method stands behind."""
        owner = class_of(where)
        asked = {*self._asked(owner, line)} if owner[1] else set()
        if not asked:
            return False
        back = self._by_heirs(asked, owner, last_part(where[1])) or self._from_without(asked, owner)
        return back or self._made_anew(owner)

    def _asked(self, owner: Where, line: int) -> Iterator[str]:
        """The attributes of its object that the tests around a line ask for."""
        text, tree = self._hierarchy.text(owner), self._hierarchy.parsed(owner)
        if tree is None:
            return
        whole = self._files.text(owner[0])
        own = line - whole.count("\n", 0, whole.index(text))
        for part in ast.walk(tree):
            if isinstance(part, ast.If) and part.lineno < own <= (part.end_lineno or 0):
                for one in ast.walk(part.test):
                    if isinstance(one, ast.Attribute) and isinstance(one.value, ast.Name) and one.value.id == "self":
                        yield one.attr

    def _by_heirs(self, asked: set[str], owner: Where, method: str) -> bool:
        """Whether a class of another file that descends from this one does, where it runs at every step."""
        for heir in self._hierarchy.below(owner):
            tree = self._hierarchy.parsed(heir) if heir[0] != owner[0] else None
            methods = [part for part in (tree.body if tree is not None else ()) if isinstance(part, ast.FunctionDef)]
            often = [one for one in methods if one.name == method or self._stepwise.by_name(one.name)]
            if any(_puts_back(part, asked) for one in often for part in one.body):
                return True
        return False

    def _from_without(self, asked: set[str], owner: Where) -> bool:
        """Whether another file that names the class does to an object, at every step."""
        naming = self._naming(owner)
        given = re.compile(
            rf"^[ \t]*[\w.]+(?<!\bself)\.(?:{'|'.join(sorted(asked))})[ \t]*=[ \t]*(?:None|True|False)\b",
            re.MULTILINE,
        )
        for one in naming:
            if self._files.has(one, given):
                text = self._files.text(one)
                if any(self._stepwise.at(one, text.count("\n", 0, met.end()) + 1) for met in given.finditer(text)):
                    return True
        return False

    def _naming(self, owner: Where) -> list[str]:
        """The other files that name a class, and may mean this one: none of that name stands closer to them."""
        package = self._files.home(owner[0])
        having = [path for path in self._hierarchy.with_class(owner[1], package) if path != owner[0]]
        return [
            one
            for one in self._hierarchy.naming(owner[1], package)
            if one != owner[0] and all(_shared(path, one) <= _shared(owner[0], one) for path in having)
        ]

    def _made_anew(self, owner: Where) -> bool:
        """Whether each step makes an object of the class."""
        for one in (owner[0], *self._naming(owner)):
            text = self._files.bare(one)
            for dotted, line in _making(owner[1], text):
                if self._stepwise.at(one, line) and _means(owner, dotted, text) and not self._is_left(one, line):
                    return True
        return False

    def _is_left(self, path: str, line: int) -> bool:
        """Whether nothing in its application names the function that a line stands in, or the class of that."""
        function = innermost(self._calls.get(path, ()), line) if self._files.is_ours(path) else None
        name = function.name.partition(".")[0] if function is not None else ""
        if not name.isidentifier():
            return False
        having = self._files.naming({name}, self._files.home(path))[name]
        return having == [path] and once(self._files.bare(path), name)


def _shared(path: str, other: str) -> int:
    """How many folders two paths have in common."""
    pairs = zip(os.path.dirname(path).split(os.sep), os.path.dirname(other).split(os.sep), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _making(name: str, text: str) -> Iterator[tuple[str, int]]:
    """Where code binds something that it makes of a class, whatever happens: what stands before the name, and the
    line."""
    named = "|".join({name, *re.findall(rf"\b{name}[ \t]+as[ \t]+(\w+)", text)})
    made = re.compile(
        rf"^([ \t]+[\w., \t]+(?::[^=\n]+)?=(?!=)[^\n#]*?)(?<![\w.])(?:([\w.]+)\.)?(?:{named})(\(.*)", re.MULTILINE
    )
    for met in made.finditer(text):
        behind = met[3]
        while (less := BRACKETS.sub("", behind)) != behind:
            behind = less
        if UNSURE.search(met[1]) is None and WHERE.match(behind) is None:
            yield met[2] or "", text.count("\n", 0, met.end()) + 1


def _means(owner: Where, dotted: str, text: str) -> bool:
    """Whether a file means a class that it names so, alone or as what a module has: it takes it from nowhere else."""
    own = {module_name(owner[0]), *PurePath(owner[0]).parent.parts}
    if not dotted:
        taken = [met[1] for met in TAKES.finditer(text) if re.search(rf"\b{owner[1]}\b", met[2])]
        return all(not last or last in own for last in [one.rpartition(".")[2] for one in taken])
    name = dotted.rpartition(".")[2]
    bound = [met[1] or met[2] for met in BOUND.finditer(text) if met[3] == name]
    return all(one.rpartition(".")[2] in own for one in bound or [name])


def _puts_back(part: ast.stmt, asked: set[str]) -> bool:
    """Whether a statement gives one of these attributes a constant."""
    if not isinstance(part, ast.Assign) or not isinstance(part.value, ast.Constant):
        return False
    return any(
        isinstance(aim, ast.Attribute)
        and isinstance(aim.value, ast.Name)
        and aim.value.id == "self"
        and aim.attr in asked
        for aim in part.targets
    )
