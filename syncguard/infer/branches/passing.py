"""A call and a parameter of what it calls in, the expressions out that the parameter may be given there."""

from __future__ import annotations

from msgspec.structs import replace

from syncguard.read import core
from syncguard.read.core import At, Node, Param
from syncguard.read.tags import ATTR, CALL, CONST, DO


def positional(node: core.Function) -> list[Param]:
    """The parameters that have a place."""
    return [param for param in node.params if param.kind == "positional"]


def given(call: core.Call, param: Param, places: list[Param], bound: bool | None = None) -> list[Node]:
    """What a call writes for a parameter; none where it leaves it out. Where it is not known whether the receiver of a
    method takes a place, it may be the one argument or the next."""
    found = [value for key, value in call.keywords if key in (param.name, "")]
    if param in places:
        last = places.index(param)
        first = last - 1 if (type(call.fn) is ATTR if bound is None else bound) else last
        found += call.args[max(first, 0) : last + 1 if bound is None else max(first + 1, 0)]
    return found


def spread(call: core.Call) -> bool:
    """Whether a call takes arguments out of a list, so that nobody knows their places."""
    return any(type(arg) is DO and arg.what == "*" for arg in call.args)


def unpacks(call: core.Call) -> bool:
    """Whether a call takes arguments out of a list or a dict, so that nobody sees all that it gives."""
    return spread(call) or any(not key for key, _ in call.keywords)


def in_sight(call: core.Call) -> core.Call:
    """A call with nothing but what it surely gives: not what it takes out of a list or a dict, nor what has no sure
    place beside that."""
    if not unpacks(call):
        return call
    args = () if spread(call) else call.args
    return replace(call, args=args, keywords=tuple([one for one in call.keywords if one[0]]))


def none_if_left(param: Param) -> bool:
    """Whether a parameter is None where it is left out."""
    return type(param.default) is CONST and param.default.value is None


def is_default(value: Node, param: Param) -> bool:
    """Whether what is given is the default, written out."""
    default = param.default
    if type(value) is not CONST or type(default) is not CONST:
        return False
    return type(value.value) is type(default.value) and bool(value.value == default.value)


def left_out(call: Node | None, at: At | None, node: core.Function, method: bool) -> list[Param]:
    """The parameters that this call, if it is the one at `at`, surely leaves at their defaults; only of a method a
    receiver may take the first place."""
    if type(call) is not CALL or call.at != at or unpacks(call):
        return []
    places, bound = positional(node), None if method else False
    return [param for param in node.params if param.default is not None and not given(call, param, places, bound)]
