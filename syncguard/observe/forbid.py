"""In code: `forbid()`, `budget(n)`, `allow("reason")` and `step()`, for the thread or async task that enters them."""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, TypeVar, cast

from syncguard.observe.watch import REGIONS, Mode, Region, SyncError, Watch, has_gpu

__all__ = ["SyncError", "allow", "budget", "forbid", "step"]

Function = TypeVar("Function", bound=Callable[..., Any])


class region:
    """A `with` block and a decorator, of plain, generator and async functions; may be nested and entered again."""

    kind: Any = "forbid"

    def __init__(self, device: str = "auto", most: int = 0, reason: str = "") -> None:
        if device not in ("auto", "cuda", "simulate"):
            raise ValueError(f"device is 'auto', 'cuda' or 'simulate', not {device!r}")
        self.device, self.most, self.reason = cast(Mode, device), most, reason

    def __enter__(self) -> region:
        watch = join(self.device) if self.kind != "allow" else None
        REGIONS.set((*REGIONS.get(), Region(self.kind, self.most, self.reason, watch)))
        return self

    @property
    def watched(self) -> bool:
        """In it: whether there is a device, real or simulated, whose waits are seen."""
        return REGIONS.get()[-1].watch is not None

    def __exit__(self, *_: object) -> None:
        *outer, region = REGIONS.get()
        REGIONS.set(tuple(outer))
        if region.watch is not None:
            leave(region.watch)

    def __call__(self, function: Function) -> Function:
        made: Any
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def made(*args: Any, **named: Any) -> Any:
                with self:
                    return await function(*args, **named)

        elif inspect.isasyncgenfunction(function):

            @functools.wraps(function)
            async def made(*args: Any, **named: Any) -> AsyncIterator[Any]:
                items = function(*args, **named)
                while True:
                    with self:
                        try:
                            item = await anext(items)
                        except StopAsyncIteration:
                            return
                    yield item

        elif inspect.isgeneratorfunction(function):

            @functools.wraps(function)
            def made(*args: Any, **named: Any) -> Any:
                return self._driven(function(*args, **named))

        else:

            @functools.wraps(function)
            def made(*args: Any, **named: Any) -> Any:
                with self:
                    return function(*args, **named)

        return cast(Function, made)

    def _driven(self, items: Any) -> Iterator[Any]:
        """A generator that is in the region while it runs, and not while its consumer does."""
        send: Callable[[], Any] = functools.partial(next, items)
        try:
            while True:
                with self:
                    try:
                        item = send()
                    except StopIteration as ended:
                        return ended.value  # type: ignore[no-any-return]
                try:
                    send = functools.partial(items.send, (yield item))
                except GeneratorExit:
                    raise
                except BaseException as fault:
                    send = functools.partial(items.throw, fault)
        finally:
            items.close()


class forbid(region):
    """Raise SyncError where the host would wait for the device: `with syncguard.forbid():` or `@syncguard.forbid()`.

    `device`: "cuda" watches the GPU, "simulate" one that is simulated on the CPU. "auto" uses what `syncguard run` or
    `pytest --syncguard` has started, else the GPU; where there is none, no tensor is on one and nothing can wait. What
    was simulated outside of the block is not: with "simulate", tensors are on the device if they are put there inside.
    """

    kind = "forbid"

    def __init__(self, device: str = "auto") -> None:
        super().__init__(device)


class budget(region):
    """Raise SyncError at the wait after the first `most`, each time that the block or function is run.

    The innermost of `forbid`, `budget` and `allow` decides, and a budget counts what any inner one permits.
    """

    kind = "budget"

    def __init__(self, most: int, device: str = "auto") -> None:
        if type(most) is not int or most < 0:
            raise ValueError(f"a budget is a number of waits from 0 up, not {most!r}")
        super().__init__(device, most)


class allow(region):
    """Let the host wait, for a reason that reports show: `with syncguard.allow("the logger needs it"):`."""

    kind = "allow"

    def __init__(self, reason: str) -> None:
        if type(reason) is not str or not reason.strip():
            raise ValueError("allow needs a reason: a short sentence for whoever reads the report")
        super().__init__(reason=reason.strip())


def step() -> None:
    """Say that a step of the program ends here. Then only this counts as one, and not optimizers or loaders."""
    if Watch.current is not None:
        Watch.current.recorder.clock.mark("user")


def join(device: Mode) -> Watch | None:
    """The engine that runs, or a new one; None where nothing can wait."""
    with Watch.lock:
        current = Watch.current
        if current is None:
            if device == "auto" and not has_gpu():
                return None
            from syncguard import pack
            from syncguard.observe.recorder import Recorder

            # Nobody asks what these waits cost, so nothing is profiled.
            current = Watch(device, Recorder(pack.load()), borrowed=True, layers=("traces", "warnings"))
            current.start()
        elif device not in ("auto", current.mode):
            raise RuntimeError(f"this program runs under `{current.mode}` already, so it cannot be {device!r} here")
        current.users += 1
        return current


def leave(watch: Watch) -> None:
    """Stop an engine that was started by its first user, after the last."""
    with Watch.lock:
        watch.users -= 1
        if watch.borrowed and not watch.users:
            watch.stop()
