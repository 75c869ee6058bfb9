"""A test for types in, what it tells of what is tested out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from syncguard.infer.branches.receivers import kept_on_host
from syncguard.infer.branches.subjects import path_of, value_at
from syncguard.infer.domain.contents import fetched, there, unpacked, without
from syncguard.infer.domain.lattice import join_all
from syncguard.infer.domain.sureness import number_sureness
from syncguard.infer.domain.values import (
    UNKNOWN,
    ClassOf,
    Const,
    Host,
    Instance,
    Named,
    Seq,
    Table,
    Tensor,
    Union,
    Unknown,
    Value,
    is_array,
    options,
)
from syncguard.infer.routine import Frame
from syncguard.read.core import At, Node
from syncguard.read.tags import DO, SEQ


def of_options(subject: Node, outcome: bool, frame: Frame, wanted: Callable[[Value], bool]) -> dict[str, Value]:
    """What is tested holds those options alone that are wanted, or none of them; a tensor where nothing is known."""
    path = path_of(subject)
    if not path:
        return {}
    value = value_at(subject, frame)
    if not outcome:
        return {path: without(value, wanted)}
    kept = without(value, lambda option: not wanted(option))
    if kept is UNKNOWN:
        if all(type(option) is Host and option.read is not None for option in options(value)):
            return {}  # a number that was read before is no tensor
        if frame.comps and path in frame.comps[0] and all(type(option) in (Const, Host) for option in options(value)):
            return {}  # nor is what a container was seen to hold
        of = next((option for option in options(value) if type(option) is Unknown and option.batch is not None), None)
        kept = (
            Tensor(device=_place(subject, frame), why=frame.why("isinstance", subject.at))
            if of is None
            else Tensor(device="host", why=of.batch, pinned=of.pinned)
        )
    return {path: kept.but(sure=True) if type(kept) is Tensor else kept}


def _place(subject: Node, frame: Frame) -> str:
    """Where a tensor is of which nothing but its name is known."""
    return "host" if kept_on_host(subject, frame) else frame.world.place(frame.routine)


def with_method(subject: Node, name: str, outcome: bool, frame: Frame) -> dict[str, Value]:
    """`hasattr(x, "item")` is true of a tensor, and not of a number of Python."""
    path = path_of(subject)
    if not path or frame.world.op(f"torch.Tensor.{name}") is None:
        return {}
    value = value_at(subject, frame)
    unlike = (lambda option: number_sureness(option) > 0) if outcome else (lambda option: type(option) is Tensor)
    return {path: without(value, unlike)} if any(map(unlike, options(value))) else {}


def of_types(subject: Node, kinds: Node, outcome: bool, frame: Frame) -> dict[str, Value]:
    """`isinstance(x, kinds)`, and `type(x) is kind`."""
    path = path_of(subject)
    if not path:
        return {}
    named = kinds_of(kinds, frame)
    names = [value.name for value in named if type(value) is Named]
    if any(frame.world.is_tensor_type(name) for name in names):
        alone = len(names) == len(named) and all(map(frame.world.is_tensor_type, names))
        if alone or not outcome:
            found = of_options(subject, outcome, frame, lambda option: type(option) is Tensor)
            return found if alone else {path: without(found.get(path, UNKNOWN), lambda option: _is_a(option, names))}
        return _tensor_or(named, subject, path, frame)
    value = value_at(subject, frame)
    if outcome:
        kept = tuple(option for option in options(value) if of_kind(option, named, frame))
        if kept:
            return {path: without(value, lambda option: not of_kind(option, named, frame))}
        if len(named) == 1:
            return {path: _holding(_instance_of(named[0], subject.at, frame), value)}
        if not all(type(kind) is ClassOf or type(kind) is Named for kind in named):
            return {path: UNKNOWN}
        numbers = bool(names) and {*names} <= {"builtins.int", "builtins.float", "builtins.bool"}
        return {
            path: Host("number") if numbers else join_all([_instance_of(kind, subject.at, frame) for kind in named])
        }
    return {path: without(value, lambda option: of_kind(option, named, frame))}


def _tensor_or(named: list[Value], subject: Node, path: str, frame: Frame) -> dict[str, Value]:
    """What has been found to be a tensor or of one of other types."""
    held = value_at(subject, frame)
    if not any(type(option) is Unknown for option in options(held)):
        numbers = any(number_sureness(option) for option in options(held)) and _no_number(named)
        left = without(held, lambda option: number_sureness(option) > 0) if numbers else UNKNOWN
        return {} if left is UNKNOWN else {path: left}
    kinds = (Tensor, Unknown)
    left = without(held, lambda option: type(option) not in kinds and not of_kind(option, named, frame))
    if any(type(option) is Tensor for option in options(left)):
        return {path: left}
    why = frame.why("isinstance", subject.at)
    return {path: Union((Tensor(device=_place(subject, frame), sure=False, why=why), *options(left)))}


def kinds_of(kinds: Node, frame: Frame) -> list[Value]:
    """The types that a value is tested for: one, several in a tuple, or a name for such a tuple."""
    if type(kinds) is SEQ:
        return [kind for part in kinds.items for kind in kinds_of(part, frame)]
    if type(kinds) is DO and kinds.what == "|":
        return [kind for part in kinds.args for kind in kinds_of(part, frame)]
    value = value_at(kinds, frame)
    return list(value.items) if type(value) is Seq and value.items is not None else [value]


def of_kind(option: Value, kinds: list[Value], frame: Frame) -> bool:
    """Whether a value is of one of these types."""
    names = [kind.name for kind in kinds if type(kind) is Named]
    if type(option) is not Instance:
        return _is_a(option, names)
    if option.info is None:
        return any(frame.world.is_subclass(option.name, name) for name in names)
    return any(type(kind) is ClassOf and kind.info in option.info.mro for kind in kinds)


def _no_number(kinds: list[Value]) -> bool:
    """Whether none of these types is one of numbers."""
    return all(
        type(kind) is ClassOf
        or (type(kind) is Named and not kind.name.startswith("builtins.") and not kind.name.startswith("numbers."))
        for kind in kinds
    )


TENSORS: Final = ("Iterable", "Collection", "Container", "Sized", "Hashable", "Reversible")  # what each one is
KINDS: Final = {"int": ("int", "size", "bool"), "float": ("float",), "bool": ("bool",), "str": ("str",)}


def _is_a(option: Value, names: list[str]) -> bool:
    for name in names:
        last = name.rpartition(".")[2]
        if _builtin(option, last) if name.startswith("builtins.") else _abstract(option, last):
            return True
    return False


def _builtin(option: Value, name: str) -> bool:
    if type(option) is Seq:
        return option.kind == name
    if type(option) is Table:
        return name == "dict"
    kind = option.kind if type(option) is Host else type(option.value).__name__ if type(option) is Const else ""
    return kind in KINDS.get(name, ()) or (kind == "number" and name in ("int", "float"))


def _abstract(option: Value, name: str) -> bool:
    if type(option) is Tensor:
        return name in TENSORS or name.startswith("Supports")
    if type(option) is Seq:
        return name in ("Sequence", "Iterable", "Collection")
    if type(option) is Table:
        return name in ("Mapping", "MutableMapping")
    return is_array(option) and name == "ndarray"


def _holding(found: Value, held: Value) -> Value:
    """A list or a dict of which nobody knows what is in it, of what is on the host: all that it holds is there."""
    part = next((unpacked(option) for option in options(held) if fetched(option)), UNKNOWN)
    if part is UNKNOWN or not there(held):
        return found
    if type(found) is Seq and found.items is None:
        return Seq(found.kind, None, part)
    return Table({}, part) if type(found) is Table else found


def _instance_of(kind: Value, at: At, frame: Frame) -> Value:
    match kind:
        case ClassOf(info=info):
            return Instance(info)
        case Named(name=name):
            last = name.rpartition(".")[2]
            if name.startswith("builtins."):
                simple = {
                    "list": Seq("list", None),
                    "tuple": Seq("tuple", None),
                    "dict": Table({}),
                    "set": Seq("set", None),
                }
                return simple.get(last) or Host(last if last in KINDS else "object")
            told = frame.world.typed(name, frame.world.place(frame.routine), frame.why("kind", at))
            return told if type(told) is Seq else Instance(None, name)
    return UNKNOWN
