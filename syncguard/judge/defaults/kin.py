"""A method in, the names of its class and of those above it out, where those alone say who may call it."""

from __future__ import annotations

from typing import Final

from syncguard.infer.domain.values import ClassOf, Named
from syncguard.infer.routine import Routine
from syncguard.judge.around.calling import plain
from syncguard.pack.places import Places
from syncguard.read.tags import FUNCTION

BINDS: Final = ("staticmethod", "classmethod", "abstractmethod")  # what only says what a method is


def kin(routine: Routine, places: Places) -> tuple[str, ...]:
    """These names, its own class first; none of what is no method, of a module's, of what a decorator may hand on, and
    of what another library's class may call."""
    owner, node = routine.owner, routine.node
    if owner is None or owner.is_module or type(node) is not FUNCTION or routine.closure:
        return ()
    if not plain(node.decorators, places, BINDS):
        return ()
    for info in owner.mro:
        for base in info.bases:
            bare = type(base) is Named and places.is_("names", "bare_bases", base.name)
            if not bare and type(base) is not ClassOf:
                return ()
    return tuple([info.name for info in owner.mro])
