"""An instance of a class that descends from torch.Tensor in, the tensor that torch computes with out."""

from __future__ import annotations

from syncguard.infer.values import Call, Instance, Tensor, Value


def as_tensor(value: Value, method: str = "") -> Value:
    """The tensor that an instance is, unless its class has a method of this name of its own; all else unchanged."""
    if type(value) is not Instance or value.info is None or not value.info.is_tensor:
        return value
    own = value.info.find(method) if method else None
    return value if own is not None and type(own[0]) is Call else Tensor(device=value.device)
