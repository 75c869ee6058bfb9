"""CUDA graphs in which optimizers step: a replay of one is a step of each."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

STEPS = "_syncguard_steps"  # of a graph: the optimizers that step in it


class Graphs:
    """Wrappers for the methods of torch.cuda.CUDAGraph. `mark` is told of each optimizer that steps."""

    WRAPPED = ("capture_begin", "capture_end", "replay")

    def __init__(self, mark: Callable[[int], None]) -> None:
        self.mark = mark
        self.captured: list[int] | None = None  # what has stepped in the graph that is being captured

    def stepped(self, optimizer: int) -> None:
        """An optimizer's step: in a capture, it is one that is still to come."""
        if self.captured is None:
            self.mark(optimizer)
        else:
            self.captured.append(optimizer)

    def capture_begin(self, plain: Any) -> Any:
        @functools.wraps(plain)
        def capture_begin(graph: Any, *args: Any, **settings: Any) -> Any:
            plain(graph, *args, **settings)
            self.captured = []

        return capture_begin

    def capture_end(self, plain: Any) -> Any:
        @functools.wraps(plain)
        def capture_end(graph: Any) -> Any:
            setattr(graph, STEPS, tuple(self.captured or ()))
            self.captured = None
            plain(graph)

        return capture_end

    def replay(self, plain: Any) -> Any:
        @functools.wraps(plain)
        def replay(graph: Any) -> Any:
            plain(graph)
            for optimizer in getattr(graph, STEPS, ()):
                self.mark(optimizer)

        return replay
