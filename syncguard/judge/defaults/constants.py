"""What is asked of a file or a class by its name in, the constant out that it has for all."""

from __future__ import annotations

from syncguard.infer.domain.values import ClassOf, Named, Source
from syncguard.infer.modules import looks_for
from syncguard.infer.parts import NAMED
from syncguard.judge.defaults.configured import off_until_set
from syncguard.judge.defaults.declared import declared_in
from syncguard.judge.defaults.defaults import Place, Sources, bound_once, of_number
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, CONST, NAME
from syncguard.read.walk import binds, targets


def of_module(of: Node, name: str, place: Place) -> Sources | None:
    """A constant of another file that is asked for by the name of the file, and a number of a library."""
    held = place.frame.lookup(of.id) if type(of) is NAME else None
    if type(held) is Named:
        return of_number(place.frame.world.resolved(f"{held.name}.{name}"), place)
    home = place.frame.world.interface(held.place) if type(held) is Source else None
    if home is None or home.top is None:
        return None
    looks_for(NAMED + name, home.path, place.routine)
    found = bound_once(home, name) or off_until_set(name, home, place.frame.world.places)
    return Sources(((found, place.of(home.top)),)) if found is not None else None


def of_class(of: Node, name: str, place: Place) -> Sources | None:
    """What a class has for all, that is asked for by its name, and that its own file never changes: `Flags.exact`."""
    held = place.frame.lookup(of.id) if type(of) is NAME else None
    info = held.info if type(held) is ClassOf else None
    if info is None or info.home.top is None:
        return None
    place.routine.uses.update(info.elsewhere)
    declared = [*declared_in(info.node, name)]
    told = len(declared) == 1 and type(declared[0]) is CONST and declared[0].value is not None
    set_there = [part for part in info.home.pieces if binds(part) and _sets(part, name)] if told else []
    return Sources(((declared[0], place.of(info.home.top)),)) if told and not set_there else None


def _sets(part: Node, name: str) -> bool:
    """Whether a statement gives anything an attribute of this name."""
    return any(type(aim) is ATTR and aim.name == name for aim in targets(part))
