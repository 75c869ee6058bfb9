"""A type annotation in, the value that it promises out; UNKNOWN where it promises nothing of use."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from syncguard.infer.domain.contents import changed, holds_tensor
from syncguard.infer.domain.lattice import join, join_all
from syncguard.infer.domain.reasons import because_of
from syncguard.infer.domain.values import (
    NONE,
    UNKNOWN,
    Alias,
    Call,
    Callback,
    ClassOf,
    Host,
    Instance,
    Named,
    Seq,
    Source,
    Table,
    Tensor,
    Union,
    Value,
    Why,
    options,
)
from syncguard.infer.routine import Frame
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.lower import Unreadable, lower
from syncguard.read.tags import ATTR, CONST, NAME, RUN, SEQ

SCALARS: Final = {"int": "int", "float": "float", "bool": "bool", "str": "str", "bytes": "str", "complex": "number"}
WRAPPERS: Final = ("Final", "ClassVar", "Annotated", "Required", "NotRequired", "ReadOnly", "Unpack", "Parameter")
SEQUENCES: Final = {
    "list": "list", "List": "list", "Sequence": "list", "Iterable": "list", "Collection": "list",
    "MutableSequence": "list", "deque": "list", "Deque": "list", "set": "set", "Set": "set", "frozenset": "set",
    "FrozenSet": "set", "Iterator": "iterator", "Generator": "iterator",
}  # fmt: skip
TABLES: Final = ("dict", "Dict", "Mapping", "MutableMapping", "OrderedDict", "defaultdict", "DefaultDict")
DTYPES: Final = {
    "Float": "float",
    "Int": "int",
    "Bool": "bool",
    "Integer": "int",
    "Num": "",
    "Shaped": "",
    "Complex": "complex",
    "UInt8": "int",
    "Int64": "int",
    "Int32": "int",
    "Float32": "float",
    "Real": "",
    "Inexact": "float",
}


def promised(node: Node | None, frame: Frame, device: str) -> Value:
    """The value of an annotation; tensors it promises are on `device`."""
    if node is None:
        return UNKNOWN
    return _value(node, frame, device, 0)


@lru_cache(maxsize=4096)
def _parse(text: str) -> Node | None:
    try:
        body = lower(text.strip()).body
    except Unreadable:
        return None
    return body[0].value if len(body) == 1 and type(body[0]) is RUN else None


def _value(node: Node, frame: Frame, device: str, depth: int) -> Value:
    if depth > 8:
        return UNKNOWN
    if type(node) is NAME or type(node) is ATTR:
        return named(_resolve(node, frame), frame, device, node, depth)
    match node:
        case core.Const(value=None):
            return NONE
        case core.Const(value=str() as text):
            inner = _parse(text)
            why = frame.why("annotation", node.at)  # what stands in a text has no place of its own
            told = UNKNOWN if inner is None else _value(inner, frame, device, depth + 1)
            return because_of(told, why)
        case core.Do(what="|", args=(left, right)):
            return _union([_value(left, frame, device, depth + 1), _value(right, frame, device, depth + 1)])
        case core.Index(of=of, key=key):
            return _generic(of, key, frame, device, depth)
    return UNKNOWN


def _resolve(node: Node, frame: Frame) -> Value:
    """Names and dotted names, without recording anything."""
    match node:
        case core.Name(id=name):
            return frame.lookup(name)
        case core.Attr(of=of, name=name):
            base = _resolve(of, frame)
            if type(base) is Named:
                return frame.world.resolved(f"{base.name}.{name}")
            if type(base) is Source:
                return frame.world.member(base, name, frame.routine)
    return UNKNOWN


def named(value: Value, frame: Frame, device: str, node: Node, depth: int) -> Value:
    """The value that a type promises."""
    why = frame.why("annotation", node.at)
    match value:
        case ClassOf(info=info):
            if info.is_tensor and not any(type(member) is Call for member in info.members.values()):
                return frame.world.typed(
                    "torch.Tensor", device, why
                )  # a name for one: `class Rows(TensorType["n", 3])`
            return Instance(info)
        case Named(name=name):
            last = name.rpartition(".")[2]
            if name.startswith("builtins.") and last in SCALARS:
                return Host(SCALARS[last])
            if name == "builtins.slice":
                return Seq("slice", None)
            if last in SEQUENCES and not name.startswith("torch."):
                return Seq(SEQUENCES[last], None)
            if last == "tuple" or last == "Tuple":
                return Seq("tuple", None)
            if last in TABLES:
                return Table({})
            return _called(frame.world.typed(name, device, why), node, frame)
        case Alias(node=alias, frame=where):
            return _place(_value(alias, where, device, depth + 1), why)
        case Union(options=several):
            kinds = [option for option in several if option is not NONE]  # nothing is of a type that is not there
            if len(kinds) == 1 or all(type(kind) is ClassOf for kind in kinds):
                return _union([named(kind, frame, device, node, depth) for kind in kinds])
    return UNKNOWN


def _called(value: Value, node: Node, frame: Frame) -> Value:
    """Any tensor under the name of a type of torch's has that dtype: `BoolTensor = torch.Tensor`."""
    if type(value) is not Tensor or value.dtype or type(node) is not NAME:
        return value
    told = frame.world.typed(f"torch.{node.id}", value.device, frame.why("annotation", node.at))
    return value.but(dtype=told.dtype) if type(told) is Tensor else value


def _place(value: Value, why: Why) -> Value:
    moved = [option.but(why=why) if type(option) is Tensor else option for option in options(value)]
    return moved[0] if len(moved) == 1 else Union(tuple(moved))


def _generic(of: Node, key: Node, frame: Frame, device: str, depth: int) -> Value:
    base = _resolve(of, frame)
    last = base.name.rpartition(".")[2] if type(base) is Named else (of.id if type(of) is NAME else "")
    parts = key.items if type(key) is SEQ and key.kind == "tuple" else (key,)

    def inner(part: Node) -> Value:
        return _value(part, frame, device, depth + 1)

    if last == "Optional":
        return _union([inner(parts[0]), NONE])
    if last == "Union":
        return _union([inner(part) for part in parts])
    if last in WRAPPERS:
        return inner(parts[0])
    if last == "Literal":
        kinds = [
            Host(type(part.value).__name__)
            for part in parts
            if type(part) is CONST and type(part.value) in (int, str, bool)
        ]
        return join_all(kinds)
    if last in ("tuple", "Tuple"):
        if len(parts) == 2 and type(parts[1]) is CONST and parts[1].value is ...:
            return Seq("tuple", None, inner(parts[0]))
        return Seq("tuple", tuple([inner(part) for part in parts]))
    if last in SEQUENCES:
        return Seq(SEQUENCES[last], None, inner(parts[0]))
    if last in TABLES:
        return Table({}, inner(parts[-1]), inner(parts[0]))
    if last == "Callable" and len(parts) == 2:
        takes = parts[0].items if type(parts[0]) is SEQ else ()
        told = Callback(tuple([inner(part) for part in takes]), inner(parts[1]))
        return told if any(map(holds_tensor, (*told.takes, told.gives))) else UNKNOWN
    if last in DTYPES and parts:  # jaxtyping: Float[Tensor, "batch dim"]
        wrapped = inner(parts[0])
        shape = (
            parts[1].value if len(parts) > 1 and type(parts[1]) is CONST and isinstance(parts[1].value, str) else None
        )
        rank = len(shape.split()) if shape is not None and "..." not in shape and "*" not in shape else -1
        return wrapped.but(dtype=DTYPES[last], rank=rank) if type(wrapped) is Tensor else wrapped
    return named(base, frame, device, of, depth)


def _union(values: list[Value]) -> Value:
    """A declared union: its tensor is one of several things, so we are not sure of it."""
    kinds = [value for value in values if value is not NONE]
    sure = len(kinds) == 1
    marked = [value if sure or not _rivalled(value, kinds) else changed(value, _either) for value in values]
    if any(_made_on_host(value) for value in kinds):
        marked = [changed(value, _anywhere) for value in marked]
    result = marked[0]
    for value in marked[1:]:
        result = join(result, value)
    return result


def _rivalled(value: Value, kinds: list[Value]) -> bool:
    """Whether something else may stand in the place of these tensors: of `list[Tensor] | list[int]` numbers."""
    if type(value) is Tensor:
        return True
    return type(value) is Seq and any(type(kind) is Seq and not holds_tensor(kind) for kind in kinds)


def _either(tensor: Tensor) -> Tensor:
    return tensor.but(either=True)


def _made_on_host(value: Value) -> bool:
    """Whether this is an image or the like, of a library that knows no device: then so may be a tensor in its place."""
    if type(value) is Seq:
        return _made_on_host(value.element)
    return any(type(option) is Host and option.kind == "object" for option in options(value))


def _anywhere(tensor: Tensor) -> Tensor:
    return tensor.but(device="mixed") if tensor.device == "assumed" else tensor
