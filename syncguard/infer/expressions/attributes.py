"""A value and the name of an attribute in, the attribute's value out."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final

from syncguard.infer.domain.contents import held_there
from syncguard.infer.domain.lattice import join, join_all
from syncguard.infer.domain.values import (
    NONE,
    UNKNOWN,
    Bound,
    Call,
    ClassOf,
    Const,
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
    Why,
    options,
)
from syncguard.infer.expressions import calls
from syncguard.infer.functions.loaders import KEYED
from syncguard.infer.heirs import below
from syncguard.infer.operations.apply import apply
from syncguard.infer.operations.targets import LEFT_ON_HOST, device_of
from syncguard.infer.routine import Frame
from syncguard.read import core
from syncguard.read.core import At, Node
from syncguard.read.tags import ATTR, CALL, FUNCTION, NAME

if TYPE_CHECKING:
    from syncguard.infer.classes import ClassInfo

LISTED: Final = frozenset([name for kind in (list, tuple, deque) for name in dir(kind)])  # what such have


def attribute(of: Value, name: str, node: core.Attr, frame: Frame) -> Value:
    """`of.name`; an option that has no such attribute is not what `of` is here."""
    if type(of) is not Union:
        only = None if of is NONE else _of(of, name, node, frame)
        return UNKNOWN if only is None else only
    kinds = [option for option in options(of) if option is not NONE]
    if name in frame.world.no_array and any(type(option) is Tensor for option in kinds):
        kinds = [option for option in kinds if type(option) is not Host or option.kind != "array"]
    kinds = [option for option in kinds if type(option) is not Seq or _has(option, name)] or kinds
    if any(type(option) is Named for option in kinds):  # `lib = cupy if fast else numpy`: a module is no tensor
        kinds = [option for option in kinds if not _guessed(option)]
    found = [value for option in kinds if (value := _of(option, name, node, frame)) is not None]
    return join_all([value for value in found if value is not UNKNOWN] or [UNKNOWN])


def _guessed(option: Value) -> bool:
    """Whether nothing but what it is asked for shows what this is."""
    if type(option) is Tensor:
        return not option.sure and option.why is not None and option.why.text.partition(":")[0] == "use"
    return option is UNKNOWN


def _has(of: Seq, name: str) -> bool:
    """Whether a list or a tuple has such an attribute, or this is something else."""
    return of.kind not in ("list", "tuple") or name in LISTED or name in of.names or name in KEYED or name[0] == "_"


def _of(of: Value, name: str, node: core.Attr, frame: Frame) -> Value | None:
    match of:
        case Tensor():
            return of_tensor(of, name, node.at, frame)
        case Named():
            return frame.world.resolved(f"{of.name}.{name}")
        case Source():
            return frame.world.member(of, name, frame.routine)
        case Instance(info=None):
            return of_imported(of, name, node.at, frame)
        case Instance():
            return of_instance(of, name, node, frame)
        case ClassOf():
            return of_class(of, name, frame)
        case Seq():
            return of_listed(of, name)
        case Table():
            return Bound(of, name)
        case Const():
            return of_host(of, type(of.value).__name__, name)
        case Host():
            return of_host(of, of.kind, name)
        case Unknown():
            return of_unknown(of, name, node, frame)
        case Bound(of=Unknown()):
            return of_unknown(UNKNOWN, name, node, frame)  # `part.data.float()`
        case Bound(of=Host() as held):
            return of_host(held, held.kind, name)  # `frame.values.astype(kind)`
    return UNKNOWN


def of_listed(of: Seq, name: str) -> Value:
    """An attribute of a list, or of a named tuple. Loaders that are a list by their name are a dict where they are
    asked as one."""
    if name in of.names and of.items is not None:
        return of.items[of.names.index(name)]
    if name in KEYED and of.items is None and type(of.element) is Instance:
        return Bound(Table({}, of.element), name)
    return Bound(of, name)


def of_host(of: Const | Host, kind: str, name: str) -> Value | None:
    """An attribute of what is no tensor; None where it has no such attribute."""
    if kind.startswith("device"):
        return Host(f"device{kind[6:]}") if name == "type" else UNKNOWN
    if kind == "array" and name in ("T", "real", "imag", "flat"):
        return of
    if kind == "array" and name == "shape":
        return Host("shape")
    has = kind in ("array", "object", "str", "size", "shape", "bytes")
    return Bound(of, name) if has or name in ("real", "imag", "is_integer", "bit_length") else None


def of_tensor(of: Tensor, name: str, at: At, frame: Frame) -> Value:
    op = frame.world.op(f"torch.Tensor.{name}")
    if name in frame.world.sole:
        return Bound(of, name)
    if op is None and of.device == "host" and not of.sure:  # `found.to("cpu")` took along all that it holds
        module = frame.world.op(f"torch.nn.Module.{name}")
        if module is not None and not frame.world.is_property(module):
            return Bound(Instance(None, "torch.nn.Module", "host"), name)
        return Unknown(of.why) if name.startswith("_") else Tensor(device="host", sure=False, why=of.why)
    if op is None:
        held = unheld(of, name, of.why, frame)
        moves = frame.world.places.is_("names", "other_devices", name)  # `x.npu()`
        there = type(held) is Unknown and of.device == "host" and not (of.either or moves)
        return Tensor(device="host", sure=False, why=of.why) if there else held
    if frame.world.is_property(op):
        return apply(frame, op, at, [of], {}, ())
    return Bound(of, name)


def filled_above(held: Table, of: Instance, name: str, at: At, frame: Frame) -> Table:
    """What a class only declares to be a dict, with what the library that it descends from keeps there."""
    for base in of.info.libraries() if of.info is not None else ():
        op = frame.world.op(f"{base}.{name}")
        above = apply(frame, op, at, [of], {}, ()) if op is not None and frame.world.is_property(op) else UNKNOWN
        if type(above) is Table:
            return Table(held.items, above.element, held.keys)
    return held


def unheld(of: Value, name: str, why: Why | None, frame: Frame) -> Value:
    """What no tensor has, asked of what we take for one: a method of arrays, or nobody knows what."""
    return Bound(of, name) if frame.world.places.is_("names", "array_methods", name) else Unknown(why)


def of_imported(of: Instance, name: str, at: At, frame: Frame) -> Value:
    """An attribute of an instance of an imported class."""
    op = frame.world.op(f"{of.name}.{name}")
    if op is not None and frame.world.is_property(op):
        kept = of.settings.get(name)  # a wrapper keeps the module that it was made of
        return kept if type(kept) is Instance else apply(frame, op, at, [of], {}, ())
    if op is None and frame.world.is_module_class(of.name) and name in ("weight", "bias"):
        return Tensor("float", of.device, why=frame.why("parameter", at))
    return Bound(of, name)


def of_class(of: ClassOf, name: str, frame: Frame) -> Value:
    """A method of a class, or what its body and all who assign it say of an attribute."""
    info, member = of.info, of.info.find(name)
    if member is None and name == "apply" and info.is_function:
        return Bound(of, name)
    value = member[0] if member is not None else UNKNOWN
    if type(value) is Call or type(value) is ClassOf:
        return Call(value.routine, of) if type(value) is Call and "classmethod" in decorators(value) else value
    held = info.attribute(name, frame.routine)
    if held is None:
        return value
    return held if member is None else beside(held, value, name, info)


def of_instance(of: Instance, name: str, node: core.Attr, frame: Frame) -> Value:
    info = of.info
    if info is None:
        return UNKNOWN
    above = of.name == "super"
    held = None if above else info.attribute(name, frame.routine, of.settings.get(f".{name}") if of.settings else None)
    member = info.find(name, above)
    if member is not None and (above or member[1] is not info) and library_first(info, name, member[1], frame):
        return Bound(of, name)
    if member is not None:
        value = member[0]
        if type(value) is Call and value.receiver is None:
            kinds = decorators(value)
            if "property" in kinds:
                return calls.invoke(Call(value.routine, of), [], {}, node.at, (), frame)
            value = bound(value, kinds, of, info)
        held = beside(held, chosen_later(value, name, info, node, frame), name, info)
    elif held is None and not above and not frame.routine.host:
        held = below(of, info, name, frame.routine)
    if type(held) is Table and held.element is UNKNOWN:
        held = filled_above(held, of, name, node.at, frame)
    if held is not None and (held is not UNKNOWN or (of.device == "host" and not info.is_module)):
        return kept(of, held, name, node, frame)
    if name == "__class__":
        return ClassOf(info)
    for base in info.libraries():
        op = frame.world.op(f"{base}.{name}")
        if op is not None:
            return apply(frame, op, node.at, [of], {}, ()) if frame.world.is_property(op) else Bound(of, name)
    places = frame.world.places
    if places.is_("names", "devices", name):
        return Host("device:assumed")
    if places.is_("names", "dtypes", name):
        return Host("dtype")
    return by_uses(of, name, held is None and not above, node, frame)


def by_uses(of: Instance, name: str, untold: bool, node: core.Attr, frame: Frame) -> Value:
    """What its uses prove an attribute to be, unless a method that has not run yet tells more of what is `untold`."""
    known = frame.world.evidence(node.path, name, frame, node.at)
    if type(known) is Tensor and untold and of.info is not None and frame.world.awaited(of.info, name, frame):
        return of_instance(of, name, node, frame)
    return known if known is not None else Bound(of, name)


def kept(of: Instance, held: Value, name: str, node: core.Attr, frame: Frame) -> Value:
    """What an attribute of an instance holds, of what is known to have been assigned to it."""
    if held is UNKNOWN:
        return Unknown(batch=frame.why("placed", node.at))
    if any(type(option) is not Unknown and option is not NONE for option in options(held)):
        return held_there(of, held)
    asked = frame.world.evidence(node.path, name, frame, node.at)  # who uses it knows what None was replaced by
    return held if asked is None else held_there(of, asked)


def chosen_later(value: Value, name: str, info: ClassInfo, node: core.Attr, frame: Frame) -> Value:
    """The same; of a declared device that is the CPU, that it is so unless who makes an instance gives another, and of
    a declared number that is zero, that it is some number: a size is set before anything is made of it."""
    if type(value) is not Const:
        return value
    if type(value.value) is int:
        return Host("int") if not value.value and name in info.fields() else value
    if type(value.value) is not str or not frame.world.places.is_("names", "devices", name):
        return value
    left = device_of(value) == "host" and name in info.fields()
    return Host(LEFT_ON_HOST, frame.why("left on host", node.at)) if left else value


def beside(held: Value | None, value: Value, name: str, info: ClassInfo) -> Value:
    """What methods assign, and what the class says: with `x = None` it only declares what they will assign."""
    if held is None:
        held = value
    elif held is NONE or value is not NONE:
        held = join(held, value)
    return info.expected(name) if held is NONE else held


def library_first(info: ClassInfo, name: str, owner: ClassInfo, frame: Frame) -> bool:
    """Whether an imported base that has this method stands before the class of the project that has it, too."""
    for base in info.bases:
        if type(base) is Named and frame.world.op(f"{base.name}.{name}") is not None:
            return True
        if type(base) is ClassOf and owner in base.info.mro:
            return base.info is not owner and library_first(base.info, name, owner, frame)
    return False


def bound(method: Call, kinds: tuple[str, ...], of: Instance, info: ClassInfo) -> Call:
    """A method asked of an instance, with the receiver that its decorators give it."""
    if "staticmethod" in kinds:
        return method
    return Call(method.routine, ClassOf(info) if "classmethod" in kinds else of)


def of_unknown(of: Unknown, name: str, node: core.Attr, frame: Frame) -> Value:
    places = frame.world.places
    if places.is_("names", "devices", name):
        return Host("device:assumed")
    if places.is_("names", "host_attributes", name):
        return Tensor(device="host", sure=False, why=frame.why("use", node.at))  # a DeviceMesh keeps its ranks here
    if of.weak is not None:
        op = frame.world.op(f"torch.Tensor.{name}")
        if op is None:
            return unheld(of, name, of.weak, frame)
        if not frame.world.is_property(op):
            return Bound(of, name)
        if op.returns.startswith(("size", "int", "bool", "dtype")):
            return apply(frame, op, node.at, [Tensor(sure=False, why=of.weak)], {}, ())
        return Unknown(of.weak)
    if of.batch is not None:
        op = frame.world.op(f"torch.Tensor.{name}")
        if op is not None and op.returns.startswith("size") and frame.world.is_property(op):
            return apply(frame, op, node.at, [Tensor(device="host", sure=False, why=of.batch)], {}, ())
        asked = name in ("items", "get", "pop", "copy") or (op is not None and not frame.world.is_property(op))
        return Bound(of, name) if asked else of
    known = frame.world.evidence(node.path, name, frame, node.at)
    if known is not None:
        return known
    world = frame.world
    asked = name in world.tensor_names and cast(node.of, name, frame)
    asked = asked or bool(world.proof(frozenset((name,)), frame))
    if asked and not world.namespace(node.path.rpartition(".")[0]):
        return Bound(Tensor(device=world.place(frame.routine), sure=False, why=frame.why("use", node.at)), name)
    return Bound(of, name)


def cast(node: Node, name: str, frame: Frame) -> bool:
    """Whether this is `x.float()` that goes on as no module does, or `x.eq(0)`: an array has no such method."""
    if type(node) is not CALL or type(node.fn) is not ATTR:
        return False
    is_op, places = frame.world.op, frame.world.places
    if len(node.args) == 1 and places.is_("names", "compared", node.fn.name):
        return frame.world.computes_torch(frame) and not frame.world.has_tables(frame)
    return not node.args and places.is_("names", "casts", node.fn.name) and is_op(f"torch.nn.Module.{name}") is None


def decorators(value: Call) -> tuple[str, ...]:
    """The last names of a function's decorators."""
    node = value.routine.node
    if type(node) is not FUNCTION:
        return ()
    names = []
    for decorator in node.decorators:
        target = decorator.fn if type(decorator) is CALL else decorator
        last = target.id if type(target) is NAME else target.name if type(target) is ATTR else ""
        names.append("property" if last in ("cached_property", "lazy_property", "abstractproperty", "setter") else last)
    return tuple(names)
