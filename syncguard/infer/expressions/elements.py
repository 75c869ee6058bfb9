"""A value in, what iterating over it gives out."""

from __future__ import annotations

from typing import Final

from syncguard.infer.branches.stepping import loads
from syncguard.infer.domain.contents import unpacked
from syncguard.infer.domain.lattice import join_all
from syncguard.infer.domain.values import (
    NONE,
    UNKNOWN,
    Bound,
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
from syncguard.infer.expressions import calls
from syncguard.infer.expressions.operate import kind
from syncguard.infer.routine import Frame
from syncguard.read import core
from syncguard.read.core import At, Node
from syncguard.read.tags import ATTR, NAME
from syncguard.read.walk import walk

MOVES: Final = ("to()", "cuda()")
# By what they are part of.
PARTS: Final = {"str": "str", "size": "int", "shape": "int", "array": "object", "object": "object"}


def drawn(node: core.Loop, iterated: Value, frame: Frame) -> Value:
    """What a loop takes at each turn. What it moves by hand, and draws from a loader through something that we do not
    know, is as the loader made it."""
    if node.iterable is None:
        return UNKNOWN
    at = header(node.at, node.iterable.at)
    found = item_of(iterated, node.iterable, at, frame)
    if found is not UNKNOWN or not loads(node, iterated, frame):
        return found
    taken = [one.id for one in walk(node.target) if type(one) is NAME]
    moved = any(not frame.uses(name).isdisjoint(MOVES) for name in taken)
    if moved and frame.world.default_device == "assumed":
        return Unknown(frame.why("made batch", at))
    return Unknown(batch=frame.why("batch", at)) if moved else found


def item_of(value: Value, node: Node, at: At, frame: Frame) -> Value:
    """What iterating over what is written there gives: the items of a loader's `dataset` are on the host."""
    found = element_of(value, at, frame)
    attributes = frame.world.places.tables["host"]["item_attributes"]
    if found is not UNKNOWN or type(node) is not ATTR or node.name not in attributes:
        return found
    return Unknown(None, frame.why("loaded", at), True)


def header(at: At, iterable: At) -> At:
    """Where a `for` statement stands, without its body."""
    return at[0], at[1], iterable[2], iterable[3]


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
        case Host(one_row=True):
            return Host("number")
        case Const() | Host():
            part = PARTS.get(kind(value))
            return UNKNOWN if part is None else Host(part)
        case Bound(of=Host() as held):  # `frame.values`
            return _element(held, at, frame)
        case Instance():
            return calls.iterate(value, at, frame)
        case Unknown():
            return unpacked(value)
    return UNKNOWN
