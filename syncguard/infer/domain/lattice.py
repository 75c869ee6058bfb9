"""The lattice of values: `join` is what two paths agree on, `same` tells when a loop has settled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from syncguard.infer.domain.contents import changed, without
from syncguard.infer.domain.values import (
    ACCELERATORS,
    BROUGHT,
    HOST,
    NONE,
    TO_COME,
    UNKNOWN,
    Alias,
    Bound,
    Call,
    Callback,
    ClassOf,
    Const,
    Host,
    Instance,
    Later,
    Named,
    Seq,
    Source,
    Table,
    Tensor,
    Union,
    Unknown,
    Value,
    Why,
    came_from_device,
    kind_of,
    options,
)


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
    if _to_come(a) is not _to_come(b):  # what is put there tells more than what was declared to be put there
        return b if _to_come(a) else a
    dtype, rank = a.dtype if a.dtype == b.dtype else "", a.rank if a.rank == b.rank else -1
    place = _place(a, b)
    both = Tensor(dtype, place, rank, sure=a.sure and b.sure, why=_reason(a, b, place))
    both.pinned, both.pending, both.either = a.pinned and b.pinned, a.pending or b.pending, a.either and b.either
    both.void = a.void and b.void
    return both


def _to_come(tensor: Tensor) -> bool:
    return tensor.why is not None and tensor.why.text == TO_COME


def _reason(a: Tensor, b: Tensor, place: str) -> Why | None:
    """Why one or the other is what both are: what only one path fetched from the device is not known to come from
    there, what counts for one alone counts for its reason, and what one path puts there unasked needs no argument."""
    if a.why is None or b.why is None or a.why is b.why:
        return a.why or b.why
    if a.on_device is not b.on_device and place != "mixed":
        return a.why if a.device == place else b.why
    if a.device == "mixed" and b.device == "device":
        return b.why
    if a.device == "device" and b.device == "mixed":
        return a.why
    if a.on_device and b.on_device:
        return b.why if a.why.only is not None and b.why.only is None else a.why
    return b.why if not (a.on_device or b.on_device) and came_from_device(a.why) else a.why


def _arrays(a: Host, b: Host) -> Why | None:
    """The device value that one or the other was read from; of arrays, where each of them was."""
    if a.kind == b.kind == "array" and (a.read is None or b.read is None):
        return None
    return a.read or b.read


def _place(a: Tensor, b: Tensor) -> str:
    """Where one or the other is: a number wrapped for a caller who gave no tensor does not speak for the others, nor
    does what has no elements.
    """
    if a.device != b.device and "host" in (a.device, b.device):
        wrapped, other = (a, b) if a.device == "host" else (b, a)
        made = wrapped.why is not None and wrapped.why.parent is None  # from no tensor
        if made and (wrapped.rank == 0 or wrapped.void):
            return other.device
        if other.void:
            return wrapped.device
    return join_devices(a.device, b.device)


def _literals(a: Const, b: Const) -> Value | None:
    if type(a.value) is type(b.value) and a.value == b.value:
        return a
    kinds = kind_of(a), kind_of(b)
    if _device_names(a.value, b.value):
        return Host("device:assumed")  # as of two devices
    return None if "none" in kinds else numbers(*kinds, None)


def _device_names(a: object, b: object) -> bool:
    """Whether two texts name the CPU and an accelerator: `"cuda" if wide else "cpu"`."""
    named = [text.partition(":")[0] for text in (a, b) if isinstance(text, str)]
    return len(named) == 2 and HOST in named and any(one in ACCELERATORS for one in named)


def _sequences(a: Seq, b: Seq) -> Seq | None:
    if a.kind != b.kind:
        return None
    if a.items is not None and b.items is not None and len(a.items) == len(b.items):
        return Seq(a.kind, tuple([join(x, y) for x, y in zip(a.items, b.items, strict=True)]), names=a.names)
    if a.items == ():
        return Seq(a.kind, None, b.element)
    if b.items == ():
        return Seq(a.kind, None, a.element)
    first = tuple([join(x, y) for x, y in zip(a.first, b.first)]) if a.kind == "tuple" else ()
    return Seq(a.kind, None, join(a.element, b.element), first=first)


def _tables(a: Table, b: Table) -> Table:
    items = {**a.items, **b.items}
    for key in a.items.keys() & b.items.keys():
        items[key] = join(a.items[key], b.items[key])
    keys = a.keys if b.keys is UNKNOWN else b.keys if a.keys is UNKNOWN else join(a.keys, b.keys)
    if not a.items and a.element is UNKNOWN:
        return Table(items, b.element, keys)
    if not b.items and b.element is UNKNOWN:
        return Table(items, a.element, keys)
    return Table(items, join(a.element, b.element), keys)


def _unknowns(a: Unknown, b: Unknown) -> Unknown:
    """Weak if one is, else of a batch if one is; all of it, if not both are parts."""
    first, other = (a, b) if a.weak or (a.batch and not b.weak) else (b, a)
    whole = first.part and other.batch is not None and other.weak is None and not other.part
    return other if whole else first


def _names(a: Named, b: Named) -> Named:
    """The same function, given beforehand what either was: the first, where they were not given as much."""
    if a.given is None or b.given is None or a.given is b.given:
        return a
    (args, keywords), (others, named) = a.given, b.given
    if len(args) != len(others) or [name for name, _ in keywords] != [name for name, _ in named]:
        return a
    kept = tuple((name, join(value, other)) for (name, value), (_, other) in zip(keywords, named))
    return Named(a.name, (tuple(map(join, args, others)), kept))


def _held(function: Named) -> Table:
    """What a function is given beforehand, by place and by name."""
    args, keywords = function.given or ((), ())
    return Table({**dict(enumerate(args)), **dict(keywords)})


def _instances(a: Instance, b: Instance) -> Instance | None:
    """Two instances of one class; what two containers of modules hold is in the one that stands for both, and a loader
    that brings its batches to the device speaks for one that may do so later. Of two that were made with other things,
    nothing is known but what their class keeps."""
    if a.info is not b.info or a.name != b.name:
        return None
    if (BROUGHT in a.settings) is not (BROUGHT in b.settings):
        return a if BROUGHT in a.settings else b
    one, other = (b, a) if a.device == "host" else (a, b)
    if not _made_alike(a, b):
        one = Instance(one.info, one.name, one.device)
    if one is other or other.modules is None:
        return one
    return one.holding(other.modules if one.modules is None else join(one.modules, other.modules))


def _made_alike(a: Instance, b: Instance) -> bool:
    """Whether two objects of a class of the project keep the same of what they were made with."""
    if a.info is None or a.settings is b.settings or not (a.settings or b.settings):
        return True
    one, other = a.kept, b.kept
    return one.keys() == other.keys() and all(same(value, other[name]) for name, value in one.items())


MEET: Final[dict[type, Callable[[Any, Any], Value | None]]] = {
    Tensor: _tensors,
    Const: _literals,
    Seq: _sequences,
    Table: _tables,
    Host: lambda a, b: devices(a.kind, b.kind) or numbers(a.kind, b.kind, _arrays(a, b), a.one_row and b.one_row),
    Unknown: _unknowns,
    Alias: lambda a, b: a if a.node is b.node else None,
    Named: lambda a, b: _names(a, b) if a.name == b.name else None,
    Source: lambda a, b: a if a.place == b.place else None,
    Later: lambda a, b: a if (a.place, a.name) == (b.place, b.name) else None,
    Call: lambda a, b: a if a.routine is b.routine else None,
    Callback: lambda a, b: a if same(a, b) else None,
    ClassOf: lambda a, b: a if a.info is b.info else None,
    Instance: _instances,
    Bound: lambda a, b: a if a.name == b.name and same(a.of, b.of) else None,
}


def devices(a: str, b: str) -> Host | None:
    """Either of two devices: the CPU is what is left where there is no accelerator."""
    return Host("device:assumed") if a != b and a.startswith("device:") and b.startswith("device:") else None


def numbers(a: str, b: str, read: Why | None, one_row: bool = False) -> Host | None:
    if a == b:
        return Host(a, read, one_row)
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


WIDEST: Final = 8  # kinds that a union tells apart


def passed(a: Value, b: Value) -> Value:
    """Join what different callers pass: where each declares what may be anywhere, so may this be."""
    tensors = [option for value in (a, b) for option in options(value) if type(option) is Tensor]
    if tensors and all(tensor.either and tensor.device == "mixed" for tensor in tensors):
        return join(a, b)
    return pooled(a, b)


def held(a: Value, b: Value, moved: bool) -> Value:
    """Join what methods assign to an attribute: what is left open of each is left open of all, unless whoever has the
    object moves it. Of what one puts on the host and one on the device, both reasons are kept."""
    both = join(a, b) if not moved and _open(a) and _open(b) else pooled(a, b)
    one, other = tensor_of(a), tensor_of(b)
    if one is None or other is None or one.why is None or other.why is None:
        return both
    if one.on_device is other.on_device:
        if one.why.there is not None or other.why.there is None:
            return both
        why = other.why  # a base may make it on the host
    else:
        here, there = (other.why, one.why) if one.on_device else (one.why, other.why)
        why = here if here.there is not None else here.or_there(there.there or there)
    told = [part.but(why=why) if type(part) is Tensor else part for part in options(both)]
    return told[0] if len(told) == 1 else Union(tuple(told))


def tensor_of(value: Value) -> Tensor | None:
    """The one tensor that a value may be."""
    found = [option for option in options(value) if type(option) is Tensor]
    return found[0] if len(found) == 1 else None


def as_given(both: Value, given: Value) -> Value:
    """What is either given, on the device for sure, or made on the host where nothing is given: whoever gives it waits
    for it."""
    made, there = tensor_of(both), tensor_of(given)
    if made is None or made.device != "mixed" or there is None or there.device != "device":
        return both
    return changed(both, lambda tensor: tensor.but(device="device", why=there.why))


def _open(value: Value) -> bool:
    """Whether this is a tensor that may as well be on the host."""
    return type(value) is Tensor and value.device == "mixed"


def pooled(a: Value, b: Value) -> Value:
    """Join what methods assign, or callers pass: if any of it is on the device, a reader may wait. Of what is on the
    host here and on the device there, the reason is that of the one which may wait."""
    both = join(a, b)
    if type(both) is Tensor:
        there = _there(a, b)
        if both.device == "mixed":
            return _assumed(both, there)
        return both if there is None or there is both.why or both.why is None else both.but(why=there)
    if type(both) is not Union:
        return both
    if any(_cpu(o) for o in both.options):
        others = [option for option in both.options if not _cpu(option)]
        if any(type(o) is Unknown or type(o) is Host for o in others):
            return Host("device:assumed")  # the CPU is what is left where there is no accelerator
    if any(type(o) is Tensor and o.device == "mixed" for o in both.options):
        parts, there = both.options, _there(a, b)
        return Union(tuple([_assumed(o, there) if type(o) is Tensor and o.device == "mixed" else o for o in parts]))
    devices = {o.kind for o in both.options if type(o) is Host and o.kind.startswith("device:")}
    if len(devices) > 1:  # a device that is the CPU for some and not for others
        return without(both, lambda o: type(o) is Host and o.kind == "device:host")
    return both


def _assumed(tensor: Tensor, there: Why | None) -> Tensor:
    """A tensor that may be anywhere, as one that is on the device for this reason, if there is one."""
    why = tensor.why if there is None or tensor.why is None else there
    return tensor.but(device="assumed", why=why)


def _there(a: Value, b: Value) -> Why | None:
    """Why one of some tensors is on the device, where another is not."""
    if type(a) is Tensor and type(b) is Tensor and a.on_device is b.on_device:
        return None
    tensors = [option for value in (a, b) for option in options(value) if type(option) is Tensor]
    if all(one.on_device for one in tensors):
        return None
    return next((one.why for one in tensors if one.on_device and one.why is not None), None)


def _cpu(value: Value) -> bool:
    return type(value) is Host and value.kind == "device:host"


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
    return known and a.pinned == b.pinned and a.void == b.void and (a.pending is None) == (b.pending is None)


def _same_sequences(a: Seq, b: Seq) -> bool:
    if a.kind != b.kind or (a.items is None) != (b.items is None):
        return False
    if a.items is None or b.items is None:
        alike = len(a.first) == len(b.first) and all(map(same, a.first, b.first))
        return alike and same(a.element, b.element)
    return len(a.items) == len(b.items) and all(map(same, a.items, b.items))


def _same_tables(a: Table, b: Table) -> bool:
    alike = a.items.keys() == b.items.keys() and all(same(value, b.items[key]) for key, value in a.items.items())
    return alike and same(a.element, b.element) and same(a.keys, b.keys)


def _same_unions(a: Union, b: Union) -> bool:
    return len(a.options) == len(b.options) and all(any(same(x, y) for y in b.options) for x in a.options)


def _same_instances(a: Instance, b: Instance) -> bool:
    if a.info is not b.info or a.name != b.name or (a.device == "host") != (b.device == "host"):
        return False
    if (BROUGHT in a.settings) is not (BROUGHT in b.settings):
        return False
    if not _made_alike(a, b):
        return False
    held, other = a.modules, b.modules
    return held is other or (held is not None and other is not None and same(held, other))


SAME: Final[dict[type, Callable[[Any, Any], bool]]] = {
    Tensor: _same_tensors,
    Seq: _same_sequences,
    Table: _same_tables,
    Union: _same_unions,
    # A NaN is not equal to itself, and would keep a loop from settling.
    Const: lambda a, b: type(a.value) is type(b.value) and (a.value == b.value or a.value != a.value),
    Host: lambda a, b: a.kind == b.kind and a.one_row == b.one_row,
    Unknown: lambda a, b: bool(a.weak) == bool(b.weak) and bool(a.batch) == bool(b.batch) and a.part == b.part,
    Alias: lambda a, b: a.node is b.node,
    Named: lambda a, b: a.name == b.name and (a.given is b.given or same(_held(a), _held(b))),
    Source: lambda a, b: a.place == b.place,
    Later: lambda a, b: (a.place, a.name) == (b.place, b.name),
    Call: lambda a, b: a.routine is b.routine,
    Callback: lambda a, b: len(a.takes) == len(b.takes) and all(map(same, a.takes, b.takes)) and same(a.gives, b.gives),
    ClassOf: lambda a, b: a.info is b.info,
    Instance: _same_instances,
    Bound: lambda a, b: a.name == b.name and same(a.of, b.of),
}
