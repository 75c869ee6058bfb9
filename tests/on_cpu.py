"""An example's text in, the value of its last call out: runs a program written for a GPU on a machine that has none."""

from __future__ import annotations

import ast
import os
import random
import re
from contextlib import AbstractContextManager, ExitStack
from typing import Any
from unittest import mock

import torch

DEVICE = re.compile(r"""(?<=["'])cuda(?=["':])""")
PINNED = re.compile(r"\bpin_memory\s*=\s*True")


def run(text: str) -> Any:
    """Run a program on the CPU, from a fixed seed and in a namespace of its own; the torch that it finds is restored."""
    tree = ast.parse(PINNED.sub("pin_memory=False", DEVICE.sub("cpu", text)))
    body, last = tree.body[:-1], tree.body[-1]
    space: dict[str, Any] = {"__name__": "example"}
    with without_device():
        torch.manual_seed(0)
        random.seed(0)
        exec(compile(ast.Module(body, []), "example", "exec"), space)
        if isinstance(last, ast.Expr):
            return eval(compile(ast.Expression(last.value), "example", "eval"), space)
        exec(compile(ast.Module([last], []), "example", "exec"), space)


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
        return lambda *args, **settings: self

    def __enter__(self) -> Work:
        return self

    def __exit__(self, *reason: object) -> None: ...


def without_device() -> AbstractContextManager[Any]:
    """Until it is left, torch.cuda answers without a device, and what a program sets in torch is put back."""
    stack = ExitStack()
    stack.enter_context(torch.random.fork_rng(devices=[]))
    stack.enter_context(mock.patch.dict(os.environ))
    stack.callback(torch.set_default_dtype, torch.get_default_dtype())
    stack.callback(torch.set_default_device, None)
    stack.callback(torch.set_grad_enabled, torch.is_grad_enabled())
    stack.callback(torch.set_float32_matmul_precision, torch.get_float32_matmul_precision())
    stack.callback(torch.autograd.set_detect_anomaly, torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled())
    stack.callback(torch.distributions.Distribution.set_default_validate_args, torch.distributions.Distribution._validate_args)
    stack.callback(leave_group)
    for owner, stubs in STUBS:
        for name, stub in stubs.items():
            stack.enter_context(mock.patch.object(owner, name, stub, create=True))
    return stack


def leave_group() -> None:
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()


def answer(value: Any) -> Any:
    return lambda *args, **settings: value


def same(self: Any, *args: Any, **settings: Any) -> Any:
    return self


def plain(function: Any = None, **settings: Any) -> Any:
    """torch.compile, both as a call and as a decorator with settings."""
    return same if function is None else function


STUBS: list[tuple[Any, dict[str, Any]]] = [
    (torch.cuda, dict.fromkeys(("synchronize", "empty_cache", "set_device", "set_sync_debug_mode", "ipc_collect", "reset_peak_memory_stats"), answer(None))),
    (torch.cuda, dict.fromkeys(("memory_allocated", "memory_reserved", "max_memory_allocated", "current_device"), answer(0))),
    (torch.cuda, {"is_available": answer(True), "device_count": answer(1), "is_current_stream_capturing": answer(False)}),
    (torch.cuda, {"Event": Work, "Stream": Work, "CUDAGraph": Work, "current_stream": Work, "default_stream": Work, "graph": Work}),
    (torch.cuda, {"stream": Work, "device": Work}),
    (torch.cuda.amp.common, {"amp_definitely_not_available": answer(True)}),
    (torch.nn.parallel.data_parallel, {"_get_available_device_type": answer(None)}),
    (torch.accelerator, {"synchronize": answer(None), "is_available": answer(False)}),
    (torch.Tensor, {"cuda": same, "pin_memory": same, "record_stream": answer(None)}),
    (torch.nn.Module, {"cuda": same}),
    (torch, {"compile": plain}),
]  # fmt: skip
