"""A place that fills what its object keeps, or runs until a flag is turned, in, whether another file empties that, or
turns it back, at every step out; or whether such an object is made anew at each."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import takewhile
from pathlib import PurePath
from typing import Final

from syncguard.brings import TAKES, bare
from syncguard.infer.branches.begun import FIRST
from syncguard.infer.branches.keeps import BUILDS
from syncguard.judge.called import Function, Where, innermost, last_part
from syncguard.judge.entries import Callers
from syncguard.judge.made import class_of
from syncguard.kinship import Kinship
from syncguard.places import Places
from syncguard.texts import Files, module_name, once

STEPS: Final = re.compile(r"\.backward\(|\bopt\w*\.step\(")  # what takes one
UNSURE: Final = re.compile(r"\b(?:if|or|and|lambda|setdefault|get)\b")  # before what may not be made, or not be kept
WHERE: Final = re.compile(r"[ \t]*if\b")  # the same, behind it
BRACKETS: Final = re.compile(r"\([^()\n]*\)")
# What a name of a module stands for: `import pkg.net as name`, `from pkg import net as name`.
BOUND: Final = re.compile(
    r"^[ \t]*(?:import[ \t]+([\w.]+)|from[ \t]+[\w.]+[ \t]+import[ \t]+(\w+))[ \t]+as[ \t]+(\w+)", re.MULTILINE
)
KEEPS: Final = tuple([f"but only {gate}" for gate in (BUILDS, FIRST)])
Calls = Mapping[str, tuple[Function, ...]]


class PutBack:
    """What other files give objects of classes, as it is asked for."""

    def __init__(self, calls: Calls, callers: Callers, kinship: Kinship, files: Files, places: Places) -> None:
        self._calls, self._callers, self._kinship, self._files, self._places = calls, callers, kinship, files, places
        self._bare = lru_cache(maxsize=None)(lambda path: bare(files.text(path)))

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
        naming = self._naming(owner)
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

    def _naming(self, owner: Where) -> list[str]:
        """The other files that name a class, and may mean this one: none of that name stands closer to them."""
        package = self._files.home(owner[0])
        having = [path for path in self._kinship.with_class(owner[1], package) if path != owner[0]]
        return [
            one
            for one in self._kinship.naming(owner[1], package)
            if one != owner[0] and all(_shared(path, one) <= _shared(owner[0], one) for path in having)
        ]

    def _made_anew(self, owner: Where) -> bool:
        """Whether each step makes an object of the class: in the body of its loop, or what runs at every step by its
        name."""
        for one in (owner[0], *self._naming(owner)):
            text = self._bare(one)
            for dotted, line in _making(owner[1], text):
                deep = _outside(line, text.split("\n"))
                often = self._in_steps(one, line, deep, text) or self._in_step(one, line, deep, text)
                if often and _means(owner, dotted, text) and not self._is_left(one, line):
                    return True
        return False

    def _is_left(self, path: str, line: int) -> bool:
        """Whether nothing in its application names the function that a line stands in, or the class of that."""
        function = innermost(self._calls.get(path, ()), line) if self._files.is_ours(path) else None
        name = function.name.partition(".")[0] if function is not None else ""
        if not name.isidentifier():
            return False
        having = self._files.naming({name}, self._files.home(path))[name]
        return having == [path] and once(self._bare(path), name)

    def _in_step(self, path: str, line: int, deep: int, text: str) -> bool:
        """Whether a line stands in the body of a function that runs at every step by its name, behind no test, and
        around no loop of steps of its own: a generation takes many."""
        function = innermost(self._calls.get(path, ()), line)
        if function is None or function.steps or function.leads or not self._steps(last_part(function.name)):
            return False
        return _at_first(function, deep, text)

    def _in_steps(self, path: str, line: int, deep: int, text: str) -> bool:
        """Whether a line stands in the body of a loop that takes the steps, behind no test; or so in a function that is
        called there, and has no such loop of its own."""
        function = innermost(self._calls.get(path, ()), line)
        if function is None:
            return False
        if _in_loop(function, line, deep, text):
            return True
        if function.steps or function.leads:
            return False
        return _at_first(function, deep, text) and self._called_in_steps((path, function.name), function)

    def _called_in_steps(self, where: Where, function: Function) -> bool:
        """Whether a loop that takes the steps calls a function, behind no test."""
        last = function.path[-1] if function.heat == "hot" and function.path else None
        caller = innermost(self._calls.get(last.path, ()), last.line) if last is not None else None
        if caller is function:
            caller = None
        if last is not None and caller is not None and self._calls_in_loop(caller, last.path, last.line):
            return True
        calls = [entry for entry in self._callers.get(where, ()) if entry[2].step and not entry[2].rare]
        return any(self._calls_in_loop(one, path, call.line) for (path, _), one, call in calls)

    def _calls_in_loop(self, caller: Function, path: str, line: int) -> bool:
        """Whether a call of a function of a file stands so."""
        text = self._files.text(path)
        return _in_loop(caller, line, _deep(text.split("\n")[line - 1]), text)


def _shared(path: str, other: str) -> int:
    """How many folders two paths have in common."""
    pairs = zip(os.path.dirname(path).split(os.sep), os.path.dirname(other).split(os.sep), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _in_loop(function: Function, line: int, deep: int, text: str) -> bool:
    """Whether a line of a function stands in the body of a loop that takes the steps, behind no test."""
    lines = text.split("\n")
    loops = {function.steps, *[call.step_line for call in function.calls if call.step]} - {0}
    held = [one for one in loops if one < line and _holds(lines[one - 1 : line], deep)]
    return any(all(not _is_around(one, other, lines) for other in loops) for one in held)


def _is_around(loop: int, other: int, lines: list[str]) -> bool:
    """Whether a loop stands around another one that takes the steps, as one over epochs, folds or seeds does: beside
    that, it takes none."""
    within = _body(loop, lines)
    if other == loop or other not in within:
        return False
    inner = _body(other, lines)
    return not any(STEPS.search(lines[one - 1]) for one in within if one not in inner)


def _body(loop: int, lines: list[str]) -> range:
    """The lines of a loop."""
    end = loop + _header(lines[loop - 1 :])
    while end <= len(lines) and (not lines[end - 1].strip() or _deep(lines[end - 1]) > _deep(lines[loop - 1])):
        end += 1
    return range(loop, end)


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


def _outside(line: int, lines: list[str]) -> int:
    """How deep a line is in a text, or the `with` that it stands in."""
    deep = _deep(lines[line - 1])
    for number in range(line - 1, 0, -1):
        one = lines[number - 1]
        if one.strip() and _deep(one) < deep:
            if not one.lstrip().startswith("with "):
                break
            deep = _deep(one)
    return deep


def _means(owner: Where, dotted: str, text: str) -> bool:
    """Whether a file means a class that it names so, alone or as what a module has: it takes it from nowhere else."""
    own = {module_name(owner[0]), *PurePath(owner[0]).parent.parts}
    if not dotted:
        taken = [met[1] for met in TAKES.finditer(text) if re.search(rf"\b{owner[1]}\b", met[2])]
        return all(not last or last in own for last in [one.rpartition(".")[2] for one in taken])
    name = dotted.rpartition(".")[2]
    bound = [met[1] or met[2] for met in BOUND.finditer(text) if met[3] == name]
    return all(one.rpartition(".")[2] in own for one in bound or [name])


def _holds(lines: list[str], deep: int) -> bool:
    """Whether a loop, with the lines behind it up to one that is so deep, has that in its own body."""
    body = [_deep(one) for one in lines[_header(lines) :] if one.strip()]
    return bool(body) and _deep(lines[0]) < body[0] == deep and min(body) > _deep(lines[0])


def _header(lines: list[str]) -> int:
    """How many lines the head of a block takes."""
    ends = (number for number, one in enumerate(lines, 1) if one.partition("#")[0].rstrip().endswith(":"))
    return next(ends, 0)


def _at_first(function: Function, deep: int, text: str) -> bool:
    """Whether what is so deep in a text stands in the body of a function, behind no test."""
    begin, end = function.lines
    lines = text.split("\n")[begin - 1 : end]
    within = [_deep(one) for one in lines if one.strip()]
    return deep == min([one for one in within if one > within[0]], default=0)


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
