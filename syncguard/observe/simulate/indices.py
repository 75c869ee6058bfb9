"""The conditions of op rows that ask for parts of an index: masks, integers, bounds, on the device or on the host."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from syncguard.observe.simulate.arguments import ABSENT, Arguments, device_tensors, is_array, is_data
from syncguard.observe.simulate.marks import DEVICE, place

MASKS = (torch.bool, torch.uint8)
INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8)


def parts(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) and _indexes(value) else () if value is ABSENT else (value,)


def _indexes(value: Any) -> bool:
    """A tuple is one index a dimension; so is the list of tensors that index_put_ takes."""
    return isinstance(value, tuple) or any(isinstance(item, torch.Tensor) for item in value)


def any_part(test: Callable[[torch.Tensor], bool]) -> Callable[[Arguments, str], bool]:
    def holds(args: Arguments, name: str) -> bool:
        return any(
            isinstance(part, torch.Tensor) and test(part) and place(part) == DEVICE for part in parts(args.get(name))
        )

    return holds


mask = any_part(lambda part: part.dtype in MASKS)
zero_dim = any_part(lambda part: part.ndim == 0 and part.dtype in INTEGERS)
zero_dim_mask = any_part(lambda part: part.ndim == 0 and part.dtype in MASKS)


def integers(args: Arguments, name: str) -> bool:
    """Places: integers of one dimension or more, wherever they are, or in a list, which may be empty."""
    return any(_places(part) for part in parts(args.get(name)))


def _places(part: Any) -> bool:
    if isinstance(part, torch.Tensor):
        return part.ndim != 0 and part.dtype in INTEGERS
    if is_array(part):
        return bool(part.ndim and part.dtype.kind in "iu")
    return isinstance(part, range) or (isinstance(part, list) and not any(isinstance(one, bool) for one in part))


def mask_beside(args: Arguments, name: str) -> bool:
    """A mask on the device, and beside it another part that picks elements."""
    picks = [
        part
        for part in parts(args.get(name))
        if isinstance(part, list) or (isinstance(part, torch.Tensor) and part.ndim)
    ]
    return mask(args, name) and len(picks) > 1


def slice_bound(args: Arguments, name: str) -> bool:
    return any(
        next(device_tensors((part.start, part.stop, part.step)), None) is not None
        for part in parts(args.get(name))
        if isinstance(part, slice)
    )


def host_index(args: Arguments, name: str) -> bool:
    for part in parts(args.get(name)):
        if isinstance(part, torch.Tensor):
            if part.ndim and part.dtype not in MASKS and place(part) != DEVICE:
                return True
        elif (
            is_array(part) or (isinstance(part, (list, tuple)) and is_data(part)) or (isinstance(part, range) and part)
        ):
            return True
    return False


def host_mask(args: Arguments, name: str) -> bool:
    """A tensor of bools on the host: its places are counted there, in pinned memory."""
    return any(
        isinstance(part, torch.Tensor) and part.ndim > 0 and part.dtype in MASKS and place(part) != DEVICE
        for part in parts(args.get(name))
    )
