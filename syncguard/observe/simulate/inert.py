"""Streams and events of a device on which all work is done when it is queued."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from syncguard.observe.simulate.marks import CUDA, ORDINAL


class Stream:
    """A queue that is always empty."""

    def __init__(self, device: Any = None, priority: int = 0, **settings: Any) -> None:
        self.device, self.priority = CUDA, priority
        self.stream_id = self.cuda_stream = settings.get("stream_id", id(self) & 0xFFFF)
        self.device_index, self.device_type = ORDINAL, 1

    def query(self) -> bool:
        return True

    def synchronize(self) -> None: ...

    def wait_event(self, event: Any) -> None: ...

    def wait_stream(self, stream: Any) -> None: ...

    def record_event(self, event: Any = None) -> Any:
        event = event or Event()
        event.record(self)
        return event

    def is_capturing(self) -> bool:
        return state.capturing

    def __enter__(self) -> Stream:
        self._outer = state.stream
        state.stream = self
        return self

    def __exit__(self, *_: object) -> None:
        state.stream = self._outer

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and other.stream_id == self.stream_id

    def __hash__(self) -> int:
        return hash(self.stream_id)

    def __repr__(self) -> str:
        return f"<torch.cuda.Stream device={self.device} cuda_stream={self.cuda_stream:#x}>"


class ExternalStream(Stream):
    """A stream that somebody else made."""

    def __init__(self, stream_ptr: int = 0, device: Any = None, **settings: Any) -> None:
        super().__init__(device, stream_id=stream_ptr)


class Event:
    """A point in time of the host, which is that of the device."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        self.device, self.at, self.cuda_event = CUDA, 0.0, id(self)

    def record(self, stream: Any = None) -> None:
        self.at = time.perf_counter()

    def wait(self, stream: Any = None) -> None: ...

    def query(self) -> bool:
        return True

    def elapsed_time(self, end: Event) -> float:
        return (end.at - self.at) * 1000.0

    def synchronize(self) -> None: ...

    @classmethod
    def from_ipc_handle(cls, device: Any, handle: Any) -> Event:
        return cls()

    def ipc_handle(self) -> bytes:
        return bytes(64)


class State:
    """Which stream is the current one, and the graph that is being captured."""

    def __init__(self) -> None:
        self.stream = self.first = Stream(stream_id=0)
        self.capture: Any = None

    @property
    def capturing(self) -> bool:
        return self.capture is not None


state = State()


class StreamContext:
    """`with torch.cuda.stream(s)`: s is the current one; None changes nothing."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        self._outer = state.stream
        state.stream = self.stream or state.stream

    def __exit__(self, *_: object) -> None:
        state.stream = self._outer


def stream(stream: Any) -> StreamContext:
    return StreamContext(stream)


def current_stream(device: Any = None) -> Stream:
    return state.stream


def default_stream(device: Any = None) -> Stream:
    return state.first


def set_stream(stream: Any) -> None:
    state.stream = stream or state.stream


class Properties:
    """A device that programs find plausible. Its figures are those of an A100, for nothing depends on them."""

    name = "SyncGuard simulated device (cuda)"
    major, minor = 8, 0
    total_memory = 80 * 2**30
    multi_processor_count = 108
    max_threads_per_multi_processor = 2048
    regs_per_multiprocessor = 65536
    shared_memory_per_block = 49152
    shared_memory_per_block_optin = 166912
    shared_memory_per_multiprocessor = 167936
    warp_size = 32
    L2_cache_size = 41943040
    is_integrated = is_multi_gpu_board = 0
    gcnArchName = ""  # noqa: N815
    uuid = "00000000-0000-0000-0000-000000000000"
    pci_bus_id = pci_device_id = pci_domain_id = 0

    def __repr__(self) -> str:
        return f"_CudaDeviceProperties(name='{self.name}', major={self.major}, minor={self.minor})"


class device:
    """`with torch.cuda.device(0)`: there is only one."""

    def __init__(self, device: Any = None) -> None:
        self.idx, self.prev_idx = ORDINAL, ORDINAL

    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...


def always(answer: Any) -> Callable[..., Any]:
    def same(*args: Any, **settings: Any) -> Any:
        return answer

    return same
