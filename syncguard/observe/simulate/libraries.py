"""Compilers, scripts and process groups, replaced by what runs on a CPU."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any, Protocol

import torch

from syncguard.observe.simulate.patches import Patches

SCRIPTS = "torch.jit: scripts and traces ran eagerly"
EAGER = "torch.compile: the model ran eagerly"


class Notes(Protocol):
    def note(self, sentence: str) -> None: ...


def patch(patches: Patches, notes: Notes) -> None:
    """Set them all."""
    patches.set(torch, "compile", compiling(notes))
    patches.set(torch.nn.Module, "compile", lambda *args, **settings: notes.note(EAGER))
    patches.set(torch.jit._state._enabled, "enabled", False)  # what PYTORCH_JIT=0 does
    for name in ("script", "trace"):
        patches.wrap(torch.jit, name, lambda original: scripting(original, notes))
    if torch.distributed.is_available():
        patches.wrap(torch.distributed, "init_process_group", lambda original: grouping(original, notes))
        patches.set(torch.distributed.distributed_c10d, "init_process_group", torch.distributed.init_process_group)


def compiling(notes: Notes) -> Callable[..., Any]:
    """torch.compile, which compiles nothing."""

    def compile(model: Any = None, *args: Any, **settings: Any) -> Any:  # noqa: A001
        notes.note(EAGER)
        return (lambda function: function) if model is None else model

    return compile


def scripting(original: Callable[..., Any], notes: Notes) -> Callable[..., Any]:
    """torch.jit.script, which scripts nothing. torch's own modules script when they are imported: no need to say so."""

    @functools.wraps(original)
    def script(*args: Any, **settings: Any) -> Any:
        if not str(sys._getframe(1).f_globals.get("__name__", "")).startswith("torch."):
            notes.note(SCRIPTS)
        return original(*args, **settings)

    return script


def grouping(original: Callable[..., Any], notes: Notes) -> Callable[..., Any]:
    """init_process_group, with gloo for what needs a device."""

    @functools.wraps(original)
    def init_process_group(backend: Any = None, *args: Any, **settings: Any) -> Any:
        settings.pop("device_id", None)
        if backend is None or "nccl" in str(backend):
            notes.note("torch.distributed: gloo ran in place of nccl")
            backend = "gloo"
        return original(backend, *args, **settings)

    return init_process_group
