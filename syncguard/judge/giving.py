"""The calls of several files, with what each gives by default, in, the same with the options out that this asks for:
what a function is given for `steps` may be off wherever it is called, `refine(x, self.steps)`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import msgspec
from msgspec.structs import replace

from syncguard.infer.branches.asking import spelled_out
from syncguard.infer.branches.meant import binders, necessary, plainly
from syncguard.infer.branches.passing import given, positional, unpacks
from syncguard.infer.branches.subjects import last_name
from syncguard.infer.project import World
from syncguard.infer.routine import Frame, Routine
from syncguard.infer.sightings import Context
from syncguard.infer.tell import Texts, snippet
from syncguard.judge.called import Ask, Function, Gift, Where
from syncguard.judge.calling import Callers, call_at
from syncguard.judge.defaults import Place, bound
from syncguard.judge.entries import SEEN
from syncguard.judge.entries import Callers as Entered
from syncguard.judge.opted import BY_DEFAULT, ONLY, only_where, shown
from syncguard.judge.settled import COMPARE, told_of
from syncguard.places import Places
from syncguard.read import core
from syncguard.read.core import At, Node
from syncguard.read.tags import CONST, FUNCTION, IF, NAME
from syncguard.read.walk import walk
from syncguard.terms import Fact

SCALARS: Final = (bool, int, float, str)
IS_GIVEN: Final = re.compile(rf"({ONLY}`(\w+) is not None` holds){re.escape(BY_DEFAULT)}`\2` is `None`")


def asks_of(context: Context, routine: Routine, world: World, text_of: Texts) -> tuple[Ask, ...]:
    """What a place asks of the parameters of its function, each by itself, that these have yet from who calls it."""
    node = routine.node
    if type(node) is not FUNCTION or not context.tests or routine in routine.calls:  # which may give it itself
        return ()
    lines, frame = text_of(routine.home.path), Frame(world, routine, {})
    free = {param.name for param in node.params if not binders(routine).get(param.name)}
    found: list[Ask] = []
    for written, wanted in context.tests:
        for test, outcome in necessary(spelled_out(written, frame), wanted):
            name, what, value = _asked(test)
            if name in free:
                found.append(Ask(name, what, value, outcome, snippet(test.at, lines), test.at[0]))
    return tuple(found)


def _asked(test: Node) -> tuple[str, str, bool | int | float | str | None]:
    """The name that a test asks for, how, and what it compares it with."""
    match plainly(test, True)[0]:
        case core.Name(id=name):
            return name, "", None
        case core.Do(what=what, args=(core.Name(id=name), core.Const(value=value))) if what in COMPARE:
            return (name, what, value) if value is None or type(value) in SCALARS else ("", "", None)
    return "", "", None


def gives_of(caller: Routine, at: At, callee: Routine, callers: Callers, world: World) -> tuple[Gift, ...]:
    """What a call gives those parameters that the function tests, where that is an option, unless it is set."""
    node, written = callee.node, call_at(at, caller)
    if type(node) is not FUNCTION or written is None or last_name(written.fn) != callee.name or unpacks(written):
        return ()
    tested = {
        part.id for branch in walk(node.body) if type(branch) is IF for part in walk(branch.test) if type(part) is NAME
    }
    places, place = positional(node), Place(Frame(world, caller, {}), callers.of(caller.home))
    found: list[Gift] = []
    for param in node.params if tested else ():
        values = given(written, param, places, bound(written, callee)) if param.name in tested else []
        told = told_of(values[0], place) if len(values) == 1 and type(values[0]) is not CONST else None
        if told is not None and told.by and (told.value is None or type(told.value) in SCALARS):
            found.append(Gift(param.name, told.value, shown(told.by)))
    return tuple(found)


class Given(msgspec.Struct):
    """What functions are given by the calls of several files."""

    entries: Entered

    def options(self, where: Where, asks: tuple[Ask, ...]) -> Iterator[Fact]:
        """The options of what asks a function's parameters for this, where all calls give what is otherwise."""
        every = [call for _, _, call in self.entries.get(where, ())] if asks else []
        for ask in asks if every else ():
            gifts = [gift for call in every for gift in call.gives if gift.name == ask.name]
            if len(gifts) == len(every) and not any(_holds(ask, gift.value) is ask.outcome for gift in gifts):
                default = " and ".join(dict.fromkeys([gift.told for gift in gifts]))
                yield Fact(f"{SEEN}{only_where(ask.text, ask.outcome, f'{BY_DEFAULT}{default}')}", ask.line, where[0])

    def still(self, where: Where, options: tuple[Fact, ...], places: Places) -> tuple[Fact, ...]:
        """Options of a function, but for a device that all calls name; of one that some name it is not said that none
        does."""
        found: list[Fact] = []
        for fact in options:
            asked = IS_GIVEN.fullmatch(fact.text)
            name = asked[2] if asked is not None and places.is_("names", "devices", asked[2]) else ""
            calls = [call for _, _, call in self.entries.get(where, ()) if not call.rare] if name else []
            giving = [call for call in calls if name not in call.left and name not in dict(call.hands)]
            if asked is None or not giving:
                found.append(fact)
            elif len(giving) < len(calls):
                found.append(replace(fact, text=asked[1]))
        return tuple(found)


def with_given(files: dict[str, tuple[Function, ...]], entries: Entered) -> dict[str, tuple[Function, ...]]:
    """The calls of several files, each with the options of what it stands behind."""
    asked, changed = Given(entries), {}
    for path, functions in files.items():
        told = tuple([_with(path, function, asked) for function in functions])
        if any(new is not old for new, old in zip(told, functions)):
            changed[path] = told
    return {**files, **changed} if changed else files


def _with(path: str, function: Function, asked: Given) -> Function:
    if function.heat != "unknown" or not any(call.asks for call in function.calls):
        return function
    calls = [(call, [*asked.options((path, function.name), call.asks)]) for call in function.calls]
    if not any(more for _, more in calls):
        return function
    bare = [(call, tuple([replace(one, text=one.text.removeprefix(SEEN)) for one in more])) for call, more in calls]
    return replace(function, calls=tuple([replace(call, options=(*call.options, *more)) for call, more in bare]))


def _holds(ask: Ask, value: bool | int | float | str | None) -> bool | None:
    """How a test comes out; None where nobody can tell."""
    try:
        return bool(COMPARE[ask.what](value, ask.value)) if ask.what else bool(value)
    except TypeError:
        return None
