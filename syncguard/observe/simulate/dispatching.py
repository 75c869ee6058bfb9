"""The program's own dispatch modes -> the same, with the device in force where torch asks them to carry out a call."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from torch.utils._python_dispatch import TorchDispatchMode

from syncguard.observe.simulate.marks import local
from syncguard.observe.simulate.mode import Device
from syncguard.observe.simulate.patches import Patches
from syncguard.observe.simulate.verdict import TORCH

ASKED = "__torch_dispatch__"


def patch(patches: Patches, device: Device) -> None:
    """A mode is looked at when it is entered; torch's own know what they look at."""

    def entering(original: Callable[[Any], Any]) -> Callable[[Any], Any]:
        @functools.wraps(original)
        def enter(mode: TorchDispatchMode) -> Any:
            owner = next(kind for kind in type(mode).__mro__ if ASKED in vars(kind))
            own = vars(owner)[ASKED]
            written = inspect.unwrap(own)  # torch wraps it, for its compiler
            if inspect.isfunction(written) and not written.__code__.co_filename.startswith(TORCH) and not given(own):
                patches.set(owner, ASKED, answering(own, device))
            return original(mode)

        return enter

    patches.wrap(TorchDispatchMode, "__enter__", entering)


def given(function: Any) -> bool:
    """Whether this is one of ours already."""
    return hasattr(function, "_syncguard")


def answering(original: Callable[..., Any], device: Device) -> Callable[..., Any]:
    """What a mode does for a call, which C++ asks of it in the middle of that call."""

    @functools.wraps(original)
    def answer(mode: Any, func: Any, *args: Any, **kwargs: Any) -> Any:
        before = local.passing, local.dispatched
        local.passing, local.dispatched = 0, func
        try:
            with device.elsewhere():
                return original(mode, func, *args, **kwargs)
        finally:
            local.passing, local.dispatched = before

    answer._syncguard = True  # type: ignore[attr-defined]
    return answer
