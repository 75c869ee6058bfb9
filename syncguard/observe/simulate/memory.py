"""What a device answers when it is asked for its memory: figures of this process, which holds its tensors."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from syncguard.observe.simulate.inert import Properties, always
from syncguard.observe.simulate.patches import Patches

SEGMENT = 2 * 2**20
POOLS = ("all", "large_pool", "small_pool")
POOLED = (
    "allocated_bytes active_bytes reserved_bytes requested_bytes inactive_split_bytes"
    " allocation active segment inactive_split"
).split()
TIMES = ("host_alloc_time", "host_free_time")
SINGLE = ("oversize_allocations", "oversize_segments")
EVENTS = ("num_alloc_retries", "num_ooms", "num_sync_all_streams", "num_device_alloc", "num_device_free",
          "max_split_size")  # fmt: skip


def patch(patches: Patches) -> None:
    """The functions of C++ that torch.cuda.memory asks, and what has no meaning without a device."""
    for name, answer in ASKED.items():
        patches.set(torch._C, name, answer)
    patches.set(torch.cuda, "MemPool", MemPool)
    patches.set(torch.cuda.memory, "MemPool", MemPool)
    for module in (torch.cuda, torch.cuda.memory):
        for name in ("use_mem_pool", "_use_mem_pool"):
            if hasattr(module, name):
                patches.set(module, name, using)


def now() -> int:
    """Bytes that this process holds: never 0, for programs divide by it."""
    try:
        return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return peak()


def peak() -> int:
    """The most that it has held."""
    try:
        import resource
    except ImportError:
        return SEGMENT
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(most if sys.platform == "darwin" else most * 1024) or SEGMENT


def whole(count: int) -> int:
    """In segments, as an allocator reserves them."""
    return -(-count // SEGMENT) * SEGMENT


def stats(*_: Any) -> dict[str, Any]:
    """As torch._C._cuda_memoryStats gives them."""
    held, most = now(), peak()
    most = max(held, most)
    figures = dict.fromkeys(("allocated_bytes", "active_bytes", "requested_bytes"), (held, most))
    figures["reserved_bytes"] = whole(held), whole(most)
    tree: dict[str, Any] = {}
    for name in POOLED:
        for pool in POOLS:
            current, top = figures.get(name, (0, 0)) if pool != "small_pool" else (0, 0)
            tree.setdefault(name, {})[pool] = counted(current, top)
    return tree | {name: counted(0, 0) for name in SINGLE} | dict.fromkeys(EVENTS, 0)


def counted(current: int, top: int) -> dict[str, int]:
    return {"current": current, "peak": top, "allocated": top, "freed": top - current}


def host_stats(*_: Any) -> dict[str, Any]:
    """As torch._C._cuda_hostMemoryStats gives them: nothing is pinned in earnest."""
    bytes_, counts = ("allocated_bytes", "active_bytes"), ("allocation", "active", "segment")
    times = {name: dict.fromkeys(("total", "max", "min", "count", "avg"), 0) for name in TIMES}
    return {name: counted(0, 0) for name in (*bytes_, *counts)} | times | {"num_host_alloc": 0, "num_host_free": 0}


def info(*_: Any, **__: Any) -> tuple[int, int]:
    """Bytes free and in all."""
    return max(Properties.total_memory - whole(now()), 0), Properties.total_memory


class MemPool:
    """A pool like any other."""

    def __init__(self, *_: Any, **settings: Any) -> None:
        self.id, self.allocator = (0, id(self)), None

    def use_count(self) -> int:
        return 1

    def snapshot(self, include_traces: bool = True) -> list[Any]:
        return []


@contextmanager
def using(pool: Any = None, device: Any = None, **settings: Any) -> Iterator[None]:
    """`with torch.cuda.use_mem_pool(pool)`: made of a generator as torch's own is, for torch's compiler unwraps it."""
    yield


class Runtime:
    """torch.cuda.cudart(): every function of it succeeds."""

    class cudaError:
        success = 0

    cudaMemGetInfo = staticmethod(info)  # noqa: N815

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("cuda"):
            raise AttributeError(name)
        return always(0)


ASKED: dict[str, Any] = {
    "_cuda_memoryStats": stats,
    "_cuda_hostMemoryStats": host_stats,
    "_cuda_memorySnapshot": lambda *_: {"segments": [], "device_traces": [[]], "allocator_settings": {}},
    "_cuda_getAllocatorBackend": lambda: "native",
    "_cuda_cudaCachingAllocator_enable": always(None),
    "_cuda_getCurrentSolverHandle": always(0),
    "_accelerator_getMemoryInfo": info,
    "_accelerator_emptyHostCache": always(None),
    "_get_accelerator": lambda *_: torch.device("cuda"),
}
