"""The calls of several files, with what each gives by default, in, the same with the options out that this asks for:
what a function is given for `steps` may be off wherever it is called, `refine(x, self.steps)`."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Final

from msgspec.structs import replace

from syncguard.infer.branches.asking import spelled_out
from syncguard.infer.branches.meant import binders, necessary, plainly
from syncguard.infer.branches.passing import given, in_sight, positional, unpacks
from syncguard.infer.project import World
from syncguard.infer.routine import Frame, Routine
from syncguard.infer.sightings import Context, Sighting
from syncguard.infer.tell import Texts, snippet
from syncguard.judge.around.called import TENSOR, Ask, Function, Gift, Where
from syncguard.judge.around.calling import Callers, Made, call_at, calls_for
from syncguard.judge.around.standing import asserted
from syncguard.judge.callers.entries import DEEPEST, SEEN
from syncguard.judge.callers.entries import Callers as Entered
from syncguard.judge.defaults.defaults import Place, bound, bound_before
from syncguard.judge.defaults.settled import COMPARE, told_of
from syncguard.judge.options.denied import comes_out, denied, handed_on
from syncguard.judge.options.filled import is_count, is_something
from syncguard.judge.options.opted import BY_DEFAULT, ONLY, only_where, shown
from syncguard.judge.options.rest import each_of_rest, gives_numbers, rest_of
from syncguard.pack.places import Places
from syncguard.read import core
from syncguard.read.core import At, Node
from syncguard.read.tags import CALL, CHECK, CHOOSE, CONST, FUNCTION, IF, NAME
from syncguard.read.walk import walk
from syncguard.terms import Fact

SCALARS: Final = (bool, int, float, str)
IS_GIVEN: Final = re.compile(rf"({ONLY}`(\w+) is not None` holds){re.escape(BY_DEFAULT)}`\2` is `None`")


def asks_of(context: Context, at: At, routine: Routine, world: World, text_of: Texts) -> tuple[Ask, ...]:
    """What a place asks of the parameters of its function, each by itself, that these have yet from who calls it; also
    by what is asserted above it, behind tests."""
    free = _params(routine) if context.tests else frozenset()
    lines, frame = text_of(routine.home.path), Frame(world, routine, {})
    found: list[Ask] = []
    if not free:
        return ()
    sure = [(test, True) for test in asserted(routine.node.body, at)]
    for written, wanted in (*context.tests, *sure):
        for test, outcome in necessary(spelled_out(written, frame), wanted):
            name, what, value = _asked(test)
            if name in free and is_as_given(name, test, routine):
                found.append(Ask(name, what, value, outcome, snippet(test.at, lines), test.at[0]))
    return tuple(found)


def as_tensor(sighting: Sighting, routine: Routine) -> tuple[Ask, ...]:
    """That a parameter which is waited for is a tensor, or one of what a call may give by any name: some calls may give
    a number."""
    free = _free(routine) if sighting.operand is not None else frozenset()
    named = [part for part in walk(routine.node.body) if type(part) is NAME] if free else []
    read = next((part for part in named if part.at == sighting.operand), None)
    if read is None:
        return ()
    name = read.id if read.id in free else each_of_rest(read, routine)
    return (Ask(name, TENSOR, None, True, read.id, read.at[0]),) if name else ()


def _free(routine: Routine) -> frozenset[str]:
    """The parameters of a function that have what they were given; of one that calls itself, none."""
    return frozenset([name for name in _params(routine) if not binders(routine).get(name)])


def _params(routine: Routine) -> frozenset[str]:
    """The parameters of a function; of one that calls itself, none."""
    node = routine.node
    if type(node) is not FUNCTION or routine in routine.calls:
        return frozenset()
    return frozenset([param.name for param in node.params])


def is_as_given(name: str, test: Node, routine: Routine) -> bool:
    """Whether a parameter has what it was given where a test asks for it: `if size is None: size = len(x)`."""
    binds, node = binders(routine).get(name, ()), routine.node
    return not binds or (type(node) is FUNCTION and not bound_before(test, binds, node))


def _asked(test: Node) -> tuple[str, str, bool | int | float | str | None]:
    """The name that a test asks for, how, and what it compares it with."""
    match plainly(test, True)[0]:
        case core.Name(id=name):
            return name, "", None
        case core.Do(what=what, args=(core.Name(id=name), core.Const(value=value))) if what in COMPARE:
            return (name, what, value) if value is None or type(value) in SCALARS else ("", "", None)
    return "", "", None


def as_asked(ask: Ask) -> str:
    """What is said of a place that is only reached where this is given."""
    return f"only where `{ask.text}` is a tensor" if ask.what == TENSOR else only_where(ask.text, ask.outcome, "")


def gives_of(caller: Routine, at: At, callee: Routine, callers: Callers, world: World) -> tuple[Gift, ...]:
    """What a call gives those parameters that the function tests: where that is an option, unless it is set, and what
    is written out."""
    node, written = callee.node, call_at(at, caller)
    if type(node) is not FUNCTION or written is None or not calls_for(written, caller, callee):
        return ()
    sure, written = not unpacks(written), in_sight(written)
    tested, handed = _tested(node), _handed(node)
    places, place = positional(node), Place(Frame(world, caller, {}), callers.of(caller.home))
    found: list[Gift] = []
    for param in node.params if tested or handed else ():
        asked = param.name in tested or param.name in handed
        values = given(written, param, places, bound(written, callee)) if asked else []
        gift = _gift(param.name, values[0], Made(written, caller, Context()), place) if len(values) == 1 else None
        if gift is not None and gift.told and not (sure and param.name in tested):
            gift = replace(gift, value=None, told="", some=gift.number) if gift.own or gift.number else None
        if gift is not None:
            found.append(gift)
    rest = rest_of(node)
    if rest and sure and gives_numbers(Made(written, caller, Context()), node, world):
        found.append(Gift(rest, None, some=True, number=True))
    return tuple(found)


def _tested(node: core.Function) -> set[str]:
    """The names that a function tests, or asserts something of."""
    parts = walk(node.body)
    tests = [part.test for part in parts if type(part) is IF or type(part) is CHOOSE or type(part) is CHECK]
    return {one.id for test in tests for one in walk(test) if type(one) is NAME}


def _handed(node: core.Function) -> set[str]:
    """The names that a function hands on."""
    calls = [part for part in walk(node.body) if type(part) is CALL]
    given_to = [value for call in calls for value in (*call.args, *[value for _, value in call.keywords])]
    return {value.id for value in given_to if type(value) is NAME}


def _gift(name: str, node: Node, made: Made, place: Place) -> Gift | None:
    """What is given to a parameter, as far as that is seen."""
    if type(node) is CONST:
        value = node.value
        return Gift(name, value) if value is None or type(value) in SCALARS else None
    told, own, number = told_of(node, place), _own(node, made.caller), is_count(node, made, place.frame.world)
    if told is not None and told.by and (told.value is None or type(told.value) in SCALARS):
        return Gift(name, told.value, shown(told.by), number=number, own=own)
    if is_something(node, made, place.frame.world):
        return Gift(name, None, some=True, number=number)
    return Gift(name, None, own=own) if own else None


def _own(node: Node, caller: Routine) -> str:
    """The parameter of the caller that is handed on as it was given."""
    function = caller.node
    if type(node) is not NAME or type(function) is not FUNCTION:
        return ""
    told = any(one.name == node.id for one in function.params)
    return node.id if told and not bound_before(node, binders(caller).get(node.id, ()), function) else ""


def in_all(every: list[tuple[Gift, ...]]) -> tuple[Gift, ...]:
    """What all calls give; what some of them hand on and others surely give is handed on."""
    by = [{gift.name: gift for gift in gifts} for gifts in every]
    found: list[Gift] = []
    for name in by[0]:
        gifts = [one[name] for one in by if name in one]
        if len(gifts) < len(by):
            continue
        owns = {gift.own for gift in gifts if gift.own}
        if all(gift == gifts[0] for gift in gifts):
            found.append(gifts[0])
        elif all(gift.own or _is_there(gift) for gift in gifts) and len(owns) < 2:
            number = not owns and all(gift.number or not gift.some for gift in gifts)
            found.append(Gift(name, None, some=not owns, number=number, own="".join(owns)))
    return tuple(found)


def _is_there(gift: Gift) -> bool:
    """Whether what is given is surely something."""
    return gift.some or (gift.value is not None and not gift.told)


class Given:
    """What functions are given by the calls of several files."""

    def __init__(self, entries: Entered, calls: Mapping[str, tuple[Function, ...]]) -> None:
        self.entries, self.calls = entries, calls
        self._functions: dict[Where, Function] | None = None

    def options(self, where: Where, asks: tuple[Ask, ...]) -> Iterator[Fact]:
        """The options of what asks a function's parameters for this, where all calls give what is otherwise."""
        every = [call for _, _, call in self.entries.get(where, ())] if asks else []
        for ask in asks if every else ():
            if ask.what == TENSOR:
                continue
            gifts = [gift for call in every for gift in call.gives if gift.told and gift.name == ask.name]
            if len(gifts) == len(every) and not any(comes_out(ask, gift) is ask.outcome for gift in gifts):
                default = " and ".join(dict.fromkeys([gift.told for gift in gifts]))
                yield Fact(f"{SEEN}{only_where(ask.text, ask.outcome, f'{BY_DEFAULT}{default}')}", ask.line, where[0])

    def refused(self, where: Where, asks: tuple[Ask, ...]) -> Iterator[Fact]:
        """What is asked of a function's parameters that all its calls say they do not give."""
        every = [call for _, _, call in self.entries.get(where, ())] if asks else []
        for ask in asks if every else ():
            if all(denied(call, (ask,)) for call in every):
                yield Fact(as_asked(ask), ask.line)

    def nowhere(self, where: Where, asks: tuple[Ask, ...], lonely: Callable[[Collection[Where]], bool]) -> Fact | None:
        """That no call leads to what asks a function's parameters for this, where nobody else may call it; None where
        one may."""
        met: list[Where] = []
        if not asks or not self._denied(where, asks, met) or not lonely(met):
            return None
        first = next((ask for ask in asks if self._denied(where, (ask,), [])), asks[0])
        if first.what == TENSOR:
            return Fact(f"as far as we see, `{first.text}` is a tensor in none of its calls", first.line)
        how = "none of" if first.outcome else "all"
        return Fact(f"as far as we see, `{first.text}` holds for {how} its calls", first.line)

    def _denied(self, where: Where, asks: tuple[Ask, ...], met: list[Where]) -> bool:
        """Whether each call of a function that nobody calls but by its name gives otherwise, or hands on what all calls
        of its caller do."""
        function = self.functions.get(where)
        every = self.entries.get(where, ())
        if function is None or not every or where in met or len(met) > DEEPEST:
            return False
        met.append(where)
        for caller, _, call in every:
            above = () if denied(call, asks) else handed_on(call, asks)
            if not (denied(call, asks) or (above and self._denied(caller, above, met))):
                return False
        return True

    @property
    def functions(self) -> dict[Where, Function]:
        """Those that nobody calls but by their names, and that nothing in their own files makes hot."""
        if self._functions is None:
            every = ((path, f) for path, functions in self.calls.items() for f in functions)
            asked = ((path, f) for path, f in every if f.by_name and not f.open and not f.keeper)
            self._functions = {(path, f.name): f for path, f in asked if f.heat == "unknown" or f.here}
        return self._functions

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
    asked, changed = Given(entries, files), {}
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
