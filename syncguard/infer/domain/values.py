"""The kinds of Value: what inference can know of an expression."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from syncguard.terms import Value as Value

if TYPE_CHECKING:
    from syncguard.infer.classes import ClassInfo
    from syncguard.infer.routine import Frame, Routine
    from syncguard.read.core import Node

LINKS: Final = 60  # of a because chain that are followed


Only = tuple["Node", bool, "Node"]
TO_COME: Final = "to come"  # of what is put into a container that is empty yet


class Why:
    """A link of the because chain: a sentence about the source at `at`, and the link before it. No part of equality."""

    __slots__ = ("at", "built", "left", "only", "parent", "path", "put", "text", "there")

    def __init__(self, text: str, at: tuple[int, int, int, int], parent: Why | None = None, path: str = "") -> None:
        self.text, self.at, self.parent, self.path = text, at, parent, path
        self.left = False  # whether this is where the value left the device
        self.put = False  # whether this is where it was put there
        self.built = False  # whether it is made on the host, of nothing that may be elsewhere
        self.there: Why | None = None  # of what is on the host on one path: why it is on the device on another
        # The question of an argument that must come out so for it to be on the device, and the function it is asked in.
        self.only: Only | None = parent.only if parent is not None else None

    def or_there(self, there: Why) -> Why:
        """The same of what is on the device on another path."""
        both = Why(self.text, self.at, self.parent, self.path)
        both.left, both.built, both.there, both.only = self.left, self.built, there, None
        return both

    @property
    def root(self) -> Why:
        """The link that the chain begins with."""
        why = self
        while why.parent is not None:
            why = why.parent
        return why


class Unknown(Value):
    """Nothing known, and quiet.

    With `weak`, something computed from tensors: `.item()` on it is believed, a truth is not.
    With `batch`, what a DataLoader gave: tensors on the host, in a container of some kind, or a `part` of that.
    """

    __slots__ = ("batch", "part", "weak")

    def __init__(self, weak: Why | None = None, batch: Why | None = None, part: bool = False) -> None:
        self.weak, self.batch, self.part = weak, batch, part

    @property
    def pinned(self) -> bool:
        """Whether a loader gave this in pinned memory."""
        return self.batch is not None and self.batch.text == "pinned batch"


UNKNOWN: Final = Unknown()


class Tensor(Value):
    """A torch.Tensor: dtype class ('' unknown), device, rank (-1 unknown), pinned, and whether it is one for sure.

    The device: "device" is shown to be the accelerator, "assumed" taken to be; "host" is shown to be the CPU; "mixed"
    varies by path.
    """

    __slots__ = ("device", "dtype", "either", "pending", "pinned", "rank", "sure", "void", "why")

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
        self.void = False  # without a single element
        self.dtype, self.device, self.rank, self.sure, self.why, self.pinned = dtype, device, rank, sure, why, pinned
        self.pending = pending  # the copy to the host that may not have landed yet

    @property
    def on_device(self) -> bool:
        return self.device != "host"

    def but(self, **changes: Any) -> Tensor:
        new = Tensor(
            self.dtype, self.device, self.rank, sure=self.sure, why=self.why, pinned=self.pinned, pending=self.pending
        )
        new.either, new.void = self.either, self.void
        for name, value in changes.items():
            setattr(new, name, value)
        return new


class Const(Value):
    """A literal on the host: None, a bool, a number, a string."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


NONE: Final = Const(None)
TRUE: Final = Const(True)
FALSE: Final = Const(False)


def constant(value: Any) -> Const:
    """A literal; of None, True and False there is one each, so that `is` tells them."""
    return NONE if value is None else TRUE if value is True else FALSE if value is False else Const(value)


class Host(Value):
    """A value on the host that is no tensor: int float bool str number size array device dtype object.

    `read` tells which device value it was read from; of `one_row` are the arrays of which each item is a number.
    """

    __slots__ = ("kind", "one_row", "read")

    def __init__(self, kind: str, read: Why | None = None, one_row: bool = False) -> None:
        self.kind, self.read, self.one_row = kind, read, one_row


class Seq(Value):
    """A tuple, list, set or iterator: its items where their number is known, else what they all are; and the first ones
    of a tuple that goes on from there."""

    __slots__ = ("_element", "_first", "depth", "items", "kind", "names")

    def __init__(
        self,
        kind: str,
        items: tuple[Value, ...] | None,
        element: Value = UNKNOWN,
        names: tuple[str, ...] = (),
        first: tuple[Value, ...] = (),
    ) -> None:
        inner = deepest(items) if items else max(depth_of(element), deepest(first))
        if items and inner >= DEEPEST:  # what is shared inside would be walked again for every path to it
            items, element, inner = None, UNKNOWN, 0
        self.kind, self.items, self.names = kind, items, names
        self.depth = 1 + inner
        if self.depth > DEEPEST:
            self.depth, element, first = 1, UNKNOWN, ()
        self._element = None if items else element
        self._first = first if kind == "tuple" else ()

    @property
    def first(self) -> tuple[Value, ...]:
        """The items that stand first, as far as they are known."""
        return self._first if self.items is None else self.items

    @property
    def element(self) -> Value:
        """What every item is; joined when it is first asked for."""
        if self._element is None:
            from syncguard.infer.domain.lattice import join_all

            self._element = join_all(self.items)
        return self._element


DEEPEST: Final = 5  # containers in containers that are told apart


def depth_of(value: Value) -> int:
    """How deep containers stand in one another here."""
    if type(value) is Union:
        return deepest(value.options)
    if type(value) is Instance:
        return depth_of(value.modules) if value.modules is not None else 0
    return value.depth if type(value) is Seq or type(value) is Table else 0


def deepest(values: tuple[Value, ...]) -> int:
    """How deep containers stand in one another in the one of these where they do so most."""
    found = 0
    for value in values:
        found = max(found, depth_of(value))
    return found


class Table(Value):
    """A dict: the values under literal keys, and what the others are."""

    __slots__ = ("depth", "element", "items", "keys")

    def __init__(self, items: dict[Any, Value], element: Value = UNKNOWN, keys: Value = UNKNOWN) -> None:
        self.depth = 1 + max(deepest(tuple(items.values())), depth_of(element))
        if self.depth > DEEPEST:
            items, element, self.depth = {}, UNKNOWN, 1
        self.items, self.element, self.keys = items, element, keys


def keys_of(value: Table) -> Value:
    """What iterating over a dict gives."""
    if value.keys is not UNKNOWN or not value.items:
        return value.keys
    kinds = {type(key).__name__ for key in value.items}
    return Host(kinds.pop()) if len(kinds) == 1 else Host("object")


Given = tuple[tuple[Value, ...], tuple[tuple[str, Value], ...]]  # arguments that functools.partial holds


class Named(Value):
    """Something imported, by its dotted name: `torch.nn.functional.relu`, and what it is given beforehand."""

    __slots__ = ("given", "name")

    def __init__(self, name: str, given: Given | None = None) -> None:
        self.name, self.given = name, given


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
    """A function of the project, bound to a receiver or not, and what it is given beforehand."""

    __slots__ = ("given", "receiver", "routine")

    def __init__(self, routine: Routine, receiver: Value | None = None, given: Given | None = None) -> None:
        self.routine, self.receiver, self.given = routine, receiver, given


class Callback(Value):
    """A function of which only the declared type is known: what it takes and what it gives."""

    __slots__ = ("gives", "takes")

    def __init__(self, takes: tuple[Value, ...], gives: Value) -> None:
        self.takes, self.gives = takes, gives


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


HOST: Final = "cpu"  # what names the host, and what an accelerator
ACCELERATORS: Final = ("cuda", "xpu", "hip", "npu", "mps", "hpu")
BROUGHT: Final = "brought"  # the setting of a loader that brings its batches to the device itself


class Instance(Value):
    """An instance of a class of the project, or of an imported one by its dotted name."""

    __slots__ = ("device", "info", "name", "settings")

    def __init__(
        self, info: ClassInfo | None, name: str = "", device: str = "assumed", settings: dict[str, Value] | None = None
    ) -> None:
        self.info, self.name, self.device, self.settings = info, name, device, settings or {}

    @property
    def kept(self) -> dict[str, Value]:
        """What an object of the project was made with, by the attributes that keep it."""
        return {name[1:]: value for name, value in self.settings.items() if name[0] == "."}

    @property
    def modules(self) -> Value | None:
        """What a container of modules was made of, and has taken up since."""
        return self.settings.get("modules") if self.settings else None

    def holding(self, modules: Value) -> Instance:
        """The same container with other modules in it."""
        return Instance(self.info, self.name, self.device, {**self.settings, "modules": modules})


class Union(Value):
    """One of several."""

    __slots__ = ("options", "wide")

    def __init__(self, options: tuple[Value, ...], wide: bool = False) -> None:
        self.options = options
        self.wide = wide  # it has been cut, and takes up no further kinds but a tensor


def options(value: Value) -> tuple[Value, ...]:
    return value.options if type(value) is Union else (value,)


def came_from_device(why: Why | None) -> bool:
    """Whether a value was fetched from the device on its way."""
    seen = 0
    while why is not None and seen < LINKS:
        if why.left:
            return True
        why, seen = why.parent, seen + 1
    return False


def batch_of(value: Value) -> Why | None:
    """The loader that gave this, if nothing of it was computed since."""
    return value.batch if type(value) is Unknown and value.weak is None else None


def is_array(value: Value) -> bool:
    """Whether this is an array of the host."""
    return type(value) is Host and value.kind == "array"


SHAPES: Final = ("size", "shape")  # the kinds of what holds sizes


KIND_OF: Final = {
    bool: "bool", int: "int", float: "float", complex: "number", str: "str", type(None): "none",
}  # fmt: skip


def kind_of(value: Value) -> str:
    """The host kind of a literal."""
    literal = value.value if type(value) is Const else None
    return KIND_OF.get(type(literal), "object")
