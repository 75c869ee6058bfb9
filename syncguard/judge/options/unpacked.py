"""A call that takes arguments out of a dict in, what the dict is seen to hold, as the caller writes it, out."""

from __future__ import annotations

from collections.abc import Mapping

from syncguard.infer.branches.meant import binders
from syncguard.infer.branches.passing import spread
from syncguard.infer.routine import Routine
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, BIND, CALL, CONST, FUNCTION, MAP, NAME
from syncguard.read.walk import everything


def rest_of(call: core.Call) -> str:
    """The name of the one dict that a call takes arguments out of, where it takes none out of a list."""
    taken = [value for key, value in call.keywords if not key]
    return taken[0].id if len(taken) == 1 and type(taken[0]) is NAME and not spread(call) else ""


def held(call: core.Call, caller: Routine) -> Mapping[str, Node] | None:
    """What that dict may hold, where all that the caller does with it is to write it down, to leave some of it out
    (`{k: v for k, v in rest.items() if k in names}`) and to take arguments out of it; None of any other."""
    rest, node = rest_of(call), caller.node
    if not rest or type(node) is not FUNCTION or any(param.name == rest for param in node.params):
        return None
    found: dict[str, Node] = {}
    known = 0  # where the name stands, as far as we know what is done with it there
    for bind in binders(caller).get(rest, ()):
        value = bind.value if type(bind) is BIND and len(bind.targets) == 1 else None
        if type(value) is MAP:
            for key, one in zip(value.keys, value.values, strict=True):
                if type(key) is not CONST or type(key.value) is not str or key.value in found:
                    return None
                found[key.value] = one
        elif value is None or not _leaves_out(value, rest):
            return None
        known += 1 if type(value) is MAP else 2
    parts = everything(node.body)
    taking = [part for part in parts if type(part) is CALL and rest_of(part) == rest]
    named = [part for part in parts if type(part) is NAME and part.id == rest]
    return found if known and len(named) == known + len(taking) else None


def _leaves_out(value: Node, rest: str) -> bool:
    """Whether this is what is there of a dict, but for some keys."""
    match value:
        case core.Comp(
            kind="dict",
            clauses=((core.Seq(items=(core.Name(id=key), core.Name(id=kept))), core.Call() as items, _),),
            body=(core.Name(id=first), core.Name(id=second)),
        ):
            of = items.fn
            asked = type(of) is ATTR and of.name == "items" and type(of.of) is NAME and of.of.id == rest
            return asked and not items.args and (first, second) == (key, kept)
    return False
