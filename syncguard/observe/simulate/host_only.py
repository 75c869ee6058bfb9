"""What is computed on the host alone, and what must lie there: the error that a device answers with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from syncguard.observe.simulate.marks import CUDA, DEVICE, place, tensors

Refusal = Callable[[tuple[Any, ...], dict[str, Any]], None]
PER_ELEMENT = ("apply_", "map_", "map2_")  # call Python for each element
KERNELS = {"histogram": "aten::histogram.bin_ct", "histogramdd": "aten::_histogramdd_bin_edges"}  # of the CPU alone


def refusal_of(name: str) -> Refusal | None:
    """What raises where this function is given tensors of the device that it cannot take; None where it takes all."""
    bare = name.rpartition(".")[2]
    if bare in PER_ELEMENT:
        return _says(RuntimeError(f"{bare} is only implemented on CPU tensors"))
    if bare in KERNELS:
        return _says(NotImplementedError(f"Could not run '{KERNELS[bare]}' with arguments from the 'CUDA' backend."))
    return split if bare == "tensor_split" else None


def _says(fault: Exception) -> Refusal:
    def refuse(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if any(place(tensor) == DEVICE for tensor in tensors(args[:1])):
            raise fault

    return refuse


def split(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """The indices at which a tensor is split are read on the host."""
    at = [*args[1:2], kwargs.get("tensor_indices_or_sections"), kwargs.get("indices_or_sections")]
    if any(place(tensor) == DEVICE for tensor in tensors(at)):
        raise RuntimeError("tensor_split expected tensor_indices_or_sections to be on cpu, but it's on cuda")


def lengths(given: Any) -> None:
    """The lengths of what is packed are read on the host."""
    if any(place(tensor) == DEVICE for tensor in tensors((given,))):
        told = f"{given.ndim}D {CUDA} {str(given.type()).rpartition('.')[2].removesuffix('Tensor')}"
        raise RuntimeError(f"'lengths' argument should be a 1D CPU int64 tensor, but got {told} tensor")
