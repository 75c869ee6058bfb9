"""The calls of several files in, the functions out that another file makes hot, with the path that shows it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator

import msgspec

from syncguard.infer.routine import Home, Routine
from syncguard.judge.heat import Warmth
from syncguard.terms import Fact, Heat

Where = tuple[str, str]  # a file and the qualified name of a function in it


class Called(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A call from a function to another one, and the reason if the loop around it runs once per step."""

    path: str
    name: str
    line: int
    step: str = ""
    step_line: int = 0


class Function(msgspec.Struct, frozen=True, array_like=True):
    """A function of a file: how warm the file itself makes it, and what it calls that may be made hot."""

    name: str
    heat: Heat
    path: tuple[Fact, ...]
    calls: tuple[Called, ...]


def functions_of(home: Home, routines: Iterable[Routine], warmth: dict[Routine, Warmth]) -> tuple[Function, ...]:
    """What a file tells the others of its functions' heat: those that are hot or may be made so, and call something."""
    found = []
    for routine in routines:
        warm = warmth[routine]
        calls = tuple(_calls(home, routine, warm.heat))
        if warm.heat != "cold" or calls:
            found.append(Function(routine.qualname, warm.heat, warm.path, calls))
    return tuple(found)


def _calls(home: Home, routine: Routine, heat: Heat) -> Iterator[Called]:
    for callee, places in routine.calls.items():
        if callee is routine or callee.name == "<lambda>" or (callee.home is home and heat != "unknown"):
            continue
        for at, context in places:
            step = next((loop for loop in context.loops if loop.reason), None)
            if context.gate or context.failing or (heat not in ("hot", "unknown") and step is None):
                continue
            reason = (step.reason, step.at[0]) if step is not None else ("", 0)
            yield Called(callee.home.path, callee.qualname, at[0], *reason)
            break


def reached(files: dict[str, tuple[Function, ...]]) -> dict[Where, tuple[Fact, ...]]:
    """The functions of unknown heat that another file makes hot: the shortest path to each."""
    cold = {(path, f.name): f for path, found in files.items() for f in found if f.heat == "unknown"}
    found: dict[Where, tuple[Fact, ...]] = {}
    queue: deque[Where] = deque()

    def follow(path: str, function: Function, hot: tuple[Fact, ...] | None) -> None:
        for call in function.calls:
            way = (Fact(call.step, call.step_line, path),) if call.step else hot
            where = (call.path, call.name)
            if way is not None and where in cold and where not in found:
                found[where] = (*way, Fact(f"calls `{call.name}`", call.line, path))
                queue.append(where)

    for path, functions in sorted(files.items()):
        for function in functions:
            follow(path, function, function.path if function.heat == "hot" else None)
    while queue:
        where = queue.popleft()
        follow(where[0], cold[where], found[where])
    return found
