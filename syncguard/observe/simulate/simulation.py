"""The simulated device, from the program's first line to its last."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import TracebackType

from syncguard.observe.simulate.seen import Seen
from syncguard.pack import Pack


class Simulation:
    """While it is entered, torch has a device "cuda" that computes on the CPU, and `seen` hears of every wait.

    Enter it on the main thread before the program's first line; threads that start inside are inside too. `seen` is
    called on the waiting thread at the wait: the Python stack is the program's. `step_over` names modules (custom CUDA
    extensions) whose calls are skipped. `notes`: what is not as on a device, a sentence each, said once.
    """

    def __init__(self, pack: Pack, seen: Callable[[Seen], None], *, step_over: Iterable[str] = ()) -> None:
        self.pack, self.seen, self.step_over = pack, seen, frozenset(step_over)
        self.notes: list[str] = []

    def __enter__(self) -> Simulation:
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        return None
