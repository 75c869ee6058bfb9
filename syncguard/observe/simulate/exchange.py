"""Tensors handed to other libraries and processes: DLPack, the array interface of CUDA, queues."""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.reduction import ForkingPickler
from typing import Any

import torch
from torch.multiprocessing import reductions

from syncguard.observe.simulate.marks import (
    DEVICE,
    HOST,
    MARK,
    let_through,
    mark,
    move,
    names_device,
    place,
    storage_of,
)
from syncguard.observe.simulate.patches import Patches

DEVICES_OF_CUDA = (2, 13)  # DLDeviceType: kDLCUDA, kDLCUDAManaged
KEPT = 256
KINDS = {torch.bool: "b1", torch.uint8: "u1", torch.bfloat16: "V2"}


def patch(patches: Patches) -> None:
    """What comes in is where it was; a capsule is known by its memory."""
    capsules: OrderedDict[int, int] = OrderedDict()
    received = receiving(torch.utils.dlpack.from_dlpack, capsules)
    for module in (torch, torch.utils.dlpack):
        patches.set(module, "from_dlpack", received)
    patches.wrap(torch.utils.dlpack, "to_dlpack", lambda original: giving(original, capsules))
    reducers: Any = ForkingPickler._extra_reducers  # type: ignore[attr-defined]
    for original, wrapper in ((reductions.reduce_tensor, sending), (reductions.reduce_storage, sharing)):
        wrapped = wrapper(original)
        patches.items(reducers, {kind: wrapped for kind, plain in reducers.items() if plain is original})


def sending(original: Callable[..., Any]) -> Callable[..., Any]:
    """How multiprocessing sends a tensor: one of the device says at the other end where it was."""

    def reduce(tensor: torch.Tensor) -> Any:
        if place(tensor) != DEVICE:
            return original(tensor)
        with bare(storage_of(tensor)):
            return arrived, original(tensor)

    return reduce


def sharing(original: Callable[..., Any]) -> Callable[..., Any]:
    """How it sends a storage: in memory of the host, that both then use as that of the device."""

    def reduce(storage: Any) -> Any:
        with bare(storage):
            return original(storage)

    return reduce


@contextmanager
def bare(storage: Any) -> Iterator[None]:
    """The storage without its mark."""
    where = getattr(storage, MARK, None)
    if where is None:
        yield
        return
    delattr(storage, MARK)
    try:
        yield
    finally:
        setattr(storage, MARK, where)


def arrived(rebuild: Callable[..., torch.Tensor], given: Any) -> torch.Tensor:
    """At the other end."""
    return move(rebuild(*given), DEVICE)


def giving(original: Callable[..., Any], capsules: OrderedDict[int, int]) -> Callable[..., Any]:
    """torch.utils.dlpack.to_dlpack."""

    @functools.wraps(original)
    def to_dlpack(tensor: torch.Tensor) -> Any:
        capsules[tensor.data_ptr()] = place(tensor)
        if len(capsules) > KEPT:
            capsules.popitem(last=False)
        return original(tensor)

    return to_dlpack


def receiving(original: Callable[..., Any], capsules: OrderedDict[int, int]) -> Callable[..., Any]:
    """torch.from_dlpack, which shares memory unless another device is asked for."""

    @functools.wraps(original)
    def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: Any = None) -> torch.Tensor:
        if isinstance(ext_tensor, torch.Tensor):
            where = place(ext_tensor)
        elif hasattr(ext_tensor, "__dlpack_device__"):
            where = DEVICE if ext_tensor.__dlpack_device__()[0] in DEVICES_OF_CUDA else HOST
        else:
            where = -1
        settings = {} if copy is None else {"copy": copy}
        made: torch.Tensor = original(ext_tensor, **settings)
        mark(made, capsules.get(made.data_ptr(), HOST) if where < 0 else where)
        if device is None:
            return made
        if copy is False and names_device(device) != (place(made) == DEVICE):
            raise ValueError(f"cannot move a DLPack tensor to {device} without copying. Set copy=None or copy=True.")
        return made.to(device)

    return from_dlpack


def given(func: Any, args: Any, kwargs: Any) -> Any:
    """`t.__dlpack__()`: who can take memory of CUDA says on which stream; NumPy does not, and would refuse it."""
    if place(args[0]) == DEVICE and kwargs.get("stream") in (None, -1) and kwargs.get("max_version"):
        raise BufferError("Unsupported device in DLTensor.")
    ours = {name: value for name, value in kwargs.items() if name not in ("stream", "dl_device")}
    with let_through():
        return func(args[0], **ours)


def interface(func: Any, args: Any, kwargs: Any) -> dict[str, Any]:
    """`t.__cuda_array_interface__`, version 2."""
    tensor = args[0]
    if place(tensor) != DEVICE or tensor.layout is not torch.strided:
        return func(*args, **kwargs)  # type: ignore[no-any-return]
    if tensor.requires_grad:
        raise RuntimeError(
            "Can't get __cuda_array_interface__ on Variable that requires grad. If gradients aren't required, use"
            " var.detach() to get Variable that doesn't require grad."
        )
    size = tensor.element_size()
    kind = "c" if tensor.is_complex() else "f" if tensor.is_floating_point() else "i"
    strides = None if tensor.is_contiguous() else tuple(step * size for step in tensor.stride())
    data = (tensor.data_ptr() if tensor.numel() else 0, False)
    typestr = KINDS.get(tensor.dtype, f"{kind}{size}")
    return {
        "typestr": f"<{typestr}", "shape": tuple(tensor.shape), "strides": strides, "data": data, "version": 2,
    }  # fmt: skip
