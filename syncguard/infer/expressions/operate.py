"""An operator and the values on its sides in, its value out."""

from __future__ import annotations

from typing import Any, Final

from syncguard.infer.domain.contents import holds_tensor, tensor_in
from syncguard.infer.domain.lattice import join, join_all
from syncguard.infer.domain.sureness import LIKELY, tensor_sureness
from syncguard.infer.domain.values import (
    NONE,
    SHAPES,
    UNKNOWN,
    Call,
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
    Why,
    kind_of,
    options,
)
from syncguard.infer.expressions.beside_host import beside
from syncguard.infer.expressions.beside_unknown import note
from syncguard.infer.operations.apply import apply
from syncguard.infer.operations.kin import as_tensor
from syncguard.infer.operations.targets import begun
from syncguard.infer.routine import Frame
from syncguard.read import core
from syncguard.read.core import COMPARISONS, At, Node
from syncguard.read.tags import ATTR, DO, INDEX, SEQ, SLICE

OPERATORS: Final = {
    "+": "__add__", "-": "__sub__", "*x": "__mul__", "/": "__truediv__", "//": "__floordiv__", "%": "__mod__",
    "**": "__pow__", "@": "__matmul__", "<<": "__lshift__", ">>": "__rshift__", "|": "__or__", "^": "__xor__",
    "&": "__and__", "==": "__eq__", "!=": "__ne__", "<": "__lt__", "<=": "__le__", ">": "__gt__", ">=": "__ge__",
    "~": "__invert__", "neg": "__neg__", "pos": "__pos__",
}  # fmt: skip
TAKE_NONE: Final = ("==", "!=", "|", "%")  # `int | None`, `"%s" % None`; with all others None is an error
ENUMS: Final = ("enum.Enum", "enum.Flag", "enum.StrEnum")


def binary(what: str, left: Value, right: Value, at: At, nodes: tuple[Node, ...], frame: Frame) -> Value:
    """`left op right`: a tensor on either side makes it torch's."""
    if type(left) is not Union and type(right) is not Union:
        return operate(what, left, right, at, nodes, frame)
    pairs = [(a, b) for a in options(left) for b in options(right)]
    if what == "*x" and not (_list(left) or _list(right)):
        pairs = [pair for pair in pairs if not _repeats(*pair)] or pairs  # a tensor is a factor of what may be a number
    if what not in TAKE_NONE or what in ("==", "!="):  # a program that compares what is None does not ask that for more
        pairs = [pair for pair in pairs if NONE not in pair] or pairs
    found = [operate(what, a, b, at, nodes, frame) for a, b in pairs]
    if what not in COMPARISONS or (_either(left) and _either(right)):  # beside what is known, a declared one is meant
        found = [_as_sure(made, a, b) for made, (a, b) in zip(found, pairs, strict=True)]
    known = [value for value in found if value is not UNKNOWN] or [UNKNOWN]
    return join_all(known)


def _list(value: Value) -> bool:
    """Whether this is a list, and nothing else."""
    return all(type(option) is Seq for option in options(value))


def _either(value: Value) -> bool:
    """Whether this is declared to be a tensor or a number."""
    return any(type(option) is Tensor and option.either for option in options(value))


def _as_sure(made: Value, a: Value, b: Value) -> Value:
    """What is made of what is declared to be a tensor or a number is one or the other, too."""
    tensors = [side for side in (a, b) if type(side) is Tensor]
    told = bool(tensors) and all(side.either for side in tensors)
    return made.but(either=True) if told and type(made) is Tensor else made


def _repeats(a: Value, b: Value) -> bool:
    """Whether this repeats a list as often as a tensor tells."""
    return (type(a) is Seq and type(b) is Tensor) or (type(a) is Tensor and type(b) is Seq)


def operate(what: str, a: Value, b: Value, at: At, nodes: tuple[Node, ...], frame: Frame) -> Value:
    """`a op b` of two values that are no unions."""
    if type(a) is not Instance and type(b) is not Instance:
        return built_in(what, a, b, at, nodes, frame)
    own = overloaded(what, a, b, at, frame)
    if own is not None:
        return own
    a, b = as_tensor(a, OPERATORS.get(what, "")), as_tensor(b, OPERATORS.get(what, ""))
    return built_in(what, a, b, at, nodes, frame)


def built_in(what: str, a: Value, b: Value, at: At, nodes: tuple[Node, ...], frame: Frame) -> Value:
    """The same where no class of the project has a method for it."""
    if what == "*x" and (type(a) is Seq or type(b) is Seq):
        repeats, of, node = (a, b, nodes[:1]) if type(b) is Seq else (b, a, nodes[1:])
        if type(of) is Seq and type(repeats) is Tensor and not holds_tensor(of):
            # `[0] * n` asks the tensor for its number.
            apply(frame, frame.world.row("torch.Tensor.__index__"), at, [repeats], {}, node)
            return Seq(of.kind, None, of.element)
    if type(a) is Tensor or type(b) is Tensor:
        return with_tensor(what, a, b, at, nodes, frame)
    match a, b:
        case Const(), Const() if (
            what in ("+", "-", "*x", "<", ">", "==", "<=", ">=", "!=")
            and isinstance(a.value, (int, float))
            and isinstance(b.value, (int, float))
        ):
            return fold(what, a.value, b.value)
        case Unknown(), Unknown() if what in ("&", "|") and all(map(compares, nodes)) and frame.world.only_torch(frame):
            # `(a < x) & (x < b)`: of mere numbers one would write `and`.
            return Tensor("bool", frame.world.place(frame.routine), sure=False, why=frame.why("torch only", at))
        case Unknown(), Unknown() if of_arrays(what, a, b, nodes) and frame.world.only_torch(frame):
            return Tensor("", frame.world.place(frame.routine), sure=False, why=frame.why("torch only", at))
        case (Unknown(), _) | (_, Unknown()):
            return with_unknown(what, a, b)
        case Seq(), Seq() if what == "+":
            return (
                Seq(a.kind, None, join(a.element, b.element), first=a.first)
                if a.items is None or b.items is None
                else Seq(a.kind, (*a.items, *b.items))
            )
        case Table(), Table() if what == "|":
            return Table({**a.items, **b.items}, join(a.element, b.element), join(a.keys, b.keys))
        case (Seq(), _) if what == "*x":
            return Seq(a.kind, None, a.element)
        case (_, Seq()) if what == "*x":
            return Seq(b.kind, None, b.element)
        case (Const(), _) if what == "%" and isinstance(a.value, str):
            if tensor_sureness(b):
                apply(frame, frame.world.row("torch.Tensor.__format__"), at, [b], {}, nodes[1:])
            return begun(a)
    item_by_item(what, a, b, at, nodes, frame)
    return on_host(what, a, b)


def with_unknown(what: str, a: Value, b: Value) -> Value:
    """`a op b`, one of which is unknown: what was read off the device is computed with as a number."""
    weak = (type(a) is Unknown and a.weak) or (type(b) is Unknown and b.weak) or None
    batch = (type(a) is Unknown and a.batch) or (type(b) is Unknown and b.batch) or None
    if weak or batch:
        return Unknown(weak, batch)
    read = _read(a) or _read(b)
    return Host("number", read) if read is not None and what not in COMPARISONS else UNKNOWN


def overloaded(what: str, a: Value, b: Value, at: At, frame: Frame) -> Value | None:
    """What a class of the project makes of an operator by a method of its own; None where neither side has one."""
    name = OPERATORS.get(what, "")
    reflected = "" if what in COMPARISONS else name.replace("__", "__r", 1)
    for of, method, other in ((a, name, b), (b, reflected, a)):
        member = of.info.find(method) if type(of) is Instance and of.info is not None and method else None
        if member is not None and type(member[0]) is Call:
            return frame.world.call(member[0].routine, of, [other], {}, at, frame)
    return None


def item_by_item(what: str, a: Value, b: Value, at: At, nodes: tuple[Node, ...], frame: Frame) -> None:
    """Two tuples, or a shape and a tuple, are equal if their items are, of which each two are asked."""
    for one, other in ((a, b), (b, a)) if what in ("==", "!=") else ():
        if type(one) is not Seq or one.items is None or not (kind(other) in SHAPES or _as_long(one, other)):
            continue
        for i, item in enumerate(one.items):
            beside = other.items[i] if type(other) is Seq and other.items is not None else UNKNOWN
            asked = tensor_in(item)
            if asked is not None and beside is not item and not _no_tensor(beside):
                asked = asked if asked is item else asked.but(sure=False)
                apply(frame, frame.world.row("torch.Tensor.__bool__"), at, [asked], {}, nodes[:1])
                return


def _no_tensor(value: Value) -> bool:
    """Whether a tensor is compared with this by Python, which says no."""
    return value is NONE or kind(value) == "str" or type(value) in (Seq, Table, Instance)


def _as_long(one: Seq, other: Value) -> bool:
    """Whether two sequences may be equal: of one kind, and not known to be of different lengths."""
    if type(other) is not Seq or other.kind != one.kind:
        return False
    return other.items is None or len(other.items) == len(one.items or ())


def compares(node: Node) -> bool:
    """Whether an expression is a comparison, or the opposite or several of them."""
    return type(node) is DO and (
        node.what in COMPARISONS or (node.what in ("&", "|", "~") and all(map(compares, node.args)))
    )


def of_arrays(what: str, a: Unknown, b: Unknown, nodes: tuple[Node, ...]) -> bool:
    """Whether nothing of Python's own is computed with so: it has no `@`, and of two ranges of something, as in
    `ends[1:] - ends[:-1]`, takes neither from the other. What a loader gave is on the host."""
    if what == "@":
        return True
    return what in ("-", "/", "//", "**") and a.batch is None and b.batch is None and all(map(_range, nodes))


def _range(node: Node) -> bool:
    """Whether this takes a range of something: `x[1:]`, `x[:, 2:]`, of neither of which an item is left."""
    parts = () if type(node) is not INDEX else node.key.items if type(node.key) is SEQ else (node.key,)
    return any(type(part) is SLICE for part in parts)


def on_host(what: str, a: Value, b: Value) -> Value:
    """`a op b` of two values that are no tensors, by their kinds."""
    if what in COMPARISONS and type(a) is Instance:
        return UNKNOWN
    if what in COMPARISONS:
        return Host("array") if "array" in (kind(a), kind(b)) else Host("bool")
    kinds = {kind(a), kind(b)}
    if what == "+" and not kinds.isdisjoint(SHAPES) and (longer := _longer(a, b)) is not None:
        return longer
    if "array" in kinds:
        return Host("array")
    if kinds <= {"int", "float", "bool", "number", "size"}:
        return Host(
            "float" if what == "/" or "float" in kinds else "int" if kinds <= {"int", "bool", "size"} else "number",
            _read(a) or _read(b),
        )
    return (begun(a) if what == "+" else Host("str")) if kinds == {"str"} else UNKNOWN


def _longer(a: Value, b: Value) -> Value | None:
    """What a shape and another, or a tuple, are together; None where one side is neither."""
    for one, other in ((a, b), (b, a)):
        if kind(one) in SHAPES and type(other) is Seq:
            return Seq("tuple", None, join(other.element, Host("int"))) if holds_tensor(other) else Host("shape")
    return Host("shape") if kind(a) in SHAPES and kind(b) in SHAPES else None


def with_tensor(what: str, a: Value, b: Value, at: At, nodes: tuple[Node, ...], frame: Frame) -> Value:
    """`a op b`, one of which is a tensor."""
    tensor, other = (a, b) if type(a) is Tensor else (b, a)
    assert type(tensor) is Tensor
    if what == "%" and tensor is b and kind(a) == "str":
        apply(frame, frame.world.row("torch.Tensor.__format__"), at, [b], {}, nodes[1:])
        return Host("str")
    if type(other) is Named and _spelt_as_number(other.name, what):
        a, b, other = (tensor, UNKNOWN, UNKNOWN) if tensor is a else (UNKNOWN, tensor, UNKNOWN)
    if (
        other is NONE
        or (type(other) is Const and isinstance(other.value, str))
        or type(other) in (Named, ClassOf, Table)
        or (type(other) is Seq and what in ("==", "!="))  # torch leaves this one to Python, which says no
    ):
        return Host("bool") if what in ("==", "!=") else UNKNOWN
    if what in ("==", "!=") and len(nodes) == 2 and _of_enum(nodes[1 if tensor is a else 0], frame):
        return Host("bool")
    if type(other) is Instance:
        return Unknown(tensor.why)
    if type(other) is Seq and what not in COMPARISONS and type(a) is not Tensor:
        return UNKNOWN
    result = apply(frame, frame.world.row(f"torch.Tensor.{OPERATORS[what]}"), at, [a, b], {}, nodes)
    if type(a) is Tensor and type(b) is Tensor:
        beside(a, b, nodes, frame)
    elif len(nodes) == 2 and what not in ("==", "!="):
        note(tensor, other, nodes[1 if tensor is a else 0], frame)
    if type(result) is Tensor and type(a) is Tensor and type(b) is Tensor:
        return result.but(rank=max(a.rank, b.rank) if a.rank >= 0 and b.rank >= 0 else -1)
    if type(result) is Tensor and type(other) in (Const, Host):
        return result.but(rank=tensor.rank)
    return result


def _spelt_as_number(name: str, what: str) -> bool:
    """Whether what is imported from somewhere else is called as a number is, `consts.PAD`, `Result.BUSY.value`; not a
    member of what may be an Enum, `Stage.TRAIN`, which no tensor is equal to."""
    of, _, last = name.rpartition(".")
    owner = of.rpartition(".")[2]
    if last == "value":
        return owner.isupper()
    return last.isupper() and (what not in ("==", "!=") or owner == owner.lower())


def _of_enum(node: Node, frame: Frame) -> bool:
    """Whether this names a member of an Enum that is no number, `Stage.TRAIN`: no tensor is equal to one."""
    from syncguard.infer.expressions.evaluate import quiet_value

    of = quiet_value(node.of, frame) if type(node) is ATTR else UNKNOWN
    return type(of) is ClassOf and any(base in ENUMS for base in of.info.external())


def fold(what: str, a: Any, b: Any) -> Value:
    match what:
        case "+":
            return Const(a + b)
        case "-":
            return Const(a - b)
        case "*x" if abs(a) < 1e9 and abs(b) < 1e9:
            return Const(a * b)
    return Host("bool") if what in COMPARISONS else Host("number")


def kind(value: Value) -> str:
    return value.kind if type(value) is Host else kind_of(value)


def _read(value: Value) -> Why | None:
    return value.read if type(value) is Host else None


def contains(needle: Value, container: Value, node: core.Do, frame: Frame) -> Value:
    row = frame.world.row("torch.Tensor.__contains__")
    if needle is NONE or kind(needle) == "str":  # torch leaves the comparison with these to Python, which says no
        return Host("bool")
    for option in options(container):
        if type(option) is Tensor and option.on_device:
            apply(frame, row, node.at, [option, needle], {}, (node.args[1], node.args[0]))
        elif (
            type(option) is Seq
            and option.kind != "set"
            and (tensor_sureness(needle) >= LIKELY or tensor_sureness(option.element) >= LIKELY)
            and option.items != ()
            and kind(option.element) != "str"
        ):
            sure = tensor_sureness(needle) >= LIKELY
            subject, of = (needle, node.args[0]) if sure else (option.element, node.args[1])
            apply(frame, row, node.at, [subject], {}, (of,))
    return Host("bool")


def unary(what: str, value: Value, node: core.Do, frame: Frame) -> Value:
    value = as_tensor(value, OPERATORS.get(what, ""))
    own = value.info.find(OPERATORS[what]) if type(value) is Instance and value.info is not None else None
    if own is not None and type(own[0]) is Call:
        return frame.world.call(own[0].routine, value, [], {}, node.at, frame)
    match value:
        case Tensor():
            return apply(frame, frame.world.row(f"torch.Tensor.{OPERATORS[what]}"), node.at, [value], {}, node.args)
        case Const() if what == "neg" and isinstance(value.value, (int, float)):
            return Const(-value.value)
        case Const() | Host():
            return Host(kind_of(value)) if type(value) is Const else value
    return value if type(value) is Unknown else UNKNOWN
