"""A class of arguments -> whether it answers torch functions in its own way, as a tensor's subclass or a proxy does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any

import torch

from syncguard.observe.simulate.marks import PLAIN


def any_minded(values: Iterable[Any]) -> bool:
    return next(minded_of(values), None) is not None


def minded_of(values: Iterable[Any], depth: int = 0) -> Iterator[Any]:
    """Those of the values, in lists and dictionaries too: a tensor's subclass, a proxy of torch.fx."""
    for value in values:
        kind: Any = type(value)
        if kind in PLAIN:
            continue
        if isinstance(value, (tuple, list)):
            numbers = not value or isinstance(value[0], (int, float, str))
            if not numbers and depth < 3:
                yield from minded_of(value, depth + 1)
        elif isinstance(value, dict):
            if depth < 3:
                yield from minded_of(value.values(), depth + 1)
        elif minded(kind):
            yield value


@cache
def minded(kind: type) -> bool:
    """Does this class override torch functions in its own way?"""
    override: Any = getattr(kind, "__torch_function__", None)
    return override is not None and override is not torch._C._disabled_torch_function_impl and not usual(kind)


@cache
def usual(kind: type) -> bool:
    """Does this class take torch functions as Tensor does?"""
    override: Any = getattr(kind, "__torch_function__", None)
    tensors: Any = torch.Tensor.__torch_function__
    return getattr(override, "__func__", None) is tensors.__func__


def as_subclass(func: Callable[..., Any], args: tuple[Any, ...]) -> Callable[..., Any]:
    """A function as torch calls it for a subclass of Tensor: inside it, what is taken of it is a plain tensor."""
    kinds: list[Any] = [type(arg) for arg in args if type(arg) not in PLAIN]
    kind = next(filter(usual, kinds), None)
    if kind is None:
        return func

    def call(*args: Any, **kwargs: Any) -> Any:
        return torch.Tensor.__torch_function__.__func__(kind, func, (kind,), args, kwargs)  # type: ignore[attr-defined]

    return call


@cache
def of_tensors(kind: type) -> bool:
    return issubclass(kind, torch.Tensor)


def plain_only(original: Callable[..., bool]) -> Callable[..., bool]:
    """What decides on a fast path asks for overrides too; ours is none to speak of."""

    def overridden(*values: Any) -> bool:
        if torch._C._len_torch_function_stack() > 1:
            return original(*values)
        return any_minded(values)

    return overridden
