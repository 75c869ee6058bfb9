"""The simulated device, from the program's first line to its last."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

import torch

from syncguard.observe.simulate import (
    backward,
    cuda,
    dispatching,
    exchange,
    graphs,
    libraries,
    saving,
    scripts,
    warned,
    wraps,
)
from syncguard.observe.simulate.later import Later
from syncguard.observe.simulate.marks import local, world
from syncguard.observe.simulate.minded import plain_only
from syncguard.observe.simulate.mode import Device
from syncguard.observe.simulate.patches import Patches
from syncguard.observe.simulate.seen import Seen
from syncguard.observe.simulate.verdict import Verdict
from syncguard.pack import Pack


class Simulation:
    """While it is entered, torch has a device "cuda" that computes on the CPU, and `seen` hears of every wait.

    Enter it on the main thread before the program's first line; threads that start inside are inside too. `seen` is
    called on the waiting thread at the wait: the Python stack is the program's. `step_over` names modules (custom CUDA
    extensions) whose calls are skipped; `forks`: forked processes tell, too. `notes`: what is not as on a device, a
    sentence each, said once.
    """

    def __init__(
        self, pack: Pack, seen: Callable[[Seen], None], *, step_over: Iterable[str] = (), forks: bool = False
    ) -> None:
        self.notes: list[str] = []
        self.forks = forks
        self.step_over = frozenset(step_over)
        self.verdict = Verdict(pack, seen)
        self.device = Device(self.verdict, self.skips)
        self._patches = Patches()

    def skips(self, name: str) -> bool:
        """Whether calls of this module are stepped over, which is said once."""
        if name not in self.step_over:
            return False
        self.note(f"{name}: its calls were stepped over, so what depends on them has not the values of a device")
        return True

    @property
    def used(self) -> bool:
        """Whether a tensor was on the device: else nothing can have waited for it."""
        return world.used

    def note(self, sentence: str) -> None:
        """Say something once."""
        if sentence not in self.notes:
            self.notes.append(sentence)

    def __enter__(self) -> Simulation:
        self._install()
        world.used = world.lost = False
        if not self.forks:
            in_children(self.verdict)
        torch._C._push_on_torch_function_stack(self.device)
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        graphs.abandon()
        torch._C._pop_torch_function_stack()
        self._remove()

    def renew(self) -> None:
        """Put back what an exception at a bad moment took away: a time limit's signal, between torch's own lines."""
        local.passing = 0
        if not any(
            torch._C._get_function_stack_at(i) is self.device for i in range(torch._C._len_torch_function_stack())
        ):
            torch._C._push_on_torch_function_stack(self.device)

    @contextmanager
    def suspended(self) -> Iterator[None]:
        """In here torch is as it was, for what must not meet us: scripts are compiled from the text of functions."""
        modes = [torch._C._pop_torch_function_stack() for _ in range(torch._C._len_torch_function_stack())]
        self._remove()
        try:
            yield
        finally:
            self._install()
            for mode in reversed(modes):
                torch._C._push_on_torch_function_stack(mode)

    def _install(self) -> None:
        patches = self._patches
        overrides(patches)
        cuda.patch(patches)
        self.verdict.debug.patch(patches)
        engine = torch.autograd.graph._engine_run_backward
        patches.everywhere({"_engine_run_backward": (engine, backward.engine(engine, self.verdict))}, "torch")
        own = torch.autograd.Function
        patches.set(own, "apply", classmethod(backward.applied(vars(own)["apply"], self.verdict)))
        backward.hooks(patches, self.device)
        dispatching.patch(patches, self.device)
        saving.patch(patches, self.verdict)
        exchange.patch(patches)
        libraries.patch(patches, self)
        scripts.patch(patches, self)
        warned.patch(patches)
        wrap, wanted = wraps.patch(patches, self.verdict), wraps.owners(self.verdict.pack)
        wanted |= {scripts.DYNAMO, libraries.PARTED}

        def again() -> None:
            wrap()
            scripts.late(patches, self)
            libraries.late(patches, self)

        scripts.late(patches, self)
        libraries.late(patches, self)
        self._later = Later(wanted.__contains__, again, self.skips)
        self._later.enter()
        threads(patches, self.device)

    def _remove(self) -> None:
        self._later.leave()
        self._patches.undo()


def overrides(patches: Patches) -> None:
    """torch's own Python functions ask whether somebody overrides them; ours are let through the second time."""
    names = ("has_torch_function", "has_torch_function_unary", "has_torch_function_variadic")
    originals = {name: getattr(torch.overrides, name) for name in names}
    patches.everywhere({name: (original, asking(original)) for name, original in originals.items()}, "torch.")
    for name, original in originals.items():
        patches.set(torch.overrides, name, asking(plain_only(original)))


def asking(original: Callable[..., bool]) -> Callable[..., bool]:
    """The question for overrides, which those hear no that are let through."""

    def overridden(*values: Any) -> bool:
        if local.passing:
            local.passing -= 1
            return False
        return original(*values)

    return overridden


def threads(patches: Patches, device: Device) -> None:
    """A thread that starts inside is inside."""
    start = threading.Thread._bootstrap_inner  # type: ignore[attr-defined]

    def begin(thread: threading.Thread) -> None:
        with device.elsewhere():
            start(thread)

    patches.set(threading.Thread, "_bootstrap_inner", begin)


def in_children(verdict: Verdict) -> None:
    """Forks of this process, the workers of a loader, compute as we do, and tell nothing."""
    silent = weakref.ref(verdict)

    def mute() -> None:
        if (verdict := silent()) is not None:
            verdict.muted = True

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=mute)
