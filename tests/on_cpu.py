"""An example's text in, the value of its last call out: a program for a GPU, run on a machine that has none."""

from __future__ import annotations

import ast
import os
import random
import re
from contextlib import AbstractContextManager, ExitStack
from importlib import import_module
from typing import Any
from unittest import mock

import torch

# Optimizers import it when they first step, and it refuses to be imported over the stubs below.
import torch._dynamo

DEVICE = re.compile(r"""(?<=["'])cuda(?=["':])(?!["'] in str)""")
PINNED = re.compile(r"\bpin_memory\s*=\s*True")


def run(text: str) -> Any:
    """Run a program from a fixed seed in a namespace of its own; what it sets in torch is put back."""
    tree = ast.parse(PINNED.sub("pin_memory=False", DEVICE.sub("cpu", text)))
    *body, last = tree.body
    assert isinstance(last, ast.Expr), "an example ends in a call"
    space: dict[str, Any] = {"__name__": "example"}
    with without_device():
        torch.default_generator.manual_seed(0)
        random.seed(0)
        exec(compile(ast.Module(body, []), "example", "exec"), space)
        return eval(compile(ast.Expression(last.value), "example", "eval"), space)


def called(text: str) -> str:
    """The function that a program's last statement calls; empty where it is no bare call."""
    last = ast.parse(text).body[-1]
    call = last.value if isinstance(last, ast.Expr) else None
    return ast.unparse(call.func) if isinstance(call, ast.Call) else ""


class Work:
    """A stream, an event or a graph on a machine where all work is done when it is queued."""

    def __init__(self, *args: Any, **settings: Any) -> None: ...

    def query(self) -> bool:
        return True

    def elapsed_time(self, end: Work) -> float:
        return 0.0

    def __getattr__(self, name: str) -> Any:
        return same_as(self)

    def __enter__(self) -> Work:
        return self

    def __exit__(self, *reason: object) -> None: ...


def without_device() -> AbstractContextManager[Any]:
    """Until it is left, torch.cuda answers without a device."""
    stack = ExitStack()
    stack.enter_context(torch.random.fork_rng(devices=[]))
    stack.enter_context(mock.patch.dict(os.environ))
    for put_back, *values in settings():
        stack.callback(put_back, *values)
    for owner, stubs in STUBS:
        for name, stub in stubs.items():
            stack.enter_context(mock.patch.object(owner, name, stub, create=True))
    return stack


def settings() -> list[tuple[Any, ...]]:
    """What a program may set for all of torch: the function that sets it, and the values that it has now."""
    distribution = torch.distributions.Distribution
    return [
        (torch.set_default_dtype, torch.get_default_dtype()),
        (torch.set_default_device, None),
        (torch.set_grad_enabled, torch.is_grad_enabled()),
        (torch.set_float32_matmul_precision, torch.get_float32_matmul_precision()),
        (torch.autograd.set_detect_anomaly, torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()),
        (distribution.set_default_validate_args, distribution._validate_args),
        (leave_group,),
    ]


def leave_group() -> None:
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()


def same_as(value: Any) -> Any:
    return lambda *args, **settings: value


def itself(value: Any = None, *args: Any, **settings: Any) -> Any:
    """A method that changes nothing, or a decorator with or without settings."""
    return itself if value is None else value


NOTHING = ("synchronize", "empty_cache", "ipc_collect", "set_device", "set_sync_debug_mode", "reset_peak_memory_stats")
NUMBERS = ("current_device", "memory_allocated", "memory_reserved", "max_memory_allocated")
WORK = ("Event", "Stream", "CUDAGraph", "current_stream", "default_stream", "stream", "graph", "device")
STUBS: list[tuple[Any, dict[str, Any]]] = [
    (
        torch.cuda,
        dict.fromkeys(NOTHING, same_as(None)) | dict.fromkeys(NUMBERS, same_as(0)) | dict.fromkeys(WORK, Work),
    ),
    (torch.cuda, {"is_available": same_as(True), "device_count": same_as(1)}),
    (torch.cuda, {"is_current_stream_capturing": same_as(False)}),
    (torch.cuda.amp.common, {"amp_definitely_not_available": same_as(True)}),
    (import_module("torch.nn.parallel.data_parallel"), {"_get_available_device_type": same_as(None)}),
    (torch.accelerator, {"synchronize": same_as(None), "is_available": same_as(False)}),
    (torch.Tensor, {"cuda": itself, "pin_memory": itself, "record_stream": same_as(None)}),
    (torch.nn.Module, {"cuda": itself}),
    (torch, {"compile": itself}),
]
