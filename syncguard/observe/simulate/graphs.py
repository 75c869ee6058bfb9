"""CUDA graphs: what is captured is kept operation by operation and undone; a replay carries it out again."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from syncguard.observe.simulate import inert
from syncguard.observe.simulate.marks import DEVICE, HOST, local, mark, place, storage_of, tensors

REFUSED = "CUDA error: operation not permitted when stream is capturing"
Fault: type[RuntimeError] = getattr(torch, "AcceleratorError", RuntimeError)


class Tape(TorchDispatchMode):
    """While it is entered, each operation on the device is kept, with the tensors that it makes."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.steps: list[tuple[Any, Any, Any, list[torch.Tensor]]] = []
        self._made: dict[int, Any] = {}  # storages of the graph's own: their values are those of the last replay
        self._before: dict[int, tuple[Any, Any]] = {}  # storages that it writes to, and what was in them

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        given = list(tensors((*args, *kwargs.values())))
        there = any(place(tensor) != HOST for tensor in given) or (not given and local.packing == DEVICE)
        if not there:  # the host computes once, in the capture
            return func(*args, **kwargs)
        written = list(writes(func, args, kwargs))
        for tensor in written:
            storage = storage_of(tensor)
            if storage._cdata not in self._made and storage._cdata not in self._before:
                self._before[storage._cdata] = storage, storage.clone()
        result = func(*args, **kwargs)
        known = {storage_of(tensor)._cdata for tensor in given}
        fresh = [tensor for tensor in tensors([result]) if storage_of(tensor)._cdata not in known]
        self._made |= {storage_of(tensor)._cdata: storage_of(tensor) for tensor in fresh}
        mark(fresh, DEVICE)
        if fresh or written:
            self.steps.append((func, args, kwargs, fresh))
        return result

    def undo(self) -> None:
        """A capture computes nothing: what was there before is as it was."""
        for storage, was in self._before.values():
            storage.copy_(was)
        self._before.clear()

    def play(self) -> None:
        """Everything again, into the same memory."""
        with torch._C.DisableTorchFunction(), torch._C._AutoDispatchBelowAutograd():
            for func, args, kwargs, fresh in self.steps:
                for old, new in zip(fresh, tensors([func(*args, **kwargs)])):
                    storage_of(old).copy_(storage_of(new))


def writes(func: Any, args: Any, kwargs: Any) -> Iterator[torch.Tensor]:
    """The tensors that an operator writes to, by its schema."""
    for number, argument in enumerate(func._schema.arguments):
        if argument.alias_info is not None and argument.alias_info.is_write:
            value = args[number] if number < len(args) else kwargs.get(argument.name)
            yield from tensors([value])


class CUDAGraph:
    """A graph whose replay computes what was captured, on what is in its inputs then."""

    def __init__(self, keep_graph: bool = False) -> None:
        self._tape: Tape | None = None
        self._random: Any = None

    def capture_begin(self, pool: Any = None, capture_error_mode: str = "global") -> None:
        if inert.state.stream == inert.state.first:
            raise RuntimeError(
                "CUDA graphs must be captured on a non-default stream. (However, after capture, it's ok to replay them"
                " on the default stream.)"
            )
        if inert.state.capturing:
            raise Fault(REFUSED)
        self._random = torch.get_rng_state()
        self._tape = Tape()
        self._tape.__enter__()  # type: ignore[no-untyped-call]
        inert.state.capture = self

    def capture_end(self) -> None:
        if self._tape is None or inert.state.capture is not self:
            raise RuntimeError("capture_end() called without a capture_begin() before it")
        inert.state.capture = None
        self._tape.__exit__(None, None, None)  # type: ignore[no-untyped-call]
        self._tape.undo()
        torch.set_rng_state(self._random)

    def instantiate(self) -> None: ...

    def replay(self) -> None:
        if self._tape is None:
            raise RuntimeError("Called CUDAGraph::replay without a preceding successful capture.")
        self._tape.play()

    def reset(self) -> None:
        self._tape = None

    def pool(self) -> tuple[int, int]:
        return 0, 0

    def enable_debug_mode(self) -> None: ...

    def debug_dump(self, debug_path: str) -> None: ...

    def register_generator_state(self, generator: Any) -> None: ...


def abandon() -> None:
    """End a capture that the program has left open."""
    if inert.state.capture is not None:
        inert.state.capture.capture_end()


class graph:
    """`with torch.cuda.graph(g)`: the body is captured, on a stream of its own."""

    default_capture_stream: Any = None

    def __init__(
        self, cuda_graph: Any, pool: Any = None, stream: Any = None, capture_error_mode: str = "global"
    ) -> None:
        kind = type(self)
        kind.default_capture_stream = kind.default_capture_stream or inert.Stream()
        self.cuda_graph, self.pool = cuda_graph, pool
        self.capture_stream = stream if stream is not None else kind.default_capture_stream

    def __enter__(self) -> None:
        gc.collect()
        self._outer = inert.state.stream
        inert.state.stream = self.capture_stream
        self.cuda_graph.capture_begin(self.pool)

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: Any) -> None:
        try:
            self.cuda_graph.capture_end()
        finally:
            inert.state.stream = self._outer
        if fault is not None:
            self.cuda_graph.reset()


def make_graphed_callables(callables: Any, sample_args: Any, *args: Any, **settings: Any) -> Any:
    """The callables themselves, run eagerly: they compute the same."""
    return callables
