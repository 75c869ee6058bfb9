"""Storages, classes and kinds of tensors that C++ makes without asking anybody: they are put where they belong."""

from __future__ import annotations

from typing import Any

import torch

from syncguard.observe.simulate.marks import (
    CUDA,
    DEVICE,
    HOST,
    MARK,
    default_place,
    mark,
    move,
    names_device,
    on_device,
    place,
    storage_of,
    tensors,
)
from syncguard.observe.simulate.patches import Patches

CPU = torch.device("cpu")


def patch(patches: Patches) -> None:
    """Stand before them all."""
    patches.set(torch.UntypedStorage, "__new__", make_storage)
    patches.set(torch.UntypedStorage, "device", property(storage_device))
    patches.set(torch.UntypedStorage, "is_cuda", property(lambda s: getattr(s, MARK, None) == DEVICE))
    patches.wrap(torch.Tensor, "_make_wrapper_subclass", wrapping)
    patches.wrap(torch._C._nested, "nested_tensor", nesting)  # type: ignore[attr-defined]
    patches.wrap(torch, "set_default_tensor_type", default_kind)
    for name in vars(torch.cuda).copy():
        if name.endswith("Tensor") and isinstance(vars(torch.cuda)[name], type):
            patches.set(torch.cuda, name, legacy(name))


CPU_STORAGE_DEVICE = torch.UntypedStorage.device


def storage_device(storage: Any) -> torch.device:
    return CUDA if getattr(storage, MARK, None) == DEVICE else CPU_STORAGE_DEVICE.__get__(storage)


def make_storage(cls: Any, *args: Any, device: Any = None, **settings: Any) -> Any:
    """A storage of its own; a copy of a parameter makes one where the parameter is."""
    there = device is not None and names_device(device)
    place = {} if device is None else {"device": "cpu" if there else device}
    made = torch._C.StorageBase.__new__(cls, *args, **place, **settings)
    if there:
        setattr(made, MARK, DEVICE)
    return made


def wrapping(original: Any) -> Any:
    """A tensor of a class that computes with other tensors: it says that it is on the device, and so are they."""

    def make(*args: Any, **settings: Any) -> Any:
        given = (*args, settings.get("device"))
        there = any(isinstance(value, (str, torch.device)) and names_device(value) for value in given)
        if there:
            args = tuple(CPU if isinstance(value, torch.device) else value for value in args)
            settings.update({"device": CPU} if "device" in settings else {})
        made = original(*args, **settings)
        if there:
            setattr(storage_of(made), MARK, DEVICE)
        return made

    return staticmethod(make)


def nesting(original: Any) -> Any:
    """A nested tensor of tensors, or of data: the function of C++ asks nobody."""

    def nested_tensor(data: Any, *args: Any, device: Any = None, **settings: Any) -> Any:
        there = any(map(on_device, tensors([data]))) or default_place() == DEVICE
        there = names_device(device) if device is not None else there
        made = original(data, *args, device=None if there else device, **settings)
        return mark(made, DEVICE if there else HOST)

    return nested_tensor


def nested(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The one function that is given its device by position."""
    asked = args[3] if len(args) > 3 else None
    there = place(args[0][0]) == DEVICE if asked is None else names_device(asked)
    return move(func(*args[:3], None, *args[4:], **kwargs), DEVICE if there else HOST)


def default_kind(original: Any) -> Any:
    """torch.set_default_tensor_type: a class of torch.cuda makes the device the default one, too."""
    ours = False

    def set_default_tensor_type(t: Any, /) -> None:
        nonlocal ours
        name = t if isinstance(t, str) else f"{t.__module__}.{t.__name__}"
        there = name.startswith("torch.cuda.")
        original(name.replace("torch.cuda.", "torch.", 1) if there else t)
        if there or ours:
            torch.set_default_device(CUDA if there else None)
        ours = there

    return set_default_tensor_type


def legacy(name: str) -> type:
    """torch.cuda.FloatTensor: makes tensors on the device, and knows them."""
    host = getattr(torch, name, None)

    class Kind(type):
        def __instancecheck__(cls, value: object) -> bool:
            return isinstance(value, torch.Tensor) and value.is_cuda and host is not None and value.dtype == cls.dtype

        @property
        def dtype(cls) -> Any:
            return host(0).cpu().dtype if host is not None else None

        def __call__(cls, *args: Any) -> Any:
            if args and not isinstance(args[0], int):
                return torch.tensor(args[0], dtype=cls.dtype, device=CUDA)
            return torch.empty(args, dtype=cls.dtype, device=CUDA)

    return Kind(name, (), {"__module__": "torch.cuda"})
