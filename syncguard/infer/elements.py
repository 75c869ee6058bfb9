"""A value in, what iterating over it gives out."""

from __future__ import annotations

from syncguard.infer import calls
from syncguard.infer.contents import unpacked
from syncguard.infer.lattice import join_all
from syncguard.infer.operate import kind
from syncguard.infer.routine import Frame
from syncguard.infer.values import (
    NONE,
    UNKNOWN,
    Const,
    Host,
    Instance,
    Seq,
    Table,
    Tensor,
    Union,
    Unknown,
    Value,
    keys_of,
    options,
)
from syncguard.read.core import At

PARTS = {"str": "str", "size": "int", "shape": "int", "array": "object", "object": "object"}  # by what they are part of


def element_of(value: Value, at: At, frame: Frame) -> Value:
    """What iterating over a value gives."""
    if type(value) is not Union:
        return _element(value, at, frame)
    return join_all([_element(option, at, frame) for option in options(value) if option is not NONE] or [UNKNOWN])


def _element(value: Value, at: At, frame: Frame) -> Value:
    match value:
        case Tensor():
            return value.but(rank=value.rank - 1 if value.rank > 0 else -1, why=frame.why("iterate", at, value.why))
        case Seq():
            return value.element
        case Table():
            return keys_of(value)
        case Const() | Host():
            part = PARTS.get(kind(value))
            return UNKNOWN if part is None else Host(part)
        case Instance():
            return calls.iterate(value, at, frame)
        case Unknown():
            return unpacked(value)
    return UNKNOWN
