"""A method in, whether classes above its own, in other files, ask their own object for it out: they call it, whatever
its own file says."""

from __future__ import annotations

from collections.abc import Iterator

from syncguard.infer.classes import ClassInfo, replaced
from syncguard.infer.routine import Routine
from syncguard.read.tags import FUNCTION


def asked_above(routine: Routine) -> bool:
    """Whether one of these may call it."""
    return bool(_asking(routine))


def asked_often_above(routine: Routine) -> bool:
    """The same, and not only as it sets something up."""
    owner = routine.owner
    return owner is not None and not all(owner.world.places.seldom(name) for name in _asking(routine))


def _asking(routine: Routine) -> tuple[str, ...]:
    owner, node = routine.owner, routine.node
    if owner is None or routine.closure or type(node) is not FUNCTION or not owner.elsewhere:
        return ()
    if owner.asked_above is None:
        found: dict[str, tuple[str, ...]] = {}
        for name, method in _asked(owner):
            found[name] = (*found.get(name, ()), method)
        owner.asked_above = found
    return owner.asked_above.get(node.name, ())


def _asked(owner: ClassInfo) -> Iterator[tuple[str, str]]:
    """What the bases of a class ask their own object for that it has itself, each with the method that does."""
    for at, base in enumerate(owner.mro):
        if base.home is owner.home:
            continue
        for method, qualname, names in _asked_of_itself(base):
            if owner.home.top is not None:
                owner.home.top.uses[base.home.path, qualname] = None  # it may ask for more tomorrow
            asked = names.intersection(owner.members)
            if asked and not replaced(method, owner.mro[:at]):
                yield from [(name, method) for name in sorted(asked)]


def _asked_of_itself(info: ClassInfo) -> Iterator[tuple[str, str, frozenset[str]]]:
    """The methods of a class, with the names that each asks its own object for."""
    for part in info.node.body:
        if type(part) is FUNCTION and part.params:
            yield part.name, part.qualname, part.uses.get(part.params[0].name, frozenset())
