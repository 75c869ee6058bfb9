"""What surrounds a wait in, the options that must be set for it to be reached out: by default its tests come out the
other way."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from syncguard.infer.project import World
from syncguard.infer.routine import Context, Frame, Home, Routine
from syncguard.infer.tell import Texts, snippet
from syncguard.infer.ungiven import private
from syncguard.judge.calling import Calling, callers_of
from syncguard.judge.defaults import UNSAID, default_of, path_of
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.terms import Fact

COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "is": operator.is_, "is not": operator.is_not, "in": lambda a, b: a in b, "not in": lambda a, b: a not in b,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Told:
    """How a test comes out by default, and the options that decide it, with their defaults."""

    outcome: bool
    by: dict[str, Any]


def opted(context: Context, routine: Routine, world: World, text_of: Texts) -> tuple[Fact, ...]:
    """Each test around a place that comes out the other way unless an option is set, from without."""
    found: dict[tuple[str, ...], Fact] = {}
    lines = text_of(routine.home.path) if context.tests else ()
    frame = Frame(world, routine, {})
    for asked, wanted in context.tests:
        test, outcome = plainly(asked, wanted)
        told = by_default(test, frame)
        if told is not None and told.outcome is not outcome:
            holds = "holds" if outcome else "does not hold"
            default = " and ".join(f"`{name}` is `{_shown(value)}`" for name, value in told.by.items())
            text = f"only where `{snippet(test.at, lines)}` {holds}; by default {default}"
            found.setdefault((*told.by,), Fact(text, test.at[0]))
    return tuple(found.values())


def _shown(value: Any) -> str:
    """A default as most people write it."""
    text = repr(value)
    return f'"{text[1:-1]}"' if isinstance(value, str) and '"' not in text else text


def plainly(test: Node, outcome: bool) -> tuple[Node, bool]:
    """The same without `not`."""
    while type(test) is core.Do and test.what in ("not", "truth"):
        outcome = outcome is not (test.what == "not")
        test = test.args[0]
    return test, outcome


class Callers:
    """Who calls the functions of a file, worked out when it is first asked for."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self.known: dict[Routine, list[Calling]] | None = None

    def of(self, routine: Routine) -> list[Calling]:
        if self.known is None:
            self.known = callers_of((*self.home.routines, *([self.home.top] if self.home.top else [])))
        return self.known.get(routine, [])


def opted_by_all(routine: Routine, callers: Callers, world: World, text_of: Texts) -> tuple[Fact, ...]:
    """The options without which no call of a private function is reached."""
    calls = callers.of(routine) if private(routine) else []
    every = [opted(context, caller, world, text_of) for caller, _, context in calls if caller is not routine]
    if not every:
        return ()
    shared = set.intersection(*[{fact.text for fact in facts} for facts in every])
    return tuple(fact for fact in every[0] if fact.text in shared)


def by_default(test: Node, frame: Frame) -> Told | None:
    """How a test comes out where every option is as it is by default; None where that does not decide it."""
    match test:
        case core.Do(what="truth", args=(inner,)):
            return by_default(inner, frame)
        case core.Do(what="not", args=(inner,)):
            told = by_default(inner, frame)
            return Told(not told.outcome, told.by) if told is not None else None
        case core.Either(what=what, operands=operands):
            return _either([by_default(operand, frame) for operand in operands], what == "or")
        case core.Do(what=what, args=(left, right)) if what in COMPARE:
            return _compared(what, left, right, frame)
    value, name = default_of(test, frame), path_of(test)
    return Told(bool(value), {name: value}) if value is not UNSAID else None


def _either(told: list[Told | None], decisive: bool) -> Told | None:
    """One operand that is `decisive` decides; else all must be known."""
    for one in told:
        if one is not None and one.outcome is decisive:
            return one
    known = [one for one in told if one is not None]
    if len(known) < len(told):
        return None
    return Told(not decisive, {name: value for one in known for name, value in one.by.items()})


def _compared(what: str, left: Node, right: Node, frame: Frame) -> Told | None:
    by: dict[str, Any] = {}
    sides = []
    for side in (left, right):
        value = _written(side)
        if value is UNSAID:
            value = default_of(side, frame)
            by[path_of(side)] = value
        sides.append(value)
    if not by or UNSAID in sides:
        return None
    try:
        return Told(bool(COMPARE[what](*sides)), by)
    except TypeError:  # a text is not less than a number
        return None


def _written(node: Node) -> Any:
    """What a literal says."""
    if type(node) is core.Const:
        return node.value
    if type(node) is core.Seq:
        items = [_written(item) for item in node.items]
        return UNSAID if UNSAID in items else tuple(items)
    return UNSAID
