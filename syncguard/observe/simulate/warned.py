"""A warning that comes out of a call that we carry out -> the same warning at the line that made the call."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from types import FrameType
from typing import Any

import torch

from syncguard.observe.simulate.patches import Patches

ROOM = __name__.rpartition(".")[0]
HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep
HANDLE = torch.overrides.handle_torch_function.__code__


def patch(patches: Patches) -> None:
    """What the filters let through of our own modules is judged again as the program's."""
    for name, module in list(sys.modules.items()):
        if name.startswith(f"{ROOM}."):
            patches.set(module, "__warningregistry__", None)  # so that no line of ours has been warned of already
    patches.wrap(warnings, "_showwarnmsg", moved)


def moved(original: Callable[[Any], None]) -> Callable[[Any], None]:
    """`warnings._showwarnmsg`, which is told of every warning that no filter stops."""

    def show(message: Any) -> None:
        frame = maker(sys._getframe(1)) if str(message.filename).startswith(HERE) else None
        if frame is None:
            original(message)
            return
        known = frame.f_globals
        warnings.warn_explicit(
            message.message, message.category, frame.f_code.co_filename, frame.f_lineno, known.get("__name__"),
            known.setdefault("__warningregistry__", {}), None, message.source,
        )  # fmt: skip

    return show


def maker(frame: FrameType | None) -> FrameType | None:
    """The frame that called what we carry out, from one inside: not a torch function that asked us to be overridden."""
    while frame is not None and not ours(frame):
        frame = frame.f_back
    while frame is not None and (ours(frame) or frame.f_code is HANDLE):
        asked = frame.f_code is HANDLE
        frame = frame.f_back
        if asked and frame is not None:
            frame = frame.f_back
    return frame


def ours(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith(HERE)
