"""An op's `returns` and the arguments of a call in, the value of the call out."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from syncguard.infer.domain.contents import there
from syncguard.infer.domain.sureness import built_on_host
from syncguard.infer.domain.values import (
    BROUGHT,
    NONE,
    TRUE,
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
    Why,
    batch_of,
    options,
)
from syncguard.infer.operations.arguments import Arguments, is_false, may_be_true
from syncguard.infer.operations.conditions import sureness
from syncguard.infer.operations.devices import (
    common_device,
    device_made,
    device_named,
    first_of,
    object_made,
    place_asked,
)
from syncguard.infer.operations.dtypes import dtype_by
from syncguard.infer.operations.promotion import ORDER
from syncguard.infer.operations.ranks import rank_of
from syncguard.pack import Conditions, Result, results

parsed = lru_cache(maxsize=None)(results)


def result_of(name: str, returns: str, args: Arguments, tensors: list[Tensor], why: Why) -> Value:
    """The value that a call gives back, by its row; `tensors` are its operands."""
    for conditions, shape in parsed(returns):
        if _applies(conditions, args):
            return build(name, shape, args, tensors, why)
    return UNKNOWN


def _applies(conditions: Conditions, args: Arguments) -> bool:
    return all(_holds(condition, names, args) for condition, names in conditions)


def _holds(condition: str, names: str, args: Arguments) -> bool:
    """Whether a condition holds of what is made: a tensor is one on the host as well."""
    if condition == "tensor":
        given = [args.get(name) or UNKNOWN for name in names.split("|")]
        return any(type(option) is Tensor for value in given for option in options(value))
    return sureness(((condition, names),), args) > 0


def operands(args: Arguments) -> list[Tensor]:
    """The tensors among the arguments, in order, with those in lists and tuples."""
    found: list[Tensor] = []
    for value in args.values():
        if type(value) is Tensor:
            found.append(value)
            continue
        for option in options(value):
            if type(option) is Tensor:
                found.append(option)
            elif type(option) is Seq:
                found += [
                    inner
                    for item in (option.items or (option.element,))
                    for inner in options(item)
                    if type(inner) is Tensor
                ]
    return found


def build(name: str, shape: Result, args: Arguments, tensors: list[Tensor], why: Why) -> Value:
    match shape.kind:
        case "tensor":
            return _tensor(shape, args, tensors, why)
        case "int" | "float" | "bool" | "str" | "number" | "size" | "array":
            return Host(shape.kind, why if tensors else _read(args) if shape.kind == "array" else None)
        case "dtype" | "type":
            return Host(_typed(shape.kind, tensors), why if tensors else None)
        case "none":
            return NONE
        case "self" | "argument":
            return _moved(_given(shape.of, args), shape.place, args)
        case "each":
            return _each(args, tensors, why)
        case "brought":
            return _all_brought(shape.place != "host", args)
        case "device":
            return Host("device:host") if shape.place == "host" else device_named(args, tensors)
        case "tuple":
            return Seq("tuple", tuple([build(name, part, args, tensors, why) for _, part in shape.parts]))
        case "named":
            return Seq(
                "tuple",
                tuple([build(name, part, args, tensors, why) for _, part in shape.parts]),
                names=tuple([key for key, _ in shape.parts]),
            )
        case "dict":
            items = {key: build(name, part, args, tensors, why) for key, part in shape.parts}
            element = items.pop("*", None)
            return Table(items, keys=Host("str")) if element is None else Table(items, element)
        case "list":
            return Seq("list", None, build(name, shape.parts[0][1], args, tensors, why))
        case "new":
            place = object_made(shape.place, args)
            loaded = shape.place == "like" and not place_asked(args) and _on_host(first_of(args))
            return Instance(
                None, shape.of or name, "host" if loaded else common_device(tensors, place), dict(args.named)
            )
    return _unknown(shape.place, args, why)


def _on_host(given: Value) -> bool:
    """Whether what an object is made of is what a loader gave, or a table of nothing but tensors of the host."""
    if type(given) is not Table or not given.items:
        return batch_of(given) is not None
    return given.element is UNKNOWN and all(map(there, given.items.values()))


def _typed(word: str, tensors: list[Tensor]) -> str:
    """The kind of what a tensor tells of its type: `x.dtype`, or the text `x.type()`."""
    if not tensors:
        return word if word == "dtype" else "str"
    of = tensors[0]
    if word == "type":
        return f"type:{of.device}:{of.dtype}"
    return f"dtype:{of.dtype}" if of.dtype in ORDER else word


def _read(args: Arguments) -> Why | None:
    """What on the device an array was read from, of which another is made."""
    return next((value.read for value in args.values() if type(value) is Host and value.read), None)


def _unknown(place: str, args: Arguments, why: Why) -> Value:
    """Nobody knows what, but where the tensors in it are, if the row tells."""
    of = first_of(args) if place == "like" else UNKNOWN
    if place == "host" or (type(of) is Instance and of.device == "host"):
        return Unknown(batch=Why("loaded", why.at, None, why.path))
    return Unknown(why) if place == "device" or type(of) is Instance else UNKNOWN


def _given(name: str, args: Arguments) -> Value:
    """The argument of this name; without one the first."""
    return (args.get(name) or UNKNOWN) if name else first_of(args)


def _moved(value: Value, place: str, args: Arguments) -> Value:
    """What a call gives back of what it is given, there where it puts it."""
    if type(value) is not Instance or not (place in ("host", "device") or (place and args.get("device") is not None)):
        return value
    return Instance(value.info, value.name, device_made(place, args, []), value.settings)


def _each(args: Arguments, tensors: list[Tensor], why: Why) -> Value:
    """The tensors of a list, of any shape."""
    held = first_of(args)
    given = held.items if type(held) is Seq and held.items is not None else ()
    other = _tensor(Result("tensor"), args, tensors, why)
    if len(given) < 2 or not tensors:
        return Seq("list", None, other)
    each = [value.but(rank=-1, why=why) if type(value) is Tensor else other.but(dtype="") for value in given]
    return Seq("list", tuple(each))


def _all_brought(moved: bool, args: Arguments) -> Value:
    """What a method is given, one or several, each as it is but for a loader: of a list of yes and no, its own."""
    asked = args.get("device_placement")
    each = asked.items if type(asked) is Seq and asked.items is not None else ()
    alone = len(each) != len(args.rest)
    given = [_brought(one) if moved and (alone or not is_false(each[i])) else one for i, one in enumerate(args.rest)]
    return UNKNOWN if not given else given[0] if len(given) == 1 else Seq("tuple", tuple(given))


def _brought(value: Value) -> Value:
    """A loader as one that brings its batches to the device itself; anything else as it is."""
    if type(value) is Union:
        return Union(tuple([_brought(option) for option in value.options]), value.wide)
    if type(value) is not Instance or (value.info is not None and value.info.is_module):
        return value
    return Instance(value.info, value.name, value.device, {**value.settings, BROUGHT: TRUE})


def _tensor(shape: Result, args: Arguments, tensors: list[Tensor], why: Why) -> Tensor:
    first = tensors[0] if tensors else None
    device, moved = device_made(shape.place, args, tensors), args.get("device") is not None
    beside = next((tensor for tensor in tensors if built_on_host(tensor)), None) if not moved else None
    together = shape.place == "together" or (shape.dtype in ELEMENTWISE and not shape.place)
    if (
        together
        and beside is not None
        and device in GUESSED
        and any(tensor.rank > 0 and built_on_host(tensor) and not tensor.void for tensor in tensors)
    ):
        device = "host"  # with what is elsewhere it would raise, but for one without dimensions
    if beside is not None and device == "host" and any(tensor.on_device for tensor in tensors):
        why = Why(why.text, why.at, beside.why, why.path)
    made = Tensor(
        dtype_by(shape.dtype, args, first), device, rank_of(shape.rank, args, tensors),
        why=why, sure=shape.place == "factory" or not tensors or all(t.sure for t in tensors),
        pinned=shape.place == "pinned" or may_be_true(args.get("pin_memory")),
    )  # fmt: skip
    anew = shape.place in MADE and not tensors and not _may_be_tensor(args.get("data"))
    why.built = device == "host" and (beside is not None or anew)
    made.void = _empty(args) if shape.place in MADE and not tensors else _cast(shape, args, tensors) or _of_none(args)
    return made


MADE: Final = ("factory", "host", "pinned")
GUESSED: Final = ("assumed", "mixed")
ELEMENTWISE: Final = ("promote", "bool")  # the dtypes of what is computed element by element: all of it in one place


def _may_be_tensor(data: Value | None) -> bool:
    """Whether what a tensor is made of was computed from tensors, by what nobody knows: it may be one, and stay where
    it is."""
    return data is not None and any(type(option) is Unknown and option.weak is not None for option in options(data))


def _empty(args: Arguments) -> bool:
    """Whether a factory is asked for nothing: `empty(0)`, `torch.zeros((0, 3))`, `torch.tensor([])`, `Tensor()`."""
    if not args.count:
        return not args.open
    size = args.get("size") or args.get("data")
    if type(size) is Seq and size.items is not None:
        parts = size.items
        inner = parts[0] if len(parts) == 1 else None
        parts = inner.items if type(inner) is Seq and inner.items is not None else parts
        return any(map(_is_zero, parts)) if args.get("size") is not None else not size.items
    return args.get("size") is not None and size is not None and _is_zero(size)


def _cast(shape: Result, args: Arguments, tensors: list[Tensor]) -> bool:
    """Whether this is a tensor of no elements in another type: `torch.Tensor([]).long()`."""
    return shape.rank == "samerank" and args.count == 1 and len(tensors) == 1 and tensors[0].void


def _of_none(args: Arguments) -> bool:
    """Whether this is made of the tensors in a list that has taken up none yet, as in the first turn of a loop."""
    of = first_of(args)
    return type(of) is Seq and of.items == ()


def _is_zero(value: Value) -> bool:
    return type(value) is Const and type(value.value) is int and value.value == 0
