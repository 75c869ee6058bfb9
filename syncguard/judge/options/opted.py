"""What surrounds a wait in, the options that must be set for it to be reached out: by default its tests come out the
other way."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any, Final

from syncguard.infer.branches.asking import spelled_out
from syncguard.infer.branches.meant import binders, necessary
from syncguard.infer.branches.passing import given, none_if_left, positional
from syncguard.infer.branches.subjects import alike
from syncguard.infer.project import World
from syncguard.infer.routine import Frame, Routine
from syncguard.infer.sightings import Asked, Context
from syncguard.infer.tell import Texts, snippet
from syncguard.judge.around.calling import Callers, call_at
from syncguard.judge.around.chosen import chosen, known_as
from syncguard.judge.defaults.defaults import Place
from syncguard.judge.defaults.settings import asks
from syncguard.judge.defaults.settled import UNSET, outcome_of, told_of
from syncguard.judge.options.alternatives import alternative
from syncguard.judge.options.barred import without_barred
from syncguard.judge.options.leading import leading, tests_around
from syncguard.judge.options.left_out import left_out
from syncguard.judge.options.missing import missing
from syncguard.judge.options.precision import of_few, of_precision
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, CLASS, CONST, DO, EITHER, FUNCTION, IF, LEAVE, LOOP, NAME
from syncguard.read.walk import around, walk
from syncguard.terms import Fact

ONLY: Final = "only where "
BY_DEFAULT: Final = "; by default "
NAMED: Final = "in this file named "
SEEN_MADE: Final = "as far as we see made "


def opted(context: Context, routine: Routine, callers: Callers, world: World, text_of: Texts) -> tuple[Fact, ...]:
    """Each test around a place that comes out the other way unless an option is set, from without, and each loop over
    what is empty unless one is; and the key that a function is chosen by."""
    tests = tuple([(id(test), outcome) for test, outcome in context.tests])
    key = (routine, tests, tuple([id(loop.node) for loop in context.loops]))
    known = callers.behind.get(key)
    if known is None:
        known = callers.behind[key] = _opted(context, routine, callers, world, text_of)
    return known


def _opted(context: Context, routine: Routine, callers: Callers, world: World, text_of: Texts) -> tuple[Fact, ...]:
    outside, top = _defined_behind(routine), routine.home.top
    node = routine.owner.node if routine.owner is not None else routine.node
    decorated = (type(node) is FUNCTION or type(node) is CLASS) and bool(node.decorators)
    table = callers.of(routine.home).tabled(world.places) if not routine.closure else {}
    here = without_barred(Place(Frame(world, routine, {}), callers), context.tests)
    looped = [*_looped(context, here), *_going_on(context)]
    if not (context.tests or looped or decorated or known_as(routine) in table or outside):
        return ()
    found: dict[str, Fact] = {}
    lines = text_of(routine.home.path)
    for kept in (chosen(routine, lines), table.get(known_as(routine))):
        if kept is not None:
            found[kept.text] = kept
    there = Place(Frame(world, top or routine, {}), callers)
    tests = [(test, outcome, None, there) for test, outcome in (outside if top is not None else ())]
    stands_for: dict[int, str] = {}  # what is told of a name's test is told better by those it was bound behind
    inner = [(*one, here) for one in _tested((*looped, *context.tests), here.frame)]
    equal = [test for test, outcome, _, _ in inner if outcome and _equals(test)]
    for test, outcome, behind, place in (*tests, *inner):
        if not outcome and any(_apart(test, one) for one in equal):
            continue
        default = _otherwise(test, outcome, place)
        written = "" if default is None else only_where(_written(test, lines), outcome, default)
        text = written or left_out(test, outcome, place) or missing(test, outcome, place)
        text = text or alternative(test, outcome, place)
        if text:
            found.setdefault(text, Fact(text, test.at[0]))
            stands_for[id(test)] = text
            if (before := stands_for.get(id(behind), "")) != text:
                found.pop(before, None)
    return tuple(found.values())


def _looped(context: Context, place: Place) -> list[Asked]:
    """That there is something for the loops around a place to go through that may be empty: `for rule in rules or []`.
    None cannot be gone through."""
    over = [loop.node.iterable for loop in context.loops if type(loop.node) is LOOP]
    found = [one for iterable in over if iterable is not None for one in _gone_through(iterable)]
    named = [(one, told_of(one, place)) for one in found if type(one) in (NAME, ATTR, EITHER)]
    return [(core.Do("truth", (one,), one.at), True) for one, told in named if told is not None and told.value == ()]


def _going_on(context: Context) -> list[Asked]:
    """That the loop of the steps around a place has a second turn, where each may end it: `if not cfg.all: break`."""
    step = next((loop.node for loop in context.loops if loop.reason), None)
    tests = [part for part in step.body if type(part) is IF and not part.orelse] if type(step) is LOOP else []
    ends = [(one.test, one.body[-1]) for one in tests if one.body]
    return [(test, False) for test, last in ends if type(last) is LEAVE and last.what in ("break", "return")]


def _gone_through(iterable: Node) -> tuple[Node, ...]:
    """What a loop takes its items from: `for i, rule in enumerate(self.rules)`."""
    match iterable:
        case core.Call(fn=core.Name(id="enumerate" | "reversed" | "sorted" | "list" | "tuple"), args=(first, *_)):
            return (first,)
        case core.Call(fn=core.Name(id="zip"), args=args):
            return args
    return (iterable,)


def _equals(test: Node) -> bool:
    return type(test) is DO and test.what == "==" and type(test.args[1]) is CONST


def _apart(test: Node, other: Node) -> bool:
    """Whether one thing cannot be equal to what both ask: it is not the first if it is the second."""
    if type(test) is not DO or type(other) is not DO or not _equals(test):
        return False
    return alike(test.args[0], other.args[0]) and not alike(test.args[1], other.args[1])


def _defined_behind(routine: Routine) -> tuple[Asked, ...]:
    """The tests of its file that a function, or its class, is defined behind: `if is_sharded_enabled():`."""
    node: Node = routine.owner.node if routine.owner is not None else routine.node
    if type(node) is not FUNCTION and type(node) is not CLASS:
        return ()
    branches = [part for part in routine.home.core.body if type(part) is IF and around(part.at, node.at)]
    return tuple([asked for _, asked in tests_around(tuple(branches), node.at)]) if branches else ()


def off_by_default(option: Fact) -> bool:
    """Whether it is seen what an option is unless it is set, of a function that others have no name for."""
    return BY_DEFAULT in option.text and not option.text.startswith((NAMED, SEEN_MADE))


def only_where(test: str, outcome: bool, default: str) -> str:
    """What is said of a test, with what its options are by default."""
    return f"{ONLY}`{test}` {'holds' if outcome else 'does not hold'}{default}"


def _written(test: Node, lines: Sequence[str]) -> str:
    """A test as it is written; of a `case`, with what is matched against its pattern. What a call only needs to be
    given, as it would be asked for."""
    shown = snippet(test.at, lines)
    if type(test) is DO and _unwritten(test):
        return f"{shown} {test.what} None"
    if type(test) is DO and len(test.args) == 2 and test.args[0].at[:2] < test.at[:2]:
        return f"{snippet(test.args[0].at, lines)} == {shown}"
    return shown


def _unwritten(test: core.Do) -> bool:
    """Whether nobody asks this, but a call goes by it."""
    return test.what == "is not" and test.args[0].at == test.at


def _giving(test: core.Do, place: Place) -> list[bool]:
    """Of each call in the file, whether it gives the argument that a call goes by, and not one that may be None itself:
    the function may hand it to itself."""
    node, asked = place.routine.node, test.args[0]
    name = asked.id if type(asked) is NAME and _unwritten(test) else ""
    param = next((one for one in node.params if one.name == name), None) if type(node) is FUNCTION else None
    if param is None or type(node) is not FUNCTION:
        return []
    calls = [(caller, call_at(at, caller)) for caller, at, _ in place.callers.of_each.get(place.routine, ())]
    places = positional(node)
    return [
        call is not None and any(_sure(value, caller) for value in given(call, param, places))
        for caller, call in calls
        if caller is not place.routine
    ]


def _sure(value: Node, caller: Routine) -> bool:
    """Whether what a call gives is not None."""
    return not (type(value) is CONST and value.value is None) and not _handed_on(value, caller)


def _handed_on(value: Node, caller: Routine) -> bool:
    """Whether this is an argument of the caller, as it was given, that is None if it is left out."""
    name, node = value.id if type(value) is NAME else "", caller.node
    params = node.params if type(node) is FUNCTION and name and not binders(caller).get(name) else ()
    return any(one.name == name and none_if_left(one) for one in params)


def _tested(tests: tuple[Asked, ...], frame: Frame) -> Iterator[tuple[Node, bool, Node | None]]:
    """The parts of these tests that must each come out so, and of those that must for what they ask for to be there,
    with what asks for it."""
    routine = frame.routine
    demanded = _demanded(routine) if tests else ()
    todo: list[tuple[Node, bool, Node | None]] = [(asked, wanted, None) for asked, wanted in tests]
    met = {(id(asked), wanted) for asked, wanted in tests}
    for asked, wanted, behind in todo:
        if (id(asked), wanted) in demanded:
            continue
        for test, outcome in necessary(spelled_out(asked, frame), wanted):
            yield test, outcome, behind
            for before in leading(test, outcome, routine):
                if (id(before[0]), before[1]) not in met:
                    met.add((id(before[0]), before[1]))
                    todo.append((before[0], before[1], test))


def _demanded(routine: Routine) -> Container[tuple[int, bool]]:
    """The tests that must come out so because all else raises: what must be set is no option. The last one of several
    that are asked in turn is one of these."""
    written = routine.written
    if written.demanded is None:
        every = [part for part in walk(routine.node.body) if type(part) is IF]
        later = {id(part.orelse[0]) for part in every if len(part.orelse) == 1 and not _raises(part.body)}
        tests = [part for part in every if id(part) not in later]
        arms = [(part.test, arm is part.orelse, arm) for part in tests for arm in (part.body, part.orelse)]
        written.demanded = frozenset([(id(test), outcome) for test, outcome, arm in arms if _raises(arm)])
    return written.demanded


def _raises(arm: tuple[Node, ...]) -> bool:
    last = arm[-1] if arm else None
    return type(last) is LEAVE and last.what == "raise"


def _otherwise(test: Node, outcome: bool, place: Place) -> str | None:
    """What the options of a test are by default, where it comes out the other way then, and nothing where nobody sees
    what they are; None where it does not."""
    if of_precision(test, outcome, place.frame) or of_few(test, outcome, place.frame):
        return ""
    told = outcome_of(test, place)
    if told is None:
        return "" if asks(test, outcome, place) else None
    if told.value is outcome or not told.by:
        return None
    if type(test) is DO and any(giving := _giving(test, place)):
        return None if all(giving) else ""
    if all(place.frame.world.places.is_("names", "modes", name.rpartition(".")[2]) for name in told.by):
        return None
    return f"{BY_DEFAULT}{shown(told.by)}"


def shown(defaults: Mapping[str, Any]) -> str:
    """What options are unless they are set."""
    return " and ".join(f"`{name}` {_shown(value)}" for name, value in defaults.items())


def _shown(value: Any) -> str:
    """A default as most people write it."""
    if value is UNSET:
        return "is not set"
    text = repr(value)
    return f'is `"{text[1:-1]}"`' if isinstance(value, str) and '"' not in text else f"is `{text}`"
