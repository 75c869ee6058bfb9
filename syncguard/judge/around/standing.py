"""A sighting in, what stands around it in its function out: the statements, the tests, what is waited for."""

from __future__ import annotations

from collections.abc import Iterator

from syncguard.infer.domain.values import Why
from syncguard.infer.project import World
from syncguard.infer.routine import Routine
from syncguard.infer.sightings import Sighting
from syncguard.read import core
from syncguard.read.core import At, Node
from syncguard.read.tags import CHECK, IF, LOOP, TRY
from syncguard.read.walk import around, walk


class Place:
    """A sighting with its routine, the world, and the text of what is waited for."""

    def __init__(self, sighting: Sighting, routine: Routine, world: World, operand: str) -> None:
        self.sighting = sighting
        self.routine = routine
        self.world = world
        self.operand = operand
        self._around: tuple[Node, ...] | None = None

    @property
    def causes(self) -> list[Why]:
        """The links of its chain, the last first."""
        found, why = list[Why](), self.sighting.why
        while why is not None:
            found.append(why)
            why = why.parent
        return found

    def begins(self, why: Why | None, *kinds: str) -> bool:
        """Whether a chain begins with a factory of one of these kinds."""
        return why is not None and any(why.root.text in self.world.places.tables["factories"][kind] for kind in kinds)

    def around(self) -> tuple[Node, ...]:
        """The statements that it stands in, from without; many manners ask for them."""
        if self._around is None:
            self._around = tuple(enclosing(self.routine.node.body, self.sighting.at))
        return self._around

    def statement(self) -> Node | None:
        """The innermost of these."""
        return next(reversed(self.around()), None)

    def pieces(self) -> list[Node]:
        """All that its function is written of."""
        return walk(self.routine.node.body)

    def views(self) -> frozenset[str]:
        """The methods and attributes that give the same tensor, or a view of it."""
        tables = self.world.places.tables
        return frozenset((*tables["views"]["names"], *tables["manners"]["moves"]))

    def read(self) -> list[Node]:
        """What is waited for, as it is written."""
        operand = self.sighting.operand
        return self.written_at(operand) if operand is not None else []

    def written_at(self, at: At) -> list[Node]:
        """The pieces of its function at exactly this place."""
        written = self.routine.written
        if written.pieces is None:
            written.pieces = {}
            for part in self.pieces():
                written.pieces.setdefault(part.at, []).append(part)
        return written.pieces.get(at, [])

    def tests(self) -> Iterator[core.If | core.Loop | core.Check]:
        """The statements that it is asked in the test of."""
        for part in self.around():
            match part:
                case core.If(test=test) | core.Check(test=test) | core.Loop(test=test) if test is not None:
                    if around(test.at, self.sighting.at):
                        yield part


def enclosing(parts: tuple[Node, ...], at: At) -> Iterator[Node]:
    """The statements of a block that a place stands in, from without."""
    while (held := _holding(parts, at)) is not None:
        yield held
        parts = within(held)


def _holding(parts: tuple[Node, ...], at: At) -> Node | None:
    """The one of some statements, as they follow one another, that a place stands in: what a program has written may be
    thousands of lines long."""
    low, high = 0, len(parts)
    while low < high:
        middle = (low + high) // 2
        if parts[middle].at[:2] <= at[:2]:
            low = middle + 1
        else:
            high = middle
    found = None
    while low > 0 and around(parts[low - 1].at, at):  # several, of what one line was lowered to
        low -= 1
        found = parts[low]
    return found


def within(part: Node) -> tuple[Node, ...]:
    """The statements in a statement."""
    match part:
        case core.If(body=body, orelse=orelse) | core.Loop(body=body, orelse=orelse):
            return (*body, *orelse)
        case core.With(body=body):
            return body
        case core.Try():
            return (*part.body, *[one for _, body in part.handlers for one in body], *part.orelse, *part.final)
    return ()


def asserted(parts: tuple[Node, ...], at: At) -> Iterator[Node]:
    """What is asserted above a place, in the blocks that it stands in."""
    for held in enclosing(parts, at):
        yield from [part.test for part in parts if type(part) is CHECK and part.at[2:] <= at[:2]]
        parts = next((block for block in _blocks(held) if any(around(part.at, at) for part in block)), ())


def _blocks(part: Node) -> tuple[tuple[Node, ...], ...]:
    """The blocks of a statement, one of which a place in it stands in."""
    if type(part) is IF or type(part) is LOOP:
        return part.body, part.orelse
    if type(part) is TRY:
        return part.body, *[body for _, body in part.handlers], part.orelse, part.final
    return (within(part),)
