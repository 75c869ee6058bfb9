"""A function in, whether it goes through the parts of a module, puts others in their places and gives the module back,
out: `convert(model)` is the model, whatever its parts have become."""

from __future__ import annotations

from typing import Final

from syncguard.infer.branches.subjects import last_name
from syncguard.infer.domain.values import Value
from syncguard.infer.routine import Routine
from syncguard.read.tags import ATTR, CALL, FUNCTION, LOOP, NAME
from syncguard.read.walk import walk

PARTS: Final = ("named_children", "children")


def rebuilt(found: Value, routine: Routine, args: list[Value]) -> Value:
    """What a call of such a function gives back; of any other, what was found."""
    written = routine.written
    if written.rebuilds is None:
        written.rebuilds = _rebuilds(routine)
    return args[0] if written.rebuilds and args else found


def _rebuilds(routine: Routine) -> bool:
    """Whether a function calls itself for each part of what it is given first."""
    node = routine.node
    if type(node) is not FUNCTION or not node.params or routine.owner is not None:
        return False
    me = node.params[0].name
    for loop in walk(node.body):
        asked = loop.iterable if type(loop) is LOOP else None
        if type(asked) is CALL and last_name(asked.fn) in PARTS and type(asked.fn) is ATTR:
            of = asked.fn.of
            inner = walk(loop.body) if type(loop) is LOOP and type(of) is NAME and of.id == me else []
            return any(type(part) is CALL and type(part.fn) is NAME and part.fn.id == node.name for part in inner)
    return False
