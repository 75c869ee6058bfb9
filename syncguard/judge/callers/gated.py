"""The calls of several files in, the functions out that steps in other files call behind a gate, or what ends an epoch
there, and nothing calls otherwise."""

from __future__ import annotations

from collections.abc import Container, Mapping

from syncguard.judge.around.called import Called, Function, Where
from syncguard.judge.callers.entries import Callers
from syncguard.terms import Fact

Files = Mapping[str, tuple[Function, ...]]


def gated(
    files: Files, callers: Callers, hot: Mapping[Where, tuple[Fact, ...]], but: Container[Where]
) -> dict[Where, tuple[Fact, ...]]:
    """These functions and what they alone call, with the path to a step that calls them now and then."""
    every = ((path, one) for path, functions in files.items() for one in functions)
    asked = {
        (path, one.name): callers.get((path, one.name), ())
        for path, one in every
        if one.heat == "unknown" and one.named and not (one.open or one.keeper or one.drawn)
    }
    asked = {where: calls for where, calls in asked.items() if calls and where not in but and where not in hot}
    found: dict[Where, tuple[Fact, ...]] = {}
    changed = True
    while changed:
        changed = False
        for where in sorted(asked.keys() - found.keys()):
            ways = [_way(*one, hot, found) for one in asked[where]]
            led = [way for way in ways if way]
            if led and None not in ways:
                found[where], changed = min(led, key=lambda way: (len(way), [str(fact) for fact in way])), True
    return found


def _way(
    caller: Where,
    function: Function,
    call: Called,
    hot: Mapping[Where, tuple[Fact, ...]],
    found: Mapping[Where, tuple[Fact, ...]],
) -> tuple[Fact, ...] | None:
    """The path by which a call is made now and then; () of one that setup makes, or a process without a GPU; None of
    one that may be made often."""
    told = Fact(f"calls `{call.name}`", call.line, caller[0])
    if caller in found:
        return (*found[caller], told)
    if not call.rare or call.handed:
        return None
    if function.gpuless:
        return ()
    step = (Fact(call.step, call.step_line, caller[0]),) if call.step else ()
    path = step or (function.path if _led(function) else hot.get(caller, ()))
    return (*path, Fact(f"but only now and then calls `{call.name}`", call.line, caller[0])) if path else ()


def _led(function: Function) -> bool:
    """Whether the path to a function begins at what runs at every step, or once in an epoch."""
    return function.heat == "hot" or (function.heat == "amortized" and not function.here)
