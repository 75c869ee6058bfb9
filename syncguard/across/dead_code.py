"""Functions in, those out that nothing calls, or nothing but such, through however many calls."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final

import msgspec

from syncguard.across.dynamic_names import DynamicNames
from syncguard.across.texts import Files
from syncguard.across.uncalled import left_over, uncalled
from syncguard.across.unreferenced import left_to
from syncguard.judge.around.called import Function, Where
from syncguard.judge.callers.entries import Callers
from syncguard.judge.heat.warmth import is_dead, is_unmade
from syncguard.pack.places import Places

DEEPEST: Final = 5  # calls to what nothing calls

Calls = Mapping[str, tuple[Function, ...]]


class DeadCode(msgspec.Struct, frozen=True):
    """Functions that nothing calls, or nothing but these, with what is said of them, and why those that are left over
    are so."""

    told: Mapping[Where, str]
    left_over: Mapping[Where, str]


def dead_code(
    asked: Collection[Where],
    calls: Calls,
    callers: Callers,
    hot: Collection[Where],
    dynamic_names: DynamicNames,
    files: Files,
    places: Places,
) -> DeadCode:
    """Those of the functions that are asked about that nothing calls, or only what nothing calls; what may be called
    unseen is none of the latter."""
    above = _above(asked, callers, hot)
    tops = {where for where in above if not callers.get(where)}
    told = uncalled(_functions({*asked, *tops}, calls), callers, files, places)
    unused = {where for where, text in told.items() if is_dead(text) and not dynamic_names.may_fetch(where)}
    unused |= {where for where, text in told.items() if is_unmade(text)}
    lasting = {where: text for where, text in told.items() if where not in unused}
    over = {where for where in left_over(lasting, calls, files) if not dynamic_names.may_fetch(where)}
    lone = _only_by(tops & told.keys(), above, callers)
    called = {*left_to([where for where in asked if where in lone - tops], callers, lone, files, places)}
    dead = _only_by(tops & over, above, callers)
    said = {where: _said(where, tops, callers, told) for where in called - told.keys()} | told
    left = {where: f"{said[where]}, but others of its file" for where in over}
    left |= {where: f"{said[where]}, but others of that file" for where in called & dead}
    gone = _only_by(tops & unused, above, callers)
    left |= {where: said[where] for where in unused | (called & gone)}
    return DeadCode(said, left)


def is_left(
    where: Where, calls: Calls, callers: Callers, dynamic_names: DynamicNames, files: Files, places: Places
) -> bool:
    """Whether a function is one that nothing calls, and that is there for nobody."""
    told = uncalled(_functions([where], calls), callers, files, places)
    dead = {one for one, text in told.items() if is_dead(text) or is_unmade(text)} | left_over(told, calls, files)
    return where in dead and not dynamic_names.may_fetch(where)


def _above(asked: Iterable[Where], callers: Callers, hot: Collection[Where]) -> set[Where]:
    """Functions, and those that lead to them."""
    found = todo = {where for where in asked if callers.get(where)}
    for _ in range(DEEPEST):
        todo = {caller for where in todo for caller, _, _ in callers.get(where, ())} - found - {*hot}
        found = found | todo
    return found


def _functions(some: Iterable[Where], calls: Calls) -> Iterator[tuple[str, Function]]:
    wanted: dict[str, set[str]] = {}
    for path, name in some:
        wanted.setdefault(path, set()).add(name)
    for path, names in sorted(wanted.items()):
        yield from [(path, function) for function in calls.get(path, ()) if function.name in names]


def _only_by(tops: Iterable[Where], above: Iterable[Where], callers: Callers) -> set[Where]:
    """Functions, and of what they lead to what nothing else calls."""
    dead, more = set(tops), True
    while more:
        calling = {one: {caller for caller, _, _ in callers.get(one, ())} - {one} for one in {*above} - dead}
        more = bool(new := {one for one, some in calling.items() if some and some <= dead})
        dead |= new
    return dead


def _said(where: Where, tops: Collection[Where], callers: Callers, told: Mapping[Where, str]) -> str:
    """What is said of the nearest of those that nothing calls."""
    todo = [where]
    for one in todo:
        if one in tops and one in told:
            return f"only `{one[1]}` leads to it, and {told[one]}"
        todo += sorted({caller for caller, _, _ in callers[one]} - {*todo})
    raise LookupError(where)
