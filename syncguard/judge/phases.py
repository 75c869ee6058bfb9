"""A method in, the phase of the work that it begins, ends or is all of, out, as its name and its class say."""

from __future__ import annotations

from syncguard.infer.routine import Routine
from syncguard.places import Places
from syncguard.read.tags import FUNCTION


def phase(routine: Routine, places: Places) -> str:
    """'epoch' or 'generation' of a method that runs once in one; '' of what may run at every step."""
    owner, node = routine.owner, routine.node
    if owner is None or type(node) is not FUNCTION:
        return ""
    name, libraries = routine.name, [*owner.external()]
    epochal = (name, *[f"{base}.{name}" for base in (owner.name, *libraries)])
    if any(places.is_("hot", "epochs", one) for one in epochal):
        return "epoch"
    bases = (*[info.name for info in owner.mro], *libraries)
    if any(places.is_("hot", "generations", f"{base}.{name}") for base in bases):
        return "" if any(places.is_("hot", "turns", param.name) for param in node.params) else "generation"
    return ""
