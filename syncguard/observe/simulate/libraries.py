"""Compilers and process groups, replaced by what runs on a CPU."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Protocol

import torch

from syncguard.observe.simulate.patches import Patches

EAGER = "torch.compile: the model ran eagerly"


class Notes(Protocol):
    def note(self, sentence: str) -> None: ...


def patch(patches: Patches, notes: Notes) -> None:
    """Set them all."""
    patches.set(torch, "compile", compiling(notes))
    patches.set(torch.nn.Module, "compile", lambda *args, **settings: notes.note(EAGER))
    if torch.distributed.is_available():
        patches.wrap(torch.distributed, "init_process_group", lambda original: grouping(original, notes))
        patches.set(torch.distributed.distributed_c10d, "init_process_group", torch.distributed.init_process_group)


def compiling(notes: Notes) -> Callable[..., Any]:
    """torch.compile, which compiles nothing; of a module it makes what holds it under `_orig_mod`, as torch does."""

    def compile(model: Any = None, *args: Any, disable: bool = False, **settings: Any) -> Any:  # noqa: A001
        if model is None:
            return functools.partial(compile, disable=disable, **settings)
        if disable:
            return model
        notes.note(EAGER)
        if not isinstance(model, torch.nn.Module):
            return model
        from torch._dynamo.eval_frame import OptimizedModule

        return model if isinstance(model, OptimizedModule) else OptimizedModule(model, Eagerly())  # type: ignore[arg-type]

    return compile


class Eagerly:
    """In the place of a compiler: the function itself."""

    def __call__(self, function: Any) -> Any:
        return function


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
