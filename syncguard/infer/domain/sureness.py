"""A value in, how surely it is a tensor on the device, a number, or data of the host out (0 no to 3 certain)."""

from __future__ import annotations

from typing import Final

from syncguard.infer.domain.values import (
    DEEPEST,
    NONE,
    Bound,
    Const,
    Host,
    Seq,
    Table,
    Tensor,
    Union,
    Unknown,
    Value,
    is_array,
    kind_of,
    options,
)

NO: Final = 0
POSSIBLE: Final = 1
LIKELY: Final = 2
CERTAIN: Final = 3

MASKS: Final = ("bool", "named mask")
MANY: Final = 3  # kinds that a value may have besides: of so many, a tensor is one guess


def tensor_sureness(value: Value | None, depth: int = 0) -> int:
    """How sure we are that this is a tensor on the device, or holds one."""
    match value:
        case Tensor():
            if value.device == "host":
                return NO
            if value.device == "mixed":
                return POSSIBLE
            return CERTAIN if value.sure and value.device == "device" else LIKELY
        case Union():
            best = max(tensor_sureness(option, depth) for option in value.options)
            others = [o for o in value.options if type(o) is not Tensor and o is not NONE]
            declared = any(type(o) is Tensor and o.either for o in value.options)
            if declared and any(type(o) is not Unknown and not tensor_sureness(o, depth) for o in others):
                return min(best, POSSIBLE)
            if any(map(is_array, others)):
                return min(best, POSSIBLE)  # which waits for nothing
            return min(best, POSSIBLE if len(others) > MANY else LIKELY)
        case Seq() if depth < DEEPEST:
            return max(
                (
                    tensor_sureness(item, depth + 1)
                    for item in (value.items if value.items is not None else (value.element,))
                ),
                default=NO,
            )
        case Table() if depth < DEEPEST:
            return max([tensor_sureness(item, depth + 1) for item in (value.element, *value.items.values())])
    return NO


def built_on_host(tensor: Tensor) -> bool:
    """Whether a tensor was made on the host, of nothing that may be elsewhere: what it is used with must be there."""
    return tensor.device == "host" and tensor.why is not None and tensor.why.built


def number_sureness(value: Value) -> int:
    if type(value) is Const:
        return CERTAIN if isinstance(value.value, (bool, int, float, complex)) else NO
    return CERTAIN if type(value) is Host and value.kind in ("int", "float", "bool", "number") else NO


def data_sureness(value: Value) -> int:
    """How sure we are that torch must copy this from the host; of nothing at all, nothing is copied."""
    match value:
        case Const():
            return CERTAIN if isinstance(value.value, (bool, int, float, complex)) else NO
        case Host():
            if value.kind in ("int", "float", "bool", "number", "size", "shape", "array"):
                return CERTAIN
            return LIKELY if value.kind == "object" else NO
        case Bound(of=Host(kind="array" | "object")):  # `frame.values`: no tensor is made of a method
            return LIKELY
        case Union():
            return max(map(data_sureness, value.options))
        case Seq(kind="slice"):
            return NO
        case Seq() if value.items is not None:
            return min((data_sureness(item) or (LIKELY if plain(item) else NO) for item in value.items), default=NO)
        case Seq():
            kinds = options(value.element)  # what may be an array, of arrays and what is computed from tensors
            known = [option for option in kinds if type(option) is not Unknown] or kinds
            return min((data_sureness(option) or (LIKELY if plain(option) else NO) for option in known), default=NO)
    return NO


def unlike_tensor(value: Value) -> bool:
    if type(value) is Seq and value.kind != "slice":
        items = value.items if value.items is not None else (value.element,)
        return bool(items) and all(unlike_tensor(option) for item in items for option in options(item))
    return plain(value) or data_sureness(value) > 0


def plain(value: Value) -> bool:
    return type(value) is Unknown and not value.weak and not value.batch


def host_inside(value: Value) -> int:
    """Whether a table or a list holds a tensor of the host."""
    for option in options(value):
        held = (*option.items.values(), option.element) if type(option) is Table else ()
        held = (option.element,) if type(option) is Seq else held
        if any(type(inner) is Tensor and inner.device == "host" for item in held for inner in options(item)):
            return LIKELY
    return NO


CONTAINERS: Final = ("list", "tuple", "set", "dict")
PLAIN: Final = ("int", "float", "bool", "number", "str", "size", "array")


def exact_kind(value: Value) -> str:
    """The one kind of thing that this is for sure, or ''."""
    match value:
        case Tensor():
            return "tensor" if value.sure and not value.either else ""
        case Const():
            return kind_of(value)
        case Host():
            return value.kind if value.kind in PLAIN else ""
        case Seq():
            return value.kind if value.kind in CONTAINERS else ""
        case Table():
            return "dict"
    return ""
