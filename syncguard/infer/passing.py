"""A call and a parameter of what it calls in, the expressions out that the parameter may be given there."""

from __future__ import annotations

from syncguard.read import core
from syncguard.read.core import Node, Param


def positional(node: core.Function) -> list[Param]:
    """The parameters that have a place."""
    return [param for param in node.params if param.kind == "positional"]


def given(call: core.Call, param: Param, places: list[Param]) -> list[Node]:
    """What a call writes for a parameter; none where it leaves it out. Of a method by another name than `self` it may
    be the one argument or the next: the receiver takes a place, or is written."""
    found = [value for key, value in call.keywords if key in (param.name, "")]
    if param in places:
        last = places.index(param)
        first = last - 1 if type(call.fn) is core.Attr else last
        found += call.args[max(first, 0) : last + 1]
    return found


def spread(call: core.Call) -> bool:
    """Whether a call takes arguments out of a list, so that nobody knows their places."""
    return any(type(arg) is core.Do and arg.what == "*" for arg in call.args)
