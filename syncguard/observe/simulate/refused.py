"""What becomes of a wait that the program itself forbids: in a capture, or by torch.cuda.set_sync_debug_mode."""

from __future__ import annotations

import warnings
from types import FrameType

import torch

from syncguard.observe.simulate import graphs, inert
from syncguard.observe.simulate.patches import Patches

SAID = "called a synchronizing CUDA operation"
SILENT, WARN, ERROR = 0, 1, 2


class DebugMode:
    """The sync debug mode of the process: what torch.cuda sets and asks for, in one that has no device."""

    def __init__(self) -> None:
        self.level = SILENT

    def patch(self, patches: Patches) -> None:
        """Put the two functions of C++ there that torch.cuda calls."""
        patches.set(torch._C, "_cuda_set_sync_debug_mode", self.set)
        patches.set(torch._C, "_cuda_get_sync_debug_mode", lambda: self.level)

    def set(self, level: int) -> None:
        if level not in (SILENT, WARN, ERROR):
            raise RuntimeError("invalid value of debug_mode, expected one of 0,1,2")
        self.level = level

    def meets(self, frame: FrameType) -> None:
        """A wait that a device would report: the warning at the line that waits, or the error."""
        if self.level == ERROR:
            raise RuntimeError(SAID)
        if self.level == WARN:
            known = frame.f_globals
            registry = known.setdefault("__warningregistry__", {})
            path, line, module = frame.f_code.co_filename, frame.f_lineno, known.get("__name__")
            warnings.warn_explicit(SAID, UserWarning, path, line, module, registry)


def in_a_capture(breaks: tuple[str, ...]) -> None:
    """The error that ends a capture at a wait; nothing where none is going on."""
    if inert.state.capturing and "capture" in breaks:
        raise graphs.Fault(graphs.REFUSED)
