"""What a program asks of a tensor's rank: `x.dim()`, `x.ndim`, `len(x.shape)`."""

from __future__ import annotations

from typing import Final

from syncguard.infer.domain.values import Tensor, Value
from syncguard.read import core
from syncguard.read.core import Node

ASKED: Final = ("dim", "ndimension")


def ranked(node: Node) -> Node | None:
    """The tensor whose rank an expression is; None of any other expression."""
    match node:
        case core.Attr(of=of, name="ndim"):
            return of
        case core.Call(fn=core.Attr(of=of, name=name), args=()) if name in ASKED:
            return of
        case core.Call(fn=core.Name(id="len"), args=(core.Attr(of=of, name="shape"),)):
            return of
        case core.Call(fn=core.Name(id="len"), args=(core.Call(fn=core.Attr(of=of, name="size"), args=()),)):
            return of
    return None


def of_rank(path: str, value: Value, rank: int) -> dict[str, Value]:
    """What a variable is where its rank was found to be this one."""
    return {path: value.but(rank=rank)} if path and type(value) is Tensor else {}
