"""Compilers, process groups and profilers of devices, replaced by what runs on a CPU."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any, Protocol

import torch

from syncguard.observe.simulate.patches import Patches

EAGER = "torch.compile: the model ran eagerly"
DRAWN = "torch.distributed.tensor: each rank draws random numbers of its own, as on the CPU"
PARTED = "torch.distributed.tensor"
PROFILED = "torch.profiler: the program's own profile has the host only"


class Notes(Protocol):
    def note(self, sentence: str) -> None: ...


def patch(patches: Patches, notes: Notes) -> None:
    """Set them all."""
    begin = beginning(patches, notes)
    patches.set(torch, "compile", compiling(begin))
    patches.set(torch.nn.Module, "compile", lambda *args, **settings: begin())
    profile, ranges = torch.autograd.profiler.profile, torch.autograd.profiler.emit_nvtx
    patches.wrap(profile, "__init__", lambda original: profiling(original, notes))
    patches.wrap(profile, "__exit__", profiled)
    patches.set(ranges, "__enter__", entered)
    patches.set(ranges, "__exit__", left)
    if torch.distributed.is_available():
        patches.wrap(torch.distributed, "init_process_group", lambda original: grouping(original, notes))
        patches.wrap(torch.distributed, "new_group", lambda original: regrouping(original, notes))
        for name in ("init_process_group", "new_group"):
            patches.set(torch.distributed.distributed_c10d, name, getattr(torch.distributed, name))


def beginning(patches: Patches, notes: Notes) -> Callable[[], None]:
    """What each compilation begins with; the first of a process turns the validation of distributions off for good."""
    begun = False

    def begin() -> None:
        nonlocal begun
        notes.note(EAGER)
        if not begun:
            patches.set(torch.distributions.Distribution, "_validate_args", False)
        begun = True

    return begin


def compiling(begin: Callable[[], None]) -> Callable[..., Any]:
    """torch.compile, which compiles nothing; of a module it makes what holds it under `_orig_mod`, as torch does."""

    def compile(model: Any = None, *args: Any, disable: bool = False, **settings: Any) -> Any:  # noqa: A001
        if model is None:
            return functools.partial(compile, disable=disable, **settings)
        if disable:
            return model
        begin()
        if not isinstance(model, torch.nn.Module):
            return model
        from torch._dynamo.eval_frame import OptimizedModule

        return model if isinstance(model, OptimizedModule) else OptimizedModule(model, Eagerly())  # type: ignore[arg-type]

    return compile


class Eagerly:
    """In the place of a compiler: the function itself."""

    def __call__(self, function: Any) -> Any:
        return function


def profiling(original: Callable[..., None], notes: Notes) -> Callable[..., None]:
    """The profiler beneath all of torch's, without events of a device, which would fail one by one."""

    @functools.wraps(original)
    def init(self: Any, *args: Any, **settings: Any) -> None:
        if settings.get("use_cuda") or settings.get("use_device") == "cuda":
            notes.note(PROFILED)
            self._syncguard_device = True
            settings |= {"use_device": None, "use_cpu": True}
            settings.pop("use_cuda", None)
        original(self, *args, **settings)

    return init


def profiled(original: Callable[..., Any]) -> Callable[..., Any]:
    """Where it ends, the events of the device are waited for."""

    @functools.wraps(original)
    def leave(self: Any, exc_type: Any, exc_val: Any, exc_tb: Any) -> Any:
        if getattr(self, "_syncguard_device", False) and self.enabled:
            torch.cuda.synchronize()
        return original(self, exc_type, exc_val, exc_tb)

    return leave


def entered(self: Any) -> Any:
    """emit_nvtx, which only waits: nobody listens to its ranges."""
    if not self.enabled:
        return None
    if self.entered:
        raise RuntimeError("NVTX annotation context manager is not reentrant")
    self.entered = True
    torch.cuda.synchronize()
    return self


def left(self: Any, exc_type: Any, exc_val: Any, exc_tb: Any) -> Any:
    if self.enabled:
        torch.cuda.synchronize()
    return False if self.enabled else None


def grouping(original: Callable[..., Any], notes: Notes) -> Callable[..., Any]:
    """init_process_group, with gloo for what needs a device."""

    @functools.wraps(original)
    def init_process_group(backend: Any = None, *args: Any, **settings: Any) -> Any:
        settings.pop("device_id", None)
        return original(without_device("nccl" if backend is None else backend, notes), *args, **settings)

    return init_process_group


def regrouping(original: Callable[..., Any], notes: Notes) -> Callable[..., Any]:
    """new_group, which likewise asks for a backend, or takes that of all."""

    @functools.wraps(original)
    def new_group(ranks: Any = None, timeout: Any = None, backend: Any = None, *args: Any, **settings: Any) -> Any:
        settings.pop("device_id", None)
        return original(ranks, timeout, without_device(backend, notes), *args, **settings)

    return new_group


def without_device(backend: Any, notes: Notes) -> Any:
    """The backend, or gloo for one that needs a device."""
    if "nccl" not in str(backend):
        return backend
    notes.note("torch.distributed: gloo ran in place of nccl")
    return "gloo"


def late(patches: Patches, notes: Notes) -> None:
    """What stands in modules that torch itself loads late."""
    changes: dict[str, tuple[str, Callable[[Any], Any]]] = {
        "is_rng_supported_mesh": ("_random", lambda original: drawing(original, notes)),
        "_rebuild_tensor_from_dtensor_meta": ("_op_schema", outlined),
    }
    for name, (module, wrapper) in changes.items():
        original = getattr(sys.modules.get(f"{PARTED}.{module}"), name, None)
        if original is not None and not hasattr(original, "_syncguard"):
            made = wrapper(original)
            made._syncguard = True
            patches.everywhere({name: (original, made)}, PARTED)


def outlined(original: Callable[..., Any]) -> Callable[..., Any]:
    """The outline of a tensor in parts, to ask operators for shapes: not of a device that this torch lacks."""

    @functools.wraps(original)
    def rebuild(arg: Any) -> Any:
        meta = arg.tensor_meta
        return torch.empty_strided(meta.shape, meta.stride, dtype=meta.dtype, device="cpu")

    return rebuild


def drawing(original: Callable[..., bool], notes: Notes) -> Callable[..., bool]:
    """Whether ranks share the state of a device's generator, by its offset. That of the CPU, which draws, has none."""

    @functools.wraps(original)
    def is_rng_supported_mesh(device_mesh: Any) -> bool:
        if device_mesh.device_type != "cuda":
            return original(device_mesh)
        notes.note(DRAWN)
        return False

    return is_rng_supported_mesh
