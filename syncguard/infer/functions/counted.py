"""A function in, the names out that it uses as counts: no tensor is meant where `torch.arange(n - 1)` is built, where
`n` is held against a shape, or bounds a slice, nor where it is asked `if n == 1`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, cast

from syncguard.infer.branches.subjects import last_name
from syncguard.infer.domain.values import Tensor, Value
from syncguard.infer.routine import Routine
from syncguard.places import Places
from syncguard.read import core
from syncguard.read.core import COMPARISONS, Node
from syncguard.read.tags import CALL, CHOOSE, DO, FUNCTION, IF, INDEX, SLICE
from syncguard.read.walk import walk

COMPUTED: Final = ("+", "-", "*x", "//", "neg")


def counted(routine: Routine, places: Places) -> frozenset[str]:
    """The names that stand for a count somewhere in the body of a function."""
    node, written = routine.node, routine.written
    if written.counted is None:
        body = node.body if type(node) is FUNCTION else ()
        written.counted = frozenset([name for part in walk(body) if _tells(part) for name in _counts(part, places)])
    return written.counted


def counts_here(seen: Value, name: str, routine: Routine, places: Places) -> bool:
    """Whether a function counts by what it is given, of which nothing tells that it is a tensor but that a forward,
    which hands it on, is given some."""
    assumed = type(seen) is Tensor and seen.why is not None and seen.why.text == "forward"
    return assumed and name in counted(routine, places)


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
