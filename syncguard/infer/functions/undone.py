"""A call that leaves something in an object in, whether something else in its function may leave other things there
out."""

from __future__ import annotations

from collections.abc import Iterator

from syncguard.infer.branches.subjects import ME, path_of
from syncguard.infer.domain.values import Call, options
from syncguard.infer.routine import Frame, Routine
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, BIND, CALL, FUNCTION, LOOP, MAP, NAME, SEQ, WITH
from syncguard.read.walk import around, parts, targets, walk


def undone(path: str, call: core.Call, names: frozenset[str], frame: Frame) -> bool:
    """Whether another name may stand for the object, somebody else may call the method for it or assign what it
    leaves there, a loop leads back from another call of it, or a block around it says where tensors are made."""
    method = call.fn.name if type(call.fn) is ATTR else ""
    body = walk(frame.routine.node.body)
    called = {id(part.fn) for part in body if type(part) is CALL}
    again = [part for part in body if type(part) is CALL and part is not call and _is(part.fn, f"{path}.{method}")]
    loops = [part.at for part in body if type(part) is LOOP]
    if again and any(around(loop, one.at) for loop in loops for one in (call, *again)):
        return True
    for part in body:
        if type(part) is ATTR and part.path == f"{path}.{method}" and id(part) not in called:
            return True
        if (type(part) is SEQ or type(part) is MAP) and any(_is(one, path) for one in parts(part)):
            return True
        if type(part) is BIND and part.value is not None and _is(part.value, path):
            return True
        if type(part) is WITH and around(part.at, call.at) and any("device" in _name(item) for item, _ in part.items):
            return True
        if type(part) is CALL and part is not call and not _harmless(part, path, method, names, frame):
            return True
    return False


def _is(node: Node, path: str) -> bool:
    return path_of(node) == path


def _name(item: Node) -> str:
    return item.fn.name if type(item) is CALL and type(item.fn) is ATTR else ""


def _harmless(call: core.Call, path: str, method: str, names: frozenset[str], frame: Frame) -> bool:
    """Whether a call neither gets the object nor is one of what holds it, or does nothing of the kind."""
    handed = any(_is(arg, path) for arg in (*call.args, *[value for _, value in call.keywords]))
    holder = path.partition(".")[0]
    within = type(call.fn) is ATTR and call.fn.path == f"{holder}.{call.fn.name}" and holder in ME and path != holder
    if not (handed or within):
        return True
    every = [*_called(call.fn, frame)]
    return (bool(every) or not handed) and not any(_touches(one, method, names) for one in every)


def _called(fn: Node, frame: Frame) -> Iterator[Routine]:
    """The functions that a call may run, as far as they are known."""
    if type(fn) is NAME:
        for option in options(frame.lookup(fn.id)):
            if type(option) is Call:
                yield option.routine
    owner = frame.routine.owner
    found = owner.find(fn.name) if type(fn) is ATTR and owner is not None else None
    if found is not None and type(found[0]) is Call:
        yield found[0].routine


def _touches(routine: Routine, method: str, names: frozenset[str]) -> bool:
    """Whether a function calls a method of this name, or assigns an attribute of one of these."""
    node = routine.node
    for part in walk(node.body) if type(node) is FUNCTION else ():
        if type(part) is CALL and type(part.fn) is ATTR and part.fn.name == method:
            return True
        if any(type(aim) is ATTR and aim.name in names for aim in targets(part)):
            return True
    return False
