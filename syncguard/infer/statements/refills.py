"""A loop over a container in, what the container holds after it out: each of its parts, moved."""

from __future__ import annotations

from typing import Final

from syncguard.infer.domain.contents import tensor_in
from syncguard.infer.domain.lattice import join
from syncguard.infer.domain.values import UNKNOWN, Host, Table, Tensor, Unknown, Value
from syncguard.infer.expressions.evaluate import quiet_value
from syncguard.infer.routine import Frame
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, BIND, CALL, INDEX, NAME, SEQ
from syncguard.read.walk import walk

WAYS: Final = ("items", "keys")  # to iterate over a container's keys
COPIES: Final = ("list", "tuple")


def refill(node: core.Loop, frame: Frame) -> None:
    """`for key, part in batch.items(): batch[key] = part.to(device)`: what was in the batch is on the device."""
    name = _container(node.iterable)
    held = frame.env.get(name) if name else None
    if (type(held) is not Unknown and type(held) is not Table) or node.target is None:
        return
    key = node.target.items[0] if type(node.target) is SEQ and node.target.items else node.target
    if type(key) is not NAME:
        return
    for part in walk(node.body):
        if type(part) is BIND and part.value is not None and _puts(part.targets, name, key.id):
            value = quiet_value(part.value, frame)
            there = tensor_in(value)
            each = there is value and any(part is statement for statement in node.body)
            if type(held) is Table and there is not None:
                items = {at: _moved(item, there, each) for at, item in held.items.items()}
                frame.env[name] = Table(items, there if each else join(held.element, there), held.keys)
            elif there.on_device if there is not None else type(value) is Unknown and value.weak is not None:
                frame.env[name] = Table({}, value if each else join(UNKNOWN, value), Host("str"))
            return


def _moved(item: Value, there: Tensor, each: bool) -> Value:
    """A part after the loop; where only some were put back, those were that are tensors."""
    if type(item) is Tensor:
        return item.but(device=there.device, why=there.why)
    return there if each else item


def _container(node: Node | None) -> str:
    """The name of what a loop takes the keys of; '' where it is not written so."""
    if type(node) is CALL and type(node.fn) is NAME and node.fn.id in COPIES and len(node.args) == 1:
        node = node.args[0]
    if type(node) is CALL and type(node.fn) is ATTR and node.fn.name in WAYS and not node.args:
        node = node.fn.of
    return node.id if type(node) is NAME else ""


def _puts(targets: tuple[Node, ...], name: str, key: str) -> bool:
    """Whether this is `name[key] = ...`."""
    target = targets[0]
    return (
        len(targets) == 1
        and type(target) is INDEX
        and type(target.of) is NAME
        and type(target.key) is NAME
        and (target.of.id, target.key.id) == (name, key)
    )
