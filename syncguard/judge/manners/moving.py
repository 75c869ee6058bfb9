"""A module that a step moves to the device in, how surely it is not there already out."""

from __future__ import annotations

from typing import Final

from syncguard.infer.branches.subjects import last_name
from syncguard.infer.domain.sureness import LIKELY, NO, POSSIBLE
from syncguard.infer.project import World
from syncguard.infer.routine import Routine
from syncguard.infer.sightings import Sighting
from syncguard.judge.around.calling import call_at
from syncguard.judge.around.changes import bindings, holder
from syncguard.pack.places import Places
from syncguard.read.core import At, Node
from syncguard.read.tags import ATTR, CALL, NAME
from syncguard.read.walk import around, walk
from syncguard.terms import SETUP

TO_HOST: Final = "copy-to-host"


def copied_again(sighting: Sighting, routine: Routine, places: Places) -> int:
    """How surely a hot place copies the module that it moves: one with weights that is made there, or one that goes
    back to the host there, is copied each time; one that was moved above the loop never; any other one perhaps."""
    moved = _moved(sighting.at, routine)
    if moved is None:
        return POSSIBLE
    within = _again(sighting, routine)
    name = holder(moved)
    made = moved if type(moved) is CALL else _bound(name, within, routine)
    weighs = places.is_("manners", "weighs", sighting.op.rpartition(".")[0])
    if comes_back(sighting, routine) or (made is not None and weighs and _makes(made)):
        return LIKELY
    return NO if name and _there_already(name, sighting, within, routine) else POSSIBLE


def made_there(sighting: Sighting, routine: Routine, world: World) -> bool:
    """Whether the module that goes to the host is made in that expression, where all are made: `Net(8).to("cpu")`."""
    if world.default_device != "host" or not world.is_module_class(sighting.op.rpartition(".")[0]):
        return False
    made = _moved(sighting.at, routine)
    if type(made) is not CALL or not last_name(made.fn)[:1].isupper():
        return False
    return not any(type(part) is CALL and any(key == "device" for key, _ in part.keywords) for part in walk((made,)))


def comes_back(sighting: Sighting, routine: Routine) -> bool:
    """Whether the module is sent to the host as often as it is moved to the device."""
    moved = _moved(sighting.at, routine)
    name = holder(moved) if moved is not None and type(moved) is not CALL else ""
    loops = sighting.context.loops
    return bool(name) and any(
        other.hazard == TO_HOST
        and other.op.rpartition(".")[0] == sighting.op.rpartition(".")[0]
        and [loop.at for loop in other.context.loops] == [loop.at for loop in loops]
        and holder(_moved(other.at, routine)) == name
        for other in routine.sightings.values()
    )


def _moved(at: At, routine: Routine) -> Node | None:
    """What the call at this place is asked of."""
    call = call_at(at, routine)
    return call.fn.of if call is not None and type(call.fn) is ATTR else None


def _again(sighting: Sighting, routine: Routine) -> At:
    """What runs again with this place: the innermost loop around it, else its function."""
    loops = sighting.context.loops
    return loops[-1].at if loops else routine.node.at


def _bound(name: str, within: At, routine: Routine) -> Node | None:
    """What is put in this name there, in the only place that does so."""
    found = [part.value for part in bindings(routine.node.body, name) if around(within, part.at)]
    kept = [value for value in found if not _is_move(value, name)]  # `model = model.to(device)`
    return kept[0] if len(kept) == 1 else None


def _is_move(value: Node | None, name: str) -> bool:
    return type(value) is CALL and type(value.fn) is ATTR and holder(value.fn.of) == name


def _makes(made: Node) -> bool:
    """Whether this makes an object out of no other one, which may be on the device: `Net(8)`, `Net(cfg.width)`."""
    if type(made) is not CALL or not last_name(made.fn)[:1].isupper():
        return False
    given = (*made.args, *[value for _, value in made.keywords])
    return not any(type(part) is NAME or type(part) is CALL for part in given)


def _there_already(name: str, sighting: Sighting, within: At, routine: Routine) -> bool:
    """Whether the module was moved above the loop: on a line of its own, or where it was made."""
    if not sighting.context.loops:
        return False
    before = [other for other in routine.sightings.values() if other.hazard == SETUP and other.at < within]
    made = [part.value for part in bindings(routine.node.body, name) if part.at < within]
    return any(holder(_moved(other.at, routine)) == name for other in before) or any(
        other.at == value.at for other in before for value in made if value is not None
    )
