"""A parameter of a function that a decorator keeps for what is of a type in, what that says that it holds out:
`@area.register(Tensor)`, `@register_kl(Normal, Normal)`."""

from __future__ import annotations

from typing import Final

from syncguard.infer.branches.passing import positional
from syncguard.infer.branches.subjects import last_name, value_at
from syncguard.infer.domain.values import UNKNOWN, Call, Named, Value
from syncguard.infer.functions.annotations import promised
from syncguard.infer.routine import Frame
from syncguard.read.core import Node, Param
from syncguard.read.tags import ATTR, CALL, FUNCTION

REGISTER: Final = "register"
DISPATCHES: Final = "singledispatch"


def dispatched(param: Param, frame: Frame, place: str) -> Value:
    """The type for which a function is called with this; UNKNOWN where nothing says so."""
    node = frame.routine.node
    if type(node) is not FUNCTION or not node.decorators or param.kind != "positional":
        return UNKNOWN
    at = positional(node).index(param)
    for decorator in node.decorators:
        if type(decorator) is CALL and at < len(decorator.args) and _dispatches(decorator.fn, frame):
            return promised(decorator.args[at], frame, place)
    return UNKNOWN


def _dispatches(fn: Node, frame: Frame) -> bool:
    """Whether a decorator is given the types of what a function is called with, each in its place."""
    if type(fn) is ATTR and fn.name == REGISTER:
        generic = value_at(fn.of, frame)
        asked = generic.routine.node if type(generic) is Call else None
        return type(asked) is FUNCTION and any(last_name(one) == DISPATCHES for one in asked.decorators)
    named = value_at(fn, frame)
    return type(named) is Named and frame.world.places.is_("names", "dispatchers", named.name)
