"""A number in, whether it is one unless somebody sets it out: every n-th step is each step then."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from syncguard.infer.branches.keeps import set_in
from syncguard.infer.branches.left_out import default_of
from syncguard.infer.branches.meant import binders
from syncguard.infer.branches.parsed import parsed
from syncguard.infer.branches.passing import given, positional, unpacks
from syncguard.infer.branches.subjects import last_name, value_at
from syncguard.infer.branches.ungiven import calls_of
from syncguard.infer.classes import ClassInfo
from syncguard.infer.domain.values import UNKNOWN, Const, Value
from syncguard.infer.routine import Env, Frame, Routine
from syncguard.infer.stores import maker_of
from syncguard.read import core
from syncguard.read.core import Node, Param
from syncguard.read.tags import ATTR, BIND, CALL, CONST, FUNCTION, NAME, SEQ, UPDATE
from syncguard.read.walk import walk

SETS: Final = ("setattr", "set_defaults")  # calls that give settings a number


def is_one(node: Node, frame: Frame) -> bool:
    """Whether a number is one unless somebody sets it: a parameter, a field of the settings or a constant, an argument
    of the command line, what an object is made with; or the least of one and another."""
    if type(node) is CONST:
        return _is(node.value)
    if type(node) is CALL:
        least = type(node.fn) is NAME and node.fn.id == "min" and len(node.args) > 1
        return least and any(is_one(arg, frame) for arg in node.args)
    if type(node) is not NAME and type(node) is not ATTR:
        return False
    default = default_of(node, frame)
    if default is not None:
        return _is(default.value)
    held = value_at(node, frame)
    if type(held) is Const:
        return _is(held.value)
    if type(node) is NAME:
        bound = binders(frame.routine).get(node.id, ())
        kept = bound[0].value if len(bound) == 1 and type(bound[0]) is BIND else None
        return _by_parser(kept, frame) if kept is not None else _handed(node.id, frame)
    if type(node) is not ATTR:
        return False
    put = _put(node, frame)
    kept = put.value if type(put) is BIND else None
    return _by_parser(node, frame) or (kept is not None and _by_parser(kept, frame)) or _by_makers(node, frame)


def holding(info: ClassInfo, made: Node | None, me: str, frame: Frame) -> Env:
    """What the attributes of an object hold that are numbers, where a call makes it; by their paths."""
    maker = maker_of(info)
    node = maker.node if maker is not None else None
    if maker is None or type(node) is not FUNCTION or type(made) is not CALL or unpacks(made):
        return {}
    found: Env = {}
    for param in node.params[1:]:
        value = _number(_told(made, param, positional(node)), frame)
        for name in _kept(param.name, maker) if type(value) is Const else ():
            if list(frame.world.storing(info, name)) == [maker]:
                found[f"{me}.{name}"] = value
    return found


def made_by(node: Node, frame: Frame) -> Node | None:
    """The call that makes the object which a name of the function or of its file, or an attribute of the instance, is
    bound to, once."""
    if type(node) is NAME:
        own, top = binders(frame.routine).get(node.id, ()), frame.home.top
        params = frame.routine.node.params if type(frame.routine.node) is FUNCTION else ()
        given_here = any(param.name == node.id for param in params)
        found = own if own or given_here or top is None else binders(top).get(node.id, ())
        bind = found[0] if len(found) == 1 else None
    else:
        bind = _put(node, frame) if type(node) is ATTR else None
    return bind.value if type(bind) is BIND and type(bind.value) is CALL else None


def _put(node: core.Attr, frame: Frame) -> Node | None:
    """What gives an attribute of the instance a value, once and for all."""
    owner, me = frame.routine.owner, node.path.rpartition(".")[0]
    makers = list(frame.world.storing(owner, node.name)) if owner is not None and me == "self" else []
    binds = set_in(makers[0]).get(node.path, []) if len(makers) == 1 and makers[0].name == "__init__" else []
    return binds[0] if len(binds) == 1 else None


def _number(node: Node | None, frame: Frame) -> Value:
    if type(node) is CONST:
        return Const(node.value) if type(node.value) is int else UNKNOWN
    return Const(1) if node is not None and is_one(node, frame) else UNKNOWN


def _is(value: object) -> bool:
    return type(value) is int and value == 1


def _handed(name: str, frame: Frame) -> bool:
    """Whether all calls in the file give a parameter that every caller must give a one that is written there, or an
    argument of the command line that is one."""
    node = frame.routine.node
    params = node.params if type(node) is FUNCTION else ()
    param = next((param for param in params if param.name == name), None)
    if type(node) is not FUNCTION or param is None or param.default is not None or name in binders(frame.routine):
        return False
    told = [given(call, param, positional(node)) for call in _calls(node.name, frame)]
    return bool(told) and all(len(one) == 1 and (_is_written(one[0]) or _by_parser(one[0], frame)) for one in told)


def _is_written(node: Node | None) -> bool:
    return type(node) is CONST and _is(node.value)


def _calls(name: str, frame: Frame) -> Sequence[core.Call]:
    """The calls of a function in the file; none where one gives nobody knows what."""
    calls = calls_of(name, frame.home)
    return () if any(map(unpacks, calls)) else calls


def _by_parser(node: Node, frame: Frame) -> bool:
    """Whether this is an argument of the command line that the file has one by default: `args.every`."""
    if type(node) is not ATTR or not frame.world.places.is_("names", "settings", last_name(node.of).lower()):
        return False
    told = parsed(frame.home).get(node.name, [])
    return bool(told) and all(map(_is_written, told)) and not _set_anew(node, frame)


def _set_anew(node: core.Attr, frame: Frame) -> bool:
    """Whether the file may give the settings another number under this name: `args.every = len(loader) // 10`."""
    for part in frame.home.pieces:
        if type(part) is BIND:
            aims = [(aim, value) for aim, value in _pairs(part) if type(aim) is ATTR and aim.name == node.name]
            if any(aim.path == node.path and not _as_it_is(value, node) for aim, value in aims):
                return True
        elif type(part) is UPDATE:
            if type(part.target) is ATTR and part.target.path == node.path:
                return True
        elif type(part) is CALL and last_name(part.fn) in SETS:
            of = part.args[0] if part.args else None
            if (of is not None and last_name(of) == last_name(node.of)) or any(
                key == node.name for key, _ in part.keywords
            ):
                return True
    return False


def _as_it_is(value: Node | None, node: core.Attr) -> bool:
    """Whether this is one where a setting is: `max(args.every, 1)`, `int(args.every)`."""
    if type(value) is CALL and type(value.fn) is NAME and value.fn.id in ("int", "max"):
        return bool(value.args) and all(_as_it_is(arg, node) for arg in value.args)
    if type(value) is ATTR:
        return value.path == node.path
    return _is_written(value)


def _by_makers(node: core.Attr, frame: Frame) -> bool:
    """Whether this is what an object was made with, which is one wherever the file makes such objects: `self.every`.
    What other files make, they may make with another number, be it one by default."""
    owner = frame.routine.owner
    function = frame.routine.node
    if owner is None or type(function) is not FUNCTION or not function.params:
        return False
    maker = maker_of(owner)
    made = maker.node if maker is not None else None
    if node.path != f"{function.params[0].name}.{node.name}" or maker is None or type(made) is not FUNCTION:
        return False
    params = [param for param in made.params[1:] if node.name in _kept(param.name, maker)]
    if len(params) != 1 or list(frame.world.storing(owner, node.name)) != [maker]:
        return False
    told = [_told(call, params[0], positional(made)) for call in calls_of(owner.name, owner.home)]
    return bool(told) and all(map(_is_written, told))


def _told(call: core.Call, param: Param, places: list[Param]) -> Node | None:
    """What a call that makes an object gives its constructor; None where it may be one or the other."""
    told = given(call, param, places, True)
    return param.default if not told else told[0] if len(told) == 1 else None


def _kept(name: str, maker: Routine) -> list[str]:
    """The attributes that a constructor keeps a parameter in, as it is given: `self.n = n`, `self.n, self.m = n, m`."""
    node = maker.node
    if type(node) is not FUNCTION or not node.params or name in binders(maker):
        return []
    me = node.params[0].name
    given_to = [pair for part in walk(node.body) if type(part) is BIND for pair in _pairs(part)]
    every = [aim.name for aim, _ in given_to if type(aim) is ATTR and aim.path == f"{me}.{aim.name}"]
    kept = [aim.name for aim, value in given_to if type(aim) is ATTR and type(value) is NAME and value.id == name]
    return [one for one in kept if every.count(one) == 1]


def _pairs(bind: core.Bind) -> list[tuple[Node, Node | None]]:
    """What a statement binds, and to what; None where that is a part of something."""
    value, found = bind.value, list[tuple[Node, Node | None]]()
    for aim in bind.targets:
        if type(aim) is not SEQ:
            found.append((aim, value))
        elif type(value) is SEQ and len(value.items) == len(aim.items):
            found += zip(aim.items, value.items, strict=True)
        else:
            found += [(one, None) for one in aim.items]
    return found
