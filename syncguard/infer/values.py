"""The kinds of Value, and their lattice: `join` is what two paths agree on, `same` tells when a loop has settled."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from syncguard.terms import Value as Value

if TYPE_CHECKING:
    from syncguard.infer.classes import ClassInfo
    from syncguard.infer.routine import Frame, Routine
    from syncguard.read.core import Node

# "device" is shown to be the accelerator, "assumed" taken to be; "host" is shown to be the CPU; "mixed" varies by path.
DEVICES = ("device", "assumed", "host", "mixed")


class Why:
    """A link of the because chain: a sentence about the source at `at`, and the link before it. No part of equality."""

    __slots__ = ("at", "left", "parent", "path", "text")

    def __init__(self, text: str, at: tuple[int, int, int, int], parent: Why | None = None, path: str = "") -> None:
        self.text, self.at, self.parent, self.path = text, at, parent, path
        self.left = False  # whether this is where the value left the device


class Unknown(Value):
    """Nothing known, and quiet.

    With `weak`, something computed from tensors: `.item()` on it is believed, a truth is not.
    With `batch`, what a DataLoader gave: tensors on the host, in a container of some kind.
    """

    __slots__ = ("batch", "weak")

    def __init__(self, weak: Why | None = None, batch: Why | None = None) -> None:
        self.weak, self.batch = weak, batch


UNKNOWN = Unknown()


class Tensor(Value):
    """A torch.Tensor: dtype class ('' unknown), device, rank (-1 unknown), pinned, and whether it is one for sure."""

    __slots__ = ("device", "dtype", "either", "pending", "pinned", "rank", "sure", "why")

    def __init__(
        self,
        dtype: str = "",
        device: str = "assumed",
        rank: int = -1,
        *,
        sure: bool = True,
        why: Why | None = None,
        pinned: bool = False,
        pending: Why | None = None,
    ) -> None:
        self.either = False  # declared to be one of several types
        self.dtype, self.device, self.rank, self.sure, self.why, self.pinned = dtype, device, rank, sure, why, pinned
        self.pending = pending  # the copy to the host that may not have landed yet

    @property
    def on_device(self) -> bool:
        return self.device != "host"

    def but(self, **changes: Any) -> Tensor:
        new = Tensor(
            self.dtype, self.device, self.rank, sure=self.sure, why=self.why, pinned=self.pinned, pending=self.pending
        )
        new.either = self.either
        for name, value in changes.items():
            setattr(new, name, value)
        return new


class Const(Value):
    """A literal on the host: None, a bool, a number, a string."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


NONE, TRUE, FALSE = Const(None), Const(True), Const(False)


class Host(Value):
    """A value on the host that is no tensor: int float bool str number size array device dtype object.

    `read` tells which device value it was read from.
    """

    __slots__ = ("kind", "read")

    def __init__(self, kind: str, read: Why | None = None) -> None:
        self.kind, self.read = kind, read


class Seq(Value):
    """A tuple, list, set or iterator: its items where their number is known, else what they all are."""

    __slots__ = ("_element", "depth", "items", "kind", "names")

    def __init__(
        self, kind: str, items: tuple[Value, ...] | None, element: Value = UNKNOWN, names: tuple[str, ...] = ()
    ) -> None:
        if (
            items and max(map(depth_of, items)) >= DEEPEST
        ):  # what is shared inside would be walked again for every path to it
            items, element = None, UNKNOWN
        self.kind, self.items, self.names = kind, items, names
        self.depth = 1 + max(map(depth_of, items)) if items else 1 + depth_of(element)
        if self.depth > DEEPEST:
            self.depth, element = 1, UNKNOWN
        self._element = None if items else element

    @property
    def element(self) -> Value:
        """What every item is; joined when it is first asked for."""
        if self._element is None:
            self._element = join_all(self.items)
        return self._element


DEEPEST = 5  # containers in containers that are told apart


def depth_of(value: Value) -> int:
    """How deep containers stand in one another here."""
    if type(value) is Union:
        return max(map(depth_of, value.options), default=0)
    return value.depth if type(value) is Seq or type(value) is Table else 0


class Table(Value):
    """A dict: the values under literal keys, and what the others are."""

    __slots__ = ("depth", "element", "items", "keys")

    def __init__(self, items: dict[Any, Value], element: Value = UNKNOWN, keys: Value = UNKNOWN) -> None:
        self.depth = 1 + max(map(depth_of, (*items.values(), element)))
        if self.depth > DEEPEST:
            items, element, self.depth = {}, UNKNOWN, 1
        self.items, self.element, self.keys = items, element, keys


def keys_of(value: Table) -> Value:
    """What iterating over a dict gives."""
    if value.keys is not UNKNOWN or not value.items:
        return value.keys
    kinds = {type(key).__name__ for key in value.items}
    return Host(kinds.pop()) if len(kinds) == 1 else Host("object")


class Named(Value):
    """Something imported, by its dotted name: `torch.nn.functional.relu`."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


class Source(Value):
    """A module of the project, by its file (or a package's folder) and dotted name."""

    __slots__ = ("name", "place")

    def __init__(self, place: str, name: str) -> None:
        self.place, self.name = place, name


class Later(Value):
    """A name imported from a module of the project, which is read when the name is first used."""

    __slots__ = ("found", "module", "name", "place")

    def __init__(self, place: str, name: str, module: str) -> None:
        self.place, self.name, self.module = place, name, module
        self.found: Value | None = None


class Alias(Value):
    """A type written as an expression, `Optional[Tensor]` or `int | Tensor`; its names are looked up in `frame`."""

    __slots__ = ("frame", "node")

    def __init__(self, node: Node, frame: Frame) -> None:
        self.node, self.frame = node, frame


class Call(Value):
    """A function of the project, bound to a receiver or not; `given` are arguments that functools.partial holds."""

    __slots__ = ("given", "receiver", "routine")

    def __init__(
        self,
        routine: Routine,
        receiver: Value | None = None,
        given: tuple[tuple[Value, ...], tuple[tuple[str, Value], ...]] | None = None,
    ) -> None:
        self.routine, self.receiver, self.given = routine, receiver, given


class Bound(Value):
    """A method of something that is not of the project: a tensor's, a list's, a module's."""

    __slots__ = ("name", "of")

    def __init__(self, of: Value, name: str) -> None:
        self.of, self.name = of, name


class ClassOf(Value):
    """A class of the project."""

    __slots__ = ("info",)

    def __init__(self, info: ClassInfo) -> None:
        self.info = info


class Instance(Value):
    """An instance of a class of the project, or of an imported one by its dotted name."""

    __slots__ = ("device", "info", "name", "settings")

    def __init__(
        self, info: ClassInfo | None, name: str = "", device: str = "assumed", settings: dict[str, Value] | None = None
    ) -> None:
        self.info, self.name, self.device, self.settings = info, name, device, settings or {}


class Union(Value):
    """One of several."""

    __slots__ = ("options", "wide")

    def __init__(self, options: tuple[Value, ...], wide: bool = False) -> None:
        self.options = options
        self.wide = wide  # it has been cut, and takes up no further kinds but a tensor


def options(value: Value) -> tuple[Value, ...]:
    return value.options if type(value) is Union else (value,)


def tensor_in(value: Value) -> Tensor | None:
    """The tensor that this value is or may be."""
    if type(value) is Tensor:
        return value
    if type(value) is Union:
        for option in value.options:
            if type(option) is Tensor:
                return option
    return None


def without(value: Value, unwanted: Any) -> Value:
    """The value less the options that `unwanted` says yes to; UNKNOWN where none is left."""
    kept = tuple([option for option in options(value) if not unwanted(option)])
    return kept[0] if len(kept) == 1 else Union(kept) if kept else UNKNOWN


def kind_of(value: Value) -> str:
    """The host kind of a literal."""
    literal = value.value if type(value) is Const else None
    return {bool: "bool", int: "int", float: "float", str: "str", type(None): "none"}.get(type(literal), "object")


def join_devices(a: str, b: str) -> str:
    if a == b:
        return a
    return "assumed" if {a, b} == {"device", "assumed"} else "mixed"


def meet(a: Value, b: Value) -> Value | None:
    """One value of the same kind that covers both, or None where only a Union does."""
    if type(a) is type(b):
        rule = MEET.get(type(a))
        return None if rule is None else rule(a, b)
    if type(a) is Const and type(b) is Host and a.value is not None:
        return numbers(kind_of(a), b.kind, b.read)
    if type(a) is Host and type(b) is Const and b.value is not None:
        return numbers(a.kind, kind_of(b), a.read)
    return None


def _tensors(a: Tensor, b: Tensor) -> Tensor:
    dtype, rank = a.dtype if a.dtype == b.dtype else "", a.rank if a.rank == b.rank else -1
    both = Tensor(dtype, _place(a, b), rank, sure=a.sure and b.sure, why=a.why or b.why)
    both.pinned, both.pending, both.either = a.pinned and b.pinned, a.pending or b.pending, a.either and b.either
    return both


def _place(a: Tensor, b: Tensor) -> str:
    """Where one or the other is: a number wrapped for a caller who gave no tensor does not speak for the others."""
    if a.device != b.device and "host" in (a.device, b.device):
        wrapped, other = (a, b) if a.device == "host" else (b, a)
        if wrapped.rank == 0 and wrapped.why is not None and wrapped.why.parent is None:  # made from no tensor
            return other.device
    return join_devices(a.device, b.device)


def _literals(a: Const, b: Const) -> Value | None:
    if type(a.value) is type(b.value) and a.value == b.value:
        return a
    kinds = kind_of(a), kind_of(b)
    return None if "none" in kinds else numbers(*kinds, None)


def _sequences(a: Seq, b: Seq) -> Seq | None:
    if a.kind != b.kind:
        return None
    if a.items is not None and b.items is not None and len(a.items) == len(b.items):
        return Seq(a.kind, tuple([join(x, y) for x, y in zip(a.items, b.items, strict=True)]), names=a.names)
    if a.items == ():
        return Seq(a.kind, None, b.element)
    if b.items == ():
        return Seq(a.kind, None, a.element)
    return Seq(a.kind, None, join(a.element, b.element))


def _tables(a: Table, b: Table) -> Table:
    items = {**a.items, **b.items}
    for key in a.items.keys() & b.items.keys():
        items[key] = join(a.items[key], b.items[key])
    if not a.items and a.element is UNKNOWN:
        return Table(items, b.element, a.keys)
    if not b.items and b.element is UNKNOWN:
        return Table(items, a.element, a.keys)
    return Table(items, join(a.element, b.element), a.keys)


MEET: dict[type, Callable[[Any, Any], Value | None]] = {
    Tensor: _tensors,
    Const: _literals,
    Seq: _sequences,
    Table: _tables,
    Host: lambda a, b: devices(a.kind, b.kind) or numbers(a.kind, b.kind, a.read or b.read),
    Unknown: lambda a, b: a if a.weak or (a.batch and not b.weak) else b,
    Alias: lambda a, b: a if a.node is b.node else None,
    Named: lambda a, b: a if a.name == b.name else None,
    Source: lambda a, b: a if a.place == b.place else None,
    Later: lambda a, b: a if (a.place, a.name) == (b.place, b.name) else None,
    Call: lambda a, b: a if a.routine is b.routine else None,
    ClassOf: lambda a, b: a if a.info is b.info else None,
    Instance: lambda a, b: a if a.info is b.info and a.name == b.name else None,
    Bound: lambda a, b: a if a.name == b.name and same(a.of, b.of) else None,
}


def devices(a: str, b: str) -> Host | None:
    """Either of two devices: the CPU is what is left where there is no accelerator."""
    return Host("device:assumed") if a != b and a.startswith("device:") and b.startswith("device:") else None


def numbers(a: str, b: str, read: Why | None) -> Host | None:
    if a == b:
        return Host(a, read)
    return Host("number", read) if {a, b} <= {"int", "float", "bool", "number", "size"} else None


def join(a: Value, b: Value) -> Value:
    """What we know when the value is one or the other."""
    if a is b:
        return a
    if type(a) is not Union and type(b) is not Union:
        merged = meet(a, b)
        return Union((a, b)) if merged is None else merged
    wide = (type(a) is Union and a.wide) or (type(b) is Union and b.wide)
    merged_options: list[Value] = list(options(a))
    for option in options(b):
        for i, known in enumerate(merged_options):
            merged = meet(known, option)
            if merged is not None:
                merged_options[i] = merged
                break
        else:
            merged_options.append(option)
    if wide or len(merged_options) > WIDEST:  # a wide union says little: keep what can wait, and that there is more
        kept = [option for option in merged_options if type(option) is Tensor or option is NONE]
        return Union((*kept, UNKNOWN), wide=True)
    return merged_options[0] if len(merged_options) == 1 else Union(tuple(merged_options))


WIDEST = 8  # kinds that a union tells apart


def holds_tensor(value: Value) -> bool:
    """Whether a value is or holds a tensor, or was computed from one."""
    match value:
        case Tensor():
            return True
        case Unknown():
            return value.weak is not None
        case Seq():
            return any(map(holds_tensor, value.items)) if value.items is not None else holds_tensor(value.element)
        case Table():
            return holds_tensor(value.element) or any(map(holds_tensor, value.items.values()))
        case Union():
            return any(map(holds_tensor, value.options))
    return False


def pooled(a: Value, b: Value) -> Value:
    """Join what different callers pass, or methods assign: if any of it is on the device, a reader may wait."""
    both = join(a, b)
    if type(both) is Tensor:
        return both.but(device="assumed") if both.device == "mixed" else both
    if type(both) is not Union:
        return both
    if any(_cpu(o) for o in both.options):
        others = [option for option in both.options if not _cpu(option)]
        if any(type(o) is Unknown or type(o) is Host for o in others):
            return Host("device:assumed")  # the CPU is what is left where there is no accelerator
    if any(type(o) is Tensor and o.device == "mixed" for o in both.options):
        return Union(
            tuple([o.but(device="assumed") if type(o) is Tensor and o.device == "mixed" else o for o in both.options])
        )
    devices = {o.kind for o in both.options if type(o) is Host and o.kind.startswith("device:")}
    if len(devices) > 1:  # a device that is the CPU for some and not for others
        return without(both, lambda o: type(o) is Host and o.kind == "device:host")
    return both


def _cpu(value: Value) -> bool:
    return type(value) is Host and value.kind == "device:host"


def arrived(value: Value) -> Value:
    """The value with every copy in it landed: who keeps it for later waits for it in between."""
    match value:
        case Tensor() if value.pending is not None:
            return value.but(pending=None)
        case Seq() if value.items is not None:
            return Seq(value.kind, tuple([arrived(item) for item in value.items]), names=value.names)
        case Seq():
            element = arrived(value.element)
            return value if element is value.element else Seq(value.kind, None, element)
        case Union():
            return Union(tuple([arrived(option) for option in value.options]))
    return value


def join_all(values: Any) -> Value:
    result: Value | None = None
    for value in values:
        result = value if result is None else join(result, value)
    return UNKNOWN if result is None else result


def same(a: Value, b: Value) -> bool:
    """Equal in everything but the reasons and how sure we are of them."""
    return a is b or (type(a) is type(b) and SAME[type(a)](a, b))


def _same_tensors(a: Tensor, b: Tensor) -> bool:
    known = a.dtype == b.dtype and a.device == b.device and a.rank == b.rank
    return known and a.pinned == b.pinned and (a.pending is None) == (b.pending is None)


def _same_sequences(a: Seq, b: Seq) -> bool:
    if a.kind != b.kind or (a.items is None) != (b.items is None):
        return False
    if a.items is None or b.items is None:
        return same(a.element, b.element)
    return len(a.items) == len(b.items) and all(map(same, a.items, b.items))


def _same_tables(a: Table, b: Table) -> bool:
    alike = a.items.keys() == b.items.keys() and all(same(value, b.items[key]) for key, value in a.items.items())
    return alike and same(a.element, b.element)


def _same_unions(a: Union, b: Union) -> bool:
    return len(a.options) == len(b.options) and all(any(same(x, y) for y in b.options) for x in a.options)


SAME: dict[type, Callable[[Any, Any], bool]] = {
    Tensor: _same_tensors,
    Seq: _same_sequences,
    Table: _same_tables,
    Union: _same_unions,
    # A NaN is not equal to itself, and would keep a loop from settling.
    Const: lambda a, b: type(a.value) is type(b.value) and (a.value == b.value or a.value != a.value),
    Host: lambda a, b: a.kind == b.kind,
    Unknown: lambda a, b: bool(a.weak) == bool(b.weak) and bool(a.batch) == bool(b.batch),
    Alias: lambda a, b: a.node is b.node,
    Named: lambda a, b: a.name == b.name,
    Source: lambda a, b: a.place == b.place,
    Later: lambda a, b: (a.place, a.name) == (b.place, b.name),
    Call: lambda a, b: a.routine is b.routine,
    ClassOf: lambda a, b: a.info is b.info,
    Instance: lambda a, b: a.info is b.info and a.name == b.name,
    Bound: lambda a, b: a.name == b.name and same(a.of, b.of),
}
