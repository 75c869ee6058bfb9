"""A routine in, the parameters out of which it puts parts on the device, in their place: `b.mask = b.mask.cuda()`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from syncguard.infer.functions.brought import moving, to_device
from syncguard.infer.routine import Routine
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, CALL, FUNCTION, INDEX, NAME
from syncguard.read.walk import walk

if TYPE_CHECKING:
    from syncguard.infer.project import World


def stored_there(routine: Routine, world: World) -> frozenset[str]:
    """The parameters whose attributes or items a function moves to the device, for all who have the same object."""
    written, node = routine.written, routine.node
    if written.stored is None:
        given = {param.name for param in node.params} if type(node) is FUNCTION else set[str]()
        kept = [stored(part, routine, world) for part in walk(node.body)] if given else []
        written.stored = frozenset([name for name in kept if name in given])
    return written.stored


def stored(part: Node, routine: Routine, world: World) -> str:
    """The name of what a statement puts a part of on the device, in its place; '' of any other."""
    match part:
        case core.Bind(targets=(core.Attr(of=of) | core.Index(of=of),), value=value) if value is not None:
            return _root(of) if _moved(value, routine, world) else ""
        case core.Run(value=core.Call(fn=core.Name(id="setattr"), args=(core.Name(id=name), _, value))):
            return name if _moved(value, routine, world) else ""
    return ""


def _root(node: Node) -> str:
    while type(node) is ATTR or type(node) is INDEX:
        node = node.of
    return node.id if type(node) is NAME else ""


def _moved(value: Node, routine: Routine, world: World) -> bool:
    """Whether something is moved to the device, here or by another function of the file."""
    calls = [part for part in walk(value) if type(part) is CALL]
    moves = world.places.tables["manners"]["moves"]
    return any(
        (type(call.fn) is ATTR and call.fn.name in moves and to_device(call, routine, world))
        or (type(call.fn) is NAME and call.fn.id in moving(routine.home, world))
        for call in calls
    )
