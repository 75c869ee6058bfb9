"""The statements of a block in, each with the tests out that were passed before it: `if fast: return x` leads to what
follows where it does not hold."""

from __future__ import annotations

from typing import Final

from syncguard.infer.sightings import Asked
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, BIND, CHOOSE, EITHER, FUNCTION, IF, LEAVE, LOOP
from syncguard.read.walk import parts

Block = tuple[Node, ...]
NONE: Final[tuple[Asked, ...]] = ()


def passed(block: Block) -> list[tuple[Node, tuple[Asked, ...]]]:
    """Each statement, and these tests with the outcome that each must have had."""
    found: list[tuple[Node, tuple[Asked, ...]]] = []
    tests: tuple[Asked, ...] = ()
    for part in block:
        found.append((part, tests))
        if more := _beyond(part):
            tests = (*tests, *more)
    return found


def within(node: Node) -> list[tuple[Node, tuple[Asked, ...]]]:
    """The parts of a piece, each with the tests that lead to it there; what is only bound is none."""
    if type(node) is IF:
        yes, no = (node.test, True), (node.test, False)
        arms = [(part, (yes, *more)) for part, more in passed(node.body)]
        return [(node.test, NONE), *arms, *[(part, (no, *more)) for part, more in passed(node.orelse)]]
    if type(node) is CHOOSE:
        return [(node.test, NONE), (node.yes, ((node.test, True),)), (node.no, ((node.test, False),))]
    if type(node) is EITHER:
        before = [(part, node.what == "and") for part in node.operands]
        return [(part, tuple(before[:place])) for place, part in enumerate(node.operands)]
    if type(node) is FUNCTION:
        return passed(node.body)
    if type(node) is LOOP and not node.orelse:
        head = [part for part in (node.test, node.target, node.iterable) if part is not None]
        return [*[(part, NONE) for part in head], *passed(node.body)]
    if type(node) is BIND:
        aims = [aim.of if type(aim) is ATTR else aim for aim in node.targets]
        return [(part, NONE) for part in (*aims, node.value) if part is not None]
    return [(part, NONE) for part in parts(node)]


def _beyond(part: Node) -> tuple[Asked, ...]:
    """The tests that lead out of a statement to what follows it."""
    if type(part) is not IF:
        return ()
    yes, no = leaves(part.body), leaves(part.orelse)
    if yes is no:
        return ()
    rest = part.orelse if yes else part.body
    return ((part.test, not yes), *[asked for inner in rest for asked in _beyond(inner)])


def leaves(block: Block) -> bool:
    """Whether control never comes to the end of a block."""
    last = block[-1] if block else None
    if type(last) is IF:
        return leaves(last.body) and leaves(last.orelse)
    return type(last) is LEAVE
