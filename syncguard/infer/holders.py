"""A container in, the container with one thing more out; a name and what it stands for in, where that is held out."""

from __future__ import annotations

from syncguard.infer.lattice import join
from syncguard.infer.routine import Frame
from syncguard.infer.values import UNKNOWN, Const, Seq, Table, Value, options
from syncguard.read import core
from syncguard.read.core import Node


def filled(of: Seq | Table, key: Value, value: Value) -> Value:
    """The container with `value` under `key`."""
    if isinstance(of, Seq):
        return Seq(of.kind, None, join(of.element, value) if of.items != () else value)
    if type(key) is Const and isinstance(key.value, (str, int)):
        return Table({**of.items, key.value: value}, of.element, of.keys)
    element = value if of.element is UNKNOWN and not of.items else join(of.element, value)
    return Table(of.items, element, of.keys if type(key) is Const else key)


def hold(name: str, value: Value, source: Node | None, frame: Frame) -> None:
    """Note where a container is held that a name stands for from now on: what is put into it is found there, too."""
    holder = holder_of(source, value) if source is not None else None
    if holder is not None:
        frame.taken[name] = holder
    elif frame.taken:
        frame.taken.pop(name, None)


def holder_of(source: Node, value: Value) -> Node | None:
    """Where a container is held that an attribute holds, or holds in another one: `self.state[p]`."""
    if not any(type(option) in (Seq, Table) for option in options(value)):
        return None
    match source:
        case core.Call(fn=core.Attr(of=of, name="get" | "setdefault"), args=(key, *_)):
            source = core.Index(of, key, source.at)
    root = source
    while type(root) is core.Index:
        root = root.of
    return source if type(root) is core.Attr and root.path else None
