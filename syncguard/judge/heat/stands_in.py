"""A function in, the attribute that its file puts it under out: `Attention.forward = faster`."""

from __future__ import annotations

from typing import Final

from syncguard.infer.branches.subjects import last_name
from syncguard.infer.branches.ungiven import handed_about
from syncguard.infer.home import Home
from syncguard.infer.routine import Routine
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, BIND, CALL, CONST, FUNCTION, NAME

BOUND: Final = ("MethodType", "partial", "partialmethod", "wraps", "staticmethod", "no_grad", "inference_mode")


def stands_in(routine: Routine) -> str:
    """The one attribute of a class or an object that a function of no class is put under, as it is written; ''."""
    node, home = routine.node, routine.home
    if type(node) is not FUNCTION or routine.owner is not None or node.name not in handed_about(home):
        return ""
    if home.put is None:
        home.put = _put(home)
    found = home.put.get(node.name, [])
    return found[0] if len({path.rpartition(".")[2] for path in found}) == 1 else ""


def _put(home: Home) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for part in home.pieces:
        if type(part) is BIND and len(part.targets) == 1 and type(part.targets[0]) is ATTR and part.value is not None:
            aim = part.targets[0]
            if name := _function(part.value):
                found.setdefault(name, []).append(aim.path or aim.name)
        elif type(part) is CALL and type(part.fn) is NAME and part.fn.id == "setattr" and len(part.args) == 3:
            named, name = part.args[1], _function(part.args[2])
            if name and type(named) is CONST and isinstance(named.value, str):
                found.setdefault(name, []).append(f"{last_name(part.args[0])}.{named.value}")
    return found


def _function(value: Node) -> str:
    """The name of a function as it is put there: itself, or bound to an object."""
    if type(value) is NAME:
        return value.id
    if type(value) is not CALL:
        return ""
    if type(value.fn) is ATTR and value.fn.name == "__get__":
        return _function(value.fn.of)
    return _function(value.args[0]) if value.args and last_name(value.fn) in BOUND else ""
