"""What a `with` statement opens in; what it gives to its block, and what it does behind it, out."""

from __future__ import annotations

from syncguard.infer.domain.lattice import join_all
from syncguard.infer.domain.values import UNKNOWN, Call, Instance, Seq, Union, Value
from syncguard.infer.routine import Frame
from syncguard.read.core import At


def managed(manager: Value, what: str, args: list[Value], at: At, frame: Frame) -> Value:
    """What a class of the project gives to the block that it manages, or does behind it; all else is what it is."""
    if type(manager) is not Instance or manager.info is None:
        return manager
    member = manager.info.find(f"__{what}__") or manager.info.find(f"__a{what}__")
    if member is None or type(member[0]) is not Call:
        return UNKNOWN
    return frame.world.call(member[0].routine, manager, args, {}, at, frame)


def yielded(value: Value) -> Value:
    """What a generator that is a context manager gives to its block; all else unchanged."""
    if type(value) is Union:
        return join_all([yielded(option) for option in value.options])
    return value.element if type(value) is Seq and value.kind == "iterator" else value
