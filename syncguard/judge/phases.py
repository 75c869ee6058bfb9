"""A method in, whether it sums up what the object was given batch by batch out: at the end of an epoch."""

from __future__ import annotations

from syncguard.infer.routine import Routine
from syncguard.judge.alone import seen_above
from syncguard.places import Places
from syncguard.read.tags import FUNCTION


def sums_up(routine: Routine, places: Places) -> bool:
    """Whether this is what a metric computes in the end, of what another method of it is given. A module computes what
    each batch makes of it as well."""
    node, owner = routine.node, routine.owner
    if type(node) is not FUNCTION or owner is None or node.name not in places.tables["hot"]["sums_up"]:
        return False
    if owner.is_module or len([one for one in node.params if one.default is None and one.kind not in ("*", "**")]) > 1:
        return False
    rest = places.tables["hot"]["summed_up"]
    return all(owner.find(name) is not None for name in rest) and seen_above(owner, places)
