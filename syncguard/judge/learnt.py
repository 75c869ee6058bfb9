"""A call whose backward waits in, how surely it is computed backward out."""

from __future__ import annotations

from syncguard.infer.branches.gradless import generates
from syncguard.infer.branches.subjects import last_name
from syncguard.infer.domain.sureness import LIKELY, NO, POSSIBLE
from syncguard.infer.project import World
from syncguard.infer.routine import Routine, Sighting
from syncguard.read.core import At
from syncguard.read.tags import CALL, CONST, WITH
from syncguard.read.walk import around, walk


def learns(sighting: Sighting, routine: Routine, world: World) -> int:
    """How surely gradients go through what a call is given: it was computed of parameters, or of what nobody knows;
    what was drawn, filled in or loaded has none, nor what is computed where none are recorded."""
    why, places = sighting.why, world.places
    if why is None or generates(routine.node, places) or _unrecorded(sighting.at, routine, world):
        return NO
    while True:
        if places.is_("names", "detached", why.text):
            return NO
        if places.is_("names", "learnt", why.text) or (why.parent is None and _asks(why.at, routine)):
            return LIKELY
        if why.parent is None:
            break
        why = why.parent
    return NO if why.text.startswith("torch.") or why.text.endswith("batch") else POSSIBLE


def _unrecorded(at: At, routine: Routine, world: World) -> bool:
    """Whether a place stands under `with torch.no_grad():`."""
    return any(
        type(part) is WITH
        and around(part.at, at)
        and any(world.places.is_("hot", "gradless", last_name(manager)) for manager, _ in part.items)
        for part in walk(routine.node.body)
    )


def _asks(at: At, routine: Routine) -> bool:
    """Whether what is made there is made to have gradients: `torch.rand(4, requires_grad=True)`."""
    calls = (part for part in walk(routine.node.body) if type(part) is CALL and part.at == at)
    flags = (value for call in calls for name, value in call.keywords if name == "requires_grad")
    return any(type(flag) is not CONST or flag.value is True for flag in flags)
