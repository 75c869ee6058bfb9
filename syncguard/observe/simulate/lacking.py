"""What a device can compute and this CPU build cannot, computed in a wider dtype and given back in its own."""

from __future__ import annotations

import re
from typing import Any

import torch

from syncguard.observe.simulate.marks import ORDINAL

NO_MEMORY = re.compile(r"DefaultCPUAllocator: .*?you tried to allocate (\d+) bytes", re.DOTALL)
WIDER = {
    torch.float16: torch.float32,
    torch.bfloat16: torch.float32,
    **dict.fromkeys((torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64), torch.float64),
}


def lacks(fault: Exception) -> bool:
    """Is it only that there is no kernel for this dtype on the CPU?"""
    text = str(fault)
    return "not implemented for" in text or ("Could not run 'aten::" in text and ".dtype' with" in text)


def foreign(fault: Exception, name: str) -> str:
    """What to say of an operator that has no kernel for the CPU at all; empty where that is not the fault."""
    if "Could not run '" not in str(fault) or "with arguments from the 'CPU' backend" not in str(fault):
        return ""
    room = name.partition(".")[0]
    return (
        f"SyncGuard cannot simulate {name}: it has a kernel for CUDA and none for the CPU. Run it on a GPU, or step"
        f" over it: `syncguard run --step-over {room}` (`pytest --syncguard-step-over {room}`)"
    )


def too_much(fault: Exception) -> torch.OutOfMemoryError | None:
    """What a device says that has not the memory that the host has not; None where that is not the fault."""
    asked = NO_MEMORY.search(str(fault))
    if asked is None or isinstance(fault, torch.OutOfMemoryError):
        return None
    return torch.OutOfMemoryError(
        f"CUDA out of memory. Tried to allocate {int(asked[1]) / 2**30:.2f} GiB. GPU {ORDINAL} is simulated, and"
        " has the memory of this process."
    )


def computed(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The call in a wider dtype. What it writes in place is written back."""
    if "out_dtype" in kwargs:  # mm(a, b, out_dtype=torch.float32) of halves
        wide = kwargs["out_dtype"]
        args = tuple(arg.to(wide) if isinstance(arg, torch.Tensor) else arg for arg in args)
        return func(*args, **{name: value for name, value in kwargs.items() if name != "out_dtype"})
    result = func(*map(widened, args), **{name: widened(value) for name, value in kwargs.items()})
    first = args[0] if args else None
    if not isinstance(first, torch.Tensor) or first.dtype not in WIDER:
        return result
    if getattr(func, "__name__", "").rstrip("_") != getattr(func, "__name__", ""):
        return first.copy_(result)
    return narrowed(result, WIDER[first.dtype], first.dtype)


def widened(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.to(WIDER[value.dtype]) if value.dtype in WIDER and value.dtype != torch.bool else value
    if isinstance(value, (tuple, list)):
        return type(value)(map(widened, value)) if type(value) in (tuple, list) else value
    return value


def narrowed(result: Any, wide: torch.dtype, narrow: torch.dtype) -> Any:
    if isinstance(result, torch.Tensor):
        return result.to(narrow) if result.dtype == wide else result
    if type(result) in (tuple, list):
        return type(result)(narrowed(item, wide, narrow) for item in result)
    return result
