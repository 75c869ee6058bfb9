"""A value in, the tensor that torch computes with out, or what was computed from tensors by nobody knows whom."""

from __future__ import annotations

from syncguard.infer.domain.contents import leaves_of, tensor_in, there
from syncguard.infer.domain.values import UNKNOWN, Call, Instance, Seq, Table, Tensor, Union, Unknown, Value, options
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
    if found is not UNKNOWN:
        return found
    held = [leaf for value in values if type(value) is Table or type(value) is Seq for leaf in leaves_of(value)]
    found = from_tensors([leaf for leaf in held if type(leaf) is not Tensor or leaf.device != "mixed"], at, frame)
    if found is not UNKNOWN:
        return found
    leaves = [leaf for value in values if there(value) for leaf in leaves_of(value)]
    given = next((leaf.batch for leaf in leaves if type(leaf) is Unknown), None)
    return Unknown(batch=given) if given is not None else UNKNOWN
