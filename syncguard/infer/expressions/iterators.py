"""A call of itertools, or of a draw from a list, in; what its items are out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from syncguard.infer.domain.lattice import join_all
from syncguard.infer.domain.sureness import tensor_sureness
from syncguard.infer.domain.values import NONE, UNKNOWN, Call, Host, Seq, Value, options
from syncguard.infer.operations.apply import apply
from syncguard.infer.routine import Frame
from syncguard.read.core import At, Node

Function = Callable[[list[Value], dict[str, Value], At, tuple[Node, ...], Frame], Value | None]
Keywords = dict[str, Value]
Nodes = tuple[Node, ...]


def element(value: Value, at: At, frame: Frame) -> Value:
    """An item of what is iterated over."""
    from syncguard.infer.expressions.elements import element_of

    return element_of(value, at, frame)


def called(fn: Value, args: list[Value], at: At, nodes: Nodes, frame: Frame) -> Value:
    from syncguard.infer.expressions.calls import invoke

    return invoke(fn, args, {}, at, nodes, frame)


def foremost(item: Value) -> Value:
    """What decides which of two such items is less: of tuples their first items, for few of these are equal."""
    return item.items[0] if type(item) is Seq and item.items else item


def _each(value: Value) -> Seq:
    return Seq("iterator", None, value)


def _same(args: list[Value], keywords: Keywords, at: At, nodes: Nodes, frame: Frame) -> Value:
    """`cycle(xs)`: the items themselves."""
    return _each(element(args[0], at, frame)) if args else UNKNOWN


def _one(args: list[Value], keywords: Keywords, at: At, nodes: Nodes, frame: Frame) -> Value | None:
    """`random.choice(xs)`: one of the items."""
    return element(args[0], at, frame) if args else None


def _several(args: list[Value], keywords: Keywords, at: At, nodes: Nodes, frame: Frame) -> Value | None:
    """`random.sample(xs, n)`: a list of some items."""
    return Seq("list", None, element(args[0], at, frame)) if args else None


def _groups(args: list[Value], keywords: Keywords, at: At, nodes: Nodes, frame: Frame) -> Value:
    """`combinations(xs, n)`: tuples of its items."""
    return _each(Seq("tuple", None, element(args[0], at, frame))) if args else UNKNOWN


def _pairwise(args: list[Value], keywords: Keywords, at: At, nodes: Nodes, frame: Frame) -> Value:
    item = element(args[0], at, frame) if args else UNKNOWN
    return _each(Seq("tuple", (item, item)))


def _product(args: list[Value], keywords: Keywords, at: At, nodes: Nodes, frame: Frame) -> Value:
    items = tuple([element(arg, at, frame) for arg in args])
    return _each(Seq("tuple", None, join_all(items)) if "repeat" in keywords else Seq("tuple", items))


def _longest(args: list[Value], keywords: Keywords, at: At, nodes: Nodes, frame: Frame) -> Value:
    """`zip_longest(xs, ys)`: what has ended gives the fill value."""
    filled = keywords.get("fillvalue", NONE)
    return _each(Seq("tuple", tuple([join_all([element(arg, at, frame), filled]) for arg in args])))


def _chain(args: list[Value], keywords: Keywords, at: At, nodes: Nodes, frame: Frame) -> Value:
    return _each(join_all([element(arg, at, frame) for arg in args]))


def _flat(args: list[Value], keywords: Keywords, at: At, nodes: Nodes, frame: Frame) -> Value:
    """`chain.from_iterable(lists)`: the items of its items."""
    return _each(element(element(args[0], at, frame), at, frame)) if args else UNKNOWN


def _repeat(args: list[Value], keywords: Keywords, at: At, nodes: Nodes, frame: Frame) -> Value:
    return _each(args[0]) if args else UNKNOWN


def _starmap(args: list[Value], keywords: Keywords, at: At, nodes: Nodes, frame: Frame) -> Value:
    """`starmap(f, pairs)`: f of the parts of each item."""
    item = element(args[1], at, frame) if len(args) > 1 else UNKNOWN
    parts = list(item.items) if type(item) is Seq and item.items is not None else []
    return _each(called(args[0], parts, at, (), frame)) if parts else UNKNOWN


def tested(args: list[Value], keywords: Keywords, at: At, nodes: Nodes, frame: Frame) -> Value:
    """`filter(f, xs)`: the truth of f of each item is asked, or of the item itself."""
    item = element(args[1], at, frame) if len(args) > 1 else UNKNOWN
    if args:
        told = item if args[0] is NONE else called(args[0], [item], at, (), frame) if type(args[0]) is Call else UNKNOWN
        for option in options(told):
            if tensor_sureness(option):
                apply(frame, frame.world.row("torch.Tensor.__bool__"), at, [option], {}, nodes[1:])
    return _each(item)


def _grouped(args: list[Value], keywords: Keywords, at: At, nodes: Nodes, frame: Frame) -> Value:
    """`groupby(xs, key)`: pairs of a key and an iterator; each key is compared with the one before."""
    item = element(args[0], at, frame) if args else UNKNOWN
    by = args[1] if len(args) > 1 else keywords.get("key", NONE)
    key = item if by is NONE else called(by, [item], at, (), frame)
    for option in options(key):
        if tensor_sureness(option):
            apply(frame, frame.world.row("torch.Tensor.__bool__"), at, [option], {}, nodes)
    return _each(Seq("tuple", (key, _each(item))))


def _copies(args: list[Value], keywords: Keywords, at: At, nodes: Nodes, frame: Frame) -> Value:
    """`tee(xs)`: a tuple of iterators."""
    return Seq("tuple", None, _same(args, keywords, at, nodes, frame))


def _counted(args: list[Value], keywords: Keywords, at: At, nodes: Nodes, frame: Frame) -> Value:
    return _each(Host("int"))


def _as_many(name: str, function: Function) -> Function:
    """The same of what is told how many items to take, by a number that it reads of a tensor."""

    def taken(args: list[Value], keywords: Keywords, at: At, nodes: Nodes, frame: Frame) -> Value | None:
        apply(frame, frame.world.row(name), at, args, keywords, nodes)
        return function(args, keywords, at, nodes, frame)

    return taken


ITERATORS: Final[dict[str, Function]] = {
    "builtins.iter": _same, "builtins.reversed": _same, "builtins.filter": tested,
    "itertools.islice": _as_many("itertools.islice", _same), "itertools.cycle": _same,
    "itertools.compress": _same, "itertools.tee": _copies,
    "itertools.chain": _chain, "itertools.chain.from_iterable": _flat,
    "itertools.repeat": _as_many("itertools.repeat", _repeat), "itertools.count": _counted,
    "itertools.accumulate": _same, "itertools.starmap": _starmap,
    "itertools.product": _product, "itertools.zip_longest": _longest, "itertools.pairwise": _pairwise,
    "itertools.combinations": _groups, "itertools.permutations": _groups, "itertools.batched": _groups,
    "itertools.combinations_with_replacement": _groups, "itertools.groupby": _grouped,
    "itertools.takewhile": tested, "itertools.dropwhile": tested, "itertools.filterfalse": tested,
    "random.choice": _one, "random.choices": _as_many("random.choices", _several),
    "random.sample": _as_many("random.sample", _several),
}  # fmt: skip
