"""The lists that a function sorts things into, of which one may stay empty at every step."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from syncguard.infer.routine import Routine
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import IF, NAME
from syncguard.read.walk import walk


def sorted_into(node: Node, routine: Routine, counts: Callable[[Node], bool]) -> bool:
    """Whether one list takes what a test tells apart, and another one the rest: `(half if p.dtype == torch.half else
    full).append(p)`, written as a branch. That there is nothing in it is no rare thing, but where the test itself
    counts: `if len(boxes) > 0`."""
    if type(node) is not NAME:
        return False
    for part in walk(routine.node.body):
        if type(part) is IF and part.orelse and not any(map(counts, walk(part.test))):
            these, those = set(_filled(part.body)), set(_filled(part.orelse))
            if node.id in these ^ those and these - those and those - these:
                return True
    return False


def _filled(body: tuple[Node, ...]) -> Iterator[str]:
    """The names of what a block appends to, in whichever arm of it."""
    for part in body:
        match part:
            case core.If(body=these, orelse=those):
                yield from _filled((*these, *those))
            case core.Run(value=core.Call(fn=core.Attr(of=core.Name(id=name), name="append" | "extend" | "add"))):
                yield name
