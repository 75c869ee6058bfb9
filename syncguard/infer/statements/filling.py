"""A name that holds a container in, whether nothing fills it but what its function calls on that name out."""

from __future__ import annotations

from syncguard.infer.branches.subjects import last_name
from syncguard.infer.operations.totals import root
from syncguard.infer.routine import Frame
from syncguard.pack.places import Places
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, BIND, CALL, COMP, FUNCTION, LOOP, MAP, MODULE, NAME, SEQ
from syncguard.read.walk import everything, mentions, parts, walk


def fills_alone(name: str, frame: Frame) -> bool:
    """Whether no call is handed it that may put something in, no other name or display holds it, and no comprehension
    or function within calls a method of it. What a file holds is for the one function that speaks of it."""
    node: Node | None = frame.routine.node
    if type(node) is MODULE:
        speaking = [part for part in node.body if any(_is(one, name) for one in everything(part))]
        node = speaking[1] if len(speaking) == 2 and type(speaking[0]) is BIND else None
    return type(node) is FUNCTION and not any(_lets(part, name, frame.world.places) for part in walk(node.body))


def _lets(part: Node, name: str, places: Places) -> bool:
    if type(part) is CALL:
        given = (*part.args, *[value for _, value in part.keywords])
        return any(_is(arg, name) for arg in given) and not places.is_("names", "readers", last_name(part.fn))
    if type(part) is BIND:
        return _is(part.value, name)
    if type(part) is LOOP:
        return type(part.iterable) is SEQ and any(_is(item, name) for item in part.iterable.items)
    if type(part) is COMP:
        return any(type(one) is CALL and type(one.fn) is ATTR and root(one.fn) == name for one in walk(part))
    if type(part) is FUNCTION:
        return mentions(part, name)
    return (type(part) is MAP or type(part) is SEQ) and any(_is(one, name) for one in parts(part))


def _is(node: Node | None, name: str) -> bool:
    return type(node) is NAME and node.id == name
