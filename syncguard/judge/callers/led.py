"""A wait behind a test of an argument in, how often the calls run out that give the argument what the wait needs: what
makes the function hot may leave it out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, TypeVar

import msgspec
from msgspec.structs import replace

from syncguard.infer.branches.asking import spelled_out
from syncguard.infer.branches.meant import binders, plainly
from syncguard.infer.branches.passing import given, is_default, none_if_left, positional, unpacks
from syncguard.infer.branches.subjects import last_name
from syncguard.infer.branches.ungiven import calls_of, lacks
from syncguard.infer.project import World
from syncguard.infer.routine import Frame, Routine
from syncguard.infer.sightings import Asked, Context
from syncguard.infer.tell import Texts, site
from syncguard.judge.around.called import Ask, Gift
from syncguard.judge.around.called import Needs as Asks
from syncguard.judge.around.calling import Callers, Calling, call_at, calls_for
from syncguard.judge.callers.behind import HERE, HOT
from syncguard.judge.callers.giving import as_tensor, asks_of, gives_of, is_as_given
from syncguard.judge.defaults.defaults import Place, bound
from syncguard.judge.defaults.settled import CASTS, outcome_of, told_of
from syncguard.judge.heat.heat import around_what
from syncguard.judge.heat.warmth import Warmth
from syncguard.judge.options.barred import barred_from
from syncguard.judge.options.common import common, question_of
from syncguard.judge.options.opted import opted
from syncguard.judge.options.refused import refused
from syncguard.judge.options.unpacked import held, rest_of
from syncguard.read import core
from syncguard.read.core import At, Node, Param
from syncguard.read.tags import BIND, CALL, CONST, FUNCTION, NAME
from syncguard.read.walk import walk
from syncguard.terms import Fact, Heat

LEAST: Final = 2  # facts of a path that ends with a call
DEEPEST: Final = 4  # functions that hand on what they are given


class Led(msgspec.Struct, frozen=True):
    """How often a place runs by the calls that lead to it, and the options that these stand behind where others lead
    elsewhere, and what is asked for that these do not give."""

    warmth: Warmth
    options: tuple[Fact, ...] = ()
    refused: tuple[Fact, ...] = ()

    def besides(self, own: tuple[Fact, ...], heat: Heat) -> list[Fact]:
        """The options of the calls, but for those that the place itself names, too; what they do not give is told of
        a place to which no others are known to lead."""
        more = self.refused if heat == "unknown" else ()
        had = {question_of(one.text) for one in own}
        return [
            *[fact for fact in more if question_of(fact.text) not in had],
            *[fact for fact in self.options if not any(fact.text.endswith(one.text) for one in own)],
        ]


Item = TypeVar("Item")
Needs = list[frozenset[str]]  # parameters, of each of which a call must give one


class Ways(msgspec.Struct, frozen=True):
    """The calls of a file's functions, and how often each function runs."""

    warmth: Mapping[Routine, Warmth]
    callers: Callers
    world: World
    text_of: Texts

    def to(self, context: Context, routine: Routine) -> Led:
        """The warmth of a function as those calls of its file have it that come to a place in it."""
        known = self.warmth[routine]
        if known.heat != "hot" or not context.tests:
            return Led(known)
        barred = self._barred(context, routine)
        barred = barred if barred.issuperset(self._of_itself(routine)) else frozenset[At]()
        led = self._giving(self._asked_by(context, routine), routine, 0, barred)
        if not barred or led.warmth.heat == "hot":
            return led
        told = refused(Place(Frame(self.world, routine, {}), self.callers), context.tests, self.text_of)
        return Led(led.warmth, led.options, told)

    def needed(self) -> dict[tuple[int, int], Asks]:
        """By the places of waits in functions that other files may make hot, the parameters that a call must give for
        one to be reached: one of each group."""
        found: dict[tuple[int, int], Asks] = {}
        for routine, warmth in self.warmth.items():
            waits = routine.sightings.values() if warmth.heat == "unknown" or warmth.here else ()
            for sighting in waits:
                needs = self.asked_by(sighting.context, routine)
                if needs:
                    at = site(routine.home.path, sighting.at, self.text_of(routine.home.path))
                    found[at.line, at.column] = needs
        return found

    def asked_by(self, context: Context, routine: Routine) -> Asks:
        """The parameters of a function that a call must give for a place in it to be reached: one of each group."""
        return tuple([tuple(sorted(names)) for names in self._asked_by(context, routine)])

    def _asked_by(self, context: Context, routine: Routine) -> Needs:
        """The same, but for what the function may give itself where it calls itself."""
        needs = [*_needs(context.tests, routine, self.callers, self.world)] if context.tests else []
        own = self._of_itself(routine) if needs else []
        barred = self._barred(context, routine) if own else frozenset[At]()
        own = [at for at in own if at not in barred]
        kept = [left_by(routine, at, routine) | _same_handed(routine, at) for at in own]
        return [names for names in needs if all(names <= left for left in kept)]

    def _barred(self, context: Context, routine: Routine) -> frozenset[At]:
        """The calls of a function in its file that say that they do not come to a place in it."""
        return barred_from(Place(Frame(self.world, routine, {}), self.callers), context.tests)

    def _of_itself(self, routine: Routine) -> list[At]:
        """The calls of a function by itself."""
        return [at for caller, at, _ in self.callers.of_each.get(routine, ()) if caller is routine]

    def gives(self, caller: Routine, at: At, callee: Routine) -> tuple[Gift, ...]:
        """What a call of a function by another one gives it by default."""
        return gives_of(caller, at, callee, self.callers, self.world)

    def asks(self, routine: Routine, calls: list[tuple[At, Context]]) -> tuple[Ask, ...]:
        """What all places of these calls ask the parameters of their function for."""
        return _in_all([asks_of(context, at, routine, self.world, self.text_of) for at, context in calls])

    def asked(self) -> dict[tuple[int, int], tuple[Ask, ...]]:
        """The same by the places of waits in functions that other files may make hot."""
        found: dict[tuple[int, int], tuple[Ask, ...]] = {}
        for routine, warmth in self.warmth.items():
            for sighting in routine.sightings.values() if warmth.heat == "unknown" else ():
                asks = asks_of(sighting.context, sighting.at, routine, self.world, self.text_of)
                if asks := (*asks, *as_tensor(sighting, routine)):
                    at = site(routine.home.path, sighting.at, self.text_of(routine.home.path))
                    found[at.line, at.column] = asks
        return found

    def needs_of(self, every: list[Context], routine: Routine) -> tuple[Asks, tuple[Fact, ...]]:
        """The same of several places, as far as all of them ask for it; of one to which what makes the function hot in
        its file leads, nothing, but the path by which it does if that is not the function's own."""
        shared = _in_all([self.asked_by(context, routine) for context in every])
        known = self.warmth[routine]
        ways = [self.to(one, routine).warmth for one in every] if shared and known.heat == "hot" else []
        leading = [way for way in ways if way.heat == "hot"]
        if not leading:
            return shared, ()
        return (), () if known in leading else leading[0].path

    def _giving(self, needs: Needs, routine: Routine, deep: int, barred: frozenset[At] = frozenset()) -> Led:
        """The same of the calls that give a function what is needed, but for some."""
        known = self.warmth[routine]
        if not (needs or barred) or known.heat != "hot" or len(known.path) < LEAST or deep > DEEPEST:
            return Led(known)
        calls = [call for call in self.callers.of_each.get(routine, ()) if call[0] is not routine]
        asked = [
            _asked(call, needs, routine, self.callers, self.world) if call[1] not in barred else None for call in calls
        ]
        leading = [(call, above) for call, above in zip(calls, asked, strict=True) if above is not None]
        every = len(leading) == len(calls)
        if every and not any(above for _, above in leading):
            return Led(known)
        ways = [(self._way(call, above, routine, deep), call) for call, above in leading]
        for heat in ("hot", "amortized"):
            found = [(way, call) for way, call in ways if way.heat == heat]
            if found:
                shown = known if known in [way for way, _ in found] else min([way for way, _ in found], key=_length)
                those = [call for _, call in found] if not every else []
                return Led(shown, tuple(self._options(those, HOT if heat == "hot" else HERE)))
        return Led(Warmth("unknown"))

    def _way(self, call: Calling, needs: Needs, routine: Routine, deep: int) -> Warmth:
        """How often a call runs that must be given something itself, with the path that leads there."""
        caller, at, context = call
        step = next((loop for loop in context.loops if loop.reason), None)
        known = self._giving(needs, caller, deep + 1).warmth
        if step is not None:
            known = Warmth("hot", (Fact(step.reason, step.at[0], caller.home.path),))
        if context.failing or known.heat not in ("hot", "amortized"):
            return Warmth("unknown")
        seldom = context.rare or (step is None and bool(around_what(caller, context, self.world.places)))
        path = (*known.path, Fact(f"calls `{routine.qualname}`", at[0], caller.home.path))
        return Warmth("amortized" if seldom else known.heat, path)

    def _options(self, calls: list[Calling], said: str) -> Iterator[Fact]:
        """The options that calls have in common."""
        around = [opted(context, caller, self.callers, self.world, self.text_of) for caller, _, context in calls]
        for fact in common(around):
            yield replace(fact, text=f"{said}{fact.text}")


def _length(way: Warmth) -> int:
    return len(way.path)


def _needs(tests: tuple[Asked, ...], routine: Routine, callers: Callers, world: World) -> Iterator[frozenset[str]]:
    """The parameters of which a call must give one, for each test that comes out otherwise where it leaves them out."""
    node = routine.node
    left = [param for param in node.params if type(param.default) is CONST] if type(node) is FUNCTION else []
    place = Place(Frame(world, routine, {}), callers)
    for written, outcome in tests if left else ():
        test = spelled_out(written, place.frame)
        asked = {part.id for part in walk(test) if type(part) is NAME}
        named = [param for param in left if param.name in asked]
        kept = frozenset([param.name for param in named if is_as_given(param.name, test, routine)])
        about = [param for param in named if param.name in kept or _is_cast(param, routine)]
        given_none = [param for param in about if param.name in kept and none_if_left(param)]
        if nothing := [param for param in given_none if lacks(test, outcome, param.name)]:
            yield from [frozenset([param.name]) for param in nothing]
        elif about and (told := outcome_of(test, place)) is not None and told.value is not outcome:
            plain = plainly(test, outcome)[0]  # what a private function is handed hangs on more
            alone = type(plain) is NAME and plain.id in told.by
            names = frozenset((plain.id,)) if type(plain) is NAME and alone else frozenset(told.by)
            if names and names <= {param.name for param in about}:
                yield names


def _is_cast(param: Param, routine: Routine) -> bool:
    """Whether a parameter is bound anew to nothing but a number or a text that is made of it: `p = float(p)`."""
    return all(
        type(bind) is BIND
        and type(bind.value) is CALL
        and last_name(bind.value.fn) in CASTS
        and [part.id for part in bind.value.args if type(part) is NAME] == [param.name]
        for bind in binders(routine).get(param.name, ())
    )


def _asked(call: Calling, needs: Needs, routine: Routine, callers: Callers, world: World) -> Needs | None:
    """What the caller must be given to hand it on, where a call gives what is needed, as far as it is seen; None where
    it does not."""
    caller, at, _ = call
    written, node = _plainly_given(caller, at, routine), routine.node
    if written is None or type(node) is not FUNCTION:
        return []
    places, takes = positional(node), bound(written, routine)
    gives = {param.name: given(written, param, places, takes) for param in node.params}
    left = {param.name for param in node.params if all(is_default(one, param) for one in gives[param.name])}
    if any(names <= left for names in needs):
        return None
    alone = [param for param in node.params if frozenset([param.name]) in needs]
    above = [name for param in alone for name in _handed_on(gives[param.name], param, caller)]
    made = [names for param in alone if (names := _made_of(gives[param.name], param, caller, callers, world))]
    return [*[frozenset([name]) for name in above], *made]


def _in_all(every: list[tuple[Item, ...]]) -> tuple[Item, ...]:
    """The items of the first that each of the others has."""
    return tuple([one for one in every[0] if all(one in other for other in every)])


def left_by(caller: Routine, at: At, routine: Routine) -> frozenset[str]:
    """The parameters with a default that a call surely leaves at that."""
    gives, kept = _gives(caller, at, routine)
    return frozenset([one.name for one in kept if all(is_default(value, one) for value in gives[one.name])])


def handed_by(caller: Routine, at: At, routine: Routine) -> frozenset[tuple[str, str]]:
    """The parameters with a default that a call gives one of the caller's own, which is the same where it is left out,
    each with that."""
    gives, kept = _gives(caller, at, routine)
    return frozenset([(one.name, own) for one in kept for own in _handed_on(gives[one.name], one, caller)])


def _same_handed(routine: Routine, at: At) -> frozenset[str]:
    """What a call of a function by itself hands on as it is."""
    return frozenset([name for name, own in handed_by(routine, at, routine) if name == own])


def _gives(caller: Routine, at: At, routine: Routine) -> tuple[dict[str, list[Node]], list[Param]]:
    """What a call gives each parameter with a default that is written down, as far as that is seen, and these."""
    node, written = routine.node, call_at(at, caller)
    if type(node) is not FUNCTION or written is None or not calls_for(written, caller, routine):
        return {}, []
    kept = [param for param in node.params if type(param.default) is CONST]
    if unpacks(written):
        lacking = _lacking(written, caller, kept) | {key for key, _ in written.keywords}  # what is given is not there
        kept = [param for param in kept if param.name in lacking]
        written = replace(written, keywords=tuple([one for one in written.keywords if one[0]]))
    places, takes = positional(node), bound(written, routine)
    return {one.name: given(written, one, places, takes) for one in kept}, kept


def _lacking(call: core.Call, caller: Routine, kept: list[Param]) -> frozenset[str]:
    """Those of some parameters that are surely not in the dict that a call takes arguments out of, or there as they are
    by default: another one of the file gives it beside that, `fit(net, exact=True, **rest)`."""
    rest = rest_of(call)
    written = held(call, caller)
    if written is not None:
        return frozenset([one.name for one in kept if one.name not in written or is_default(written[one.name], one)])
    others = calls_of(last_name(call.fn), caller.home) if rest else []
    beside = [one for one in others if one is not call and rest_of(one) == rest]
    return frozenset([key for one in beside for key, _ in one.keywords if key])


def _plainly_given(caller: Routine, at: At, routine: Routine) -> core.Call | None:
    """A call of which it is seen what it gives; None where the function is handed about, or has another name there."""
    written = call_at(at, caller)
    if written is None or not calls_for(written, caller, routine):
        return None
    return written if not unpacks(written) else None


def _handed_on(values: list[Node], param: Param, caller: Routine) -> list[str]:
    """The parameter of the caller that stands there alone, and is the same where it is left out."""
    value, node = values[0] if len(values) == 1 else None, caller.node
    if type(value) is not NAME or type(node) is not FUNCTION or binders(caller).get(value.id):
        return []
    return [one.name for one in node.params if one.name == value.id and one.default and is_default(one.default, param)]


def _made_of(values: list[Node], param: Param, caller: Routine, callers: Callers, world: World) -> frozenset[str]:
    """Those of the caller's own parameters of which one must be given for what is made of them to be anything but what
    is left out: `check=not train`, with `train=True`."""
    value, node = values[0] if len(values) == 1 else None, caller.node
    if type(node) is not FUNCTION or value is None or type(value) is NAME or type(value) is CONST:
        return frozenset()
    told = told_of(value, Place(Frame(world, caller, {}), callers.of(caller.home)))
    own = {one.name for one in node.params if type(one.default) is CONST and not binders(caller).get(one.name)}
    default = param.default.value if type(param.default) is CONST else value
    same = told is not None and type(told.value) is type(default) and told.value == default
    return frozenset(told.by) if told is not None and same and own.issuperset(told.by) else frozenset()
