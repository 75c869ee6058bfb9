"""Python's own functions and the methods of its containers, over abstract values."""

from __future__ import annotations

from typing import Final

from syncguard.infer.branches.subjects import last_name
from syncguard.infer.domain.contents import tensor_in, without
from syncguard.infer.domain.lattice import join, join_all
from syncguard.infer.domain.sureness import tensor_sureness
from syncguard.infer.domain.values import (
    NONE,
    UNKNOWN,
    Alias,
    Bound,
    Call,
    ClassOf,
    Const,
    Given,
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
    kind_of,
    options,
)
from syncguard.infer.expressions.applying import APPLYING
from syncguard.infer.expressions.iterators import ITERATORS, Function, called, element, foremost
from syncguard.infer.expressions.named import held_named, name_given, names_looped
from syncguard.infer.functions.setters import sets_by_name
from syncguard.infer.moves import moved
from syncguard.infer.operations.apply import apply
from syncguard.infer.routine import Frame
from syncguard.read import core
from syncguard.read.core import At, Do, Node, united
from syncguard.read.core import Const as Written
from syncguard.read.tags import CALL


def _collect(kind: str) -> Function:
    def collected(
        args: list[Value], keywords: dict[str, Value], at: At, nodes: tuple[Node, ...], frame: Frame
    ) -> Value:
        if not args:
            return Seq(kind, ())
        if type(args[0]) is Seq and args[0].items is not None:
            return Seq(kind, args[0].items)
        return Seq(kind, None, element(args[0], at, frame))

    return collected


def _queue(args: list[Value], keywords: dict[str, Value], at: At, nodes: tuple[Node, ...], frame: Frame) -> Value:
    return Seq("list", ())


def _zip(args: list[Value], keywords: dict[str, Value], at: At, nodes: tuple[Node, ...], frame: Frame) -> Value:
    if len(args) == 1 and type(args[0]) is Seq and args[0].items is not None and _starred(nodes):
        return Seq("tuple", tuple([Seq("tuple", None, item) for item in args[0].items]))  # zip(*pairs) gives columns
    return Seq("iterator", None, Seq("tuple", tuple([element(arg, at, frame) for arg in args])))


def _starred(nodes: tuple[Node, ...]) -> bool:
    return len(nodes) == 1 and type(nodes[0]) is Do and nodes[0].what == "*"


def _enumerate(args: list[Value], keywords: dict[str, Value], at: At, nodes: tuple[Node, ...], frame: Frame) -> Value:
    return Seq("iterator", None, Seq("tuple", (Host("int"), element(args[0], at, frame) if args else UNKNOWN)))


def _defaultdict(args: list[Value], keywords: dict[str, Value], at: At, nodes: tuple[Node, ...], frame: Frame) -> Value:
    return Table({}, called(args[0], [], at, (), frame)) if args and type(args[0]) in (Named, Call) else Table({})


def _first(args: list[Value], keywords: dict[str, Value], at: At, nodes: tuple[Node, ...], frame: Frame) -> Value:
    return element(args[0], at, frame) if args else UNKNOWN


def _dict(args: list[Value], keywords: dict[str, Value], at: At, nodes: tuple[Node, ...], frame: Frame) -> Value:
    first = _of_pairs(args[0], at, frame) if args and type(args[0]) is Seq else args[0] if args else None
    return Table(
        {**(first.items if type(first) is Table else {}), **{k: v for k, v in keywords.items() if k}},
        first.element if type(first) is Table else UNKNOWN,
        first.keys if type(first) is Table else UNKNOWN,
    )


def _of_pairs(pairs: Seq, at: At, frame: Frame) -> Table | None:
    """What a dict of some pairs holds: `dict(zip(names, tensors))`."""
    pair = element(pairs, at, frame)
    if type(pair) is not Seq or pair.kind != "tuple" or pair.items is None or len(pair.items) != 2:
        return None
    return Table({}, pair.items[1], pair.items[0])


def _super(args: list[Value], keywords: dict[str, Value], at: At, nodes: tuple[Node, ...], frame: Frame) -> Value:
    owner = frame.routine.owner
    if len(args) == 2 and type(args[0]) is ClassOf:
        owner = args[0].info  # `super(Base, self)`: the search begins above that one
    return Instance(owner, "super") if owner is not None else UNKNOWN


def _getattr(args: list[Value], keywords: dict[str, Value], at: At, nodes: tuple[Node, ...], frame: Frame) -> Value:
    from syncguard.infer.expressions.attributes import attribute
    from syncguard.read import core

    if len(args) > 1 and type(args[1]) is Const and isinstance(args[1].value, str):
        found = attribute(args[0], args[1].value, core.Attr(nodes[0], args[1].value, "", at), frame)
        if len(args) < 3:
            return found
        if type(found) is Bound and type(found.of) is Unknown and not found.of.weak:
            return UNKNOWN  # who has something to call instead does not know what it is
        return join(found, args[2])
    if len(args) == 2 == len(nodes) and (names := names_looped(nodes[1], frame)):
        each = [attribute(args[0], name, core.Attr(nodes[0], name, "", at), frame) for name in names]
        if not any(one is UNKNOWN for one in each):
            return join_all(each)
    held = held_named(args[0], name_given(args[1], nodes[1], frame), frame) if 1 < len(args) <= len(nodes) else None
    if held is not None:
        return join(held, args[2]) if len(args) > 2 else held
    if len(args) > 1 and type(args[0]) is Named and args[0].name == "torch" and _device_module(args, nodes, frame):
        return Named("torch.cuda")
    return from_weak(args)


def _device_module(args: list[Value], nodes: tuple[Node, ...], frame: Frame) -> bool:
    """Whether `getattr(torch, device_type)` asks for a device's module, by its default or by what it is given."""
    modules = frame.world.places.tables["names"]["device_modules"]
    if len(args) > 2 and type(args[2]) is Named and args[2].name in modules:
        return True
    return frame.world.places.is_("names", "devices", last_name(nodes[1]))


def from_weak(args: list[Value]) -> Value:
    return next((a for a in args if type(a) is Unknown and a.weak), UNKNOWN)


def _setattr(args: list[Value], keywords: dict[str, Value], at: At, nodes: tuple[Node, ...], frame: Frame) -> Value:
    if len(args) == 3 and type(args[0]) is Instance and args[0].info is not None:
        if sets_by_name(frame.routine):
            return NONE  # each call of it says what it keeps
        if made := name_given(args[1], nodes[1], frame) if len(nodes) == 3 else "":
            frame.world.learn(args[0].info, made, args[2], frame)
        elif len(nodes) == 3 and moved(nodes[2], frame.world.moving):
            args[0].info.move()
    return NONE


def _partial(args: list[Value], keywords: dict[str, Value], at: At, nodes: tuple[Node, ...], frame: Frame) -> Value:
    fn = args[0] if args else UNKNOWN
    if type(fn) is Call:
        return Call(fn.routine, fn.receiver, _beforehand(fn.given, args[1:], keywords))
    return Named(fn.name, _beforehand(fn.given, args[1:], keywords)) if type(fn) is Named else fn


def _beforehand(given: Given | None, args: list[Value], keywords: dict[str, Value]) -> Given:
    held, named = given or ((), ())
    return (*held, *args), tuple({**dict(named), **keywords}.items())


def _fixed(value: Value) -> Function:
    return lambda args, keywords, at, nodes, frame: value


def _extreme(name: str) -> Function:
    """max, min and sorted compare, and a comparison of tensors is tested for truth."""

    def compared(
        args: list[Value], keywords: dict[str, Value], at: At, nodes: tuple[Node, ...], frame: Frame
    ) -> Value | None:
        several = args if len(args) > 1 else [element(args[0], at, frame)] if args else []
        if any(tensor_in(foremost(value)) for value in several) and "key" not in keywords:
            apply(frame, frame.world.row(name), at, args, keywords, nodes)
        elif any(map(is_array, several)):
            return Host("array")
        result = join_all(several)
        if "key" in keywords:
            told = foremost(called(keywords["key"], [result], at, (), frame))
            if tensor_in(told) and len(nodes) > 0:
                apply(frame, frame.world.row(name), at, [told], {}, nodes)
        return Seq("list", None, result) if name.endswith("sorted") else result

    return compared


def _sum(args: list[Value], keywords: dict[str, Value], at: At, nodes: tuple[Node, ...], frame: Frame) -> Value | None:
    item = element(args[0], at, frame) if args else UNKNOWN
    if type(item) is Tensor:
        return item.but(
            why=frame.why("builtins.sum", at, item.why), dtype="int" if item.dtype == "bool" else item.dtype
        )
    return Host("number") if type(item) in (Host, Const) and kind_of(item) != "str" else item


def _bool(args: list[Value], keywords: dict[str, Value], at: At, nodes: tuple[Node, ...], frame: Frame) -> Value | None:
    """A container asks its length, whatever it holds."""
    return Host("bool") if args and all(type(option) in (Seq, Table) for option in options(args[0])) else None


def _number(kind: str) -> Function:
    """`float(x)` of what is a float or a tensor was written for the tensor."""

    def converted(
        args: list[Value], keywords: dict[str, Value], at: At, nodes: tuple[Node, ...], frame: Frame
    ) -> Value | None:
        if args and type(args[0]) is Union:
            args[0] = without(args[0], lambda option: type(option) is Host and option.kind == kind)
        return None

    return converted


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
    """typing.cast: the type is believed, where it says anything; a tensor does not become a number by it, but is one
    that holds a single number."""
    from syncguard.infer.functions.annotations import promised

    if len(args) < 2:
        return UNKNOWN
    told = promised(nodes[0], frame, frame.world.place(frame.routine))
    given = args[1]
    if type(given) is Tensor and type(told) is Host and told.kind in ("int", "float", "bool"):
        return given.but(rank=0) if given.rank < 0 else given
    return given if told is UNKNOWN or (type(given) is Tensor and type(told) is Tensor) else told


def _type_variable(
    args: list[Value], keywords: dict[str, Value], at: At, nodes: tuple[Node, ...], frame: Frame
) -> Value | None:
    """typing.TypeVar: what bounds it, or one of the types that it is limited to."""
    bound = keywords.get("bound")
    if type(bound) is Const and isinstance(bound.value, str):
        return Alias(Written(bound.value, at), frame)
    if bound is not None:
        return bound if type(bound) in (Named, ClassOf, Alias) else None
    return Alias(united(nodes[1:]), frame) if len(nodes) > 2 else None


def _copy(args: list[Value], keywords: dict[str, Value], at: At, nodes: tuple[Node, ...], frame: Frame) -> Value | None:
    return args[0] if args and type(args[0]) is not Tensor else None


def _module(
    args: list[Value], keywords: dict[str, Value], at: At, nodes: tuple[Node, ...], frame: Frame
) -> Value | None:
    """A module that is brought in by its name, as if that were imported; none by one that is made up."""
    name = args[0] if args else keywords.get("name", UNKNOWN)
    if type(name) is not Const or type(name.value) is not str:
        return None
    call, level = frame.given[0], len(name.value) - len(name.value.lstrip("."))
    if level and not (type(call) is CALL and call.at == at and _of_own_package(call)):
        return None
    return frame.world.module(name.value[level:], level, frame.home)


def _of_own_package(call: core.Call) -> bool:
    """Whether a module is brought in from the package that the file is in: `import_module(".ops", __package__)`."""
    within = (*call.args[1:], *[value for key, value in call.keywords if key == "package"])
    return [last_name(one) for one in within] == ["__package__"]


def _text(args: list[Value], keywords: dict[str, Value], at: At, nodes: tuple[Node, ...], frame: Frame) -> Value | None:
    """What the text of a device names is that device: `device=str(x.device)`."""
    given = args[0] if len(args) == 1 else UNKNOWN
    return given if type(given) is Host and given.kind.startswith("device:") else None


def _slice(args: list[Value], keywords: dict[str, Value], at: At, nodes: tuple[Node, ...], frame: Frame) -> Value:
    return Seq("slice", tuple(args))


FUNCTIONS: Final[dict[str, Function]] = {
    **ITERATORS, **APPLYING,
    "builtins.list": _collect("list"), "builtins.tuple": _collect("tuple"), "builtins.set": _collect("set"),
    "builtins.frozenset": _collect("set"), "builtins.zip": _zip, "builtins.enumerate": _enumerate,
    "builtins.next": _first,
    "builtins.dict": _dict, "collections.OrderedDict": _dict, "builtins.super": _super, "builtins.getattr": _getattr,
    "builtins.setattr": _setattr, "functools.partial": _partial, "builtins.len": _len, "builtins.bool": _bool,
    "builtins.int": _number("int"), "builtins.float": _number("float"),
    "builtins.isinstance": _isinstance, "builtins.hasattr": _isinstance, "builtins.issubclass": _isinstance,
    "builtins.callable": _isinstance, "builtins.id": _len, "builtins.hash": _len,
    "builtins.max": _extreme("builtins.max"), "builtins.min": _extreme("builtins.min"),
    "builtins.sorted": _extreme("builtins.sorted"), "builtins.sum": _sum, "builtins.any": _all_any("builtins.any"),
    "builtins.all": _all_any("builtins.all"), "builtins.type": _fixed(UNKNOWN), "builtins.input": _fixed(Host("str")),
    "dataclasses.replace": lambda args, k, at, n, f: f.world.copied(args[0], k, f) if args else None,
    "torch.jit.annotate": lambda args, k, at, n, f: args[1] if len(args) > 1 else None,
    "builtins.open": _fixed(Host("object")), "typing.cast": _cast, "typing_extensions.cast": _cast,
    "typing.TypeVar": _type_variable, "typing_extensions.TypeVar": _type_variable,
    "copy.copy": _copy, "copy.deepcopy": _copy, "importlib.import_module": _module,
    "tqdm.tqdm": lambda args, k, at, n, f: args[0] if args else Instance(None, "tqdm.tqdm"),
    "tqdm.auto.tqdm": lambda args, k, at, n, f: args[0] if args else Instance(None, "tqdm.tqdm"),
    "collections.defaultdict": _defaultdict,
    "queue.Queue": _queue, "queue.SimpleQueue": _queue, "queue.LifoQueue": _queue, "multiprocessing.Queue": _queue,
    "torch.multiprocessing.Queue": _queue, "asyncio.Queue": _queue,
    "collections.deque": _collect("list"), "builtins.slice": _slice, "builtins.str": _text,
}  # fmt: skip
