"""What indexes a tensor on the device, or will, in; a mask out, where it is one by its name or by how it was made."""

from __future__ import annotations

from collections.abc import Iterator

from syncguard.infer.branches.meant import binders
from syncguard.infer.branches.subjects import last_name
from syncguard.infer.domain.contents import without
from syncguard.infer.domain.sureness import MASKS, number_sureness
from syncguard.infer.domain.values import NONE, Seq, Tensor, Union, Unknown, Value, Why
from syncguard.infer.expressions.consumed import one_by_one
from syncguard.infer.expressions.operate import compares
from syncguard.infer.operations.dtypes import dtype_of
from syncguard.infer.routine import Frame
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, BIND, CALL, DO, FUNCTION, INDEX, LOOP, NAME, SEQ, SLICE
from syncguard.read.walk import walk


def mask(of: Tensor, key: Value, node: Node, frame: Frame) -> Value:
    """What indexes a tensor: something unknown that is named as a mask is, or turned or compared as only a mask is,
    is one; a tensor of which no type is known may tell places as well.
    """
    if type(key) is Seq and key.kind == "tuple" and key.items is not None and type(node) is SEQ:
        parts = zip(key.items, node.items, strict=False)
        return Seq("tuple", tuple([mask(of, part, inner, frame) for part, inner in parts]))
    if type(key) is Seq and key.kind == "tuple" and key.items is None:
        return of_row(key, node, frame)
    if type(key) is Tensor and not key.dtype and _flags(key, node, frame):
        return key.but(dtype="named mask", sure=False)
    if type(key) is Tensor and not key.dtype and _numbers(key, node, frame):
        return key.but(dtype="number", sure=False)
    if (type(key) is Tensor and key.rank < 0) or type(key) is Union:
        key = one_by_one(key, node, frame)
    if type(key) is Tensor and key.rank < 0 and type(node) is INDEX:
        return placed_first(key, node, frame)
    if type(key) is Union:
        key = without(key, lambda option: option is NONE)  # `mask=None`, and what is indexed with it is no axis more
    if type(key) is not Unknown or key.batch is not None or not of.on_device:
        return key
    turned = type(node) is DO and node.what == "~"
    name = last_name(node.args[0] if type(node) is DO and turned else node)
    named, there = frame.world.hint(name) if name else (False, False)
    if not (turned or named or compares(node) or _cast(node, frame)):
        return key
    why = frame.why("mask", node.at, key.weak or of.why)
    return Tensor("named mask", "host" if there else of.device, sure=False, why=why)


def _flags(key: Tensor, node: Node, frame: Frame) -> bool:
    """Whether a tensor that indexes is turned, `~done`, or of both of two, `a & b`: of places neither is asked."""
    from syncguard.infer.expressions.evaluate import quiet_value

    if type(node) is DO and node.what in ("&", "|", "^"):
        sides = [quiet_value(side, frame) for side in node.args]
        return all(type(side) is Tensor and (not side.dtype or side.dtype in MASKS) for side in sides)
    turned = key.why is not None and frame.world.places.is_("factories", "turned", key.why.text)
    return turned or (type(node) is DO and node.what == "~")


def _numbers(key: Tensor, node: Node, frame: Frame) -> bool:
    """Whether a tensor that indexes tells places, by its name or because it holds no value twice."""
    why, places = key.why, frame.world.places
    node = _whole(node, frame)
    while why is not None and why.text == "torch.Tensor.__getitem__":
        why = why.parent
    distinct = why is not None and places.is_("factories", "distinct", why.text)
    return distinct or (frame.world.guesses and places.is_("names", "places", last_name(node)))


def _whole(node: Node, frame: Frame) -> Node:
    """What this is a part of, or a view: of `edges[0].flatten()` the edges."""
    while True:
        if type(node) is INDEX:
            node = node.of
        elif type(node) is CALL and type(node.fn) is ATTR and frame.world.places.is_("names", "leaving", node.fn.name):
            node = node.fn.of
        else:
            return node


def placed_first(key: Tensor, node: core.Index, frame: Frame) -> Tensor:
    """`x[order[i]]`: what is picked from an order by a number, and indexes, is a number where no rank is known: of many
    columns, an order is made along one that is named."""
    from syncguard.infer.expressions.evaluate import quiet_value

    order = key.why.parent if key.why is not None and key.why.text == "torch.Tensor.__getitem__" else None
    if order is None or not frame.world.places.is_("factories", "orders", order.text) or along(order, frame):
        return key
    return key.but(rank=0, sure=False) if number_sureness(quiet_value(node.key, frame)) else key


def of_row(key: Seq, node: Node, frame: Frame) -> Seq:
    """`table[tuple(x[i])]`: what is made of one row, and indexes, holds a number for each dimension, where no rank is
    known: a row that has more is no place in a table. The parts of all there is, `tuple(x.T)`, may be columns."""
    element = key.element
    if type(element) is not Tensor or element.rank >= 0 or element.dtype in MASKS:
        return key
    made = _bound(node, frame)
    call = made.value if type(made) is BIND else made
    if type(call) is not CALL or type(call.fn) is not NAME or len(call.args) != 1 or call.fn.id != key.kind:
        return key
    row = _bound(call.args[0], frame)
    if type(row) is BIND:
        row = row.value
    above = element.why.parent if element.why is not None else None
    turned = type(row) is LOOP and above is not None and above.text == "iterate"  # of a tensor, not of a list of them
    one = turned or (type(row) is INDEX and _one_left(row.key, frame))
    return Seq(key.kind, None, element.but(rank=0, sure=False)) if one else key


def _bound(node: Node | None, frame: Frame) -> Node | None:
    """The statement that binds a name, if it is one alone and does so by itself; all else as it is."""
    if type(node) is not NAME:
        return node
    parts = binders(frame.routine).get(node.id, ())
    target = parts[0].target if len(parts) == 1 and type(parts[0]) is LOOP else None
    if len(parts) == 1 and type(parts[0]) is BIND and len(parts[0].targets) == 1:
        target = parts[0].targets[0]
    return parts[0] if type(target) is NAME else node


def _one_left(key: Node, frame: Frame) -> bool:
    """Whether a subscript leaves one dimension of those that it names: `x[i]`, `x[i, :, j]`."""
    from syncguard.infer.expressions.evaluate import quiet_value

    parts = key.items if type(key) is SEQ else (key,)
    rest = [part for part in parts if type(part) is not SLICE]
    numbers = [number_sureness(quiet_value(part, frame)) > 0 for part in rest]
    return len(parts) - len(rest) == (len(parts) > 1) and all(numbers)


def along(order: Why, frame: Frame) -> bool:
    """Whether the call that made an order names a dimension."""
    node = frame.routine.node
    made = (
        next((p for p in walk(node.body) if type(p) is CALL and p.at == order.at), None)
        if type(node) is FUNCTION
        else None
    )
    if made is None:
        return False
    own = order.text.startswith("torch.Tensor.") and type(made.fn) is ATTR
    return len(made.args) > (0 if own else 1) or any(name == "dim" for name, _ in made.keywords)


def _cast(node: Node, frame: Frame) -> bool:
    """Whether this makes flags of something: `kept.bool()`, `kept.to(torch.bool)`."""
    from syncguard.infer.expressions.evaluate import quiet_value

    if type(node) is not CALL or type(node.fn) is not ATTR:
        return False
    if not node.args:
        return node.fn.name == "bool"
    return node.fn.name in ("to", "type") and dtype_of(quiet_value(node.args[0], frame)) == "bool"


def picks(of: Unknown, key: Value, node: Node, frame: Frame) -> bool:
    """Whether something unknown that was computed from tensors is indexed as only a tensor or an array can be, by a
    comparison of what was computed from tensors, or what is named as a mask is, where nothing computes with arrays.
    """
    if of.weak is None or type(key) is not Unknown or key.weak is None:
        return False
    turned = type(node) is DO and node.what == "~"
    named = type(node) is NAME and frame.world.hint(node.id)[0]
    return (turned or named or compares(node)) and frame.world.only_torch(frame)


def foreseen(name: str, value: Value, source: Node | None, frame: Frame) -> Value:
    """A comparison of what is unknown is a mask from the start where its name indexes a tensor later, or anything, if
    tensors are compared for all that is known."""
    if type(value) is not Unknown or value.batch is not None or source is None or not compares(source):
        return value
    for path in _indexed(frame).get(name, ()):
        of = frame.env.get(path)
        if type(of) is Tensor and of.on_device:
            return Tensor("bool", of.device, sure=False, why=frame.why("mask", source.at, value.weak or of.why))
    if value.weak is not None and name in _indexed(frame) and frame.world.only_torch(frame):
        return Tensor("bool", sure=False, why=frame.why("mask", source.at, value.weak))
    return value


def _indexed(frame: Frame) -> dict[str, tuple[str, ...]]:
    """What each name indexes in this function."""
    node, written = frame.routine.node, frame.routine.written
    if written.indexed is None:
        found: dict[str, list[str]] = {}
        for part in walk(node.body) if type(node) is FUNCTION else ():
            if type(part) is INDEX:
                path = part.of.id if type(part.of) is NAME else part.of.path if type(part.of) is ATTR else ""
                for name in _names(part.key):
                    found.setdefault(name, []).append(path)
        written.indexed = {name: tuple(paths) for name, paths in found.items()}
    return written.indexed


def _names(key: Node) -> Iterator[str]:
    """The names that index here, of several each, and whether turned or not."""
    for part in key.items if type(key) is SEQ else (key,):
        if type(part) is DO and part.what == "~":
            part = part.args[0]
        if type(part) is NAME:
            yield part.id
