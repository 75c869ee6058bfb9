"""A call in, what must hold of an argument of the function around it for it to go to the device out: `x.to(device)`
moves nothing where `device` is None, and nothing waits for what it gives then."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from syncguard.infer.domain.values import Only, Tensor, Value, Why
from syncguard.infer.operations.arguments import Arguments
from syncguard.infer.operations.targets import place_of
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
    return _given(_moves_to(wait) or (_built_at(op, frame) if wait.on == "result" else ""), op, nodes, keywords, frame)


def placed_by(
    op: Op,
    arguments: Arguments,
    result: Value,
    operands: Sequence[Tensor],
    nodes: tuple[Node, ...],
    keywords: Mapping[str, Node],
    frame: Frame,
) -> Only | None:
    """The same of what a call gives, with the function whose parameter it is: of what is there already, what that
    needs; nothing is needed where one of several is there anyway."""
    if type(result) is not Tensor or not result.on_device:
        return None
    name = _built_at(op, frame) or next(filter(None, map(_moves_to, op.waits)), "")
    there = [one.why.only if one.why is not None else None for one in operands if one.on_device]
    if name and not there:
        asked = _given(name, op, nodes, keywords, frame)
        return (asked[0], asked[1], frame.routine.node) if asked is not None else None
    named = arguments.get(name) if name else None
    moved = named is not None and bool(place_of(named))
    return None if moved or None in there else next(iter(there), None)


def asked_before(why: Why | None, frame: Frame) -> Asked | None:
    """The same of what a reason tells of, where it is an argument of this function."""
    only = why.only if why is not None else None
    return (only[0], only[1]) if only is not None and only[2] is frame.routine.node else None


def _given(name: str, op: Op, nodes: tuple[Node, ...], keywords: Mapping[str, Node], frame: Frame) -> Asked | None:
    """The test that an argument is given, of one that is a parameter of the function, and None unless it is given."""
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


def _moves_to(wait: Wait) -> str:
    """The argument without which a copy stays where it is."""
    return next((names.partition("|")[0] for condition, names in wait.when if condition == "to_device"), "")


def _built_at(op: Op, frame: Frame) -> str:
    """The argument without which what is built is built on the host."""
    return "device" if "factory" in op.returns and frame.world.default_device == "host" else ""


def _anew(name: str, frame: Frame) -> bool:
    """Whether the function binds a name itself."""
    aims = [aim for part in everything(frame.routine.node.body) if binds(part) for aim in targets(part)]
    return any(type(part) is NAME and part.id == name for aim in aims for part in walk(aim))
