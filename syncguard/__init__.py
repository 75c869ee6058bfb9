"""SyncGuard finds the places where PyTorch code makes the CPU wait for the GPU.

PYTEST_DONT_REWRITE: it holds no test, and is there before pytest where `syncguard run -m pytest` starts it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.1.0"
__all__ = ["SyncError", "__version__", "allow", "budget", "forbid", "step"]

if TYPE_CHECKING:
    from syncguard.observe.forbid import SyncError, allow, budget, forbid, step


def __getattr__(name: str) -> object:
    """What programs use, loaded when they do: the command line needs none of it."""
    if name in ("SyncError", "allow", "budget", "forbid", "step"):
        from importlib import import_module

        return getattr(import_module("syncguard.observe.forbid"), name)
    raise AttributeError(f"module 'syncguard' has no attribute '{name}'")
