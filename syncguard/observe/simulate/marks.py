"""Where a tensor lives in the simulated world: a mark that its storage carries for as long as the storage lives.

Views share the storage and so the mark; `.data`, `Module.to` and `set_` swap storages and the mark with them. A storage
without a mark was made by C++ behind our back: on the device in a backward that started there, else on the host.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
import torch.utils._device

HOST, PINNED, DEVICE = 0, 1, 2


def ordinals() -> tuple[int, int]:
    """The number of the one device of this process, and how many there seem to be: one for each rank of the machine."""
    try:
        rank, ranks = int(os.environ["LOCAL_RANK"]), int(os.environ["LOCAL_WORLD_SIZE"])
    except (KeyError, ValueError):
        return 0, 1
    return (rank, ranks) if 0 <= rank < ranks else (0, 1)


ORDINAL, DEVICES = ordinals()
CUDA = torch.device("cuda", ORDINAL)
PLAIN = (torch.Tensor, torch.nn.Parameter)
MARK = "_syncguard_place"
SHORT = 8  # items of a list that may be a size


class World:
    """What there is in this process: whether any tensor has been put on the device, here or in the process it is of."""

    def __init__(self) -> None:
        self.used = self.lost = False

    def forked(self) -> None:
        """In a forked child: CUDA that its parent has begun is out of reach."""
        self.lost = self.lost or self.used

    def reach(self) -> None:
        """Refuse what is for the device where it is out of reach."""
        if self.lost:
            raise RuntimeError(
                "Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use the"
                " 'spawn' start method"
            )


world = World()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=world.forked)


class Local(threading.local):
    """What holds on this thread: the backwards in progress, and where unmarked tensors are in them."""

    def __init__(self) -> None:
        self.backwards = 0
        self.unmarked = HOST
        self.packing = HOST  # where the results of the call in progress are
        self.passing = 0  # so many questions for overrides are answered no
        self.told: Any = None  # the function whose call was told before a class of its own was asked to carry it out
        self.dispatched: Any = None  # the operator that a mode of the program is asked to carry out, which was told
        self.asking: tuple[Any, tuple[Any, ...]] | None = None  # the function of Python called last, its first argument


local = Local()


@contextmanager
def let_through() -> Iterator[None]:
    """In here the next question for overrides is answered no: who asks it is carried out as torch wrote it."""
    before, local.passing = local.passing, 1
    try:
        yield
    finally:
        local.passing = before


def storage_of(tensor: torch.Tensor) -> Any:
    """What carries the mark of a tensor: its storage, that of its values where it is sparse, or itself."""
    try:
        if type(tensor) in PLAIN:
            return tensor.untyped_storage()
        if (inner := next(held(tensor), None)) is not None:
            return storage_of(inner)
        with torch._C.DisableTorchFunctionSubclass():
            return tensor.untyped_storage()
    except (NotImplementedError, RuntimeError):
        pass
    return storage_behind(tensor)


def held(tensor: torch.Tensor) -> Iterator[torch.Tensor]:
    """The tensors that a tensor of a class of its own is made of: the first tells where it is."""
    if not hasattr(type(tensor), "__tensor_flatten__"):
        return
    with torch._C.DisableTorchFunctionSubclass():
        try:
            names, _ = tensor.__tensor_flatten__()  # type: ignore[attr-defined]
        except AttributeError:  # it is being made
            return
        found = [getattr(tensor, name, None) for name in names]
    yield from (inner for inner in found if isinstance(inner, torch.Tensor))


def storage_behind(tensor: torch.Tensor) -> Any:
    if torch._C._functorch.is_functorch_wrapped_tensor(tensor):
        return storage_of(torch._C._functorch.get_unwrapped(tensor))
    try:
        with torch._C.DisableTorchFunctionSubclass():
            if tensor.layout is torch.sparse_coo:
                return tensor._values().untyped_storage()
            if tensor.is_sparse or tensor.layout in COMPRESSED:
                return tensor.values().untyped_storage()
    except (NotImplementedError, RuntimeError):
        pass
    return tensor


COMPRESSED = (torch.sparse_csr, torch.sparse_csc, torch.sparse_bsr, torch.sparse_bsc)


def place(tensor: torch.Tensor) -> int:
    """HOST, DEVICE or PINNED."""
    storage = storage_of(tensor)
    found = getattr(storage, MARK, None)
    if found is None:
        found = local.unmarked
        if local.backwards:
            setattr(storage, MARK, found)
    return found


def on_device(tensor: torch.Tensor) -> bool:
    return place(tensor) == DEVICE


def mark(value: Any, where: int, depth: int = 0) -> Any:
    """Put what a call made where it belongs; what was there before stays where it was."""
    if isinstance(value, torch.Tensor):
        storage = storage_of(value)
        if getattr(storage, MARK, None) is None:
            setattr(storage, MARK, where)
        if type(value) not in PLAIN:
            for inner in held(value):
                mark(inner, where)
    elif isinstance(value, (tuple, list)) and depth < 3:
        for item in value:
            if not isinstance(item, (int, float, str, bool)):
                mark(item, where, depth + 1)
    return value


def move(value: torch.Tensor, where: int) -> torch.Tensor:
    """A fresh tensor is put somewhere, whatever was said of it."""
    world.used = world.used or where == DEVICE
    setattr(storage_of(value), MARK, where)
    if type(value) not in PLAIN:
        for inner in held(value):
            move(inner, where)
    return value


def tensors(values: Iterable[Any], depth: int = 0) -> Iterator[torch.Tensor]:
    """The tensors among arguments, in lists and dictionaries too."""
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, (tuple, list)):
            if value and depth < 3 and not plain(value):
                yield from tensors(value, depth + 1)
        elif isinstance(value, dict) and depth < 3:
            yield from tensors(value.values(), depth + 1)


def plain(values: Sequence[Any]) -> bool:
    """Whether a list has no tensor in it: a short one may be a size, and a long one is judged by its first item."""
    return all(isinstance(value, (int, float, str)) for value in (values if len(values) <= SHORT else values[:1]))


def names_device(value: Any) -> bool:
    """Does this name the simulated device: "cuda", "cuda:0", torch.device("cuda"), an ordinal?"""
    if isinstance(value, torch.device):
        return value.type == "cuda"
    if isinstance(value, str):
        return value.split(":")[0] == "cuda"
    return isinstance(value, int) and not isinstance(value, bool)


def default_place() -> int:
    """Where a factory without a device puts its result."""
    current = torch.utils._device.CURRENT_DEVICE
    return DEVICE if current is not None and current.type == "cuda" else HOST
