"""A place that fills what its object keeps, or runs until a flag is turned, in, whether another file empties that, or
turns it back, at every step out."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from typing import Final

from syncguard.infer.branches.begun import FIRST
from syncguard.infer.branches.keeps import BUILDS
from syncguard.judge.called import Function, Where, innermost, last_part
from syncguard.judge.made import class_of
from syncguard.kinship import Kinship
from syncguard.places import Places
from syncguard.texts import Files

KEEPS: Final = tuple([f"but only {gate}" for gate in (BUILDS, FIRST)])
Calls = Mapping[str, tuple[Function, ...]]


class PutBack:
    """What other files give objects of classes, as it is asked for."""

    def __init__(self, calls: Calls, kinship: Kinship, files: Files, places: Places) -> None:
        self._calls, self._kinship, self._files, self._places = calls, kinship, files, places

    def at(self, where: Where, line: int) -> bool:
        """Whether another file does so to what a line of a method stands behind."""
        owner = class_of(where)
        asked = {*self._asked(owner, line)} if owner[1] else set()
        return bool(asked) and (self._by_heirs(asked, owner, last_part(where[1])) or self._from_without(asked, owner))

    def _asked(self, owner: Where, line: int) -> Iterator[str]:
        """The attributes of its object that the tests around a line ask for."""
        text, tree = self._kinship.text(owner), self._kinship.parsed(owner)
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
        for heir in self._kinship.below(owner):
            tree = self._kinship.parsed(heir) if heir[0] != owner[0] else None
            methods = [part for part in (tree.body if tree is not None else ()) if isinstance(part, ast.FunctionDef)]
            often = [one for one in methods if one.name == method or self._steps(one.name)]
            if any(_puts_back(part, asked) for one in often for part in one.body):
                return True
        return False

    def _steps(self, name: str) -> bool:
        return self._places.is_("hot", "module_methods", name) or self._places.each_step(name)

    def _from_without(self, asked: set[str], owner: Where) -> bool:
        """Whether another file that names the class does to an object, at every step."""
        package = self._files.home(owner[0])
        naming = [one for one in self._kinship.naming(owner[1], package) if one != owner[0]]
        given = re.compile(
            rf"^([ \t]*)[\w.]+(?<!\bself)\.(?:{'|'.join(sorted(asked))})[ \t]*=[ \t]*(?:None|True|False)\b",
            re.MULTILINE,
        )
        for one in naming:
            if self._files.has(one, given):
                text = self._files.text(one)
                for met in given.finditer(text):
                    if self._in_steps(one, text.count("\n", 0, met.end()) + 1, len(met[1]), text):
                        return True
        return False

    def _in_steps(self, path: str, line: int, deep: int, text: str) -> bool:
        """Whether a line stands in the body of a loop that takes the steps, behind no test."""
        function = innermost(self._calls.get(path, ()), line)
        if function is None:
            return False
        lines = text.split("\n")
        loops = {function.steps, *[call.step_line for call in function.calls if call.step]} - {0}
        return any(_deep(lines[one - 1]) < deep == _deep(lines[one]) for one in loops if one < line)


def _deep(line: str) -> int:
    return len(line) - len(line.lstrip())


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
