"""Python's own functions and the methods of its containers, over abstract values."""

from __future__ import annotations

from collections.abc import Callable

from syncguard.infer.apply import apply
from syncguard.infer.conditions import tensor_sureness
from syncguard.infer.routine import Frame
from syncguard.infer.values import (
    NONE,
    UNKNOWN,
    Call,
    Const,
    Host,
    Instance,
    Named,
    Seq,
    Table,
    Tensor,
    Unknown,
    Value,
    join,
    join_all,
    keys_of,
    kind_of,
    options,
    tensor_in,
)  # fmt: skip
from syncguard.read.core import At, Do, Node

Function = Callable[[list[Value], dict[str, Value], At, tuple[Node, ...], Frame], Value | None]
MUTATORS = frozenset(("append", "extend", "insert", "add", "appendleft", "update", "setdefault"))


def _element(value: Value, at: At, frame: Frame) -> Value:
    from syncguard.infer.evaluate import element_of

    return element_of(value, at, frame)


def _collect(kind: str) -> Function:
    def collected(
        args: list[Value], keywords: dict[str, Value], at: At, nodes: tuple[Node, ...], frame: Frame
    ) -> Value:
        if not args:
            return Seq(kind, ())
        if type(args[0]) is Seq and args[0].items is not None:
            return Seq(kind, args[0].items)
        return Seq(kind, None, _element(args[0], at, frame))

    return collected


def _zip(args: list[Value], keywords: dict[str, Value], at: At, nodes: tuple[Node, ...], frame: Frame) -> Value:
    if len(args) == 1 and type(args[0]) is Seq and args[0].items is not None and _starred(nodes):
        return Seq("tuple", tuple([Seq("tuple", None, item) for item in args[0].items]))  # zip(*pairs) gives columns
    return Seq("iterator", None, Seq("tuple", tuple([_element(arg, at, frame) for arg in args])))


def _starred(nodes: tuple[Node, ...]) -> bool:
    return len(nodes) == 1 and type(nodes[0]) is Do and nodes[0].what == "*"


def _enumerate(args: list[Value], keywords: dict[str, Value], at: At, nodes: tuple[Node, ...], frame: Frame) -> Value:
    return Seq("iterator", None, Seq("tuple", (Host("int"), _element(args[0], at, frame) if args else UNKNOWN)))


def _map(args: list[Value], keywords: dict[str, Value], at: At, nodes: tuple[Node, ...], frame: Frame) -> Value:
    from syncguard.infer.calls import invoke

    return (
        Seq("iterator", None, invoke(args[0], [_element(arg, at, frame) for arg in args[1:]], {}, at, nodes[1:], frame))
        if len(args) > 1
        else UNKNOWN
    )


def _call(fn: Value, args: list[Value], at: At, frame: Frame) -> Value:
    from syncguard.infer.calls import invoke

    return invoke(fn, args, {}, at, (), frame)


def _reduce(args: list[Value], keywords: dict[str, Value], at: At, nodes: tuple[Node, ...], frame: Frame) -> Value:
    element = _element(args[1], at, frame) if len(args) > 1 else UNKNOWN
    result = _call(args[0], [element, element], at, frame) if args else UNKNOWN
    return element if tensor_in(result) is None else result


def _defaultdict(args: list[Value], keywords: dict[str, Value], at: At, nodes: tuple[Node, ...], frame: Frame) -> Value:
    return Table({}, _call(args[0], [], at, frame)) if args and type(args[0]) in (Named, Call) else Table({})


def _filter(args: list[Value], keywords: dict[str, Value], at: At, nodes: tuple[Node, ...], frame: Frame) -> Value:
    element = _element(args[1], at, frame) if len(args) > 1 else UNKNOWN
    if args and args[0] is NONE and tensor_sureness(element):
        apply(frame, frame.world.row("torch.Tensor.__bool__"), at, [element], {}, nodes[1:])
    return Seq("iterator", None, element)


def _first(args: list[Value], keywords: dict[str, Value], at: At, nodes: tuple[Node, ...], frame: Frame) -> Value:
    return _element(args[0], at, frame) if args else UNKNOWN


def _iter(args: list[Value], keywords: dict[str, Value], at: At, nodes: tuple[Node, ...], frame: Frame) -> Value:
    return Seq("iterator", None, _element(args[0], at, frame)) if args else UNKNOWN


def _dict(args: list[Value], keywords: dict[str, Value], at: At, nodes: tuple[Node, ...], frame: Frame) -> Value:
    first = args[0] if args else None
    return Table(
        {**(first.items if type(first) is Table else {}), **{k: v for k, v in keywords.items() if k}},
        first.element if type(first) is Table else UNKNOWN,
    )


def _super(args: list[Value], keywords: dict[str, Value], at: At, nodes: tuple[Node, ...], frame: Frame) -> Value:
    owner = frame.routine.owner
    return Instance(owner, "super") if owner is not None else UNKNOWN


def _getattr(args: list[Value], keywords: dict[str, Value], at: At, nodes: tuple[Node, ...], frame: Frame) -> Value:
    from syncguard.infer.attributes import attribute
    from syncguard.read import core

    if len(args) > 1 and type(args[1]) is Const and isinstance(args[1].value, str):
        found = attribute(args[0], args[1].value, core.Attr(nodes[0], args[1].value, "", at), frame)
        return join(found, args[2]) if len(args) > 2 else found
    return from_weak(args)


def from_weak(args: list[Value]) -> Value:
    return next((a for a in args if type(a) is Unknown and a.weak), UNKNOWN)


def _setattr(args: list[Value], keywords: dict[str, Value], at: At, nodes: tuple[Node, ...], frame: Frame) -> Value:
    if len(args) == 3 and type(args[0]) is Instance and args[0].info is not None and type(args[1]) is Const:
        frame.world.learn(args[0].info, str(args[1].value), args[2])
    return NONE


def _partial(args: list[Value], keywords: dict[str, Value], at: At, nodes: tuple[Node, ...], frame: Frame) -> Value:
    if args and type(args[0]) is Call:
        return Call(args[0].routine, args[0].receiver, (tuple(args[1:]), tuple(keywords.items())))
    return args[0] if args else UNKNOWN


def _fixed(value: Value) -> Function:
    return lambda args, keywords, at, nodes, frame: value


def _extreme(name: str) -> Function:
    """max, min and sorted compare, and a comparison of tensors is tested for truth."""

    def compared(
        args: list[Value], keywords: dict[str, Value], at: At, nodes: tuple[Node, ...], frame: Frame
    ) -> Value | None:
        several = args if len(args) > 1 else [_element(args[0], at, frame)] if args else []
        if any(tensor_in(value) for value in several) and "key" not in keywords:
            apply(frame, frame.world.row(name), at, args, keywords, nodes)
        elif any(type(v) is Host and v.kind == "array" for v in several):
            return Host("array")
        result = join_all(several)
        if "key" in keywords:
            _call(keywords["key"], [result], at, frame)
        return Seq("list", None, result) if name.endswith("sorted") else result

    return compared


def _sum(args: list[Value], keywords: dict[str, Value], at: At, nodes: tuple[Node, ...], frame: Frame) -> Value | None:
    element = _element(args[0], at, frame) if args else UNKNOWN
    if type(element) is Tensor:
        return element.but(
            why=frame.why("builtins.sum", at, element.why), dtype="int" if element.dtype == "bool" else element.dtype
        )
    return Host("number") if type(element) in (Host, Const) and kind_of(element) != "str" else element


def _len(args: list[Value], keywords: dict[str, Value], at: At, nodes: tuple[Node, ...], frame: Frame) -> Value:
    return Host("int")


def _all_any(name: str) -> Function:
    def tested(args: list[Value], keywords: dict[str, Value], at: At, nodes: tuple[Node, ...], frame: Frame) -> Value:
        for option in options(args[0]) if args else ():
            element = option.element if type(option) is Seq else option if type(option) is Tensor else UNKNOWN
            if tensor_sureness(element):
                apply(frame, frame.world.row("torch.Tensor.__bool__"), at, [element], {}, nodes)
        return Host("bool")

    return tested


def _isinstance(args: list[Value], keywords: dict[str, Value], at: At, nodes: tuple[Node, ...], frame: Frame) -> Value:
    return Host("bool")


def _cast(args: list[Value], keywords: dict[str, Value], at: At, nodes: tuple[Node, ...], frame: Frame) -> Value:
    """typing.cast: the type is believed, where it says anything."""
    from syncguard.infer.annotations import promised

    if len(args) < 2:
        return UNKNOWN
    told = promised(nodes[0], frame, frame.world.place(frame.routine))
    return args[1] if told is UNKNOWN or (type(args[1]) is Tensor and type(told) is Tensor) else told


def _copy(args: list[Value], keywords: dict[str, Value], at: At, nodes: tuple[Node, ...], frame: Frame) -> Value | None:
    return args[0] if args and type(args[0]) is not Tensor else None


def _slice(args: list[Value], keywords: dict[str, Value], at: At, nodes: tuple[Node, ...], frame: Frame) -> Value:
    return Seq("slice", tuple(args))


FUNCTIONS: dict[str, Function] = {
    "builtins.list": _collect("list"), "builtins.tuple": _collect("tuple"), "builtins.set": _collect("set"),
    "builtins.frozenset": _collect("set"), "builtins.zip": _zip, "builtins.enumerate": _enumerate, "builtins.map": _map,
    "builtins.filter": _filter, "builtins.next": _first, "builtins.iter": _iter, "builtins.reversed": _iter,
    "builtins.dict": _dict, "collections.OrderedDict": _dict, "builtins.super": _super, "builtins.getattr": _getattr,
    "builtins.setattr": _setattr, "functools.partial": _partial, "builtins.len": _len,
    "builtins.isinstance": _isinstance, "builtins.hasattr": _isinstance, "builtins.issubclass": _isinstance,
    "builtins.callable": _isinstance, "builtins.id": _len, "builtins.hash": _len,
    "builtins.max": _extreme("builtins.max"), "builtins.min": _extreme("builtins.min"),
    "builtins.sorted": _extreme("builtins.sorted"), "builtins.sum": _sum, "builtins.any": _all_any("builtins.any"),
    "builtins.all": _all_any("builtins.all"), "builtins.type": _fixed(UNKNOWN), "builtins.input": _fixed(Host("str")),
    "builtins.open": _fixed(Host("object")), "typing.cast": _cast, "copy.copy": _copy, "copy.deepcopy": _copy,
    "itertools.chain": lambda args, k, at, n, f: Seq("iterator", None, join_all([_element(a, at, f) for a in args])),
    "tqdm.tqdm": lambda args, k, at, n, f: args[0] if args else Instance(None, "tqdm.tqdm"),
    "tqdm.auto.tqdm": lambda args, k, at, n, f: args[0] if args else Instance(None, "tqdm.tqdm"),
    "itertools.islice": _iter, "itertools.cycle": _iter, "collections.defaultdict": _defaultdict,
    "functools.reduce": _reduce,
    "collections.deque": _collect("list"), "builtins.slice": _slice,
}  # fmt: skip


def sequence_method(of: Seq, name: str, args: list[Value], at: At, nodes: tuple[Node, ...], frame: Frame) -> Value:
    if (
        name in ("index", "count", "remove")
        and args
        and (tensor_sureness(args[0]) > 1 or tensor_sureness(of.element) > 1)
    ):
        subject = args[0] if tensor_sureness(args[0]) > 1 else of.element
        apply(frame, frame.world.row("torch.Tensor.__contains__"), at, [subject], {}, nodes)
        return Host("int")
    if name in ("index", "count"):
        return Host("int")
    if name in ("pop", "popleft", "__next__", "__getitem__"):
        return of.element
    if name == "copy":
        return of
    return NONE if name in MUTATORS or name in ("sort", "reverse", "clear", "remove") else UNKNOWN


def grown(of: Value, name: str, args: list[Value], keywords: dict[str, Value], at: At, frame: Frame) -> Value:
    """A container after append, extend, add, insert or update."""
    if type(of) is Seq and args:
        new = _element(args[-1], at, frame) if name in ("extend", "update") else args[-1]
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


def table_method(of: Table, name: str, args: list[Value], keywords: dict[str, Value]) -> Value:
    known = join_all([*of.items.values(), *([of.element] if of.element is not UNKNOWN else [])])
    keys = keys_of(of)
    match name:
        case "get" | "pop" | "setdefault":
            held = (
                of.items.get(args[0].value, of.element)
                if args and type(args[0]) is Const and isinstance(args[0].value, (str, int))
                else known
            )
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


def host_method(
    of: Value, name: str, args: list[Value], keywords: dict[str, Value], at: At, nodes: tuple[Node, ...], frame: Frame
) -> Value:
    kind = of.kind if type(of) is Host else kind_of(of)
    if kind == "str":
        given = [*args, *keywords.values()]
        if name == "format" and any(tensor_sureness(value) for value in given):
            apply(
                frame,
                frame.world.row("torch.Tensor.__format__"),
                at,
                [next(v for v in given if tensor_sureness(v))],
                {},
                nodes[1:],
            )
        return (
            Seq("list", None, Host("str"))
            if name in ("split", "rsplit", "splitlines")
            else Host("bool")
            if name.startswith(("is", "starts", "ends"))
            else Host("int")
            if name in ("find", "index", "count")
            else Host("str")
        )
    if kind == "array":
        return (
            Host("number")
            if name == "item"
            else Seq("list", None, Host("number"))
            if name == "tolist"
            else Host("array")
        )
    if kind in ("size", "shape"):
        return Host("int") if name == "numel" else Host(kind)
    return Host("object") if kind == "object" else Host(kind)
