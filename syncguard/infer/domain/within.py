"""A value in, the first tensor on the device or on the host inside it out, and where it is written."""

from __future__ import annotations

from syncguard.infer.domain.values import Seq, Table, Tensor, Value, Why, options
from syncguard.read.core import Node
from syncguard.read.tags import SEQ, SLICE


def inside(value: Value, node: Node | None, device: bool) -> tuple[Node | None, Why | None] | None:
    """The first tensor on that side in a value, or in the display that made it: where it stands, and why."""
    for option in options(value):
        if type(option) is Tensor and option.on_device is device:
            return node, option.why
        for item, part in _written(option, node):
            found = inside(item, part, device)
            if found is not None:
                return found
    return None


def _written(value: Value, node: Node | None) -> list[tuple[Value, Node | None]]:
    """What a container holds, each item with the node that it is written as in a display or slice, else with that of
    the container; nothing where a display has another number of items.
    """
    if type(value) is Table:
        return [(item, node) for item in (value.element, *value.items.values())]
    if type(value) is not Seq:
        return []
    if value.items is None:
        return [(value.element, node)]
    parts = node.items if type(node) is SEQ else node.bounds if type(node) is SLICE else None
    if parts is None:
        return [(item, node) for item in value.items]
    return list(zip(value.items, parts)) if len(parts) == len(value.items) else []
