"""An expression and a frame in, its value out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from syncguard.infer import attributes, calls
from syncguard.infer.apply import apply
from syncguard.infer.conditions import CERTAIN, MASKS, POSSIBLE, tensor_sureness
from syncguard.infer.narrow import narrowed, off_device
from syncguard.infer.routine import Frame, Step
from syncguard.infer.values import (
    FALSE,
    NONE,
    TRUE,
    UNKNOWN,
    Alias,
    Bound,
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
    join,
    join_all,
    kind_of,
    options,
    tensor_in,
    without,
)  # fmt: skip
from syncguard.read import core
from syncguard.read.core import At, Node

OPERATORS = {
    "+": "__add__", "-": "__sub__", "*x": "__mul__", "/": "__truediv__", "//": "__floordiv__", "%": "__mod__",
    "**": "__pow__", "@": "__matmul__", "<<": "__lshift__", ">>": "__rshift__", "|": "__or__", "^": "__xor__",
    "&": "__and__", "==": "__eq__", "!=": "__ne__", "<": "__lt__", "<=": "__le__", ">": "__gt__", ">=": "__ge__",
    "~": "__invert__", "neg": "__neg__", "pos": "__pos__",
}  # fmt: skip
TYPES = ("typing.", "typing_extensions.", "builtins.", "collections.abc.", "jaxtyping.")
LONGEST = 40  # items of a display that are told apart
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")


def value_of(node: Node, frame: Frame) -> Value:
    """What we know of an expression, here."""
    value = EVALUATE[type(node)](node, frame)
    if frame.world.watch is not None:
        frame.world.watch(frame, node, value)
    return value


def const(node: core.Const, frame: Frame) -> Value:
    value = node.value
    return NONE if value is None else TRUE if value is True else FALSE if value is False else Const(value)


def name(node: core.Name, frame: Frame) -> Value:
    return frame.lookup(node.id)


def attr(node: core.Attr, frame: Frame) -> Value:
    """An attribute that is not called: what we cannot look up is unknown, not a method."""
    value = member(node, frame)
    if type(value) is Bound:
        return value.of if type(value.of) is Unknown else UNKNOWN if type(value.of) is Instance else value
    if type(value) is Union and any(
        type(option) is Bound and type(option.of) in (Unknown, Instance) for option in value.options
    ):
        return without(value, lambda option: type(option) is Bound and type(option.of) in (Unknown, Instance))
    return value


def member(node: core.Attr, frame: Frame) -> Value:
    if node.path:
        known = frame.env.get(node.path)
        if known is not None:
            return known
    return attributes.attribute(value_of(node.of, frame), node.name, node, frame)


def slice_(node: core.Slice, frame: Frame) -> Value:
    return Seq("slice", tuple([value_of(bound, frame) for bound in node.bounds]))


def index(node: core.Index, frame: Frame) -> Value:
    of, key = value_of(node.of, frame), value_of(node.key, frame)
    if type(of) is not Union:
        return item(of, key, node, frame)
    return join_all([item(option, key, node, frame) for option in of.options if option is not NONE] or [UNKNOWN])


def item(of: Value, key: Value, node: core.Index, frame: Frame) -> Value:
    match of:
        case Tensor() if kind(key) == "str":  # so it is no tensor, but a container of them
            return Unknown(of.why)
        case Tensor():
            result = apply(
                frame, frame.world.row("torch.Tensor.__getitem__"), node.at, [of, key], {}, (node.of, node.key)
            )
            return indexed(of, key, result)
        case Seq():
            read_index(key, node, frame)
            if type(key) is Seq and key.kind == "slice":
                return Seq(of.kind, None, of.element)
            if (
                type(key) is Const
                and isinstance(key.value, int)
                and of.items is not None
                and -len(of.items) <= key.value < len(of.items)
            ):
                return of.items[key.value]
            return of.element
        case Table():
            if type(key) is Const and isinstance(key.value, (str, int, float, bool)):
                return of.items.get(key.value, of.element)
            return join_all([of.element, *of.items.values()]) if of.element is not UNKNOWN or of.items else UNKNOWN
        case Const() | Host():
            if type(of) is Host and of.kind in ("size", "shape"):
                read_index(key, node, frame)
                return Host("shape" if type(key) is Seq else "int")
            return (
                Host("str")
                if kind_of(of) == "str"
                else of
                if type(of) is Host and of.kind in ("array", "str", "object")
                else UNKNOWN
            )
        case ClassOf() | Named():
            return Alias(node, frame) if type(of) is Named and of.name.startswith(TYPES) else of
        case Instance():
            return calls.method(of, "__getitem__", [key], {}, node.at, (node.key,), frame)
        case Unknown():
            masked = (
                tensor_in(key)
                if type(key) is not Seq
                else next((t for part in (key.items or ()) if (t := tensor_in(part))), None)
            )
            if masked is not None and masked.on_device:
                if type(key) is Tensor and masked.rank == 0 and masked.dtype == "int":
                    read_index(key, node, frame)  # a list or a tensor: either reads it
                    return of
                # Any other index makes `of` a tensor: nothing else can be indexed by a tensor on the device.
                base = Tensor(device=masked.device, sure=False, why=of.weak or masked.why)
                return apply(
                    frame, frame.world.row("torch.Tensor.__getitem__"), node.at, [base, key], {}, (node.of, node.key)
                )
            return of
    return UNKNOWN


def read_index(key: Value, node: core.Index, frame: Frame) -> None:
    """A list, tuple or shape reads a tensor that indexes it; a mask or several indices would be an error."""
    tensor = tensor_in(key)
    if tensor is not None and tensor_sureness(key) and tensor.dtype not in MASKS:
        apply(frame, frame.world.row("torch.Tensor.__index__"), node.at, [key], {}, (node.key,))


def indexed(of: Tensor, key: Value, result: Value) -> Value:
    """The rank after a subscript, where both ranks are known."""
    if type(result) is not Tensor:
        return result
    parts = key.items if type(key) is Seq and key.kind == "tuple" and key.items is not None else (key,)
    rank = of.rank
    for part in parts:
        if type(part) is Const and part.value is None:
            rank += rank >= 0
        elif (type(part) is Const and isinstance(part.value, int)) or (
            type(part) is Host and part.kind in ("int", "number", "size")
        ):
            rank -= rank >= 0
        elif (type(part) is Seq and part.kind == "slice") or (type(part) is Const and part.value is ...):
            continue
        else:
            rank = -2
    scalar = rank if rank >= 0 else -1
    return result.but(rank=scalar, dtype=of.dtype)


def call(node: core.Call, frame: Frame) -> Value:
    fn = member(node.fn, frame) if type(node.fn) is core.Attr else value_of(node.fn, frame)
    args: list[Value] = []
    nodes: list[Node] = []
    for part in node.args:
        value = value_of(part, frame)
        if type(part) is core.Do and part.what == "*":
            if type(value) is Seq and value.items is not None:
                args += value.items
                nodes += [part] * len(value.items)
                continue
            value = element_of(value, node.at, frame)
        args.append(value)
        nodes.append(part)
    keywords: dict[str, Value] = {}
    for key, part in node.keywords:
        value = value_of(part, frame)
        if key:
            keywords[key] = value
        elif type(value) is Table:
            keywords.update({str(name): held for name, held in value.items.items()})
            if value.element is not UNKNOWN or not value.items:
                keywords["**"] = UNKNOWN
        else:
            keywords["**"] = UNKNOWN
    receiver = (node.fn.of,) if type(node.fn) is core.Attr else ()
    bound = any(type(option) is Bound for option in options(fn))
    return calls.invoke(fn, args, keywords, node.at, (*receiver, *nodes) if bound else tuple(nodes), frame)


def do(node: core.Do, frame: Frame) -> Value:
    what = node.what
    if what in ("truth", "not"):
        return truth(node, frame)
    args = [value_of(arg, frame) for arg in node.args]
    match what:
        case "format":
            if tensor_sureness(args[0]):
                apply(frame, frame.world.row("torch.Tensor.__format__"), node.at, args[:1], {}, node.args[:1])
            return Host("str")
        case "join":
            return Host("str")
        case "*" | "await":
            return args[0]
        case "yield" | "yield from":
            value = args[0] if args else NONE
            value = value if what == "yield" else element_of(value, node.at, frame)
            frame.yielded = value if frame.yielded is None else join(frame.yielded, value)
            return UNKNOWN
        case "is" | "is not":
            return Host("bool")
        case "in" | "not in":
            return contains(args[0], args[1], node, frame)
        case "unknown":
            return UNKNOWN
    if what == "|" and all(type(arg) in (Named, ClassOf, Alias) or arg is NONE for arg in args):
        return Alias(node, frame)
    if len(args) == 1:
        return join_all([unary(what, option, node, frame) for option in options(args[0])])
    return binary(what, args[0], args[1], node.at, node.args, frame)


def truth(node: core.Do, frame: Frame) -> Value:
    """Python asks `bool()` of the operand."""
    operand = node.args[0]
    value = value_of(operand, frame)
    if node.what == "not" and type(operand) is core.Do and operand.what in ("truth", "not"):
        return FALSE if value is TRUE else TRUE if value is FALSE else Host("bool")
    if type(operand) is core.Either:
        return Host("bool")
    tensor = tensor_in(value)
    if tensor is not None:
        optional = any(option is NONE for option in options(value))
        if tensor.on_device or tensor.pending:
            frame.limit = POSSIBLE if optional else CERTAIN
            apply(frame, frame.world.row("torch.Tensor.__bool__"), node.at, [value], {}, node.args)
            frame.limit = CERTAIN
        return Host("bool", tensor.why)
    if type(value) is Const:
        return TRUE if value.value else FALSE
    return Host("bool")


def contains(needle: Value, container: Value, node: core.Do, frame: Frame) -> Value:
    row = frame.world.row("torch.Tensor.__contains__")
    for option in options(container):
        if type(option) is Tensor and option.on_device and kind(needle) != "str":
            apply(frame, row, node.at, [option, needle], {}, (node.args[1], node.args[0]))
        elif (
            type(option) is Seq
            and option.kind != "set"
            and (tensor_sureness(needle) > 1 or tensor_sureness(option.element) > 1)
            and option.items != ()
        ):
            subject, of = (needle, node.args[0]) if tensor_sureness(needle) > 1 else (option.element, node.args[1])
            apply(frame, row, node.at, [subject], {}, (of,))
    return Host("bool")


def unary(what: str, value: Value, node: core.Do, frame: Frame) -> Value:
    match value:
        case Tensor():
            return apply(frame, frame.world.row(f"torch.Tensor.{OPERATORS[what]}"), node.at, [value], {}, node.args)
        case Const() if what == "neg" and isinstance(value.value, (int, float)):
            return Const(-value.value)
        case Const() | Host():
            return Host(kind_of(value)) if type(value) is Const else value
    return value if type(value) is Unknown else UNKNOWN


def binary(what: str, left: Value, right: Value, at: At, nodes: tuple[Node, ...], frame: Frame) -> Value:
    """`left op right`: a tensor on either side makes it torch's."""
    if type(left) is not Union and type(right) is not Union:
        return operate(what, left, right, at, nodes, frame)
    found = [operate(what, a, b, at, nodes, frame) for a in options(left) for b in options(right)]
    known = [value for value in found if value is not UNKNOWN] or [UNKNOWN]
    return join_all(known)


def operate(what: str, a: Value, b: Value, at: At, nodes: tuple[Node, ...], frame: Frame) -> Value:
    if type(a) is Tensor or type(b) is Tensor:
        other = b if type(a) is Tensor else a
        if (
            other is NONE
            or (type(other) is Const and isinstance(other.value, str))
            or type(other) in (Named, ClassOf, Table)
        ):
            return Host("bool") if what in ("==", "!=") else UNKNOWN
        if type(other) is Instance:
            return Unknown(a.why if type(a) is Tensor else b.why)  # type: ignore[attr-defined]
        if type(other) is Seq and what not in COMPARISONS and type(a) is not Tensor:
            return UNKNOWN
        result = apply(frame, frame.world.row(f"torch.Tensor.{OPERATORS[what]}"), at, [a, b], {}, nodes)
        if type(result) is Tensor and type(a) is Tensor and type(b) is Tensor:
            return result.but(rank=max(a.rank, b.rank) if a.rank >= 0 and b.rank >= 0 else -1)
        first = a if type(a) is Tensor else b
        if type(result) is Tensor and type(other) in (Const, Host):
            return result.but(rank=first.rank)  # type: ignore[attr-defined]
        return result
    match a, b:
        case Const(), Const() if (
            what in ("+", "-", "*x", "<", ">", "==", "<=", ">=", "!=")
            and isinstance(a.value, (int, float))
            and isinstance(b.value, (int, float))
        ):
            return fold(what, a.value, b.value)
        case (Unknown(), _) | (_, Unknown()):
            weak = (type(a) is Unknown and a.weak) or (type(b) is Unknown and b.weak) or None
            batch = (type(a) is Unknown and a.batch) or (type(b) is Unknown and b.batch) or None
            return Unknown(weak, batch) if weak or batch else UNKNOWN
        case Seq(), Seq() if what == "+":
            return (
                Seq(a.kind, None, join(a.element, b.element))
                if a.items is None or b.items is None
                else Seq(a.kind, (*a.items, *b.items))
            )
        case (Seq(), _) if what == "*x":
            return Seq(a.kind, None, a.element)
        case (_, Seq()) if what == "*x":
            return Seq(b.kind, None, b.element)
        case (Const(), _) if what == "%" and isinstance(a.value, str):
            if tensor_sureness(b):
                apply(frame, frame.world.row("torch.Tensor.__format__"), at, [b], {}, nodes[1:])
            return Host("str")
    if what in COMPARISONS and type(a) is Instance:
        return UNKNOWN
    if what in COMPARISONS:
        return Host("array") if "array" in (kind(a), kind(b)) else Host("bool")
    kinds = {kind(a), kind(b)}
    if "array" in kinds:
        return Host("array")
    if kinds <= {"int", "float", "bool", "number", "size"}:
        return Host(
            "float" if what == "/" or "float" in kinds else "int" if kinds <= {"int", "bool", "size"} else "number",
            _read(a) or _read(b),
        )
    return Host("str") if kinds == {"str"} else UNKNOWN


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


def either(node: core.Either, frame: Frame) -> Value:
    """Each operand is reached only if those before it let it be."""
    before = dict(frame.env)
    values = []
    quiet = frame.quiet
    for operand in node.operands:
        values.append(value_of(operand, frame))
        frame.quiet += off_device(operand, node.what == "and", frame)
        for key, value in narrowed(operand, node.what == "and", frame).items():
            frame.env[key] = value
    frame.quiet = quiet
    frame.env = {**frame.env, **{key: value for key, value in before.items() if key in frame.env}}
    tested = [v for v, o in zip(values[:-1], node.operands, strict=False) if type(o) is core.Do and o.what == "truth"]
    if tested and not (type(node.operands[-1]) is core.Do and node.operands[-1].what in ("truth", "not")):
        asked = [quiet_value(o.args[0], frame) for o in node.operands[:-1] if type(o) is core.Do and o.what == "truth"]
        if node.what == "or":
            asked = [
                join_all([o for o in options(v) if not (type(o) is Const and not o.value)] or [UNKNOWN]) for v in asked
            ]
        return join_all([*asked, values[-1]])
    return values[-1] if type(values[-1]) in (Host, Const) else Host("bool")


def quiet_value(node: Node, frame: Frame) -> Value:
    frame.quiet += 1
    value = value_of(node, frame)
    frame.quiet -= 1
    return value


def choose(node: core.Choose, frame: Frame) -> Value:
    test = value_of(node.test, frame)
    before = frame.env
    values = []
    offs = []
    for outcome, arm in ((True, node.yes), (False, node.no)):
        frame.env = before
        off = off_device(node.test, outcome, frame)
        frame.env = {**before, **narrowed(node.test, outcome, frame)}
        frame.quiet += off
        values.append(value_of(arm, frame))
        offs.append(off)
        frame.quiet -= off
    yes, no = values
    frame.env = before
    if offs[0] is not offs[1]:  # the device never sees the other one
        return no if offs[0] else yes
    return yes if test is TRUE else no if test is FALSE else join(yes, no)


def seq(node: core.Seq, frame: Frame) -> Value:
    items: list[Value] = []
    counted = True
    for part in node.items:
        value = value_of(part, frame)
        if type(part) is core.Do and part.what == "*":
            if type(value) is Seq and value.items is not None:
                items += value.items
                continue
            value, counted = element_of(value, node.at, frame), False
        items.append(value)
    if not counted or len(items) > LONGEST:
        return Seq(node.kind, None, join_all(items[:LONGEST]))
    return Seq(node.kind, tuple(items))


def table(node: core.Map, frame: Frame) -> Value:
    items: dict[Any, Value] = {}
    rest: list[Value] = []
    for key, part in zip(node.keys, node.values, strict=True):
        value = value_of(part, frame)
        if key is None:
            items, rest = (
                ({**items, **value.items}, [*rest, value.element])
                if type(value) is Table
                else (items, [*rest, UNKNOWN])
            )
            continue
        literal = value_of(key, frame)
        if type(literal) is Const and isinstance(literal.value, (str, int, float, bool)):
            items[literal.value] = value
        else:
            rest.append(value)
    return Table(items, join_all(rest))


def comp(node: core.Comp, frame: Frame) -> Value:
    """A comprehension is a loop whose variables are its own."""
    before = frame.env
    frame.env = dict(before)
    context = frame.context
    for target, iterable, conditions in node.clauses:
        element = element_of(value_of(iterable, frame), iterable.at, frame)
        context = (
            frame.surround(loops=(*frame.context.loops, Step(node.at, ""))) if target is node.clauses[0][0] else context
        )
        assign(target, element, frame)
        for condition in conditions:
            value_of(condition, frame)
            frame.env.update(narrowed(condition, True, frame))
    values = [value_of(part, frame) for part in node.body]
    frame.env, frame.context = before, context
    if node.kind == "dict":
        return Table({}, values[1])
    return Seq(node.kind, None, values[0])


def lambda_(node: core.Function, frame: Frame) -> Value:
    return Call(frame.world.routine(node, frame, None))


def let(node: core.Let, frame: Frame) -> Value:
    value = value_of(node.value, frame)
    assign(node.target, value, frame)
    return value


def assign(target: Node, value: Value, frame: Frame) -> None:
    from syncguard.infer.execute import store

    store(target, value, frame)


def element_of(value: Value, at: At, frame: Frame) -> Value:
    """What iterating over a value gives."""
    if type(value) is not Union:
        return _element(value, at, frame)
    return join_all([_element(option, at, frame) for option in options(value) if option is not NONE] or [UNKNOWN])


def _element(value: Value, at: At, frame: Frame) -> Value:
    match value:
        case Tensor():
            return value.but(rank=value.rank - 1 if value.rank > 0 else -1, why=frame.why("iterate", at, value.why))
        case Seq():
            return value.element
        case Table():
            return value.keys if value.keys is not UNKNOWN else Host("str") if value.items else UNKNOWN
        case Const() | Host():
            return (
                Host("str")
                if kind(value) == "str"
                else Host("int")
                if kind(value) in ("size", "shape")
                else Host("object")
                if kind(value) in ("array", "object")
                else UNKNOWN
            )
        case Instance():
            return calls.iterate(value, at, frame)
        case Unknown():
            return value
    return UNKNOWN


EVALUATE: dict[type, Callable[[Any, Frame], Value]] = {
    core.Const: const, core.Name: name, core.Attr: attr, core.Index: index, core.Slice: slice_, core.Call: call,
    core.Do: do, core.Either: either, core.Choose: choose, core.Seq: seq, core.Map: table, core.Comp: comp,
    core.Function: lambda_, core.Let: let,
}  # fmt: skip
