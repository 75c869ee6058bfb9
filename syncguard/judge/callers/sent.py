"""The calls of several files in, which parameters hold what is on the host in all of them out: what is moved to the
device later is on the host before."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from typing import Final

from syncguard.judge.around.called import Called, Function, Where
from syncguard.judge.callers.entries import Callers, Entry
from syncguard.terms import Fact

Moved = dict[Where, dict[str, int]]  # by parameters, the line that moves one, or hands it on to be moved
MOST: Final = 24  # functions that are asked who calls them


class Sent:
    """What functions are given, as far as all that call one are known."""

    def __init__(
        self, calls: Mapping[str, tuple[Function, ...]], callers: Callers, lonely: Callable[[set[Where]], bool]
    ) -> None:
        self.calls, self.callers = calls, callers
        self.lonely = lonely  # whether nobody else may call one of these
        self._functions: dict[Where, Function] | None = None
        self._moved: Moved | None = None

    def told(self, where: Where, place: tuple[int, int], names: Iterable[str]) -> Fact | None:
        """A call that shows that one of these parameters is on the host where a place is reached; None where it may be
        elsewhere."""
        for name in names:
            asked: dict[tuple[Where, str], Fact | None] = {}
            shown = self._shown(where, name, place[0], asked)
            if shown is not None and self.lonely({one for one, _ in asked}):
                return shown
        return None

    @property
    def functions(self) -> dict[Where, Function]:
        """Those that nobody calls but by their names, and that nothing in their own files makes hot."""
        if self._functions is None:
            every = {(path, f.name): f for path, functions in self.calls.items() for f in functions}
            self._functions = {where: f for where, f in every.items() if f.by_name and (f.heat == "unknown" or f.here)}
        return self._functions

    @property
    def moved(self) -> Moved:
        """The parameters that functions move to the device, or hand on to one that does, come what may."""
        if self._moved is None:
            self._moved = self._on_the_way()
        return self._moved

    def _on_the_way(self) -> Moved:
        found: Moved = {}
        todo: list[Where] = []
        for path, functions in self.calls.items():
            for f in functions:
                if f.brings:
                    found[path, f.name] = dict(f.brings)
                    todo.append((path, f.name))
        while todo:
            callee = todo.pop()
            for caller, _, call in self.callers.get(callee, ()):
                own = found.get(caller, {})
                more = handed_on(call, found[callee]) if call.always and not call.rare else {}
                if not own.keys() >= more.keys():
                    found[caller] = {**more, **own}
                    todo.append(caller)
        return found

    def _shown(self, where: Where, name: str, line: int, asked: dict[tuple[Where, str], Fact | None]) -> Fact | None:
        """A call that shows that a parameter is on the host at a line: it is moved further down, or all calls give what
        is there."""
        moved = self.moved.get(where, {}).get(name, 0)
        if line < moved and self._there(where, name, set()):
            return Fact(f"`{name}` is on the host: it is moved to the device later", moved, where[0])
        if (where, name) in asked:
            return asked[where, name]
        asked[where, name] = None  # of one that calls itself, until more is known
        if where not in self.functions or len(asked) > MOST:
            return None
        first: Fact | None = None
        for one in self.callers.get(where, ()):
            if one[0] == where:
                continue
            shown = self._given(one, name, asked)
            if shown is None and not self._idle(one[0]):
                return None
            first = first or shown
        asked[where, name] = first
        return first

    def _there(self, where: Where, name: str, seen: set[tuple[Where, str]]) -> bool:
        """Whether no call that is known gives a parameter anything but what is on the host, or what its caller is given
        so."""
        seen.add((where, name))
        for caller, _, call in self.callers.get(where, ()):
            own = dict(call.pieces).get(name, "")
            if caller == where or (caller, own) in seen or name in call.host:
                continue
            if not own or not self._there(caller, own, seen):
                return False
        return True

    def _idle(self, where: Where) -> bool:
        """Whether nobody calls a function yet, or names it; a method is there for who makes its object."""
        alone = where in self.functions and where not in self.callers and "." not in where[1]
        return alone and self.lonely({where})

    def _given(self, entry: Entry, name: str, asked: dict[tuple[Where, str], Fact | None]) -> Fact | None:
        """The same of one call."""
        caller, _, call = entry
        if name in call.host:
            text = f"as far as we see, all calls give it what is on the host, as {_named(caller)} does"
            return Fact(text, call.line, caller[0])
        own = dict(call.pieces).get(name, "")
        return self._shown(caller, own, call.line, asked) if own else None


def handed_on(call: Called, names: Container[str]) -> dict[str, int]:
    """The parameters of the caller that a call hands on as some of these, each with its line."""
    return {own: call.line for name, own in call.pieces if name in names}


def _named(where: Where) -> str:
    return f"`{where[1]}`" if where[1] else "the top of that file"
