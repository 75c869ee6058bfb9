"""The calls of several files in, the functions out that nothing but setup in other files calls, however often their own
file could."""

from __future__ import annotations

from collections.abc import Container, Mapping, Set
from typing import Final

from syncguard.judge.around.called import Function, Where
from syncguard.judge.callers.entries import Callers
from syncguard.judge.heat.warmth import by_name
from syncguard.pack.places import Places
from syncguard.terms import Fact

SCRIPTS: Final = ("main", "")  # which tell nothing of how often what they call runs


def idle(
    files: Mapping[str, tuple[Function, ...]], callers: Callers, hot: Container[Where], places: Places
) -> tuple[dict[Where, Fact], dict[Where, Fact]]:
    """These functions, by a call that shows it: the private ones, and with them those that others may call unseen."""
    every = ((path, f) for path, functions in files.items() for f in functions)
    called = {(path, f.name) for path, f in every if f.named and _left_to_others(f)}
    called = {where for where in called if where in callers and where not in hot}

    def seldom(where: Where, caller: Where, function: Function) -> bool:
        """Whether a call is made by setup: one that others may make as well, by that of another file, and by nothing
        that tries a function, or prepares batches."""
        if caller in hot or not _setup(function):
            return False
        if _private(where[1]):
            return True
        name = caller[1].rpartition(".")[2]
        return caller[0] != where[0] and not (function.host or places.is_("cold", "tries", name))

    def spread(asked: Set[Where], found: dict[Where, Fact]) -> dict[Where, Fact]:
        """What is found, and those that are asked about that nothing else calls, nor setup."""
        found, changed = {**found}, True
        while changed:
            changed = False
            for where in sorted(asked - found.keys()):
                if all(caller in found or seldom(where, caller, by) for caller, by, _ in callers[where]):
                    (path, name), line = min((caller, call.line) for caller, _, call in callers[where])
                    found[where], changed = Fact(f"but only for `{name}`, which runs seldom", line, path), True
        return found

    alone = spread({where for where in called if _private(where[1])}, {})
    return alone, spread(called, alone)


def by_setup(function: Function, places: Places) -> bool:
    """Whether what a function calls is called for setup: whatever calls the function, and not to try something or to
    prepare batches."""
    tries = places.is_("cold", "tries", function.name.rpartition(".")[2])
    return _setup(function) and not (function.here or function.host or tries)


def _private(name: str) -> bool:
    return name.startswith("_")


def _left_to_others(function: Function) -> bool:
    """Whether nobody has a name for a function but who imports it here, and its file does not say how often."""
    return function.heat == "unknown" and not (function.open or function.keeper)


def _setup(function: Function) -> bool:
    """Whether it is its own nature, or its name, that says that a function runs seldom."""
    by_nature = not function.here or by_name(function.path)
    return function.heat == "cold" and by_nature and function.name not in SCRIPTS
