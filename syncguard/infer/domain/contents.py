"""A value in, what is in it out: its tensors, or the same value with other ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from syncguard.infer.domain.values import (
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
    options,
)

if TYPE_CHECKING:
    from syncguard.infer.classes import ClassInfo


def tensor_in(value: Value) -> Tensor | None:
    """The tensor that this value is or may be."""
    if type(value) is Tensor:
        return value
    if type(value) is Union:
        for option in value.options:
            if type(option) is Tensor:
                return option
    return None


def tensors_in(value: Value) -> list[Tensor]:
    """The tensors that a value is, may be, or lists."""
    match value:
        case Tensor():
            return [value]
        case Union():
            inner = value.options
        case Seq():
            inner = value.items if value.items is not None else (value.element,)
        case _:
            return []
    return [tensor for part in inner for tensor in tensors_in(part)]


def any_on_device(values: list[Value]) -> bool:
    """Whether a tensor that these are, may be, or list may be on the device."""
    return any(tensor.on_device for value in values for tensor in tensors_in(value))


def believed(value: Value) -> Value:
    """What was computed from tensors, as one."""
    weak = value.weak if type(value) is Unknown else None
    return Tensor(sure=False, why=weak) if weak is not None else value


def changed(value: Value, change: Callable[[Tensor], Tensor]) -> Value:
    """The value with each of these tensors changed; the same object where none is."""
    match value:
        case Tensor():
            return change(value)
        case Union():
            parts = tuple([changed(option, change) for option in value.options])
            return value if _same(parts, value.options) else Union(parts, value.wide)
        case Seq() if value.items is not None:
            parts = tuple([changed(item, change) for item in value.items])
            return value if _same(parts, value.items) else Seq(value.kind, parts, names=value.names)
        case Seq():
            element, first = changed(value.element, change), tuple([changed(item, change) for item in value.first])
            unchanged = element is value.element and _same(first, value.first)
            return value if unchanged else Seq(value.kind, None, element, first=first)
    return value


def _same(a: tuple[Value, ...], b: tuple[Value, ...]) -> bool:
    return all(one is other for one, other in zip(a, b, strict=True))


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


def is_object(value: Value) -> bool:
    """Whether a value is, may be or holds an object of a class of the project that may hold something on the device."""
    return bool(classes_in(value))


def holds_object(value: Value) -> bool:
    """Whether a value is, or may be, an object of a class of the project, wherever that is."""
    return any(type(option) is Instance and option.info is not None for option in options(value))


def classes_in(value: Value) -> list[ClassInfo]:
    """The classes of the project of which a value is, may be or holds an object, but for one that is on the host."""
    found = [leaf.info for leaf in leaves_of(value) if type(leaf) is Instance and leaf.device != "host"]
    return [info for info in found if info is not None]


def made_with(instance: Instance, kept: dict[str, Value]) -> Instance:
    """An object of the project that keeps these things, which it was made with: not what holds such in turn, for what
    holds another of its kind has no end."""
    told = {f".{name}": value for name, value in kept.items() if not any(map(_nests, leaves_of(value)))}
    return Instance(instance.info, device=instance.device, settings=told) if told else instance


def _nests(leaf: Value) -> bool:
    within = leaf.settings.values() if type(leaf) is Instance else ()
    return any(type(part) is Instance and bool(part.settings) for value in within for part in leaves_of(value))


def taken_along(value: Value) -> Value:
    """The value as of what holds it and may be moved to the device: what is on the host may be there."""
    return changed(value, lambda tensor: tensor.but(device="assumed") if tensor.device == "host" else tensor)


def arrived(value: Value) -> Value:
    """The value with every copy in it landed: who keeps it for later waits for it in between."""
    return changed(value, lambda tensor: tensor if tensor.pending is None else tensor.but(pending=None))


def held_there(receiver: Value | None, found: Value, moved: bool = False) -> Value:
    """What an instance on the host holds, or gives back unless it moves it, is there as well."""
    if moved or type(receiver) is not Instance or receiver.device != "host":
        return found
    if receiver.info is None or receiver.info.is_module:
        return found
    if type(found) is Instance:
        return there_too(found)
    if type(found) is Union:
        return Union(tuple([held_there(receiver, option) for option in found.options]), found.wide)
    # Where an instance holds what it was made of, what is on the device is another one's.
    elsewhere = ("assumed", "mixed", "device") if receiver.info.steady else ("assumed", "mixed")
    return changed(found, lambda tensor: tensor.but(device="host") if tensor.device in elsewhere else tensor)


def there_too(value: Instance) -> Instance:
    """An instance of a class of the project with all that it holds on the host, unless it is a module."""
    if value.info is None or value.info.is_module or value.device != "assumed":
        return value
    return Instance(value.info, value.name, "host", value.settings)


def without(value: Value, unwanted: Any) -> Value:
    """The value less the options that `unwanted` says yes to; UNKNOWN where none is left."""
    kept = tuple([option for option in options(value) if not unwanted(option)])
    return kept[0] if len(kept) == 1 else Union(kept) if kept else UNKNOWN


def unpacked(value: Value) -> Value:
    """What a batch is unpacked into, or holds under a key."""
    if type(value) is Unknown and value.batch is not None and value.weak is None and not value.part:
        return Unknown(None, value.batch, True)
    return value


def fetched(value: Value) -> bool:
    """Whether this is what a function put on the host, or gave there, with all that it holds."""
    return type(value) is Unknown and value.batch is not None and value.batch.text in ("placed", "loaded", "prepared")


def there(value: Value) -> bool:
    """Whether this is on the host for sure, or holds what is, and no tensor or unknown that may be elsewhere."""
    leaves = [leaf for leaf in leaves_of(value) if type(leaf) is not Const and type(leaf) is not Host]
    return bool(leaves) and all(fetched(leaf) or _on_host(leaf) for leaf in leaves)


def _on_host(leaf: Value) -> bool:
    if type(leaf) is Instance:
        return leaf.device == "host" and leaf.info is not None and not leaf.info.is_module
    return type(leaf) is Tensor and leaf.device == "host"


def leaves_of(value: Value) -> Iterator[Value]:
    """What a value is made of, containers opened."""
    match value:
        case Union():
            inner = value.options
        case Seq():
            inner = value.items if value.items is not None else (value.element,)
        case Table():
            inner = (*value.items.values(), value.element)
        case _:
            yield value
            return
    for part in inner:
        yield from leaves_of(part)
