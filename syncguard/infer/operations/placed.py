"""A wait for a copy in, what it asks of an argument of the function around it out: `x.to(device)` moves nothing where
`device` is None."""

from __future__ import annotations

from collections.abc import Mapping

from syncguard.infer.routine import Frame
from syncguard.infer.sightings import Asked
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import CONST, FUNCTION, NAME
from syncguard.read.walk import binds, everything, targets, walk
from syncguard.terms import Op, Wait


def place_given(
    wait: Wait, op: Op, nodes: tuple[Node, ...], keywords: Mapping[str, Node], frame: Frame
) -> Asked | None:
    """The test `device is not None`, as if it stood around the call, of a parameter that is None unless it is given."""
    name = _names_place(wait, op, frame)
    place = op.args.index(name) if name in op.args else len(nodes)
    asked = keywords.get(name) or (nodes[place] if place < len(nodes) else None)
    if not name or type(asked) is not NAME:
        return None
    node = frame.routine.node
    param = next((one for one in node.params if one.name == asked.id), None) if type(node) is FUNCTION else None
    default = param.default if param is not None else None
    if type(default) is not CONST or default.value is not None or _anew(asked.id, frame):
        return None
    return core.Do("is not", (asked, core.Const(None, asked.at)), asked.at), True


def _names_place(wait: Wait, op: Op, frame: Frame) -> str:
    """The argument without which a copy stays where it is, or what is built is built on the host."""
    for condition, names in wait.when:
        if condition == "to_device":
            return names.partition("|")[0]
    built = wait.on == "result" and "factory" in op.returns
    return "device" if built and "device" in op.args and frame.world.default_device == "host" else ""


def _anew(name: str, frame: Frame) -> bool:
    """Whether the function binds a name itself."""
    aims = [aim for part in everything(frame.routine.node.body) if binds(part) for aim in targets(part)]
    return any(type(part) is NAME and part.id == name for aim in aims for part in walk(aim))
