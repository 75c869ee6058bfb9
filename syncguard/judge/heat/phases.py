"""A method in, the phase of the work that it begins, ends or is all of, out, as its name and its class say."""

from __future__ import annotations

from syncguard.infer.branches.gates import trains
from syncguard.infer.branches.meant import plainly
from syncguard.infer.classes import ClassInfo
from syncguard.infer.domain.values import Call
from syncguard.infer.routine import Routine
from syncguard.judge.defaults.alone import seen_above
from syncguard.pack.places import Places
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, CALL, FUNCTION, IF, NAME, RUN
from syncguard.read.walk import binds, targets, walk


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
    each batch makes of it as well, if one batch is enough for it."""
    owner, node = routine.owner, routine.node
    if owner is None or type(node) is not FUNCTION or node.name not in places.tables["hot"]["sums_up"]:
        return False
    if len([one for one in node.params if one.default is None and one.kind not in ("*", "**")]) > 1:
        return False
    rest = places.tables["hot"]["summed_up"]
    if any(_fills_either(owner, name, node) for name in rest):
        return True
    return not owner.is_module and all(owner.find(name) is not None for name in rest) and seen_above(owner, places)


def _fills_either(owner: ClassInfo, name: str, sums: Node) -> bool:
    """Whether what a metric is given goes to one of two things that it keeps, as each call must say, and what it
    computes in the end is made of both: `if real: self.real.append(x)`, `else: self.fake.append(x)`."""
    member = owner.find(name)
    takes = member[0].routine.node if member is not None and type(member[0]) is Call else None
    if type(takes) is not FUNCTION or type(sums) is not FUNCTION:
        return False
    must = [param.name for param in takes.params if param.default is None]
    read = {part.name for part in walk(sums.body) if type(part) is ATTR}
    for part in walk(takes.body):
        if type(part) is IF and part.orelse:
            asked = plainly(part.test, True)[0]
            yes, no = _filled(part.body), _filled(part.orelse)
            if type(asked) is NAME and asked.id in must and read & (yes - no) and read & (no - yes):
                return True
    return False


def _filled(arm: tuple[Node, ...]) -> set[str]:
    """The attributes that an arm binds, adds to or appends to."""
    aims = [aim for part in arm for aim in (targets(part) if binds(part) else ())]
    calls = [part.value.fn for part in arm if type(part) is RUN and type(part.value) is CALL]
    return {one.name for one in (*aims, *[fn.of for fn in calls if type(fn) is ATTR]) if type(one) is ATTR}


def fits(routine: Routine, places: Places) -> bool:
    """Whether this fits what has another method to use what was found, and takes no steps of a training for it."""
    node, owner = routine.node, routine.owner
    if type(node) is not FUNCTION or owner is None or node.name not in places.tables["cold"]["fits"] or routine.steps:
        return False
    used = [name for name in places.tables["cold"]["fitted"] if owner.find(name) is not None]
    return bool(used) and not trains(node.body, places)
