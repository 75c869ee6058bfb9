"""A method in, the phase of the work that it begins, ends or is all of, out, as its name and its class say."""

from __future__ import annotations

from syncguard.infer.branches.gates import trains
from syncguard.infer.routine import Routine
from syncguard.judge.alone import seen_above
from syncguard.places import Places
from syncguard.read.tags import FUNCTION


def phase(routine: Routine, places: Places) -> str:
    """'epoch' or 'generation' of a method that runs once in one; '' of what may run at every step."""
    owner, node = routine.owner, routine.node
    if owner is None or type(node) is not FUNCTION:
        return ""
    name, libraries = routine.name, [*owner.external()]
    epochal = (name, *[f"{base}.{name}" for base in (owner.name, *libraries)])
    if any(places.is_("hot", "epochs", one) for one in epochal) or sums_up(routine, places):
        return "epoch"
    bases = (*[info.name for info in owner.mro], *libraries)
    if any(places.is_("hot", "generations", f"{base}.{name}") for base in bases):
        return "" if any(places.is_("hot", "turns", param.name) for param in node.params) else "generation"
    return ""


def sums_up(routine: Routine, places: Places) -> bool:
    """Whether this is what a metric computes in the end, of what another method of it is given. A module computes what
    each batch makes of it as well."""
    owner, node = routine.owner, routine.node
    if owner is None or type(node) is not FUNCTION or node.name not in places.tables["hot"]["sums_up"]:
        return False
    if owner.is_module or len([one for one in node.params if one.default is None and one.kind not in ("*", "**")]) > 1:
        return False
    rest = places.tables["hot"]["summed_up"]
    return all(owner.find(name) is not None for name in rest) and seen_above(owner, places)


def fits(routine: Routine, places: Places) -> bool:
    """Whether this fits what has another method to use what was found, and takes no steps of a training for it."""
    node, owner = routine.node, routine.owner
    if type(node) is not FUNCTION or owner is None or node.name not in places.tables["cold"]["fits"] or routine.steps:
        return False
    used = [name for name in places.tables["cold"]["fitted"] if owner.find(name) is not None]
    return bool(used) and not trains(node.body, places)
