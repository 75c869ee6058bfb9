"""A value in, the tensor that torch computes with out, or what was computed from tensors by nobody knows whom."""

from __future__ import annotations

from syncguard.infer.domain.contents import fetched, tensor_in
from syncguard.infer.domain.values import UNKNOWN, Call, Instance, Tensor, Union, Unknown, Value, options
from syncguard.infer.routine import Frame
from syncguard.read.core import At


def as_tensor(value: Value, method: str = "") -> Value:
    """The tensor that an instance is, unless its class has a method of this name of its own; all else unchanged."""
    if type(value) is not Instance or value.info is None or not value.info.is_tensor:
        return value
    own = value.info.find(method) if method else None
    return value if own is not None and type(own[0]) is Call else Tensor(device=value.device)


def operand(value: Value) -> Value:
    """What torch itself is given to compute with is a tensor, whatever else it may be elsewhere."""
    if type(value) is Unknown and value.weak:
        return Tensor(sure=False, why=value.weak)
    found = tensor_in(value) if type(value) is Union else None
    return value if found is None else found.but(either=False)


def from_tensors(values: list[Value], at: At, frame: Frame) -> Value:
    """What an unknown function made of these: nothing known, but computed from tensors if any of them is one."""
    for value in values:
        for option in options(value):
            if type(option) is Tensor and option.on_device:
                return Unknown(frame.why("computed", at, option.why))
            if type(option) is Unknown and option.weak:
                return Unknown(frame.why("computed", at, option.weak))
    return UNKNOWN


def made_of(values: list[Value], at: At, frame: Frame) -> Value:
    """What an unknown method made of these: on the host, too, if it was given what had been put there. A model that is
    called may move what it is given."""
    found = from_tensors(values, at, frame)
    given = next((value.batch for value in values if type(value) is Unknown and fetched(value)), None)
    return Unknown(batch=given) if found is UNKNOWN and given is not None else found
