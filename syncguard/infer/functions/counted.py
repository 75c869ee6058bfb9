"""A function in, the names out that it uses as counts: no tensor is meant where `torch.arange(n - 1)` is built, where
`n` is held against a shape, or bounds a slice, nor where it is asked `if n == 1`, nor `length == height * width`, for
`length` from a shape."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, cast

from syncguard.infer.branches.subjects import last_name
from syncguard.infer.domain.lattice import join_all
from syncguard.infer.domain.values import Tensor, Value, options
from syncguard.infer.routine import Routine
from syncguard.pack.places import Places
from syncguard.read import core
from syncguard.read.core import COMPARISONS, Node
from syncguard.read.tags import ATTR, BIND, CALL, CHOOSE, DO, FUNCTION, IF, INDEX, NAME, SEQ, SLICE
from syncguard.read.walk import walk

COMPUTED: Final = ("+", "-", "*x", "//", "neg")


def counted(routine: Routine, places: Places) -> frozenset[str]:
    """The names that stand for a count somewhere in the body of a function."""
    node, written = routine.node, routine.written
    if written.counted is None:
        body = node.body if type(node) is FUNCTION else ()
        found = [name for part in walk(body) if _tells(part) for name in _counts(part, places)]
        written.counted = frozenset([*found, *_areas(body, places)])
    return written.counted


def but_counts(seen: Value, name: str, routine: Routine, places: Places) -> Value | None:
    """What a function is given, but for what it counts by and nothing tells to be a tensor but that a forward, which
    hands it on, is given some; None where nothing is left."""
    known = [one for one in options(seen) if not _assumed(one)]
    if len(known) == len(options(seen)) or name not in counted(routine, places):
        return seen
    return join_all(known) if known else None


def _assumed(value: Value) -> bool:
    return type(value) is Tensor and value.why is not None and value.why.text == "forward"


def _areas(body: tuple[Node, ...], places: Places) -> Iterator[str]:
    """The names whose product is held against a name for a size: `assert length == height * width`."""
    sizes: set[str] = set()
    for part in walk(body):
        if type(part) is BIND and part.value is not None and _shape(part.value, places):
            for target in part.targets:
                items = target.items if type(target) is SEQ else (target,)
                sizes.update([one.id for one in items if type(one) is NAME])
    for part in walk(body) if sizes else ():
        if type(part) is DO and part.what in ("==", "!="):
            for one, other in (part.args, part.args[::-1]):
                if type(one) is NAME and one.id in sizes and type(other) is DO and other.what == "*x":
                    yield from _names(other)


def _shape(node: Node, places: Places) -> bool:
    """Whether this is a whole shape, or how much there is of something."""
    return _size(node, places) or (type(node) is ATTR and places.is_("gates", "sizes", node.name))


def _tells(part: Node) -> bool:
    """Whether a piece is of a kind that may tell a count."""
    kind = type(part)
    if kind is DO:
        return cast(core.Do, part).what in COMPARISONS
    return kind is CALL or kind is SLICE or kind is IF or kind is CHOOSE


def _counts(part: Node, places: Places) -> Iterator[str]:
    match part:
        case core.Call(fn=fn, args=args) if places.is_("names", "counting", last_name(fn)):
            for arg in args:
                yield from _names(arg)
        case core.Do(what=what, args=(left, right)) if what in COMPARISONS:
            if _size(left, places):
                yield from _names(right)
            elif _size(right, places):
                yield from _names(left)
        case core.Slice(bounds=bounds):
            for bound in bounds:
                yield from _names(bound)
        case core.If(test=test) | core.Choose(test=test):
            yield from _told(test)


def _told(test: Node) -> Iterator[str]:
    """The names that a test compares with a whole number: of a tensor there would be many outcomes."""
    match test:
        case core.Do(what="truth" | "not", args=(inner,)):
            yield from _told(inner)
        case core.Either(operands=operands):
            for operand in operands:
                yield from _told(operand)
        case core.Do(what="==" | "!=", args=(core.Name(id=name), core.Const(value=value))):
            if type(value) is int:
                yield name


def _size(node: Node, places: Places) -> bool:
    """Whether this is how much there is of something: `x.shape[-1]`, `x.size(0)`, `len(xs)`."""
    sized = node.of if type(node) is INDEX else node
    return type(node) in (INDEX, CALL) and places.is_("gates", "sizes", last_name(sized))


def _names(node: Node) -> Iterator[str]:
    """The names that a count is computed from."""
    match node:
        case core.Name(id=name):
            yield name
        case core.Do(what=what, args=args) if what in COMPUTED:
            for arg in args:
                yield from _names(arg)
        case core.Seq(items=items):
            for item in items:
                yield from _names(item)
