"""The place of a call in a method in, whether it moves what the object keeps to where it is needed, and keeps it there,
out: once for each object, where nothing but what sets that up puts anything else there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from syncguard.infer.stores import CONSTRUCTORS
from syncguard.read import core
from syncguard.read.core import At
from syncguard.read.tags import ATTR, BIND, FUNCTION
from syncguard.read.walk import walk

if TYPE_CHECKING:
    from syncguard.infer.project import World
    from syncguard.infer.routine import Routine


def moved_once(at: At, routine: Routine, world: World) -> bool:
    """Whether this is the call of `self.table = self.table.to(x.device)`, and the methods that give the object its
    table otherwise only construct it."""
    owner = routine.owner
    if owner is None or routine.name in CONSTRUCTORS or routine.name in world.moving:  # who calls `to` asks for it
        return False
    name = next((_moved(part, world) for part in _binds(routine) if part.value is not None and part.value.at == at), "")
    if not name:
        return False
    storing = [method for info in owner.mro for method in world.storing(info, name)]
    others = [method for method in storing if method.name not in CONSTRUCTORS]
    moves = [_moved(part, world) for method in others for part in _binds(method) if _sets(part, name)]
    return len(others) < len(storing) and all(moves)


def _binds(method: Routine) -> list[core.Bind]:
    node = method.node
    return [part for part in walk(node.body) if type(part) is BIND] if type(node) is FUNCTION else []


def _sets(bind: core.Bind, name: str) -> bool:
    """Whether a statement gives the object's attribute of this name a value."""
    return any(type(part) is ATTR and part.path == f"self.{name}" for target in bind.targets for part in walk(target))


def _moved(bind: core.Bind, world: World) -> str:
    """The attribute that a statement moves, and keeps where it was moved to; '' of any other."""
    match bind:
        case core.Bind(targets=(target,), value=core.Call(fn=core.Attr(of=core.Attr() as of, name=how))):
            mine = type(target) is ATTR and target.path == of.path == f"self.{of.name}"
            return of.name if mine and how in world.moving else ""
    return ""
