"""A piece of code in, whether it moves all that an object holds to a device out, by names that it does not write."""

from __future__ import annotations

from typing import Final

from syncguard.read import core
from syncguard.read.core import Bind, Call, Node
from syncguard.read.tags import ATTR, CALL, CONST
from syncguard.read.walk import walk

HOST: Final = "cpu"


def moves_all(node: core.Function, moving: frozenset[str]) -> bool:
    """Whether a method does so with its instance: `for k, v in vars(self).items(): setattr(self, k, v.to(device))`."""
    me = node.params[0].name if node.params else ""
    for part in walk(node.body):
        kind = type(part)
        if (kind is Call or kind is Bind) and _puts_back(part, me, moving):
            return True
    return False


def _puts_back(part: Node, me: str, moving: frozenset[str]) -> bool:
    match part:
        case core.Call(fn=core.Name(id="setattr"), args=(core.Name(id=of), key, value)):
            return of == me and type(key) is not CONST and moved(value, moving)
        case core.Bind(targets=(core.Index(of=core.Attr(path=path), key=key),), value=value) if value is not None:
            return path == f"{me}.__dict__" and type(key) is not CONST and moved(value, moving)
    return False


def moved(value: Node | tuple[Node, ...], moving: frozenset[str]) -> bool:
    """Whether this is something on its way to a device: `value.to(device)`, and not `value.to("cpu")`."""
    for part in walk(value):
        if type(part) is CALL and type(part.fn) is ATTR and part.fn.name in moving and part.fn.name != HOST:
            first = part.args[0] if part.args else None
            if type(first) is not CONST or first.value != HOST:
                return True
    return False
