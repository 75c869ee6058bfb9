"""A place in a method in, what it asks of the arguments that its object was made with out, as far as the object keeps
them as they were given; and, with what all who make such an object write for these, whether it is ever reached."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from msgspec.structs import replace

from syncguard.infer.branches.arms import steady
from syncguard.infer.branches.asking import spelled_out
from syncguard.infer.branches.meant import necessary, plainly
from syncguard.infer.branches.passing import given, unpacks
from syncguard.infer.classes import ClassInfo
from syncguard.infer.home import Home
from syncguard.infer.project import World
from syncguard.infer.routine import Frame, Routine
from syncguard.infer.sightings import Context
from syncguard.infer.tell import Texts, site, snippet
from syncguard.judge.around.bound import bound_to
from syncguard.judge.around.called import LISTS, Ask, Called, Gift, Where
from syncguard.judge.around.calling import Callers
from syncguard.judge.defaults.defaults import Place
from syncguard.judge.defaults.fields import all_stored
from syncguard.judge.defaults.settled import COMPARE
from syncguard.judge.options.denied import comes_out
from syncguard.judge.options.listed import must_list, only_read, texts_of
from syncguard.read import core
from syncguard.read.core import Call, Node, Param
from syncguard.read.tags import CONST, FUNCTION, NAME
from syncguard.terms import Fact, Finding

SCALARS: Final = (bool, int, float, str)
At = tuple[int, int]


def asked_of_made(
    routines: Iterable[Routine], world: World, callers: Callers, text_of: Texts
) -> dict[At, tuple[Ask, ...]]:
    """By the places of waits in methods, these questions."""
    found: dict[At, tuple[Ask, ...]] = {}
    for routine in routines:
        owner = routine.owner
        if owner is None or type(routine.node) is not FUNCTION or owner.qualname != owner.name:
            continue
        place = Place(Frame(world, routine, {}), callers)
        for sighting in routine.sightings.values():
            if asks := _asks(sighting.context, owner, place, text_of):
                at = site(routine.home.path, sighting.at, text_of(routine.home.path))
                found[at.line, at.column] = asks
    return found


def _asks(context: Context, owner: ClassInfo, place: Place, text_of: Texts) -> tuple[Ask, ...]:
    found: list[Ask] = []
    lines = text_of(place.routine.home.path)
    for written, wanted in context.tests:
        for test, outcome in necessary(spelled_out(written, place.frame), wanted):
            kept, what, value = _asked(test)
            name = _argument(kept, owner, place) if kept is not None else ""
            if name:
                found.append(Ask(name, what, value, outcome, snippet(test.at, lines), test.at[0]))
    listed = [(one, _argument(one.attribute, owner, place, whole=True)) for one in must_list(context, owner, place)]
    found += [Ask(to, LISTS, one.text, True, f"{one.attribute.path} lists it", one.line) for one, to in listed if to]
    return tuple(found)


def _asked(test: Node) -> tuple[core.Attr | None, str, bool | int | float | str | None]:
    """The attribute of its object that a test asks for, how, and what it compares it with."""
    match plainly(test, True)[0]:
        case core.Attr(of=core.Name(id="self")) as kept:
            return kept, "", None
        case core.Do(what=what, args=(core.Attr(of=core.Name(id="self")) as kept, core.Const(value=value))):
            told = what in COMPARE and (value is None or type(value) in SCALARS)
            return (kept, what, value) if told else (None, "", None)
    return None, "", None


def _argument(kept: core.Attr, owner: ClassInfo, place: Place, whole: bool = False) -> str:
    """The argument of the constructor that an attribute is, whatever happens; as a whole, where it puts nothing in."""
    stored = all_stored(owner, kept.name, place)
    if len(stored) != 1 or kept.name in place.callers.set:
        return ""
    part, path, maker = stored[0]
    value = bound_to(part, path)
    if (
        maker.owner is not owner
        or maker.name != "__init__"
        or type(value) is not NAME
        or type(maker.node) is not FUNCTION
    ):
        return ""
    named = any(param.name == value.id for param in maker.node.params)
    sure = any(part is one for one in maker.node.body)
    if not (named and sure and steady(value.id, maker)):
        return ""
    return value.id if not whole or only_read(value.id, maker, (value.at,)) else ""


def gives_all(calls: list[Call], params: tuple[Param, ...], places: list[Param], home: Home) -> tuple[Gift, ...]:
    """What each of some calls writes for the arguments of a constructor, or leaves them at, where it is the same."""
    found: list[Gift] = []
    for param in params:
        each = [_written(call, param, places) for call in calls]
        values = [one.value for one in each if one is not None]
        if len(values) == len(calls) > 0 and all(type(one) is type(values[0]) and one == values[0] for one in values):
            found.append(Gift(param.name, values[0]))
        elif listed := _listed(calls, param, places, home):
            found.append(Gift(param.name, None, some=True, texts=listed))
    return tuple(found)


def _listed(calls: list[Call], param: Param, places: list[Param], home: Home) -> tuple[str, ...]:
    """The texts of which some calls give an argument none but some."""
    each = [given(call, param, places, False) if not unpacks(call) else [] for call in calls]
    texts = [texts_of(values[0], home) if len(values) == 1 else () for values in each]
    return tuple(dict.fromkeys([text for some in texts for text in some])) if texts and all(texts) else ()


def _written(call: Call, param: Param, places: list[Param]) -> core.Const | None:
    values = given(call, param, places, False)
    if unpacks(call) or len(values) > 1:
        return None
    value = values[0] if values else param.default
    plain = type(value) is CONST and (value.value is None or type(value.value) in SCALARS)
    return value if type(value) is CONST and plain else None


def made_with(where: Where, makers: Mapping[Where, list[tuple[Where, Called]]]) -> tuple[Gift, ...]:
    """What all who make objects of a class give them."""
    every = [one.gives for _, one in makers.get(where, ())] if ("", where[1]) not in makers else []
    if not every:
        return ()
    alike = [gift for gift in every[0] if not gift.texts and all(gift in other for other in every)]
    return (*alike, *[one for gift in every[0] if gift.texts and (one := _of_all(gift.name, every)).texts])


def _of_all(name: str, every: list[tuple[Gift, ...]]) -> Gift:
    """What is listed for an argument by any of all who make an object; nothing where one may list anything."""
    each = [gift.texts for gifts in every for gift in gifts if gift.name == name and gift.texts]
    texts = dict.fromkeys([text for some in each for text in some]) if len(each) == len(every) else {}
    return Gift(name, None, some=True, texts=tuple(texts))


def unless_made_with(
    finding: Finding,
    own: Where,
    asks: tuple[Ask, ...],
    gifts: tuple[Gift, ...],
    for_others: Callable[[Where], bool],
    set_outside: Callable[[Where, str], bool],
    asked_outside: Callable[[Finding, int], bool],
    grown: Callable[[Where, str], bool],
) -> Finding:
    """The finding, as often as it was said to run unless all that makes an object of its class, which is there for
    nobody else, gives it what does not lead there; nor may another file ask the object for that itself, or any put
    more into what it lists."""
    if finding.heat not in ("hot", "unknown"):
        return finding
    for ask in asks:
        for gift in gifts:
            listed = ask.what == LISTS
            if gift.name != ask.name or (gift.texts and not listed):
                continue
            if comes_out(ask, gift) is (not ask.outcome) and not for_others(own):
                attribute = ask.text.partition("self.")[2].partition(" ")[0]
                more = listed and (asked_outside(finding, ask.line) or grown(own, attribute))
                if not set_outside(own, attribute) and not more:
                    value = list(gift.texts) if listed else gift.value
                    told = f"but all that makes `{own[1]}` makes it with `{gift.name}={value!r}`"
                    return replace(finding, heat="amortized", hot_path=(*finding.hot_path, Fact(told, ask.line)))
    return finding
