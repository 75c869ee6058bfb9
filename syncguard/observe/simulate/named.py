"""A torch function -> the name under which its row stands, and what kind of function that makes it."""

from __future__ import annotations

import inspect
from functools import cache
from typing import Any

import torch
from torch.overrides import resolve_name

from syncguard.observe.simulate.verdict import Verdict
from syncguard.pack.returns import results

NAME_OF = inspect.unwrap(resolve_name)  # as it is wrapped, it needs modules that are gone when Python ends
NUMBERS = frozenset("int float bool str number none size dtype".split())


def name_of(func: Any, verdict: Verdict) -> str:
    """The Python-level name of a function: "torch.Tensor.nonzero"; an operator's is that of what Python calls."""
    if isinstance(func, (torch._ops.OpOverload, torch._ops.OpOverloadPacket)):
        packet: Any = func.overloadpacket if isinstance(func, torch._ops.OpOverload) else func
        space, _, bare = str(packet._qualified_op_name).partition("::")
        spellings = [f"torch.{bare}", f"torch.Tensor.{bare}", f"torch.nn.functional.{bare}"]
        spellings = spellings if space == "aten" else [f"{space}.ops.{bare}"]
        return next((name for name in spellings if verdict.row(name) is not None), spellings[0])
    name: str | None = NAME_OF(func)
    if name is None:
        name = unnamed().get(id(func)) or f"torch.{getattr(func, '__name__', type(func).__name__)}"
    return name.removesuffix(".__get__")


@cache
def unnamed() -> dict[int, str]:
    """The functions of C++ that torch's list of overridable functions lacks, by what Python calls them."""
    spaces = {"torch.sparse": torch.sparse, "torch.nested": torch.nested}
    return {id(value): f"{space}.{name}" for space, module in spaces.items()
            for name, value in vars(module).items() if type(value) is type(len)}  # fmt: skip


def plain(name: str, verdict: Verdict) -> bool:
    """Does this give a number, a size or a name, and nothing that lives anywhere?"""
    op = verdict.pack.op(name)
    if op is None or not op.returns:
        return False
    return all(result.kind in NUMBERS for _, result in results(op.returns))
