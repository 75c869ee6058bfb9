"""Functions in, those out that their package calls nowhere but in what runs seldom, as far as it names them."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final

from syncguard.across.dynamic_names import DynamicNames
from syncguard.across.imported_names import takes
from syncguard.across.texts import BRINGS, SAID, TEXT, Files, is_inner, module_name, outermost, spots
from syncguard.across.uncalled import uncalled
from syncguard.across.unreferenced import unreferenced_functions
from syncguard.judge.around.called import Function, Where, in_loop, innermost, last_part
from syncguard.judge.callers.idle import by_setup
from syncguard.judge.heat.warmth import ON_HOST, ONCE, STARTED, UNCALLED, for_start, is_dead
from syncguard.pack.places import Places
from syncguard.terms import Fact, Heat

MOST: Final = 48  # files that name what we follow
DEEPEST: Final = 5  # calls to what is known to run seldom
DOUBTED: Final = 4  # places that may stand in a text, before we take one for code
BROUGHT: Final = re.compile(r"^[ \t]*(?:from\s+[\w.]+\s+)?import\s+(?:\([^)]*\)|[^\n]*)", re.MULTILINE)
UNREAD: Final = re.compile(f"{SAID}|{TEXT}", re.DOTALL | re.MULTILINE)
DEVICE: Final = re.compile(r"cuda|device|gpu")
FURTHER: Final = 4  # lines behind the one on which a call begins
INNER: Final = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.For, ast.AsyncFor, ast.While),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
)
OWN: Final = ("self.", "cls.", "super().")
GENERATION: Final = "runs once in a generation"
PHASES: Final = ("runs once in an epoch", GENERATION)

Place = tuple[str, int, bool]  # where in which file something is named, and whether it is called there
Told = tuple[Heat, tuple[Fact, ...]]
Calls = Mapping[str, tuple[Function, ...]]


class SeldomCalled:
    """Which functions only what runs seldom calls: nobody has a name for them but who calls them there."""

    def __init__(
        self,
        calls: Calls,
        hot: Mapping[Where, tuple[Fact, ...]],
        dynamic_names: DynamicNames,
        files: Files,
        places: Places,
    ) -> None:
        self._calls, self._hot, self._dynamic_names, self._files, self._known = calls, hot, dynamic_names, files, places
        self._places: dict[Where, list[Place]] = {}
        self._functions: dict[str, dict[str, Function]] = {}
        self._told: dict[Where, Told | None] = {}
        self._unread: dict[str, list[tuple[int, int]]] = {}

    def of(self, asked: Iterable[Where], beside: Iterable[Where] = ()) -> dict[Where, Told]:
        """Those that are asked about, with their heat and a call that shows it; of others it will be asked what they
        call."""
        every = {where: outer for where in asked if (outer := self._outer(where)) is not None}
        todo = {*every.values(), *[outer for where in beside if (outer := self._outer(where)) is not None]}
        for _ in range(DEEPEST):  # each file is looked at once for all that are as many calls away
            todo = {caller for where in self._named(todo) for caller in self._callers(where)} - self._places.keys()
        return {where: told for where, outer in every.items() if (told := self._of(outer)) is not None}

    def _named(self, functions: Iterable[Where]) -> list[Where]:
        """Those of some functions of which it is known now where code names them, as far as these are few places."""
        wanted: dict[str, set[Where]] = {}
        for where in functions:
            wanted.setdefault(self._files.home(where[0]), set()).add(where)
        for package, some in wanted.items():
            having = self._files.naming({last_part(name) for _, name in some}, package) if package else {}
            self._places.update({one: self._places_of(one, having.get(last_part(one[1]), ())) for one in sorted(some)})
        return [where for some in wanted.values() for where in some]

    def _places_of(self, where: Where, having: Sequence[str]) -> list[Place]:
        """The places that name a function; none where that may be anybody."""
        name, found = last_part(where[1]), list[Place]()
        code = [path for path in having if not self._known.is_test(path)] if len(having) <= MOST else []
        for path in code:
            mentions = [*self._mentions(path, name, "." in where[1])]
            if not (mentions or "." in where[1] or path == where[0] or is_inner(path) or self._lets_be(name, path)):
                return []  # who has it from there?
            found += mentions
        return found if sum(not called for _, _, called in found) <= DOUBTED else []

    def _lets_be(self, name: str, path: str) -> bool:
        """Whether a file does nothing with a name but tell of it, or bring it in, where nobody has it from there."""
        code = self._files.code(path)
        if re.search(rf"\b{name}\s+as\b", code) or not (self._files.is_ours(path) or not outermost(path)):
            return re.search(rf"\b{name}\b", code) is None
        return re.search(rf"\b{name}\b", BRINGS.sub("", code)) is None

    def _callers(self, where: Where) -> Iterator[Where]:
        for path, at, called in self._places[where]:
            caller = self._around(path, self._line(path, at)) if called else None
            outer = self._outer((path, caller.name)) if caller is not None else None
            if outer is not None:
                yield outer

    def _of(self, where: Where) -> Told | None:
        """How seldom a function runs; None where somebody may call it often, or nobody is seen to."""
        if where not in self._told:
            self._told[where] = None  # while we look, for those that call one another
            told = self._called(where)
            self._told[where] = None if told is not None and self._dynamic_names.may_fetch(where) else told
        return self._told[where]

    def _called(self, where: Where) -> Told | None:
        outer = self._outer(where)
        if outer is None or where in self._hot:
            return None
        if outer != where:
            return self._of(outer)
        if not self._places.get(where) and (unused := self._uncalled(where)):
            return "cold", (Fact(unused, 0),)
        found: list[tuple[str, int, Told]] = []
        others: list[tuple[str, int]] = []
        for path, at, called in self._places.get(where, ()):
            told = self.by(path, self._line(path, at), where) if called else None
            if told and self._may_mean(where, path, at):
                found += [(path, at, one) for one in told]
            others += [(path, at)] if told is None else []
            if len(others) > DOUBTED:
                return None
        # What code does not say is looked for where it matters.
        if not found or not all(self.is_unread(*one) for one in others):
            return None
        said = [told for path, at, told in found if not self.is_unread(path, at)]
        said = [told for told in said if for_start(told[1])] or said
        least = min(said, key=lambda told: (told[0] == "cold", len(told[1]), str(told[1])), default=None)
        return None if least is not None and for_start(least[1]) and self._calls_itself(where) else least

    def _calls_itself(self, where: Where) -> bool:
        """Whether a function calls itself, so that once may be often."""
        return any(called and self._is_in(where, path, at) for path, at, called in self._places.get(where, ()))

    def _is_in(self, where: Where, path: str, at: int) -> bool:
        """Whether a function itself is what a place of it calls, and not what another object has by that name."""
        caller = self._around(path, self._line(path, at))
        if caller is None or (path, caller.name) != where:
            return False
        text = self._files.text(path)
        return text[at - 1 : at] != "." or text.endswith(OWN[:2], 0, at)

    def _uncalled(self, where: Where) -> str:
        """What is said of a private function that nothing in its package names, its own file included, or of one of an
        application that nothing there does; "" of others."""
        function = self._function(where)
        if function is not None and function.alone and unreferenced_functions([where], self._files, self._known):
            return UNCALLED
        asked = [(where[0], function)] if function is not None and self._files.is_ours(where[0]) else []
        told = uncalled(asked, (), self._files, self._known).get(where, "")
        return told if is_dead(told) else ""

    def _may_mean(self, where: Where, path: str, at: int) -> bool:
        """Whether a call may lead to this function, as far as is seen: what another class asks itself for is of its
        own."""
        caller = self._around(path, self._line(path, at))
        if caller is None or not self._files.text(path).endswith(OWN, 0, at):
            return True
        owner, mine = caller.name.partition(".")[0], where[1].partition(".")[0]
        return owner == mine or self._files.names(where[0], owner) or self._files.names(path, mine)

    def _outer(self, where: Where) -> Where | None:
        """A function that is called by its name alone, or such a one that it is defined in; None of any other."""
        path, name = where
        function, around = self._function(where), name.rpartition(".")[0]
        if function is None or not function.by_name or function.drawn or function.heat == "hot":
            return None
        return self._outer((path, around)) if around and self._function((path, around)) is not None else where

    def by(self, path: str, line: int, where: Where) -> list[Told] | None:
        """How seldom a call is made: nothing where those that it stands in are called so themselves; None where it may
        be often."""
        caller, name = self._around(path, line), last_part(where[1])
        if caller is None:
            return self._by_top(path, line, where)
        rare = next((call for call in caller.calls if call.rare and (call.path, call.name) == where), None)
        led = caller.heat != "cold" or (rare is not None and rare.step != "" and not caller.gpuless)
        if rare is not None and led and not self._leads(where):
            way = (Fact(rare.step, rare.step_line, path),) if caller.heat == "cold" else caller.path
            return [("amortized", (*way, Fact(f"but only now and then calls `{name}`", line, path)))]
        if (path, caller.name) in self._hot:
            return None
        if last_part(caller.name) == name:
            return []
        shown = Fact(f"calls `{name}`", line, path)
        if caller.host and not caller.gpuless and not self._names_device(path, line, name):
            return [("cold", (Fact(f"but only for `{caller.name}`, {ON_HOST}", line, path),))]
        if by_setup(caller, self._known) and self._named_so(caller):
            return [("cold", (Fact(f"but only for `{caller.name}`, which runs seldom", line, path),))]
        if caller.started and "." not in where[1] and not (in_loop(caller, line) or self._is_taken(path, caller.name)):
            return [("cold", (Fact(f"but only for `{caller.name}`, {STARTED}", line, path),))]
        if caller.steps and not in_loop(caller, line) and not self._leads(where):
            around = Fact(f"but only around line {caller.steps}, which takes the steps", line, path)
            return [("amortized", (shown, around))]
        if (steps := self._steps_beside(path, caller, line, where)) and not self._leads(where):
            return [("amortized", (shown, Fact(f"but only around line {steps}, which takes the steps", line, path)))]
        if caller.heat == "amortized" and not caller.here:
            phase = any(fact.text.endswith(PHASES) for fact in caller.path[:1])
            often = (in_loop(caller, line) or self._generates(where, caller)) if phase else not self._named_so(caller)
            return None if often else [("amortized", (*caller.path, shown))]
        told = self._of((path, caller.name))
        often = told is None or (for_start(told[1]) and in_loop(caller, line))
        return [(told[0], (*told[1], shown))] if told is not None and not often else None

    def _by_top(self, path: str, line: int, where: Where) -> list[Told] | None:
        """The same of a call that stands in no function."""
        taken = path == where[0] or takes(path, where[0], where[1], self._files)
        if "." in where[1] or not taken or not path.endswith(".py") or not at_top(self._files.text(path), line):
            return None
        return [("cold", (Fact(f"but only for the top of `{os.path.basename(path)}`, {ONCE}", line, path),))]

    def steps_beside(self, where: Where, line: int) -> int:
        """The same of a line of a function that a person starts, or that does the work of one: it runs once."""
        function = self._function(where)
        once = function is not None and (function.started or function.heat == "cold")
        return self._steps_beside(where[0], function, line, where) if function is not None and once else 0

    def _steps_beside(self, path: str, caller: Function, line: int, where: Where) -> int:
        """The line at which a function calls one of another file whose loop takes the steps, wherever it comes by a
        line, and in each turn of the loops around that; 0 where it calls none so."""
        if not (caller.by_name or caller.started):
            return 0  # its loops are not known
        around = [loop for loop in caller.loops if loop[0] <= line <= loop[1]]
        for call in caller.calls:
            callee = self._function((call.path, call.name))
            takes = callee is not None and callee.steps > 0 and (call.path, call.name) != where
            often = call.rare and caller.heat != "cold"
            if takes and not often and all(begin <= call.line <= end for begin, end in around):
                return call.line if is_by(self._files.text(path), call.line, line) else 0
        return 0

    def _is_taken(self, path: str, name: str) -> bool:
        """Whether another file but a test takes a function out of its own."""
        having = self._files.naming({name, module_name(path)}, self._files.home(path))
        others = {*having[name]} & {*having[module_name(path)]} - {path}
        return any(takes(one, path, name, self._files) for one in others if not self._known.is_test(one))

    def _generates(self, where: Where, caller: Function) -> bool:
        """Whether a function that a generation calls once may take the steps of it."""
        return caller.path[0].text.endswith(GENERATION) and self._leads(where)

    def _leads(self, where: Where) -> bool:
        """Whether a function takes steps of its own, or calls what does."""
        function = self._function(where)
        return function is None or function.leads

    def _names_device(self, path: str, line: int, name: str) -> bool:
        """Whether a call of this on a line, or what stands close behind it, names a device."""
        lines = "\n".join(self._files.text(path).split("\n")[line - 1 : line + FURTHER])
        return DEVICE.search(lines, lines.find(name)) is not None

    def _named_so(self, caller: Function) -> bool:
        """Whether a function's name says that it runs seldom: what does a script's work, or is deprecated, may call
        what others call often."""
        name, known = last_part(caller.name), self._known
        undoes = known.is_("cold", "undone", name.removeprefix("un"))
        return known.seldom(name) or undoes or known.is_("cold", "module_moves", name)

    def _around(self, path: str, line: int) -> Function | None:
        return innermost(self._calls.get(path, ()), line)

    def _line(self, path: str, at: int) -> int:
        return self._files.text(path).count("\n", 0, at) + 1

    def _mentions(self, path: str, name: str, method: bool) -> Iterator[Place]:
        """The places of a file that name this."""
        text = self._files.text(path)
        for begin in spots(text, name):
            end = begin + len(name)
            before = text[text.rfind("\n", 0, begin) + 1 : begin]
            said = _said(before, text[begin - 1 : begin], text[end : end + 8].lstrip(), method)
            if said and not before.lstrip().startswith(("from ", "import ")):
                yield path, begin, said == "called"

    def is_unread(self, path: str, at: int) -> bool:
        """Whether a place stands in a comment, a docstring or an import."""
        if path not in self._unread:
            text = self._files.text(path)
            said = [met.span() for met in UNREAD.finditer(text) if met.lastindex is None]
            self._unread[path] = [*said, *[met.span() for met in BROUGHT.finditer(text)]]
        return any(begin <= at < end for begin, end in self._unread[path])

    def _function(self, where: Where) -> Function | None:
        path, name = where
        if path not in self._functions:
            self._functions[path] = {one.name: one for one in self._calls.get(path, ())}
        return self._functions[path].get(name)


def at_top(text: str, line: int) -> bool:
    """Whether a line of Python stands in no function, class or loop."""
    spans = _inner(text)
    return spans is not None and not any(begin <= line <= end for begin, end in spans)


@lru_cache(maxsize=64)
def _inner(text: str) -> tuple[tuple[int, int], ...] | None:
    """The lines of the functions, classes and loops of a text; None of what is no Python."""
    try:
        nodes = [*ast.walk(ast.parse(text))]
    except (SyntaxError, ValueError, RecursionError):
        return None
    inner = [node for node in nodes if isinstance(node, INNER)]
    return tuple([(node.lineno, node.end_lineno or node.lineno) for node in inner])


def is_by(text: str, line: int, other: int) -> bool:
    """Whether who comes by the other line of a text comes by this one: its block holds that."""
    lines = text.split("\n")[min(line, other) - 1 : max(line, other)]
    deep = [len(one) - len(one.lstrip()) for one in lines if one.strip()]
    return min(deep) == deep[0 if line <= other else -1]


def _said(before: str, last: str, after: str, method: bool) -> str:
    """What a name is there for, by what stands around it: "called", "handed" about, or "" for nothing of the kind."""
    word = before.split()[-1:]
    if word in (["def"], ["class"]) or before.lstrip().startswith("#"):
        return ""
    if last in ("'", '"') and after[:1] in ("'", '"'):
        return "handed"  # somebody may find it by that
    if method and last != "." and not re.fullmatch(r"\s+\w+\s*=\s*", before):
        return ""
    if last != "." and re.match(r"=[^=]|:", after):
        return ""  # an argument, or what is bound there, goes by another rule
    return "called" if after.startswith("(") else "handed"
