"""A class and an attribute of it in, whether the file that asks for it has a method turn it on out: `debug.enable()`,
`with trace:`. What is off by default is on there."""

from __future__ import annotations

from typing import Final

from syncguard.infer.classes import ClassInfo, class_of
from syncguard.infer.domain.values import options
from syncguard.infer.stores import CONSTRUCTORS
from syncguard.judge.around.bound import bound_to
from syncguard.judge.around.calling import Stored
from syncguard.judge.defaults.defaults import Place
from syncguard.read.core import Node
from syncguard.read.tags import CALL, CONST, NAME

ENTERS: Final = "__enter__"


def turned_on(info: ClassInfo, stored: list[Stored], place: Place) -> bool:
    """Whether a method that the file calls turns on an attribute, which these statements give its values."""
    callers = place.callers
    turning = {
        routine.name for part, path, routine in stored if _turns(part, path) and routine.name not in CONSTRUCTORS
    }
    return not turning.isdisjoint(callers.called) or (ENTERS in turning and enters(info, place))


def enters(info: ClassInfo, place: Place) -> bool:
    """Whether the file enters an instance of a class, made there for that or not, unless told that it is to be off."""
    return any(_is_of(node, info, place) for node in place.callers.entered)


def _is_of(node: Node, info: ClassInfo, place: Place) -> bool:
    given = (*node.args, *[value for _, value in node.keywords]) if type(node) is CALL else ()
    made = node.fn if type(node) is CALL else node
    if type(made) is not NAME or any(type(value) is CONST and not value.value for value in given):
        return False
    held = [class_of(option) for option in options(place.frame.lookup(made.id))]
    return any(one is not None and info in one.mro for one in held)


def _turns(part: Node, path: str) -> bool:
    value = bound_to(part, path)
    return type(value) is CONST and bool(value.value)
