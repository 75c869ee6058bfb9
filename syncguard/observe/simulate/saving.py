"""Storages that were saved on the device are loaded onto it, unless `map_location` says otherwise."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import torch

from syncguard.observe.simulate.marks import CUDA, DEVICE, DEVICES, HOST, MARK, on_device, world
from syncguard.observe.simulate.patches import Patches
from syncguard.observe.simulate.verdict import Verdict, internal

PICKLING = "pickle.dumps"
FIRST = 0  # before torch's own, which start at 10


def patch(patches: Patches, verdict: Verdict) -> None:
    """A package of our own in front of those that torch saves and loads with."""
    patches.wrap(torch.Tensor, "_reduce_ex_internal", lambda original: pickled(original, verdict))
    registry = [(FIRST, tag, restore), *torch.serialization._package_registry]
    patches.set(torch.serialization, "_package_registry", registry)


def tag(storage: Any) -> str | None:
    bare = storage._untyped_storage if isinstance(storage, torch.storage.TypedStorage) else storage
    return str(CUDA) if getattr(bare, MARK, None) == DEVICE else None


def restore(storage: Any, location: str) -> Any:
    bare = storage._untyped_storage if isinstance(storage, torch.storage.TypedStorage) else storage
    if location.split(":")[0] == "cuda":
        if torch.device(location).index not in (None, *range(DEVICES)):
            raise RuntimeError(
                f"Attempting to deserialize object on CUDA device {location.partition(':')[2]} but SyncGuard simulates"
                " one device. Please use torch.load with map_location to map your storages to an existing device."
            )
        setattr(bare, MARK, DEVICE)
        world.used = True
        return storage
    if location == "cpu":
        setattr(bare, MARK, HOST)
    return None


def pickled(original: Callable[..., Any], verdict: Verdict) -> Callable[..., Any]:
    """Pickling a tensor of the device waits, whoever asks for it: `pickle.dumps`, a pickler. A copy does not."""
    row = verdict.row(PICKLING)
    hazard = next((wait.hazard for wait in verdict.waits(row)), "")

    def reduce(tensor: torch.Tensor, protocol: int) -> Any:
        if on_device(tensor) and not copying(sys._getframe(1)):
            verdict.tell(PICKLING, hazard)
        return original(tensor, protocol)

    return reduce


def copying(frame: FrameType | None) -> bool:
    """Does `copy.copy` or `copy.deepcopy` ask, before anyone who is not torch's?"""
    while frame is not None and internal(frame.f_code.co_filename):
        if frame.f_globals.get("__name__") == copy.__name__:
            return True
        frame = frame.f_back
    return False
