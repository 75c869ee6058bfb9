"""A line of a file in, whether every step comes to it out: it stands in the body of the loop that takes these, or of
what runs at each by its name, behind no test, or in what is called at such a line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from syncguard.across.texts import Files
from syncguard.judge.around.called import Function, Where, innermost, last_part
from syncguard.judge.callers.entries import Callers
from syncguard.pack.places import Places

TAKES: Final = re.compile(r"\.backward\(|\bopt\w*\.step\(")  # what takes a step
INWARD: Final = re.compile(r"(?:async[ \t]+)?(?:for|with)\b|try:")  # what leads to what stands in it, behind no test
MAYBE: Final = re.compile(r"\b(?:if|or|and|lambda)\b.*[^:]\Z")  # what a line does that has this, it may leave
LEAVES: Final = re.compile(r"(?:^|:)[ \t]*(?:return|continue|break)\b")  # what goes on elsewhere
DEEPEST: Final = 6  # calls from a step to what it comes to
MOST: Final = 64  # files that may ask for a method
Calls = Mapping[str, tuple[Function, ...]]


class Stepwise:
    """The lines that every step comes to, as it is asked for."""

    def __init__(self, calls: Calls, callers: Callers, files: Files, places: Places) -> None:
        self._calls, self._callers, self._files, self._places = calls, callers, files, places

    def by_name(self, name: str) -> bool:
        """Whether a function runs at every step by its name."""
        return self._places.is_("hot", "module_methods", name) or self._places.each_step(name)

    def asks(self, name: str, path: str) -> bool:
        """Whether a step in the package of a file asks another object for such a method, without any argument: that may
        be one of whatever class."""
        asked = re.compile(rf"(?<!\bself)(?<!\bsuper\(\))\.{name}\(\s*\)")
        having = self._files.naming({name}, self._files.home(path))[name]
        for one in having if len(having) <= MOST else ():
            text = self._files.bare(one) if one.endswith(".py") and not self._places.is_test(one) else ""
            if any(self._does(one, text.count("\n", 0, met.end()) + 1) for met in asked.finditer(text)):
                return True
        return False

    def at(self, path: str, line: int, deep: int = 0) -> bool:
        """Whether every step comes to this line."""
        function = innermost(self._calls.get(path, ()), line) if deep < DEEPEST else None
        if function is None:
            return False
        lines = self._files.bare(path).split("\n")
        around = [*_around(line, lines)]
        if any(_in_loop(function, line, one, lines) for one in around):
            return True
        if function.steps or function.leads or not any(_at_first(function, one, lines) for one in around):
            return False
        if any(LEAVES.search(one) for one in lines[function.lines[0] : line - 1]):  # `if self.made: return`
            return False
        return self.by_name(last_part(function.name)) or self._called((path, function.name), function, deep + 1)

    def _called(self, where: Where, function: Function, deep: int) -> bool:
        """Whether a function is called at such a line."""
        calls = [(path, call.line) for (path, _), _, call in self._callers.get(where, ()) if not call.rare]
        if function.heat == "hot" and function.path:
            calls.append((function.path[-1].path, function.path[-1].line))
        begin, end = function.lines
        return any(self._does(*one, deep) for one in calls if one[0] != where[0] or not begin <= one[1] <= end)

    def _does(self, path: str, line: int, deep: int = 0) -> bool:
        """Whether every step comes to a line, and does what stands there."""
        written = self._files.bare(path).split("\n")[line - 1 : line]
        return not any(MAYBE.search(one.rstrip()) for one in written) and self.at(path, line, deep)


def _around(line: int, lines: list[str]) -> Iterator[int]:
    """How deep a line is, and what leads to it whatever happens."""
    deep = _deep(lines[line - 1])
    yield deep
    for number in range(line - 1, 0, -1):
        one = lines[number - 1]
        if one.strip() and _deep(one) < deep:
            if INWARD.match(one.lstrip()) is None:
                break
            deep = _deep(one)
            yield deep


def _in_loop(function: Function, line: int, deep: int, lines: list[str]) -> bool:
    """Whether a line of a function stands in the body of a loop that takes the steps, behind no test."""
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
    return not any(TAKES.search(lines[one - 1]) for one in within if one not in inner)


def _body(loop: int, lines: list[str]) -> range:
    """The lines of a loop."""
    end = loop + _header(lines[loop - 1 :])
    while end <= len(lines) and (not lines[end - 1].strip() or _deep(lines[end - 1]) > _deep(lines[loop - 1])):
        end += 1
    return range(loop, end)


def _holds(lines: list[str], deep: int) -> bool:
    """Whether a loop, with the lines behind it up to one that is so deep, has that in its own body."""
    body = [_deep(one) for one in lines[_header(lines) :] if one.strip()]
    return bool(body) and _deep(lines[0]) < body[0] == deep and min(body) > _deep(lines[0])


def _header(lines: list[str]) -> int:
    """How many lines the head of a block takes."""
    ends = (number for number, one in enumerate(lines, 1) if one.partition("#")[0].rstrip().endswith(":"))
    return next(ends, 0)


def _at_first(function: Function, deep: int, lines: list[str]) -> bool:
    """Whether what is so deep stands in the body of a function, behind no test."""
    begin, end = function.lines
    within = [_deep(one) for one in lines[begin - 1 : end] if one.strip()]
    return deep == min([one for one in within if one > within[0]], default=0)


def _deep(line: str) -> int:
    return len(line) - len(line.lstrip())
