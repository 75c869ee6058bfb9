"""A name and a value in, the value with what the name and its uses tell of it out."""

from __future__ import annotations

from syncguard.infer.branches.meant import once
from syncguard.infer.domain.contents import changed, without
from syncguard.infer.domain.values import (
    Seq,
    Tensor,
    Union,
    Unknown,
    Value,
)
from syncguard.infer.routine import Frame
from syncguard.read.core import At


def told(path: str, name: str, value: Value, at: At, frame: Frame) -> Value:
    """The value with what its uses prove, where it is unknown, and what its name hints at."""
    if type(value) is Unknown and path:
        known = frame.world.evidence(path, name, frame, at)
        if known is None and (given := frame.world.computes(frame.uses(path), frame)) and once(path, frame):
            known = Tensor(device=frame.world.place(frame.routine), sure=False, why=frame.why(given, at))
        # What is computed from tensors is no loader and no scaler.
        if known is not None and (not value.weak or type(known) is Tensor or known is frame.world.distribution):
            if value.batch is not None and type(known) is Tensor:
                return hinted(name, known.but(device="host", why=value.batch, pinned=value.pinned), frame)
            value = known
    return hinted(name, value, frame) if type(value) in (Tensor, Union, Seq) else value


def hinted(name: str, value: Value, frame: Frame) -> Value:
    """What a name alone tells of a tensor: `mask` is boolean where its dtype is unknown, `x_cpu` is on the host."""
    if type(value) is Union:
        if frame.world.places.is_("names", "numbers", name) and any(map(_tested, value.options)):
            return without(value, _tested)  # what a table gives under any name is no tensor under this one
        return Union(tuple([hinted(name, option, frame) for option in value.options]))
    if type(value) is Seq:
        there = frame.world.hint(name)[1] and "cpu" not in frame.uses(name)
        return changed(value, on_host) if there else value
    if type(value) is not Tensor or (value.dtype != "" and value.device != "assumed"):
        return value
    mask, host = frame.world.hint(name)
    if mask and frame.world.guesses and value.dtype == "" and not counts(value, frame):
        value = value.but(dtype="named mask")
    # What is fetched (`cpu_x.cpu()`) is not there yet.
    there = host and value.device == "assumed" and "cpu" not in frame.uses(name)
    return value.but(device="host") if there else value


def _tested(option: Value) -> bool:
    """Whether this is a tensor that a test alone shows, as one of several things."""
    return type(option) is Tensor and option.why is not None and option.why.text == "isinstance"


def on_host(tensor: Tensor) -> Tensor:
    """The same, on the host where nothing shows it elsewhere."""
    return tensor.but(device="host") if tensor.device == "assumed" else tensor


def counts(value: Tensor, frame: Frame) -> bool:
    """Whether a tensor is of numbers in a row, none of which is a bool, or picked from such."""
    why, rows = value.why, frame.world.places.tables["factories"]["rows"]
    while why is not None and why.text == "torch.Tensor.__getitem__":
        why = why.parent
    return why is not None and why.text in rows
