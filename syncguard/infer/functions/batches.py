"""A parameter in, whether it is given a batch, or the arrays of a whole evaluation, by what calls its function out."""

from __future__ import annotations

from syncguard.infer.domain.values import Table, Tensor, Unknown, Value
from syncguard.infer.functions.hosts import prepares
from syncguard.infer.routine import Frame
from syncguard.pack.places import Places
from syncguard.read.core import Node, Param
from syncguard.read.tags import FUNCTION


def of_batch(node: Node, param: Param, position: int, places: Places) -> bool:
    """Whether a method of a step is given a batch here, or what the step gave."""
    if type(node) is not FUNCTION:
        return False
    if not places.is_("hot", "batch_hooks", node.name):
        return position == 1 and places.is_("hot", "batch_methods", node.name)
    told = places.tables["hot"]
    return param.name in told["batch_names"] and any(other.name in told["batch_numbers"] for other in node.params)


def batch(param: Param, frame: Frame) -> Value:
    """What such a method is given: nobody knows what, with tensors in it, and the loss of a step under its key."""
    told, name = frame.world.places.tables["hot"], frame.routine.name
    given = Unknown(frame.why(f"step:{name}", param.at))
    if param.name != told["batch_names"][-1] or not frame.world.places.is_("hot", "loss_hooks", name):
        return given
    loss = Tensor(device=frame.world.place(frame.routine), rank=0, sure=False, why=given.weak)
    return Table({told["loss_key"][0]: loss}, given)


def of_items(frame: Frame) -> bool:
    """Whether this gives the items of what nothing but that shows to be a dataset."""
    owner, places = frame.routine.owner, frame.world.places
    named = frame.routine.name in places.tables["host"]["item_methods"]
    return named and owner is not None and not prepares(owner, frame.world)


def of_evaluation(param: Param, frame: Frame) -> bool:
    """Whether this is given the arrays of a whole evaluation, by its name or by what it is asked for."""
    host = frame.world.places.tables["host"]
    uses = frame.routine.node.uses.get(param.name, frozenset())
    return param.name in host["evaluated_names"] or uses.issuperset(host["evaluated_parts"])


def evaluation(param: Param, frame: Frame) -> Value:
    """These arrays."""
    name = frame.world.places.tables["host"]["evaluated"][0]
    return frame.world.typed(name, "host", frame.why("parameter", param.at))
