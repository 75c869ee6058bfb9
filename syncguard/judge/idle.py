"""The calls of several files in, the private functions out that nothing but setup in other files calls, however often
their own file could."""

from __future__ import annotations

from collections.abc import Container

from syncguard.judge.reach import Function, Where
from syncguard.terms import Fact

SCRIPTS = ("main", "")  # which tell nothing of how often what they call runs


def idle(files: dict[str, tuple[Function, ...]], hot: Container[Where]) -> dict[Where, Fact]:
    """These functions, by a call that shows it."""
    functions = {(path, f.name): f for path, found in files.items() for f in found}
    callers: dict[Where, list[tuple[Where, int]]] = {}
    for where, function in sorted(functions.items()):
        for call in function.calls:
            callers.setdefault((call.path, call.name), []).append((where, call.line))
    asked = {where for where in callers if where not in hot and where in functions and _private(functions[where])}
    found: dict[Where, Fact] = {}
    changed = True
    while changed:
        changed = False
        for where in sorted(asked - found.keys()):
            if all(one in found or _setup(functions[one]) for one, _ in callers[where]):
                (path, name), line = callers[where][0]
                found[where], changed = Fact(f"but only for `{name}`, which runs seldom", line, path), True
    return found


def _private(function: Function) -> bool:
    """Whether nobody has a name for a function but who imports it here, and its own file does not say how often."""
    return function.heat == "unknown" and function.name.startswith("_") and not (function.open or function.keeper)


def _setup(function: Function) -> bool:
    """Whether it is its own nature that a function runs seldom."""
    return function.heat == "cold" and not function.here and function.name not in SCRIPTS
