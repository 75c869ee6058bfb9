"""The arguments of a call, by the names of its row, and what may be asked of each."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Number
from typing import Any

import torch

from syncguard.observe.simulate.marks import DEVICE, place

ABSENT = object()


class Arguments:
    """The arguments of one call, by the names in the op's row; what the row does not name is only counted."""

    __slots__ = ("count", "named", "owner")

    def __init__(
        self, names: tuple[str, ...], args: tuple[Any, ...], keywords: dict[str, Any], owner: Any = None
    ) -> None:
        self.owner = owner
        self.count = len(args) + len(keywords)
        self.named: dict[str, Any] = dict(zip(names, args))
        if names and len(args) > len(names):  # view(a, b, c): what is left belongs to the last name
            self.named[names[-1]] = args[len(names) - 1 :]
        self.named.update(keywords)

    def get(self, name: str) -> Any:
        """An argument, or what an object was made with under that name; ABSENT where it is not given."""
        if "." in name:
            holder, _, setting = name.rpartition(".")
            return setting_of(self.get(holder), setting)
        value = self.named.get(name, ABSENT)
        if self.owner is not None and (value is None or value is ABSENT):
            made = type(self.owner)  # Distribution.set_default_validate_args, arg_constraints
            return getattr(made, f"_{name}", getattr(made, name, value))
        if value is ABSENT and self.named:
            first = next(iter(self.named.values()))
            return ABSENT if isinstance(first, torch.Tensor) else setting_of(first, name)
        return value


def setting_of(owner: Any, name: str) -> Any:
    """What an object was made with: an optimizer's in its defaults, a distribution's with an underscore."""
    if owner is None or type(owner) is tuple or isinstance(owner, (str, int, float, list, dict)):
        return ABSENT
    defaults = getattr(owner, "defaults", None)
    if isinstance(defaults, dict) and name in defaults:
        return defaults[name]
    try:
        return getattr(owner, f"_{name}", getattr(owner, name, ABSENT))
    except Exception:
        return ABSENT


def device_tensors(value: Any, depth: int = 0) -> Iterator[torch.Tensor]:
    """The tensors on the device in a value."""
    if isinstance(value, torch.Tensor):
        if place(value) == DEVICE:
            yield value
    elif isinstance(value, (list, tuple)) and depth < 3:
        for item in value:
            yield from device_tensors(item, depth + 1)
    elif isinstance(value, dict) and depth < 3:
        for item in value.values():
            yield from device_tensors(item, depth + 1)


def is_data(value: Any) -> bool:
    if isinstance(value, range):
        return len(value) > 0
    if isinstance(value, (list, tuple)):
        return bool(value) and all(is_data(item) for item in value)
    return isinstance(value, (Number, str)) or is_array(value)


def is_array(value: Any) -> bool:
    return hasattr(value, "__array_interface__") and not isinstance(value, (torch.Tensor, Number))  # np.int64 is one
