"""The calls that say where a tensor is or put it elsewhere, carried out between two places on one CPU."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import torch

from syncguard.observe.simulate import exchange, kinds, mixing
from syncguard.observe.simulate.marks import (
    CUDA,
    DEVICE,
    DEVICES,
    HOST,
    ORDINAL,
    PINNED,
    let_through,
    mark,
    move,
    place,
    world,
)

Call = tuple[Any, ...]
Settings = dict[str, Any]
COPY_DTYPE = "torch.cuda."


def real(tensor: torch.Tensor) -> bool:
    """Is this an ordinary tensor of the CPU, not one of the meta device?"""
    return tensor.device.type == "cpu"


def device(func: Any, args: Call, kwargs: Settings) -> Any:
    there = func(*args, **kwargs)
    return CUDA if there.type == "cpu" and place(args[0]) == DEVICE else there


def is_cuda(func: Any, args: Call, kwargs: Settings) -> bool:
    return place(args[0]) == DEVICE and real(args[0])


def is_cpu(func: Any, args: Call, kwargs: Settings) -> bool:
    return bool(func(*args)) and place(args[0]) != DEVICE


def get_device(func: Any, args: Call, kwargs: Settings) -> int:
    return ORDINAL if place(args[0]) == DEVICE else int(func(*args, **kwargs))


def gradient(func: Any, args: Call, kwargs: Settings) -> Any:
    """A gradient is where its tensor is, although nobody saw it being made."""
    return mark(func(*args, **kwargs), place(args[0]))


def parsed(args: Call, kwargs: Settings) -> tuple[torch.device | None, torch.dtype | None, bool, Any, bool]:
    """What `.to(...)` was asked for, in any of its spellings: device, dtype, non_blocking, memory format, copy."""
    settings = dict(kwargs)
    copy = bool(settings.pop("copy", False))
    if (args and isinstance(args[0], torch.Tensor)) or isinstance(settings.get("other"), torch.Tensor):
        other = settings.pop("other", None)
        other, *rest = (other, *args) if other is not None else args
        form = settings.get("memory_format")
        waits = settings.get("non_blocking", rest[0] if rest else False)
        return claimed(other), other.dtype, bool(waits), form, copy or bool(rest[1:] and rest[1])
    if args and len(args) > (2 if isinstance(args[0], torch.dtype) else 3):  # the last positional one is `copy`
        args, copy = args[:-1], bool(args[-1])
    if isinstance(settings.get("device"), int):
        settings["device"] = torch.device("cuda", settings["device"])
    if args and isinstance(args[0], int):
        args = (torch.device("cuda", args[0]), *args[1:])
    found, dtype, non_blocking, form = torch._C._nn._parse_to(*args, **settings)
    return found, dtype, non_blocking, form, copy


def claimed(tensor: torch.Tensor) -> torch.device:
    return CUDA if place(tensor) == DEVICE else tensor.device


def to(func: Any, args: Call, kwargs: Settings) -> Any:
    tensor, *rest = args or (kwargs.pop("self"),)
    asked, dtype, non_blocking, form, copy = parsed(tuple(rest), kwargs)
    return sent(tensor, asked, dtype, non_blocking, form, copy)


def sent(
    tensor: torch.Tensor,
    asked: torch.device | None,
    dtype: torch.dtype | None = None,
    non_blocking: bool = False,
    form: Any = None,
    copy: bool = False,
) -> torch.Tensor:
    """The tensor itself where nothing changes, else a fresh one in its place."""
    here = place(tensor)
    if here == DEVICE or (asked is not None and asked.type == "cuda"):
        world.reach()
    settings: Settings = {"dtype": dtype or tensor.dtype, "non_blocking": non_blocking}
    if form is not None:
        settings["memory_format"] = form
    if asked is None or ((asked.type == "cpu") == (here != DEVICE) and asked.type in ("cpu", "cuda") and real(tensor)):
        return mark(tensor.to(copy=copy, **settings), DEVICE if here == DEVICE else HOST)  # type: ignore[no-any-return]
    known(asked)
    there = DEVICE if asked.type == "cuda" else HOST
    settings["device"] = "cpu" if there == DEVICE else asked
    fresh = tensor.to(copy=True, **settings)
    if there == HOST and non_blocking and asked.type == "cpu":
        there = PINNED  # what a copy without waiting lands in
    return move(fresh, there)


def known(asked: torch.device) -> None:
    if asked.type == "cuda" and (asked.index or 0) >= DEVICES:
        raise RuntimeError(f"CUDA error: invalid device ordinal ({asked}: SyncGuard simulates one device, {CUDA})")


def named_to(args: Call, kwargs: Settings) -> tuple[Call, Settings]:
    asked, dtype, non_blocking, _, copy = parsed(args[1:], kwargs)
    return args[:1], {"device": asked, "dtype": dtype, "non_blocking": non_blocking, "copy": copy}


def cuda(func: Any, args: Call, kwargs: Settings) -> Any:
    asked = args[1] if len(args) > 1 else kwargs.get("device")
    asked = torch.device("cuda", asked) if isinstance(asked, int) else torch.device(asked or "cuda")
    known(asked)
    non_blocking = args[2] if len(args) > 2 else kwargs.get("non_blocking", False)
    return sent(args[0], CUDA, non_blocking=bool(non_blocking), form=kwargs.get("memory_format"))


def cpu(func: Any, args: Call, kwargs: Settings) -> Any:
    form = args[1] if len(args) > 1 else kwargs.get("memory_format")
    return sent(args[0], torch.device("cpu"), form=form)


def kind(func: Any, args: Call, kwargs: Settings) -> Any:
    """`.type()` names the class of the device's tensors; `.type(...)` may send there."""
    tensor = args[0]
    wanted = args[1] if len(args) > 1 else kwargs.get("dtype")
    if wanted is None:
        name = func(tensor)
        return name.replace("torch.", COPY_DTYPE, 1) if place(tensor) == DEVICE else name
    if isinstance(wanted, torch.dtype):
        return mark(func(*args, **kwargs), place(tensor))
    name = wanted if isinstance(wanted, str) else f"{wanted.__module__}.{wanted.__name__}"
    there = CUDA if name.startswith(COPY_DTYPE) else torch.device("cpu")
    return sent(tensor, there, dtype_of(name))


def dtype_of(name: str) -> torch.dtype:
    """torch.cuda.HalfTensor holds torch.float16."""
    return getattr(torch, name.rpartition(".")[2])(0).dtype  # type: ignore[no-any-return]


def type_as(func: Any, args: Call, kwargs: Settings) -> Any:
    other = args[1] if len(args) > 1 else kwargs["other"]
    return sent(args[0], claimed(other), other.dtype)


def named_type_as(args: Call, kwargs: Settings) -> tuple[Call, Settings]:
    other = args[1] if len(args) > 1 else kwargs["other"]
    return args[:1], {"device": claimed(other), "other": other}


def pin_memory(func: Any, args: Call, kwargs: Settings) -> Any:
    if place(args[0]) == DEVICE:
        raise RuntimeError(f"cannot pin '{kind(torch.Tensor.type, args[:1], {})}' only dense CPU tensors can be pinned")
    return args[0] if place(args[0]) == PINNED else move(args[0].clone(), PINNED)


def is_pinned(func: Any, args: Call, kwargs: Settings) -> bool:
    return place(args[0]) == PINNED


def numpy(func: Any, args: Call, kwargs: Settings) -> Any:
    if place(args[0]) == DEVICE and not kwargs.get("force", False):
        raise TypeError(
            f"can't convert {CUDA} device type tensor to numpy. "
            "Use Tensor.cpu() to copy the tensor to host memory first."
        )
    return func(*args, **kwargs)


def share(func: Any, args: Call, kwargs: Settings) -> Any:
    """Memory of the device is shared as it is."""
    if place(args[0]) == DEVICE:
        return args[0]
    with let_through():
        return func(*args, **kwargs)


def is_shared(func: Any, args: Call, kwargs: Settings) -> Any:
    return True if place(args[0]) == DEVICE else func(*args, **kwargs)


def parse_to(func: Any, args: Call, kwargs: Settings) -> Any:
    """What Module.to asks for; an ordinal is a device of CUDA."""
    if args and isinstance(args[0], int) and not isinstance(args[0], bool):
        args = (torch.device("cuda", args[0]), *args[1:])
    if isinstance(kwargs.get("device"), int):
        kwargs = {**kwargs, "device": torch.device("cuda", kwargs["device"])}
    if args and isinstance(args[0], torch.Tensor) and place(args[0]) == DEVICE:
        return CUDA, *func(*args, **kwargs)[1:]
    return func(*args, **kwargs)


def make_device(func: Any, args: Call, kwargs: Settings) -> Any:
    """torch.device(0) is the first accelerator."""
    if args and isinstance(args[0], int) and len(args) == 1:
        return func("cuda", args[0])
    return func(*args, **kwargs)


def hooked(func: Any, args: Call, kwargs: Settings) -> Any:
    """A hook is handed a gradient that nobody saw being made; it is where its tensor is."""
    tensor, hook, *rest = args if len(args) > 1 else (args[0], kwargs["hook"])
    where = place(tensor)

    def marked(grad: Any) -> Any:
        return hook(mark(grad, where))

    with let_through():
        return func(tensor, marked, *rest)


def copied(func: Any, args: Call, kwargs: Settings) -> Any:
    """copy.deepcopy of a tensor copies its storage without the mark."""
    with let_through():
        return mark(func(*args, **kwargs), place(args[0]))


SPECIAL: dict[str, Callable[..., Any]] = {
    "torch.device": make_device,
    "torch._parse_to": parse_to,
    "torch.Tensor.device": device,
    "torch.Tensor.is_cuda": is_cuda,
    "torch.Tensor.is_cpu": is_cpu,
    "torch.Tensor.get_device": get_device,
    "torch.get_device": get_device,
    "torch.Tensor.grad": gradient,
    "torch.Tensor._grad": gradient,
    "torch.Tensor.grad.__set__": mixing.assigned,
    "torch.Tensor.to": to,
    "torch.Tensor.cuda": cuda,
    "torch.Tensor.cpu": cpu,
    "torch.Tensor.type": kind,
    "torch.Tensor.type_as": type_as,
    "torch.Tensor.pin_memory": pin_memory,
    "torch.Tensor.is_pinned": is_pinned,
    "torch.Tensor.numpy": numpy,
    "torch.Tensor.__array__": numpy,
    "torch.Tensor.__dlpack__": exchange.given,
    "torch.Tensor.__cuda_array_interface__": exchange.interface,
    "torch.Tensor.share_memory_": share,
    "torch.Tensor.is_shared": is_shared,
    "torch.Tensor.register_hook": hooked,
    "torch.Tensor.__deepcopy__": copied,
    **{f"torch.Tensor.{name}": mixing.shaped for name in ("view_as", "reshape_as", "expand_as", "resize_as_")},
    "torch._nested_tensor_from_tensor_list": kinds.nested,
    "torch._pack_padded_sequence": mixing.packed,
    "torch._pad_packed_sequence": mixing.packed,
}
NAMED: dict[Callable[..., Any], Callable[[Call, Settings], tuple[Call, Settings]]] = {
    to: named_to,
    type_as: named_type_as,
}


def is_constructor(name: str) -> bool:
    """Does this function make tensors out of nothing, on the default device unless told otherwise?"""
    return name in CONSTRUCTORS


def follows(name: str, args: Call) -> bool:
    """Does a constructor put its result where its tensors are? A size, or an item of a list, is only read."""
    bare = name.rpartition(".")[2]
    whole = not args or isinstance(args[0], torch.Tensor)
    return bare.startswith(("sparse", "nested", "as_nested")) or (bare in ("tensor", "as_tensor", "asarray") and whole)


def copies_data(name: str) -> bool:
    """Does a constructor that can pin copy what it is given?"""
    return name == "torch.tensor"


def pinnable(args: Call, kwargs: Settings) -> None:
    """The error of torch where such a constructor is to pin what is a tensor or an array already."""
    data = args[0] if args else kwargs.get("data")
    numpy = sys.modules.get("numpy")
    array = numpy is not None and isinstance(data, numpy.ndarray)
    if array or isinstance(data, torch.Tensor):
        raise RuntimeError(f"Can't pin tensor constructed from {'numpy' if array else 'a variable'}")


def _constructors() -> frozenset[str]:
    from torch.overrides import resolve_name

    named = (resolve_name(func) or "" for func in torch.utils._device._device_constructors())
    return frozenset(named)


CONSTRUCTORS = _constructors()
