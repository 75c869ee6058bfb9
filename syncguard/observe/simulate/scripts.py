"""torch.jit and torch.export: scripts run eagerly; what is saved, loaded or exported is that of the CPU."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import FrameType
from typing import Any, Protocol

import torch

from syncguard.observe.simulate.marks import DEVICE, HOST, mark, names_device, on_device, tensors
from syncguard.observe.simulate.patches import Patches
from syncguard.observe.simulate.scripted import COMPILED, bare, is_script, scripted, showing

SCRIPTS = "torch.jit: scripts and traces ran eagerly"
LOADED = "torch.jit.load: a loaded script ran as a whole, so what it waits for inside was not seen"
DERIVATIVES = "torch._decomp."  # forward derivatives are found by the graph of their script
EXPORTED = "torch.export: the program was exported as one of the CPU"


EXPLAINED = "torch._dynamo.explain: the function was explained as one of the CPU"
DYNAMO = "torch._dynamo"


class Simulated(Protocol):
    def note(self, sentence: str) -> None: ...
    def suspended(self) -> AbstractContextManager[None]: ...


def patch(patches: Patches, simulation: Simulated) -> None:
    """Set them all."""
    patches.set(torch.jit._state._enabled, "enabled", False)  # what PYTORCH_JIT=0 does
    for name in ("script", "trace", "trace_module"):
        patches.wrap(torch.jit, name, lambda original: scripting(original, simulation))
    patches.wrap(torch.jit, "save", lambda original: saving(original, simulation))
    patches.wrap(torch.jit, "load", lambda original: loading(original, simulation))
    for name in ("freeze", "optimize_for_inference"):
        patches.wrap(torch.jit, name, optimizing)
    if (meta := type(torch.jit.ScriptModule)) is not type:  # with PYTORCH_JIT=0 there is none
        patches.set(meta, "__instancecheck__", instance)
    patches.set(COMPILED, "__call__", calling(torch.nn.Module.__call__))
    patches.wrap(torch.nn.Module, "__getattr__", showing)
    for name in ("export", "export_for_training"):
        if hasattr(torch.export, name):
            patches.wrap(torch.export, name, lambda original: exporting(original, simulation))


def scripting(original: Callable[..., Any], simulation: Simulated) -> Callable[..., Any]:
    """torch.jit.script, which scripts nothing. torch's own modules script when they are imported: no need to say so."""

    @functools.wraps(original)
    def script(*args: Any, **settings: Any) -> Any:
        caller = asker()
        if caller.startswith(DERIVATIVES):
            with simulation.suspended():
                return original(*args, **settings)
        if not caller.startswith("torch."):
            simulation.note(SCRIPTS)
        made = original(*args, **settings)
        if caller.startswith("torch."):
            return made

        def compiled() -> Any:
            with simulation.suspended(), bare(made):
                return original(*args, **settings)

        return scripted(made, compiled)

    return script


def instance(kind: type, value: object) -> bool:
    """What stands for a script is one to the program; torch itself would look for what C++ made."""
    if type.__instancecheck__(kind, value):
        return True
    return kind is torch.jit.ScriptModule and is_script(value) and not asker().startswith("torch.")


def asker() -> str:
    """The module that calls what was patched, past what else of ours stands between."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and str(frame.f_globals.get("__name__", "")).startswith("syncguard.observe."):
        frame = frame.f_back
    return "" if frame is None else str(frame.f_globals.get("__name__", ""))


def optimizing(original: Callable[..., Any]) -> Callable[..., Any]:
    """torch.jit.freeze and its like: what only ran eagerly stays as it is."""

    @functools.wraps(original)
    def optimize(mod: Any, *args: Any, **settings: Any) -> Any:
        if not is_script(mod):
            return original(mod, *args, **settings)
        if mod.training and original.__name__ == "freeze":
            raise RuntimeError("Freezing is only implemented for modules in eval mode: call .eval() before")
        return mod.eval()

    return optimize


def saving(original: Callable[..., Any], simulation: Simulated) -> Callable[..., Any]:
    """torch.jit.save, which scripts what only ran eagerly."""

    @functools.wraps(original)
    def save(m: Any, *args: Any, **settings: Any) -> Any:
        if isinstance(m, (COMPILED, torch.jit.ScriptFunction)):
            return original(m, *args, **settings)
        with simulation.suspended(), bare(m):
            return original(torch.jit.script(m), *args, **settings)

    return save


def loading(original: Callable[..., Any], simulation: Simulated) -> Callable[..., Any]:
    """torch.jit.load, onto the device if it is asked for."""

    @functools.wraps(original)
    def load(f: Any, map_location: Any = None, *args: Any, **settings: Any) -> Any:
        simulation.note(LOADED)
        there = map_location is not None and names_device(map_location)
        made = original(f, "cpu" if there else map_location, *args, **settings)
        return made.to("cuda") if there else made

    return load


def calling(original: Callable[..., Any]) -> Callable[..., Any]:
    """A call of a script: what comes out is where its parameters are, or what went in."""

    def call(script: Any, *args: Any, **kwargs: Any) -> Any:
        given = (*args, *kwargs.values(), *script.parameters())
        where = DEVICE if any(map(on_device, tensors(given))) else HOST
        return mark(original(script, *args, **kwargs), where)

    return call


def exporting(original: Callable[..., Any], simulation: Simulated) -> Callable[..., Any]:
    """torch.export, which looks at the CPU tensors that stand for those of the device."""

    @functools.wraps(original)
    def export(*args: Any, **settings: Any) -> Any:
        simulation.note(EXPORTED)
        with simulation.suspended():
            return original(*args, **settings)

    return export


def late(patches: Patches, simulation: Simulated) -> None:
    """What stands in a module that torch itself loads late."""
    module = sys.modules.get(DYNAMO)
    explain = getattr(module, "explain", None)  # the module may only be half there
    if explain is not None and not hasattr(explain, "_syncguard"):
        patches.wrap(module, "explain", lambda original: explaining(original, simulation))


def explaining(original: Callable[..., Any], simulation: Simulated) -> Callable[..., Any]:
    """torch._dynamo.explain. Our modes would break its graphs, so it sees the CPU tensors that stand for others."""

    @functools.wraps(original)
    def explain(f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        def explained(*args: Any, **kwargs: Any) -> Any:
            simulation.note(EXPLAINED)
            try:
                with simulation.suspended():
                    return original(f)(*args, **kwargs)
            except (RuntimeError, AssertionError) as fault:
                raise NotImplementedError(
                    "SyncGuard cannot simulate torch._dynamo.explain where the function itself asks for the device;"
                    f" give it tensors that are there: {str(fault).strip().splitlines()[0]}"
                ) from fault

        return explained(*args, **kwargs) if args or kwargs else explained

    explain._syncguard = True  # type: ignore[attr-defined]
    return explain
