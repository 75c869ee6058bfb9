"""Classes whose instances computations make as they go in, so that their constructors are no setup."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from typing import Final

from syncguard.infer.branches.subjects import last_name
from syncguard.infer.classes import ClassInfo
from syncguard.infer.domain.values import UNKNOWN, Instance, options
from syncguard.infer.routine import Routine
from syncguard.infer.stores import CONSTRUCTORS
from syncguard.pack.places import Places
from syncguard.read import core
from syncguard.read.tags import CALL, FUNCTION
from syncguard.read.walk import walk

MAKERS: Final = CONSTRUCTORS - {"__new__"}


def remakes(routines: Iterable[Routine], places: Places) -> frozenset[ClassInfo]:
    """The classes of which a method that computes gives another one (`return Boxes(self.corners * factor)`): a copy, or
    one somewhere else, may be made once."""
    return frozenset(
        made
        for routine in routines
        if (mine := routine.owner) is not None
        and type(routine.node) is FUNCTION
        and not (mine.is_module or places.seldom(routine.name) or places.is_("names", "copies", routine.name))
        and {"classmethod", "staticmethod"}.isdisjoint(map(last_name, routine.node.decorators))
        for made in (*_given(routine, mine), *_like_itself(routine.node, mine))
    )


def _given(routine: Routine, mine: ClassInfo) -> Iterator[ClassInfo]:
    """What a method makes of its own class, or of one that this descends from, where it gives an instance."""
    if any(type(given) is Instance and given.info is not None for given in options(routine.returned or UNKNOWN)):
        for callee in routine.calls:
            if callee.owner is not None and callee.name in MAKERS and callee.owner in mine.mro:
                yield callee.owner


def _like_itself(node: core.Function, mine: ClassInfo) -> Iterator[ClassInfo]:
    """The class of a method that calls `type(self)`."""
    if "(0type" in node.uses.get("self", ()) and any(
        type(part) is CALL and type(part.fn) is CALL and last_name(part.fn.fn) == "type" for part in walk(node.body)
    ):
        yield mine


def made_anew(routine: Routine, places: Places, remade: Container[ClassInfo]) -> bool:
    """Whether it makes what computations make as they go: a distribution, or a value that its methods make again."""
    owner = routine.owner
    if owner is None or owner.is_module or routine.name not in MAKERS:
        return False
    kinds = places.tables["names"]["distribution"]
    return any(info in remade for info in owner.mro) or any(
        owner.world.is_subclass(name, kind) for name in owner.external() for kind in kinds
    )
