"""A call's arguments in, a key out that two calls share when the function called cannot tell them apart."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any, Final

from syncguard.infer.domain.contents import leaves_of
from syncguard.infer.domain.lattice import join_all
from syncguard.infer.domain.values import (
    UNKNOWN,
    Bound,
    Call,
    Callback,
    ClassOf,
    Const,
    Given,
    Host,
    Instance,
    Named,
    Seq,
    Source,
    Table,
    Tensor,
    Union,
    Unknown,
    Value,
)

Key = tuple[tuple[str, Hashable], ...]
DEEP: Final = 3  # containers in containers that a key tells apart
FEW: Final = 3  # things without a tensor that a function of another file tells apart
PLAIN: Final = (Host, Const, Unknown)  # of which nothing is asked that could be a tensor


def key_of(given: Iterable[tuple[str, Value]]) -> Key:
    """The key of some parameters and what they hold; those of which nothing is known do not count."""
    return tuple(sorted((name, shape) for name, value in given if (shape := shape_of(value, 0)) != ("?",)))


def outlined(value: Value) -> Value:
    """A value as a function of another file is told of it. Of one that is one of many things, or of what nobody
    knows and some that stay on the host, it learns nothing: its body would only be run for each caller. So it would
    where one caller reckons with numbers, and another one does not.
    """
    if type(value) is Tensor:
        return value.but(dtype="") if value.dtype == "number" else value
    if type(value) is Seq and value.items is None:
        element = outlined(value.element)
        return value if element is value.element else Seq(value.kind, None, element)
    if type(value) is not Union:
        return value
    told = join_all(map(outlined, value.options))
    leaves = tuple(leaves_of(told))
    if type(told) is not Union or any(map(_may_wait, leaves)):
        return told
    vague = any(type(option) is Unknown for option in told.options) and all(type(leaf) in PLAIN for leaf in leaves)
    return UNKNOWN if vague or len(told.options) > FEW else told


def _may_wait(leaf: Value) -> bool:
    """Whether this is a tensor, was computed from one, or may be one of a batch."""
    return type(leaf) is Tensor or (type(leaf) is Unknown and (leaf.weak is not None or leaf.batch is not None))


def holds_own(value: Value) -> bool:
    """Whether a value refers to something of the file that is being checked, which nobody else can see; or to a
    function that a run of one of another file made, which may."""
    return any(map(_is_own, leaves_of(value)))


def _is_own(leaf: Value) -> bool:
    match leaf:
        case Call():
            own = leaf.routine.home.own or bool(leaf.routine.closure)
            return own or (leaf.receiver is not None and holds_own(leaf.receiver)) or _holds_own(leaf.given)
        case ClassOf():
            return leaf.info.home.own
        case Instance():
            own = leaf.info is not None and leaf.info.home.own
            return own or any(map(holds_own, leaf.settings.values()))
        case Bound():
            return holds_own(leaf.of)
        case Named():
            return _holds_own(leaf.given)
    return False


def _holds_own(given: Given | None) -> bool:
    return given is not None and any(map(holds_own, (*given[0], *(value for _, value in given[1]))))


def shape_of(value: Value, depth: int) -> tuple[Hashable, ...]:
    """A value without its reasons; ("?",) where nothing is known."""
    if depth > DEEP:
        return ("…",)
    shape = SHAPES.get(type(value))
    return ("?",) if shape is None else shape(value, depth)


def _seq(value: Seq, depth: int) -> tuple[Hashable, ...]:
    inner = tuple([shape_of(item, depth + 1) for item in value.first])
    rest = shape_of(value.element, depth + 1) if value.items is None or not inner else ()
    return ("seq", value.kind, value.names, value.items is None, inner, rest)


def _table(value: Table, depth: int) -> tuple[Hashable, ...]:
    items = [(str(key), shape_of(held, depth + 1)) for key, held in value.items.items()]
    others = shape_of(value.element, depth + 1), shape_of(value.keys, depth + 1)
    return ("table", tuple(sorted(items, key=_name)), *others)


def _name(item: tuple[str, Hashable]) -> str:
    return item[0]


def _given(given: Given | None, depth: int) -> tuple[Hashable, ...]:
    if given is None:
        return ()
    args = [shape_of(value, depth + 1) for value in given[0]]
    return (*args, *sorted([(name, shape_of(value, depth + 1)) for name, value in given[1]], key=_name))


def _call(value: Call, depth: int) -> tuple[Hashable, ...]:
    of = shape_of(value.receiver, depth + 1) if value.receiver is not None else ()
    return ("function", value.routine.serial, of, _given(value.given, depth))


def _instance(value: Instance, depth: int) -> tuple[Hashable, ...]:
    held = sorted([(name, shape_of(setting, depth + 1)) for name, setting in value.settings.items()], key=_name)
    return ("of", value.name, value.info.serial if value.info is not None else -1, value.device, *held)


def _tensor(value: Tensor, depth: int) -> tuple[Hashable, ...]:
    told = (value.dtype, value.device, value.rank, value.sure, value.either, value.void)
    return ("tensor", *told, value.pinned, value.pending is not None)


SHAPES: Final[dict[type, Callable[[Any, int], tuple[Hashable, ...]]]] = {
    Tensor: _tensor,
    Unknown: lambda v, d: ("weak",) if v.weak else ("batch", v.part, v.pinned) if v.batch else ("?",),
    Const: lambda v, d: ("const", repr(v.value)),
    Host: lambda v, d: ("host", v.kind, v.one_row),
    Seq: _seq,
    Table: _table,
    Union: lambda v, d: ("or", *sorted({shape_of(option, d) for option in v.options}, key=repr)),
    Instance: _instance,
    Call: _call,
    Callback: lambda v, d: ("callback", shape_of(v.gives, d + 1), *[shape_of(taken, d + 1) for taken in v.takes]),
    ClassOf: lambda v, d: ("class", v.info.serial),
    Named: lambda v, d: ("named", v.name, _given(v.given, d)),
    Source: lambda v, d: ("module", v.name),
    Bound: lambda v, d: ("bound", v.name, shape_of(v.of, d + 1)),
}
