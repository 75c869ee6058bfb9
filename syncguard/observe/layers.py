"""The layers that see a device wait, each by itself: what it hooks, and how it is put back.

None of them sees everything, so the device opens all that there are. A layer that this torch lacks raises `Missing`
with a sentence, and the others do without it.

    Traces    torch's GPU-trace callbacks: on the waiting thread, before it waits, whatever waits in torch itself
    Warnings  the sync debug mode: at the end of the binding in which torch waited, so that it tells how long
    Nodes     the Python frames that made each autograd node, for what waits in backward
"""

from __future__ import annotations

import ctypes
import sys
import threading
import warnings
from collections.abc import Callable
from importlib import import_module
from types import CodeType, FrameType
from typing import Any, TypeVar

import torch

from syncguard.observe.attribute import position
from syncguard.observe.simulate.seen import Frame
from syncguard.observe.switch import Switch, switch

WAITS = "called a synchronizing CUDA operation"
QUIET, WARN, RAISE = 0, 1, 2  # the sync debug modes
DEEP = 40  # frames that a node remembers
MODES = {"default": QUIET, "warn": WARN, "error": RAISE}
TRACED = {
    "stream": "StreamSynchronizationCallbacks",
    "device": "DeviceSynchronizationCallbacks",
    "event": "EventSynchronizationCallbacks",
}
SET = ctypes.pythonapi.PyThreadState_SetAsyncExc
Called = TypeVar("Called", bound=Callable[..., object])
SET.argtypes, SET.restype = (ctypes.c_ulong, ctypes.py_object), ctypes.c_int


class Missing(Exception):
    """A layer that cannot be opened here; the message is a sentence."""


class Traces:
    """`told(kind)` on the waiting thread, before it waits for a "stream", the "device" or an "event".

    `told` stands between torch and the program: what it raises torch would log and lose, so it has `arm` raise it, and
    pauses, lest that is raised where it is called again.
    """

    def __init__(self, told: Callable[[str], object]) -> None:
        self.told = told
        self._put: list[tuple[Any, str, Any]] = []
        self._switch: Switch | None = None

    def open(self) -> None:
        try:
            module = import_module("torch.cuda._gpu_trace")
            registries = {kind: getattr(module, name) for kind, name in TRACED.items()}
            activate = torch._C._activate_gpu_trace
        except (ImportError, AttributeError):
            raise Missing(
                f"torch {torch.__version__} has no GPU-trace callbacks: waits are told by warnings alone."
            ) from None
        for kind, registry in registries.items():
            setattr(module, TRACED[kind], Telling(registry, self.told, kind))
            self._put.append((module, TRACED[kind], registry))
        self._switch = switch()
        self._switch.on() if self._switch is not None else activate()

    def close(self) -> None:
        for module, name, registry in self._put:
            setattr(module, name, registry)
        self._put.clear()
        self.pause()

    def pause(self) -> None:
        if self._switch is not None:
            self._switch.off()

    def resume(self) -> None:
        if self._switch is not None and self._put:
            self._switch.on()


class Telling:
    """What torch calls in the place of a registry: whoever is in the registry, and then us, with no code behind us in
    which an exception that we armed could be raised.
    """

    def __init__(self, registry: Any, told: Callable[[str], object], kind: str) -> None:
        def fire_callbacks(*args: Any, **named: Any) -> object:
            registry.fire_callbacks(*args, **named)
            return told(kind)

        self.fire_callbacks = uncompiled(fire_callbacks)
        self.add_callback, self.callback_list = registry.add_callback, registry.callback_list


def uncompiled(function: Called) -> Called:
    """The same function: what it and all that it calls do where torch calls it in the middle of compiled code, torch
    does not compile. Before torch 2.7 it does, which costs seconds once.
    """
    try:
        frames = torch._C._dynamo.eval_frame
        left = frames._FrameExecStrategy(frames._FrameAction.SKIP, frames._FrameAction.SKIP)
        frames.set_code_exec_strategy(function.__code__, left)
    except AttributeError:
        pass
    return function


class Warnings:
    """`told()` on the thread that torch warns, after it waited; what `told` raises is raised in the program.

    The user's own mode is kept and obeyed: "warn" shows each place once, as Python does by default, "error" raises.
    Filters are left as they are but for one of ours in front, for this one message: the hook is under the filters, so
    that no `catch_warnings` of the program hides a wait from us, and none of our warnings reaches the program's list.
    """

    def __init__(self, told: Callable[[], None], message: str = WAITS) -> None:
        self.told, self.message = told, message
        self.mode = QUIET  # the user's
        self._shown: set[tuple[str, int]] = set()
        self._patched: list[tuple[Any, str, Any]] = []

    def open(self) -> None:
        switch = getattr(torch._C, "_cuda_set_sync_debug_mode", None)
        if switch is None:
            raise Missing("This torch has no sync debug mode (it was built without CUDA): nothing is told by warnings.")
        if not hasattr(warnings, "_showwarnmsg"):
            raise Missing(f"Python {sys.version.split()[0]} keeps warnings elsewhere: nothing is told by them.")
        self.mode = torch._C._cuda_get_sync_debug_mode()
        self._patch(torch.cuda, "set_sync_debug_mode", self._set)
        self._patch(torch.cuda, "get_sync_debug_mode", lambda: self.mode)
        self.hook()
        with warnings.catch_warnings():  # "a prototype feature": said once, and not to the user
            warnings.simplefilter("ignore")
            switch(RAISE if self.mode == RAISE else WARN)

    def hook(self) -> None:
        """Hear the message from here on."""
        shown = warnings._showwarnmsg  # type: ignore[attr-defined]

        def show(message: Any) -> None:
            if not str(message.message).startswith(self.message):
                shown(message)
            elif self._for_the_user(message):
                self.told()
                shown(message)
            else:
                self.told()

        self._patch(warnings, "_showwarnmsg", uncompiled(show))
        self.insist()

    def insist(self) -> None:
        """Put our filter in front again: the program may have put others before it. Cheap where it is there."""
        pattern = getattr(_filters()[0][1], "pattern", None) if _filters() else None
        if pattern != self.message:
            warnings.filterwarnings("always", message=self.message)

    def close(self) -> None:
        switch = getattr(torch._C, "_cuda_set_sync_debug_mode", None)
        for owner, name, value in reversed(self._patched):
            setattr(owner, name, value)
        self._patched.clear()
        kept = [one for one in _filters() if getattr(one[1], "pattern", None) != self.message]
        if len(kept) != len(_filters()):
            _filters()[:] = kept
            warnings.filterwarnings("default", message="(?!)")  # tells Python that the filters have changed
            del _filters()[0]
        if switch is not None:
            switch(self.mode)

    def _set(self, debug_mode: int | str) -> None:
        """What the program calls as torch.cuda.set_sync_debug_mode."""
        mode = MODES.get(debug_mode, -1) if isinstance(debug_mode, str) else int(debug_mode)
        if mode not in MODES.values():
            raise RuntimeError("invalid value of debug_mode, expected one of `default`, `warn`, `error`")
        self.mode = mode
        torch._C._cuda_set_sync_debug_mode(RAISE if mode == RAISE else WARN)

    def _for_the_user(self, message: Any) -> bool:
        place = (message.filename, message.lineno)
        if self.mode != WARN or place in self._shown:
            return False
        self._shown.add(place)
        return True

    def _patch(self, owner: Any, name: str, value: Any) -> None:
        self._patched.append((owner, name, getattr(owner, name)))
        setattr(owner, name, value)


def _filters() -> list[Any]:
    """The filters in force, which newer Pythons keep for each context."""
    inner = getattr(warnings, "_get_filters", None)
    return inner() if inner is not None else warnings.filters  # type: ignore[return-value]


class Made(str):
    """What anomaly mode keeps with a node: a text for its message, and the frames that we want, without their lines,
    which take long to work out.
    """

    __slots__ = ("stands",)
    stands: tuple[tuple[CodeType, int], ...]

    @property
    def frames(self) -> tuple[Frame, ...]:
        return tuple(Frame(code, instruction, position(code, instruction)[0]) for code, instruction in self.stands)


class Nodes:
    """While it is open, every autograd node remembers the Python frames that made it.

    torch's anomaly mode keeps a formatted stack with each node. We leave out its check for NaN, and the formatting,
    which is most of what it costs.
    """

    def __init__(self) -> None:
        self._was: tuple[bool, bool] | None = None
        self._module: Any = None
        self._format: Any = None

    @property
    def is_open(self) -> bool:
        return self._was is not None

    def open(self) -> None:
        if self.is_open:
            return
        try:
            self._module = import_module("torch.fx.traceback")
            self._format = self._module.format_stack
        except (ImportError, AttributeError):
            raise Missing(f"torch {torch.__version__}: the forward line of a wait in backward is not known.") from None
        if torch.is_anomaly_enabled():
            raise Missing("The program detects anomalies itself: the forward line of a wait in backward is not known.")
        self._was = (False, torch.is_anomaly_check_nan_enabled())
        uncompiled(Nodes._made)
        self._module.format_stack = self._made
        torch.autograd.set_detect_anomaly(True, check_nan=False)

    def close(self) -> None:
        if self._was is not None:
            torch.autograd.set_detect_anomaly(*self._was)
            self._module.format_stack = self._format
            self._was = None

    def _made(self) -> list[str]:
        if self._module.has_preserved_node_meta():  # torch compiles: it asks for what it keeps itself
            return self._format()  # type: ignore[no-any-return]
        text = Made("  (the frames are kept by SyncGuard)\n")
        found: list[tuple[CodeType, int]] = []
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and len(found) < DEEP:
            found.append((frame.f_code, frame.f_lasti))
            frame = frame.f_back
        text.stands = tuple(found)
        return [text]


def node_now() -> Any:
    """The autograd node that runs on this thread, None outside backward."""
    ask = getattr(torch._C, "_current_autograd_node", None)
    return ask() if ask is not None else None


def made_by(node: Any) -> tuple[Frame, ...] | None:
    """The frames that made a node, innermost first, where they were kept."""
    kept = getattr(node, "metadata", {}).get("traceback_")
    return kept[0].frames if kept and isinstance(kept[0], Made) else None


def arm(fault: BaseException, raised: Callable[[], None]) -> object:
    """Raise in this thread as soon as it is in the program again, or is warned of the wait; `raised()` is called then.
    Nothing may come behind it but returns: the next call or turn of a loop in Python would be what raises.
    """
    return [*map(SET, (threading.get_ident(),), (_made_anew(fault, raised),))]


def _made_anew(fault: BaseException, raised: Callable[[], None]) -> type[BaseException]:
    """A class whose only instance is as this fault: what is raised in a thread is a class, called without arguments."""

    def __init__(self: BaseException) -> None:  # noqa: N807
        BaseException.__init__(self, *fault.args)
        vars(self).update(vars(fault))
        raised()

    return type(type(fault).__name__, (type(fault),), {"__init__": __init__, "__module__": type(fault).__module__})


class Held(threading.local):
    """What this thread has still to raise, and the waits that it began and torch has not yet told the end of."""

    def __init__(self) -> None:
        self.owed: BaseException | None = None
        self.begun: list[tuple[int, tuple[int, int], float]] = []  # number, place, since
        self.inside = False
