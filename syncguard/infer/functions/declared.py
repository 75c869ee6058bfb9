"""A parameter in, what its annotation says that it holds out, or else a decorator, or its name in a library's hook."""

from __future__ import annotations

from typing import Final

from syncguard.infer.branches.passing import none_if_left
from syncguard.infer.domain.contents import tensor_in
from syncguard.infer.domain.lattice import join
from syncguard.infer.domain.values import NONE, UNKNOWN, Callback, Instance, Table, Tensor, Unknown, Value
from syncguard.infer.functions.annotations import promised
from syncguard.infer.functions.batches import of_items
from syncguard.infer.functions.dispatched import dispatched
from syncguard.infer.routine import Frame
from syncguard.read.core import Node, Param
from syncguard.read.tags import FUNCTION

BATCH: Final = 2  # the place of a batch among what a step of a trainer is given


def annotated(frame: Frame, param: Param, place: str) -> Value:
    """What is said that a parameter may hold, its default None included: by its annotation, or else by a decorator, or
    by its name in a hook."""
    if param.annotation is not None:
        declared = promised(param.annotation, frame, place)
        if type(declared) is Table and not declared.items and declared.element is UNKNOWN:  # `inputs: dict`
            held = _handed(param, frame, place)
            declared = Table({}, held, declared.keys) if type(held) is Unknown else declared
    elif (declared := dispatched(param, frame, place)) is UNKNOWN:
        declared = _handed(param, frame, place)
    if place == "host" and tensor_in(declared) is not None and of_items(frame):
        declared = promised(param.annotation, frame, "assumed")  # no loader picks by a tensor
    if declared is UNKNOWN or param.kind in ("*", "**"):
        return declared
    if type(declared) is Tensor:
        kind = declared.dtype or param.told or ""
        rank = declared.rank if declared.rank >= 0 else param.rank
        declared = declared.but(dtype=kind, rank=rank, why=frame.why("parameter", param.at))
    return join(declared, NONE) if none_if_left(param) else declared


def _handed(param: Param, frame: Frame, place: str) -> Value:
    """What a library hands to the methods of a class of its own under this name, where that is an object, a tensor, a
    batch, or what computes the loss."""
    routine = frame.routine
    for base in routine.owner.external() if routine.owner is not None else ():
        method = f"{base}.{routine.name}"
        if frame.world.places.is_("names", "handed", f"{method}.{param.name}"):
            return Tensor(device=place, sure=False, why=frame.why(f"overrides:{method}", param.at))
        if frame.world.places.is_("names", "handed_batches", method) and _is_batch(param, routine.node):
            return Unknown(frame.why(f"overrides:{method}", param.at))
        if frame.world.places.is_("names", "loss_givers", f"{method}.{param.name}"):
            return Callback((), Tensor(device=place, sure=False, why=frame.why(f"gives loss:{method}", param.at)))
        op = frame.world.op(f"{base}.{param.name}")
        if op is not None and op.returns.startswith("new") and frame.world.is_property(op):
            return Instance(None, op.returns.split()[-1])
    return UNKNOWN


def _is_batch(param: Param, node: Node) -> bool:
    """Whether this stands behind the object and the model."""
    return type(node) is FUNCTION and len(node.params) > BATCH and node.params[BATCH] is param
