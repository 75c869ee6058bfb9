"""A wait that its row has unless an argument is False in, that argument out where it hangs on a setting: of the call,
`Normal(.., validate_args=cfg.check)`, or of what made the object, `GradScaler(enabled=cfg.amp)`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from syncguard.infer.branches.arms import steady
from syncguard.infer.branches.meant import plainly
from syncguard.infer.project import World
from syncguard.infer.routine import Frame, Routine
from syncguard.infer.sightings import Sighting
from syncguard.infer.tell import Texts, snippet
from syncguard.judge.around.calling import Callers
from syncguard.judge.defaults.defaults import DEEPEST, Place, Written, passed_to, sources_of
from syncguard.judge.defaults.settled import outcome_of, told_of
from syncguard.judge.options.opted import BY_DEFAULT, only_where, shown
from syncguard.pack import Pack
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, CALL, CHOOSE, FUNCTION, NAME
from syncguard.read.walk import walk
from syncguard.terms import Fact

SWITCH: Final = "not_false"


def switched(
    sighting: Sighting, routine: Routine, callers: Callers, world: World, pack: Pack, text_of: Texts
) -> tuple[Fact, ...]:
    """The arguments without which it would not wait."""
    switches = switches_of(sighting, pack)
    call = _call_at(sighting, routine) if switches else None
    if call is None:
        return ()
    place = Place(Frame(world, routine, {}), callers)
    found: dict[str, Fact] = {}
    for switch in switches:
        for node, there in _given(switch, call, place):
            fact = _told(node, there, routine.home.path, text_of)
            if fact is not None:
                found.setdefault(fact.text, fact)
    return tuple(found.values())


def switches_of(sighting: Sighting, pack: Pack) -> list[str]:
    op = pack.op(sighting.op)
    waits = op.waits if op is not None else ()
    whens = [wait.when for wait in waits if wait.hazard == sighting.hazard]
    return [name for when in whens for condition, name in when if condition == SWITCH]


def _call_at(sighting: Sighting, routine: Routine) -> core.Call | None:
    calls = (part for part in walk(routine.node.body) if type(part) is CALL)
    return next((call for call in calls if call.at == sighting.at), None)


def _given(switch: str, call: core.Call, place: Place) -> Iterator[Written]:
    """What is passed by the name of an argument: to the call, or else to what made the object whose method it is."""
    made: list[Written] = [(call, place)]
    if type(call.fn) is ATTR and all(key != switch for key, _ in call.keywords):
        made = _makers(call.fn.of, place)
    for one, there in made:
        if type(one) is CALL:
            yield from ((value, there) for key, value in one.keywords if key == switch)


def _makers(node: Node, place: Place) -> list[Written]:
    """The expressions that something was made by, as far as they are seen."""
    if place.depth > DEEPEST:
        return []
    if type(node) is CHOOSE:
        return [*_makers(node.yes, place), *_makers(node.no, place)]
    if type(node) is not NAME and type(node) is not ATTR:
        return [(node, place)]
    written = list(sources_of(node, place).written)
    function = place.routine.node
    if type(node) is NAME and type(function) is FUNCTION and steady(node.id, place.routine):
        param = next((one for one in function.params if one.name == node.id), None)
        written = passed_to(param, place) if param is not None else written
    return [one for source in written for one in _makers(*source)]


def _told(node: Node, place: Place, here: str, text_of: Texts) -> Fact | None:
    """What must hold for an argument not to be False; nothing where it is not False by default."""
    exact = told_of(node, place)
    told = outcome_of(node, place)
    if (told is not None and told.value) or (exact is not None and exact.value is None):
        return None
    plain, holds = plainly(node, True)
    path = place.routine.home.path
    default = f"{BY_DEFAULT}{shown(told.by)}" if told is not None and told.by else ""
    text = only_where(snippet(plain.at, text_of(path)), holds, default)
    return Fact(text, node.at[0], path if path != here else "")
