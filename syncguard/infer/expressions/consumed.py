"""A function in, what its loops take one by one from an order that they use up out: `i = order[0]` is a number."""

from __future__ import annotations

from typing import Final, NamedTuple

from syncguard.infer.domain.contents import tensor_in
from syncguard.infer.domain.values import Seq, Tensor, Union, Value
from syncguard.infer.routine import Frame
from syncguard.read.core import Loop, Node
from syncguard.read.tags import ATTR, BIND, CALL, CONST, DO, FUNCTION, IF, INDEX, LOOP, NAME, SEQ, SLICE
from syncguard.read.walk import walk


class Consumed(NamedTuple):
    """The names of orders that a loop shortens until nothing is left, of what it takes first or last from one, and of
    what it picks several rows of by what is left."""

    orders: frozenset[str]
    heads: frozenset[str]
    bases: frozenset[str]


NOTHING: Final = Consumed(frozenset(), frozenset(), frozenset())


def one_by_one(key: Value, node: Node, frame: Frame) -> Value:
    """What indexes: a number, where its rank is not known and it was taken first from an order that is used up."""
    if type(key) is Seq and key.kind == "tuple" and key.items is not None and type(node) is SEQ:
        parts = zip(key.items, node.items, strict=False)
        return Seq("tuple", tuple([one_by_one(part, inner, frame) for part, inner in parts]))
    tensor = tensor_in(key) if type(key) is Union else key
    if type(tensor) is not Tensor or tensor.rank >= 0 or (type(node) is not NAME and type(node) is not INDEX):
        return key
    known = consumed(frame)
    first = node.id in known.heads if type(node) is NAME else taken(node, known.orders)
    # What is a tensor in one turn is one in each.
    return tensor.but(rank=0, sure=False) if first else key


def consumed(frame: Frame) -> Consumed:
    """The orders that this function uses up."""
    written = frame.routine.written
    if written.consumed is None:
        node = frame.routine.node
        loops = [part for part in walk(node.body) if type(part) is LOOP] if type(node) is FUNCTION else []
        found = [used_up(loop, frame) for loop in loops if loop.test is not None]
        written.consumed = Consumed(*[frozenset().union(*names) for names in zip(*found)]) if found else NOTHING
    return written.consumed


def used_up(loop: Loop, frame: Frame) -> Consumed:
    """The same of one loop: it asks how much is left of what it picks from anew."""
    inside = walk(loop.body)
    tests = [loop.test, *[part.test for part in inside if type(part) is IF]]
    asked = {name for test in tests for part in walk(test) if (name := sized(part, frame))}
    picked = [
        (part.targets[0].id, part.value)
        for part in inside
        if type(part) is BIND and type(part.targets[0]) is NAME and type(part.value) is INDEX
    ]
    of = {name: root for name, value in picked if name not in asked and (root := root_of(value)) in asked}
    orders = {
        name
        for name, value in picked
        if name in asked and of.get(root := root_of(value), root) == name and type(value.key) is not SLICE
    }  # rows of a table are taken from it in turn: none is dropped between
    if not orders:
        return NOTHING
    heads = frozenset(name for name, value in picked if taken(value, orders))
    rest = (orders | {name for name, root in of.items() if root in orders}) - heads
    bases = frozenset(
        part.of.id
        for part in inside
        if type(part) is INDEX and type(part.of) is NAME and root_of(part.key) in rest and not taken(part.key, orders)
    )
    return Consumed(frozenset(orders), heads, bases - rest)


def sized(node: Node, frame: Frame) -> str:
    """The name whose size is asked: `order.numel()`, `order.shape[0]`, `len(order)`; '' of anything else."""
    is_ = frame.world.places.is_
    if type(node) is CALL and type(node.fn) is NAME and len(node.args) == 1 and is_("gates", "sizes", node.fn.id):
        return node.args[0].id if type(node.args[0]) is NAME else ""
    asks = type(node) is ATTR and type(node.of) is NAME and is_("gates", "sizes", node.name)
    return node.of.id if type(node) is ATTR and type(node.of) is NAME and asks else ""


def root_of(node: Node) -> str:
    """The name that is indexed, once or several times; '' of anything else."""
    while type(node) is INDEX:
        node = node.of
    return node.id if type(node) is NAME else ""


def taken(node: Node, orders: frozenset[str] | set[str]) -> bool:
    """Whether this is one of an order, by a number that is written out."""
    if type(node) is not INDEX or type(node.of) is not NAME or node.of.id not in orders:
        return False
    key = node.key.args[0] if type(node.key) is DO and node.key.what == "neg" else node.key
    return type(key) is CONST and type(key.value) is int
