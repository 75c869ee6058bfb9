"""The waits of a file's functions in, the parameters out that each rests on: where what one of these holds is on the
host, nothing is waited for."""

from __future__ import annotations

from typing import Final

from syncguard.infer.domain.sureness import LIKELY
from syncguard.infer.domain.values import Instance, Union, Value, Why
from syncguard.infer.functions.parameters import value
from syncguard.infer.functions.placing import on_host
from syncguard.infer.home import Home
from syncguard.infer.project import World
from syncguard.infer.routine import Frame, Routine
from syncguard.infer.sightings import Sighting
from syncguard.infer.tell import Texts, site
from syncguard.judge.around.called import Function
from syncguard.judge.defaults.piece import piece_of
from syncguard.read import core
from syncguard.read.core import At
from syncguard.read.tags import FUNCTION, NAME
from syncguard.read.walk import around, walk

Rests = dict[tuple[int, int], tuple[str, ...]]
MOST: Final = 2  # parameters of a function that are tried
SENT: Final = "host-data"  # waits for what is on the host: that it is there is no reason not to


def rests_of(
    home: Home,
    world: World,
    asked: list[Routine],
    told: frozenset[tuple[int, int]],
    calls: tuple[Function, ...],
    text_of: Texts,
) -> Rests:
    """By the places of the waits of these functions that are told: each function is run once more for each parameter
    that one may rest on, as if that were on the host, unless a call of the file gives what may be elsewhere. Nothing is
    asked of the file after this: what is learnt in such a run is not so."""
    found: dict[tuple[int, int], dict[str, None]] = {}
    given = _given(home, calls)
    for routine in asked:
        node = routine.node
        if type(node) is not FUNCTION or routine.closure or not node.params:
            continue
        known = given.get(routine.qualname)
        tried: dict[str, list[tuple[Sighting, tuple[int, int]]]] = {}
        for one in routine.sightings.values():
            at = site(home.path, one.at, text_of(home.path))
            place = at.line, at.column
            asks = one.sure >= LIKELY and one.hazard != SENT and place in told
            for name in _candidates(one, node, routine, world) if asks else ():
                tried.setdefault(name, []).append((one, place))
        for name in [one for one in tried if known is None or one in known][:MOST]:
            left = _left_on_host(name, routine, node, world)
            for one, place in tried[name]:
                if left.get((one.at, one.hazard), 0) < LIKELY:
                    found.setdefault(place, {})[name] = None
    return {place: tuple(names) for place, names in found.items()}


def _given(home: Home, calls: tuple[Function, ...]) -> dict[str, frozenset[str]]:
    """Of the functions that the file calls itself, what each call gives on the host, or hands on."""
    found: dict[str, frozenset[str]] = {}
    for function in calls:
        for call in function.calls:
            if call.path == home.path and not call.rare and call.name != function.name:
                names = frozenset([*call.host, *[name for name, _ in call.pieces]])
                found[call.name] = names & found.get(call.name, names)
    return found


def _candidates(sighting: Sighting, node: core.Function, routine: Routine, world: World) -> list[str]:
    """The parameters that a wait may rest on: pieces of them stand where its reasons begin, or else in what it waits
    for."""
    root = sighting.why.root if sighting.why is not None else None
    begin = root.at if root is not None and root.path == routine.home.path else None
    found = [one.name for one in node.params if one.at == begin]
    for at in (begin, sighting.operand):
        if not found and at is not None and around(node.at, at):
            named = [part for part in walk(node.body) if type(part) is NAME and around(at, part.at)]
            found = [name for part in named if (name := piece_of(part, routine, world, loosely=True))]
    is_ = world.places.is_  # the name of a device is nowhere itself
    return [name for name in dict.fromkeys(found) if not is_("names", "devices", name)]


def _left_on_host(name: str, routine: Routine, node: core.Function, world: World) -> dict[tuple[At, str], int]:
    """What a function waits for where a parameter is on the host, and how surely."""
    position, param = next((n, one) for n, one in enumerate(node.params) if one.name == name)
    frame = Frame(world, routine, {})
    why = frame.why("placed", param.at)
    given = {**routine.seen, name: _there(value(frame, param, position), why)}
    sightings = world.aside(routine, node, given)[1]
    for one in world.queue:  # who would be run again for this
        one.queued = False
    world.queue.clear()
    return {key: one.sure for key, one in sightings.items()}


def _there(held: Value, why: Why) -> Value:
    """The same value with all that it holds on the host."""
    if type(held) is Union:
        return Union(tuple([_there(option, why) for option in held.options]), held.wide)
    if type(held) is Instance:
        return Instance(held.info, held.name, "host", held.settings)
    return on_host(held, why)
