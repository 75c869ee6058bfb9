"""A value and a subscript in, the item out."""

from __future__ import annotations

from typing import Final

from syncguard.infer.branches.subjects import last_name
from syncguard.infer.domain.contents import tensor_in, unpacked
from syncguard.infer.domain.lattice import join_all
from syncguard.infer.domain.sureness import MASKS, number_sureness, tensor_sureness
from syncguard.infer.domain.values import (
    NONE,
    SHAPES,
    UNKNOWN,
    Alias,
    Bound,
    Call,
    ClassOf,
    Const,
    Host,
    Instance,
    Named,
    Seq,
    Table,
    Tensor,
    Unknown,
    Value,
    is_array,
    kind_of,
)
from syncguard.infer.expressions import calls
from syncguard.infer.expressions.compared import picks_by_part
from syncguard.infer.expressions.consumed import consumed, one_by_one
from syncguard.infer.expressions.masks import mask, picks
from syncguard.infer.expressions.operate import kind
from syncguard.infer.functions.annotations import promised
from syncguard.infer.operations.apply import apply
from syncguard.infer.operations.indices import WHOLE
from syncguard.infer.operations.kin import as_tensor, operand
from syncguard.infer.routine import Frame
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import CONST, FUNCTION, INDEX, LEAVE, NAME, SEQ, SLICE
from syncguard.read.walk import walk

TYPES: Final = ("typing.", "typing_extensions.", "builtins.", "collections.abc.", "jaxtyping.")


def item(of: Value, key: Value, node: core.Index, frame: Frame) -> Value:
    match of:
        case Tensor() if kind(key) == "str":  # so it is no tensor, but a container of them
            return Unknown(of.why) if of.on_device else Tensor(device="host", sure=False, why=of.why)
        case Tensor():
            key = mask(of, key, node.key, frame)
            picked_there(of, node.key, frame)
            row = frame.world.row("torch.Tensor.__getitem__")
            return indexed(of, key, apply(frame, row, node.at, [of, key], {}, (node.of, node.key)))
        case Seq():
            read_index(key, node, frame)
            return item_of_sequence(of, key)
        case Table():
            if type(key) is Const and isinstance(key.value, (str, int, float, bool)):
                held = of.items.get(key.value)
                if held is not None or of.element is UNKNOWN or type(key.value) is not str:
                    return held if held is not None else of.element
                counted = frame.world.places.is_("gates", "kept_counts", key.value)
                return UNKNOWN if counted else of.element  # whatever the others are declared
            if type(key) is Tensor and of.element is not UNKNOWN:
                return of.element  # no text and no number is found under a tensor
            return join_all([of.element, *of.items.values()]) if of.element is not UNKNOWN or of.items else UNKNOWN
        case Const() | Host():
            return item_of_host(of, key, node, frame)
        case ClassOf() | Named():
            return Alias(node, frame) if type(of) is Named and of.name.startswith(TYPES) else of
        case Instance():
            return item_of_instance(of, key, node, frame)
        case Unknown():
            return item_of_unknown(of, key, node, frame)
        case Bound(of=Tensor() as kept):  # `x.indices[:, 0]`: a method has no items, so `x` keeps tensors
            return item_of_unknown(Unknown(kept.why), key, node, frame)
        case Bound(of=Host() as host):  # `frame.values[:, 0]`, likewise
            return item_of_host(host, key, node, frame)
    return UNKNOWN


def picked_there(of: Tensor, key: Node, frame: Frame) -> None:
    """What picks from a tensor on the host is there as well from here on: an index on the device would raise, unless it
    is 0-d and read. Of what a module keeps we are less sure, for it may have been moved with it."""
    owner = frame.routine.owner
    if of.on_device or (owner is not None and owner.is_module):
        return
    for part in key.items if type(key) is SEQ else (key,):
        held = frame.env.get(part.id) if type(part) is NAME else None
        if type(part) is NAME and type(held) is Tensor and held.device == "assumed" and _many(held):
            frame.env[part.id] = held.but(device="host")


def _many(index: Tensor) -> bool:
    """Whether an index picks several rows: by what is known of it, or as those do that are declared."""
    declared = index.rank < 0 and index.why is not None and index.why.text == "parameter"
    return index.rank > 0 or index.dtype in MASKS or declared


def item_of_sequence(of: Seq, key: Value) -> Value:
    if type(key) is Seq and key.kind == "slice":
        return Seq(of.kind, None, of.element)
    if of.items is not None:
        return part_of(of.items, key) if type(key) is Const else of.element
    at = key.value if type(key) is Const and type(key.value) is int else -1
    return of.first[at] if 0 <= at < len(of.first) else of.element


def part_of(items: tuple[Value, ...], key: Const) -> Value:
    """One of some items, by a number that is written out."""
    inside = isinstance(key.value, int) and -len(items) <= key.value < len(items)
    return items[key.value] if inside else join_all(items)


def item_of_host(of: Const | Host, key: Value, node: core.Index, frame: Frame) -> Value:
    if type(of) is Host and of.kind in SHAPES:
        read_index(key, node, frame)
        return Host("shape" if type(key) is Seq else "int")
    if kind_of(of) == "str":
        return Host("str")
    if type(of) is Host and of.one_row:
        part = of if type(key) is Seq and key.kind == "slice" else Host("array")
        return Host("number") if number_sureness(key) else part
    return of if type(of) is Host and of.kind in ("array", "str", "object") else UNKNOWN


def item_of_instance(of: Instance, key: Value, node: core.Index, frame: Frame) -> Value:
    """By its own __getitem__; a NamedTuple by number, and by name a TypedDict or an output that is dict and object."""
    tensor = as_tensor(of, "__getitem__")
    if type(tensor) is Tensor:
        return item(tensor, key, node, frame)
    info = of.info
    member = info.find("__getitem__") if info is not None else None
    if member is not None and type(member[0]) is Call:
        found = frame.world.call(member[0].routine, of, [key], {}, node.at, frame)
        there = of.device == "host" and found is UNKNOWN and not member[1].is_module
        return Tensor(device="host", sure=False, why=frame.why("fetched", node.at)) if there else found
    if info is not None and type(key) is Const and member is None:
        if isinstance(key.value, str):
            held = info.held(key.value, frame.routine)
            if held is not None:
                return held
        elif (parts := info.parts()) is not None:
            return part_of(parts, key)
    return calls.method(of, "__getitem__", [key], {}, node.at, (node.of, node.key), frame)


def item_of_unknown(of: Unknown, key: Value, node: core.Index, frame: Frame) -> Value:
    """What a subscript tells of something unknown."""
    parts = (key.items or ()) if type(key) is Seq and key.kind == "tuple" else ()
    several = any(type(part) is Tensor for part in parts) or (rows_of_host(key) and named_part(node.of, frame))
    sliced = any(map(slices, parts)) and frame.world.only_torch(frame)
    if picks(of, key, node.key, frame) or ((several or sliced) and of.weak is not None):
        return item(operand(of), key, node, frame)  # nothing else takes several tensors, or slices, at once
    if of is UNKNOWN and len(parts) > 1 and all(map(rows_of_host, parts)) and frame.world.only_torch(frame):
        here = Tensor(device=frame.world.place(frame.routine), sure=False, why=frame.why("torch only", node.of.at))
        return item(here, key, node, frame)
    if of is UNKNOWN and key is UNKNOWN and picks_by_part(node, frame):
        here = Tensor(device=frame.world.place(frame.routine), sure=False, why=frame.why("torch only", node.of.at))
        return item(here, Tensor("bool", here.device, sure=False, why=here.why), node, frame)
    if any(map(is_array, parts or (key,))) and returned_tensor(node, frame):
        there = Tensor(device=frame.world.place(frame.routine), sure=False, why=frame.why("returned", node.of.at))
        return item(there, key, node, frame)
    masked = (
        tensor_in(key)
        if type(key) is not Seq
        else next((t for part in (key.items or ()) if (t := tensor_in(part))), None)
    )
    if masked is not None and masked.on_device:
        key = one_by_one(key, node.key, frame)
        of_rows = type(node.of) is NAME and node.of.id in consumed(frame).bases
        if type(key) is Tensor and key.rank == 0 and key.dtype == "int" and not of_rows:
            read_index(key, node, frame)  # a list or a tensor: either reads it
            return of
        if type(key) is Tensor and not key.dtype and frame.world.places.is_("names", "keyed", last_name(node.of)):
            return of  # a parameter is a key of `self.state`
        # Any other index makes `of` a tensor: nothing else can be indexed by a tensor on the device.
        base = Tensor(device=masked.device, sure=False, why=of.weak or masked.why)
        return apply(frame, frame.world.row("torch.Tensor.__getitem__"), node.at, [base, key], {}, (node.of, node.key))
    if of is UNKNOWN and numbers(key) and sample_of(node.of, frame):
        return Unknown(batch=frame.why("loaded", node.at), part=True)
    return of if type(key) is Seq else unpacked(of)


def rows_of_host(key: Value) -> bool:
    """Whether this picks rows by numbers that lie on the host: no list and no dict takes several."""
    return type(key) is Tensor and not key.on_device and (not key.dtype or key.dtype in WHOLE) and key.rank != 0


def named_part(node: Node, frame: Frame) -> bool:
    """Whether this is taken by a text out of what a forward is given: `target["boxes"]`, which is a dict of tensors."""
    from syncguard.infer.expressions.evaluate import quiet_value

    if type(node) is not INDEX or type(node.key) is not CONST or type(node.key.value) is not str:
        return False
    return type(quiet_value(node.of, frame)) is Tensor


def returned_tensor(node: Node, frame: Frame) -> bool:
    """Whether a function that says that it gives a tensor gives this: what arrays pick it from is a tensor, too."""
    of = frame.routine.node
    if type(of) is not FUNCTION or of.returns is None:
        return False
    given = any(type(part) is LEAVE and part.value is node for part in walk(of.body))
    return given and type(promised(of.returns, frame, "assumed")) is Tensor


def numbers(key: Value) -> bool:
    """Whether this may be the number of an item: no text, nor what picks from a tensor."""
    if type(key) is Const:
        return type(key.value) is int
    return key is UNKNOWN or (type(key) is Host and key.kind == "int")


def sample_of(node: Node, frame: Frame) -> bool:
    """Whether what is called so gives items one by one, as a loader has them: `dataset[n]`."""
    return frame.world.places.is_("host", "item_attributes", last_name(node))


def slices(part: Value) -> bool:
    """Whether this part of an index is one that only what has dimensions takes."""
    return (type(part) is Seq and part.kind == "slice") or (type(part) is Const and part.value is ...)


def read_index(key: Value, node: core.Index, frame: Frame) -> None:
    """A list, tuple or shape reads a tensor that indexes or bounds it; a mask or several indices would be an error."""
    parts: tuple[Value, ...] = (key,)
    nodes: tuple[core.Node, ...] = (node.key,)
    if type(key) is Seq and type(node.key) is SLICE:
        parts, nodes = key.items or (), node.key.bounds
    for part, written in zip(parts, nodes, strict=False):
        tensor = tensor_in(part)
        if tensor is not None and tensor_sureness(part) and tensor.dtype not in MASKS:
            apply(frame, frame.world.row("torch.Tensor.__index__"), node.at, [part], {}, (written,))


def indexed(of: Tensor, key: Value, result: Value) -> Value:
    """The rank after a subscript, where both ranks are known."""
    if type(result) is not Tensor:
        return result
    parts = key.items if type(key) is Seq and key.kind == "tuple" and key.items is not None else (key,)
    rank = of.rank
    for part in parts:
        if part is NONE:
            rank += rank >= 0
        elif (type(part) is Const and isinstance(part.value, int)) or (
            type(part) is Host and part.kind in ("int", "number", "size")
        ):
            rank -= rank >= 0
        elif (type(part) is Seq and part.kind == "slice") or (type(part) is Const and part.value is ...):
            continue
        elif type(part) is Tensor and part.rank >= 0 and part.dtype and sum(type(p) is Tensor for p in parts) == 1:
            # One index has its dimensions in the place of one; a mask has one in the place of its own.
            rank += (1 - part.rank if part.dtype in MASKS else part.rank - 1) if rank >= 0 else 0
        else:
            rank = -2
    scalar = rank if rank >= 0 else -1
    return result.but(rank=scalar, dtype=of.dtype, either=of.either)
