"""What torch.cuda and torch.accelerator answer in a program that believes in its device."""

from __future__ import annotations

import collections
from typing import Any

import torch

from syncguard.observe.simulate import graphs, inert, kinds, memory
from syncguard.observe.simulate.inert import always
from syncguard.observe.simulate.marks import (
    CUDA,
    DEVICES,
    ORDINAL,
    names_device,
    world,
)
from syncguard.observe.simulate.patches import Patches

VERSION, CUDNN = "12.8", 91002  # of a build that has none: others compare theirs with that of their own
ALLOCATOR = "_cuda_CUDAAllocator_AllocatorState"
DTYPES = {value for value in vars(torch).values() if isinstance(value, torch.dtype)}


def patch(patches: Patches) -> None:
    """Put the device there."""
    for name, value in ANSWERS.items():
        if hasattr(torch.cuda, name) or name in ("Stream", "Event"):
            patches.set(torch.cuda, name, value)
    names = ("memory", "random", "graphs", "streams", "nvtx", "profiler")
    for module in (getattr(torch.cuda, name) for name in names):
        for name in set(vars(module)) & set(ANSWERS):
            patches.set(module, name, ANSWERS[name])
    for name in ("range_push", "range_pop", "range_start", "range_end", "mark"):
        patches.set(torch.cuda.nvtx, name, always(0))
    accelerator: Any = getattr(torch, "accelerator", None)
    for name, value in ACCELERATOR.items():
        if hasattr(accelerator, name):
            patches.set(accelerator, name, value)
    patches.set(torch.cuda, "default_generators", (torch.default_generator,) * DEVICES)
    patches.set(torch.version, "cuda", torch.version.cuda or VERSION)
    patches.set(torch, "Generator", Generator)
    patches.set(torch._C, "_group_tensors_by_device_and_dtype", grouped)
    for name, stand_in in ONE_DEVICE.items():
        patches.set(torch._C, name, stand_in)
    if not hasattr(torch._C, ALLOCATOR):  # imported by name where CUDA seems to be built in
        patches.set(torch._C, ALLOCATOR, type(ALLOCATOR, (), {}))
    patches.set(torch.Tensor, "record_stream", always(None))  # the parser of C++ takes no stream of ours
    kinds.patch(patches)
    autocast(patches)
    memory.patch(patches)
    libraries(patches)
    if hasattr(torch, "Stream"):
        patches.set(torch, "Stream", inert.Stream)
        patches.set(torch, "Event", inert.Event)


class GeneratorKind(type(torch._C.Generator)):  # type: ignore[misc]
    """What is a generator of torch is one of these too."""

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, torch._C.Generator)


class Generator(torch._C.Generator, metaclass=GeneratorKind):
    """A generator of the host; one that was asked for the device says that it is there."""

    def __new__(cls, device: Any = "cpu") -> Generator:
        made: Generator = super().__new__(cls, "cpu" if names_device(device) else device)  # type: ignore[call-arg]
        made.claims = names_device(device)
        return made

    @property
    def device(self) -> torch.device:  # type: ignore[override]
        return CUDA if self.claims else torch.device("cpu")

    def __reduce__(self) -> Any:
        return restored, (str(self.device), self.get_state())

    def get_offset(self) -> int:
        return self._offset if self.claims else int(super().get_offset())

    def set_offset(self, offset: int) -> Generator:
        if not self.claims:
            super().set_offset(offset)
        self._offset = offset
        return self

    claims, _offset = False, 0


def restored(device: str, state: torch.Tensor) -> Generator:
    """A generator that was pickled."""
    made = Generator(device)
    made.set_state(state)
    return made


def grouped(lists: list[list[Any]], with_indices: bool = False) -> dict[Any, Any]:
    """Parallel lists of tensors by the device and dtype of the first: optimizers and clipping ask C++ for this."""
    groups: dict[Any, Any] = collections.OrderedDict()
    for index, first in enumerate(lists[0]):
        key = (first.device, first.dtype)
        columns, indices = groups.setdefault(key, ([[] for _ in lists], []))
        for column, values in zip(columns, lists):
            if values:
                column.append(values[index])
        indices.append(index)
    return {key: (columns, indices if with_indices else []) for key, (columns, indices) in groups.items()}


def libraries(patches: Patches) -> None:
    """torch.backends: what a build for CUDA has. What torch does with it is for the CPU to do."""
    patches.set(torch.backends.cuda, "is_built", always(True))
    patches.set(torch.backends.cuda, "cufft_plan_cache", PlanCache())
    patches.set(torch.backends.cudnn, "is_available", always(True))
    patches.set(torch.backends.cudnn, "version", always(CUDNN))
    patches.set(torch.backends.cudnn, "is_acceptable", lambda tensor: tensor.is_cuda and tensor.is_floating_point())
    patches.set(torch.nn.RNNBase, "flatten_parameters", lambda module: None)


class PlanCache:
    """The plans of cuFFT, of which there are none; of each device, or of the current one."""

    size, max_size = 0, 4096

    def __getitem__(self, device: Any) -> PlanCache:
        return self

    def clear(self) -> None: ...


def autocast(patches: Patches) -> None:
    """Autocast of the device acts on the CPU tensors that stand for its own."""
    enabled, dtype = torch.set_autocast_enabled, torch.set_autocast_dtype
    usual = torch.get_autocast_dtype("cpu")

    def set_enabled(*args: Any) -> None:
        enabled(*args)
        if len(args) == 1 or args[0] == "cuda":
            enabled("cpu", args[-1])

    def set_dtype(device: str, wanted: torch.dtype) -> None:
        dtype(device, wanted)
        if device == "cuda":
            dtype("cpu", wanted if torch.is_autocast_enabled("cuda") else usual)

    patches.set(torch, "set_autocast_enabled", set_enabled)
    patches.set(torch, "set_autocast_dtype", set_dtype)


def manual_seed(seed: int) -> None:
    """On a machine without a device it is put off for ever, so that the losses are those of the CPU."""


def get_rng_state(device: Any = "cuda") -> torch.Tensor:
    return torch.get_rng_state()


def set_rng_state(new_state: torch.Tensor, device: Any = "cuda") -> None:
    torch.set_rng_state(new_state.cpu())


def set_rng_states(new_states: Any) -> None:
    for state in new_states:
        set_rng_state(state)


ONE_DEVICE: dict[str, Any] = {
    "_scatter": lambda tensor, *_: (tensor.to(CUDA),),
    "_gather": lambda tensors, *_: tensors[0],
    "_broadcast_coalesced": lambda tensors, *_: [list(tensors)],
}
ANSWERS: dict[str, Any] = {
    **dict.fromkeys("is_available is_initialized is_bf16_supported is_tf32_supported".split(), always(True)),
    "has_magma": True,
    "can_device_access_peer": always(False),
    "_is_in_bad_fork": lambda: world.lost,
    "is_current_stream_capturing": lambda: inert.state.capturing,
    **dict.fromkeys(
        "init _lazy_init set_device synchronize ipc_collect empty_cache reset_peak_memory_stats"
        " caching_allocator_delete reset_accumulated_memory_stats reset_max_memory_allocated reset_max_memory_cached"
        " _sleep check_error"
        " set_per_process_memory_fraction _record_memory_history _dump_snapshot seed seed_all"
        " reset_accumulated_host_memory_stats reset_peak_host_memory_stats _set_stream_by_id _lazy_call".split(),
        always(None),
    ),
    **dict.fromkeys(
        "utilization temperature power_draw clock_rate memory_usage current_blas_handle"
        " caching_allocator_alloc".split(),
        always(0),
    ),
    "get_per_process_memory_fraction": always(1.0),
    "current_device": always(ORDINAL),
    "device_count": always(DEVICES),
    "get_device_name": always(inert.Properties.name),
    "get_device_capability": always((inert.Properties.major, inert.Properties.minor)),
    "get_device_properties": always(inert.Properties()),
    "get_arch_list": always(["sm_80"]),
    "get_gencode_flags": always("-gencode compute=compute_80,code=sm_80"),
    "mem_get_info": memory.info,
    "device_memory_used": lambda device=None: memory.now(),
    "cudart": always(memory.Runtime()),
    "check_error": always(None),
    "list_gpu_processes": always("no processes are running"),
    "graph_pool_handle": always((0, 0)),
    "manual_seed": manual_seed,
    "manual_seed_all": manual_seed,
    "initial_seed": lambda: torch.initial_seed(),
    "get_rng_state": get_rng_state,
    "set_rng_state": set_rng_state,
    "get_rng_state_all": lambda: [get_rng_state()],
    "set_rng_state_all": set_rng_states,
    "Stream": inert.Stream,
    "ExternalStream": inert.ExternalStream,
    "Event": inert.Event,
    "CUDAGraph": graphs.CUDAGraph,
    "graph": graphs.graph,
    "make_graphed_callables": graphs.make_graphed_callables,
    "stream": inert.stream,
    "StreamContext": inert.StreamContext,
    "current_stream": inert.current_stream,
    "default_stream": inert.default_stream,
    "set_stream": inert.set_stream,
    "get_stream_from_external": inert.current_stream,
    "device": inert.device,
    "device_of": inert.device,
    "_DeviceGuard": inert.device,
    "_exchange_device": always(ORDINAL),
    "_maybe_exchange_device": always(ORDINAL),
}
ACCELERATOR: dict[str, Any] = {
    **{name: ANSWERS[name] for name in ("is_available", "device_count", "current_stream", "set_stream", "synchronize")},
    **{name: ANSWERS[name] for name in ("empty_cache", "reset_peak_memory_stats")},
    **{name: getattr(torch.cuda, name) for name in ("memory_stats", "memory_allocated", "max_memory_allocated")},
    **{name: getattr(torch.cuda, name) for name in ("memory_reserved", "max_memory_reserved")},
    "empty_host_cache": always(None),
    "get_device_capability": always({"supported_dtypes": DTYPES}),
    "get_memory_info": memory.info,
    "reset_accumulated_memory_stats": always(None),
    "current_accelerator": always(torch.device("cuda")),
    "current_device_index": always(ORDINAL),
    "current_device_idx": always(ORDINAL),
    "set_device_index": always(None),
    "set_device_idx": always(None),
    "device_index": inert.device,
}
