"""What two runs of the same samples gave, plain and simulated, in; where they differ out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch


def differing(plain: list[Any], simulated: list[Any]) -> Iterator[str]:
    """A sentence on each sample of which the values, dtypes or shapes are others; an exception is one of its type."""
    if len(plain) != len(simulated):  # some have samples of their own for a device
        return
    for number, (one, other) in enumerate(zip(plain, simulated)):
        if not same(one, other):
            yield f"sample {number}: {kind_of(one)} on the CPU, {kind_of(other)} simulated"


def kind_of(result: Any) -> str:
    return result.__name__ if isinstance(result, type) else "a value"


def same(one: Any, other: Any) -> bool:
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        if one.layout is not torch.strided or one.is_quantized:
            return one.layout is other.layout
        return one.dtype is other.dtype and one.shape == other.shape and bits(one) == bits(other)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other or one is other or type(one) is type(other)


def bits(tensor: Any) -> bytes:
    flat = torch.empty(tensor.numel(), dtype=tensor.dtype)
    return flat.copy_(tensor.detach().reshape(-1)).view(torch.uint8).numpy().tobytes()


def leaves(value: Any) -> Iterator[Any]:
    """The tensors in a value, and in lists of it."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from leaves(item)
