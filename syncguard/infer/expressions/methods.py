"""A method of Python's containers, texts and arrays in, what it gives out."""

from __future__ import annotations

from typing import Final

from syncguard.infer.domain.lattice import join, join_all
from syncguard.infer.domain.sureness import LIKELY, tensor_sureness
from syncguard.infer.domain.values import (
    NONE,
    SHAPES,
    UNKNOWN,
    Const,
    Host,
    Seq,
    Table,
    Tensor,
    Value,
    keys_of,
    kind_of,
    options,
)
from syncguard.infer.expressions.iterators import called, foremost
from syncguard.infer.operations.apply import apply, by_keyword
from syncguard.infer.operations.targets import begun
from syncguard.infer.routine import Frame
from syncguard.read.core import At, Node

DRAWS: Final = {
    "randint": 2,
    "integers": 2,
    "random": 0,
    "rand": 0,
    "randn": 0,
    "uniform": 2,
    "normal": 2,
}  # to get one number
PUTS: Final = ("put", "put_nowait")  # into a queue
MUTATORS: Final = frozenset(("append", "extend", "insert", "add", "appendleft", "update", "setdefault", *PUTS))


def sequence_method(
    of: Seq, name: str, args: list[Value], keywords: dict[str, Value], at: At, nodes: tuple[Node, ...], frame: Frame
) -> Value:
    if (
        name in ("index", "count", "remove")
        and args
        and args[0] is not NONE
        and (tensor_sureness(args[0]) >= LIKELY or tensor_sureness(of.element) >= LIKELY)
    ):
        subject = args[0] if tensor_sureness(args[0]) >= LIKELY else of.element
        apply(frame, frame.world.row("torch.Tensor.__contains__"), at, [subject], {}, nodes)
        return Host("int")
    if name in ("index", "count"):
        return Host("int")
    if name in ("pop", "insert") and of.kind == "list" and args and tensor_sureness(args[0]) >= LIKELY:
        apply(frame, frame.world.row("torch.Tensor.__index__"), at, args[:1], {}, nodes[1:])
    if name in ("pop", "popleft", "get", "get_nowait", "__next__", "__getitem__"):
        return of.element
    if name == "copy":
        return of
    if name == "sort":
        key = keywords.get("key", NONE)
        return compared(of.element if key is NONE else called(key, [of.element], at, (), frame), at, nodes, frame)
    return NONE if name in MUTATORS or name in ("reverse", "clear", "remove") else UNKNOWN


def compared(item: Value, at: At, nodes: tuple[Node, ...], frame: Frame) -> Value:
    """Sorting asks of each two items which is less."""
    first = foremost(item)
    if tensor_sureness(first):
        apply(frame, frame.world.row("builtins.sorted"), at, [first], {}, nodes[:1])
    return NONE


def grown(of: Value, name: str, args: list[Value], keywords: dict[str, Value], at: At, frame: Frame) -> Value:
    """A container after append, extend, add, insert, update or put."""
    if type(of) is Seq and args:
        from syncguard.infer.expressions.elements import element_of

        put = args[0 if name in PUTS else -1]
        new = element_of(put, at, frame) if name in ("extend", "update") else put
        return Seq(of.kind, None, new if of.items == () else join(of.element, new))
    if type(of) is Table:
        other = args[0] if args else None
        if name == "setdefault" and len(args) == 2:
            return Table(of.items, join(of.element, args[1]) if of.element is not UNKNOWN or of.items else args[1])
        items = {
            **of.items,
            **(other.items if type(other) is Table else {}),
            **{k: v for k, v in keywords.items() if k},
        }
        return Table(
            items,
            join(of.element, other.element) if type(other) is Table and other.element is not UNKNOWN else of.element,
        )
    return of


def table_method(of: Table, name: str, args: list[Value]) -> Value:
    known = join_all([*of.items.values(), *([of.element] if of.element is not UNKNOWN else [])])
    keys = keys_of(of)
    match name:
        case "get" | "pop" | "setdefault":
            held = known
            if args and type(args[0]) is Const and isinstance(args[0].value, (str, int)):
                held = of.items.get(args[0].value) or beside_default(of.element, args)
            elif len(args) > 1 and type(args[1]) in (Seq, Table):
                held = beside_default(known, args)
            return join(held, args[1]) if len(args) > 1 else held
        case "values":
            return Seq("iterator", None, known)
        case "keys":
            return Seq("iterator", None, keys)
        case "items":
            return Seq("iterator", None, Seq("tuple", (keys, known)))
        case "copy":
            return of
    return NONE if name in MUTATORS or name == "clear" else UNKNOWN


def beside_default(element: Value, args: list[Value]) -> Value:
    """An item under a key that nothing was seen to be put under: what has a yes, a no, a text or a list in its place is
    no tensor, though others are."""
    default = args[1] if len(args) > 1 else NONE
    told = type(default) is Const and type(default.value) in (bool, str)
    if not told and type(default) not in (Seq, Table):
        return element
    kinds = options(element)
    others = [kind for kind in kinds if type(kind) is not Tensor]
    plain = Host(kind_of(default)) if type(default) is Const else default
    return element if len(others) == len(kinds) else join_all([*others, plain])


def of_text(name: str) -> Value:
    """What a method of a text gives."""
    if name in ("split", "rsplit", "splitlines"):
        return Seq("list", None, Host("str"))
    if name.startswith(("is", "starts", "ends")):
        return Host("bool")
    return Host("int" if name in ("find", "index", "count") else "str")


def host_method(
    of: Value, name: str, args: list[Value], keywords: dict[str, Value], at: At, nodes: tuple[Node, ...], frame: Frame
) -> Value:
    kind = of.kind if type(of) is Host else kind_of(of)
    if kind == "str":
        if name != "format":
            return of_text(name)
        written = by_keyword(at, frame)
        given = [(value, nodes[place : place + 1]) for place, value in enumerate(args, 1)]
        given += [(value, (written[key],) if key in written else ()) for key, value in keywords.items()]
        shown = next((pair for pair in given if tensor_sureness(pair[0])), None)
        if shown is not None:
            apply(frame, frame.world.row("torch.Tensor.__format__"), at, [shown[0]], {}, shown[1])
        return begun(of)
    if kind == "array":
        if name == "item" or (name in DRAWS and len(args) <= DRAWS[name] and "size" not in keywords):
            return Host("number")
        if frame.world.places.is_("names", "pointers", name) and not (args or keywords):
            return Host("number")  # of all its elements
        return Seq("list", None, Host("number")) if name == "tolist" else Host("array")
    if kind in SHAPES:
        return Host("int") if name == "numel" else Host(kind)
    return Host("object") if kind == "object" else Host(kind)
