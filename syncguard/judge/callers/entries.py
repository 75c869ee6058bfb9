"""The calls of several files in, the paths out by which a function is entered with what a place in it needs."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from syncguard.judge.around.called import Ask, Called, Function, Needs, Where
from syncguard.judge.callers.behind import HERE, HOT
from syncguard.judge.options.denied import denied, handed_on
from syncguard.terms import Fact

SEEN: Final = "as far as we see called "
THERE: Final = "as far as we see called, but by processes that see no GPU, "
DEEPEST: Final = 8  # calls that each need what the one before must give

Hot = Mapping[Where, tuple[Fact, ...]]
Entry = tuple[Where, Function, Called]  # who calls
Callers = Mapping[Where, list[Entry]]  # of each function that is called


def callers_in(files: Mapping[str, tuple[Function, ...]]) -> Callers:
    """Who calls each function of several files, in the order of these."""
    found: dict[Where, list[Entry]] = {}
    for path, functions in sorted(files.items()):
        for function in functions:
            caller = (path, function.name)
            for call in function.calls:
                where = (call.path, call.name)
                known = found.get(where)
                if known is None:
                    found[where] = [(caller, function, call)]
                else:
                    known.append((caller, function, call))
    return found


class Entries(msgspec.Struct):
    """The calls by which functions are entered, and what other files make hot as far as that is known by now."""

    callers: Callers
    hot: Hot

    def giving(self, where: Where, needs: Needs, asks: tuple[Ask, ...] = ()) -> list[Entry]:
        """The calls of a function that may give what is needed, and nothing that is not what is asked for."""
        every = self.callers.get(where, ())
        return [one for one in every if not (any(_leaves(one[2], names) for names in needs) or denied(one[2], asks))]

    def ways(self, where: Where, needs: Needs, deep: int = 0, asks: tuple[Ask, ...] = ()) -> Iterator[tuple[Fact, ...]]:
        """The paths by those of these that are made at every step."""
        for caller, function, call in self.giving(where, needs, asks) if deep < DEEPEST else ():
            above: tuple[Fact, ...] | None = function.path if function.heat == "hot" else self.hot.get(caller)
            asked = (*call.needs, *handed_needs(call, needs))
            further = (*handed_on(call, asks), *call.asks)
            if (asked or further) and not call.step and (call.needs or function.heat != "hot"):
                above = self.way(caller, asked, deep + 1, further)
            if not call.rare and (call.step or above):
                yield by_call(caller[0], function, call, above or ())

    def way(self, where: Where, needs: Needs, deep: int = 0, asks: tuple[Ask, ...] = ()) -> tuple[Fact, ...] | None:
        """The shortest path that gives what is needed; None where none does that is known."""
        return min(self.ways(where, needs, deep, asks), key=len, default=None)


def doubted(files: Mapping[str, tuple[Function, ...]], hot: Hot) -> frozenset[Where]:
    """The functions that hot ones call, but only where they are given what nothing gives of which it is known that it
    runs at every step: others may."""
    every = {(path, function.name): function for path, functions in files.items() for function in functions}
    leading = [(where, f) for where, f in every.items() if any(call.needs for call in f.calls)]
    calls = [call for where, f in leading if f.heat == "hot" or where in hot for call in f.calls if call.needs]
    todo = deque([(call.path, call.name) for call in calls if not call.rare])
    found: set[Where] = set()
    while todo:
        where = todo.popleft()
        if where not in found and where not in hot and where in every:
            found.add(where)
            todo.extend([(call.path, call.name) for call in every[where].calls if not call.rare])
    return frozenset(found)


def by_call(path: str, function: Function, call: Called, hot: tuple[Fact, ...]) -> tuple[Fact, ...]:
    """The path that leads by a call, which is made at every step itself or in what another path leads to."""
    way = (Fact(call.step, call.step_line, path),) if call.step else call.way or hot
    shown = [Fact(f"but {bare(fact)}", fact.line, fact.path or path) for fact in (*function.options, *call.options)]
    return (*way, *shown, Fact(f"calls `{call.name}`", call.line, path))


def bare(fact: Fact) -> str:
    """What an option asks for, without where it is seen to do so."""
    text = fact.text.removeprefix(HERE).removeprefix(HOT)
    return text.removeprefix(SEEN).removeprefix(THERE)


def handed_needs(call: Called, needs: Needs) -> Iterator[tuple[str, ...]]:
    """What the caller must be given for a call to give what is needed."""
    own = dict(call.hands)
    for names in needs:
        if all(name in own or name in call.left for name in names):
            yield tuple([own[name] for name in names if name in own])


def _leaves(call: Called, names: tuple[str, ...]) -> bool:
    """Whether a call gives none of these."""
    return all(name in call.left for name in names)
