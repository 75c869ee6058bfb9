"""The calls of several files in, the functions out that nothing but setup in other files calls, however often their own
file could."""

from __future__ import annotations

from collections.abc import Container
from typing import Final

from syncguard.judge.called import Function, Where
from syncguard.judge.warmth import by_name
from syncguard.terms import Fact

SCRIPTS: Final = ("main", "")  # which tell nothing of how often what they call runs


def idle(files: dict[str, tuple[Function, ...]], hot: Container[Where], public: bool = False) -> dict[Where, Fact]:
    """These functions, by a call that shows it: the private ones, or those as well that others may call unseen."""
    asked_of = {
        (path, f.name): f
        for path, functions in files.items()
        for f in functions
        if f.name.startswith("_") or (public and f.named)
    }
    callers: dict[Where, list[tuple[Where, int, Function]]] = {
        where: [] for where, function in asked_of.items() if where not in hot and _left_to_others(function)
    }
    for path, functions in files.items():
        for function in functions:
            for call in function.calls:
                if (where := (call.path, call.name)) in callers:
                    callers[where].append(((path, function.name), call.line, function))
    asked = {where for where, calls in callers.items() if calls}
    found: dict[Where, Fact] = {}
    changed = True
    while changed:
        changed = False
        for where in sorted(asked - found.keys()):
            if all(one in found or (one not in hot and _setup(by, public)) for one, _, by in callers[where]):
                (path, name), line = min((one, line) for one, line, _ in callers[where])
                found[where], changed = Fact(f"but only for `{name}`, which runs seldom", line, path), True
    return found


def _left_to_others(function: Function) -> bool:
    """Whether nobody has a name for a function but who imports it here, and its file does not say how often."""
    return function.heat == "unknown" and not (function.open or function.keeper)


def _setup(function: Function, public: bool) -> bool:
    """Whether it is its own nature, or its name, that says that a function runs seldom; what prepares batches may give
    others than private ones what is on the device."""
    by_nature = (not function.here or by_name(function.path)) and not (public and function.host)
    return function.heat == "cold" and by_nature and function.name not in SCRIPTS
