"""Storages that were saved on the device are loaded onto it, unless `map_location` says otherwise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from syncguard.observe.simulate.marks import CUDA, DEVICE, DEVICES, HOST, MARK, on_device
from syncguard.observe.simulate.patches import Patches
from syncguard.observe.simulate.verdict import Verdict

PICKLED = "torch.Tensor.__reduce_ex__"
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
        return storage
    if location == "cpu":
        setattr(bare, MARK, HOST)
    return None


def pickled(original: Callable[..., Any], verdict: Verdict) -> Callable[..., Any]:
    """`pickle.dumps(t)` waits, `copy.copy(t)` does not, and both come this way: the caller's text tells."""

    def reduce(tensor: torch.Tensor, protocol: int) -> Any:
        if on_device(tensor):
            verdict.tell(PICKLED, "")
        return original(tensor, protocol)

    return reduce
