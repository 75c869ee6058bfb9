"""A settled routine in, what its run once more believes of some lines of a file out."""

from __future__ import annotations

from msgspec.structs import replace

from syncguard.infer.domain.values import Tensor, Value
from syncguard.infer.project import World
from syncguard.infer.routine import Frame, Routine
from syncguard.infer.statements.execute import run
from syncguard.read import core
from syncguard.read.core import At, Node


class Stretch:
    """A watch over some lines of a file: what the last pass believes of each expression there."""

    def __init__(self, path: str, first: int, last: int) -> None:
        self.path, self.first, self.last = path, first, last
        self.values: dict[At, Value] = {}

    def __call__(self, frame: Frame, node: Node, value: Value) -> None:
        at = node.at
        asked = type(node) is core.Do and node.what in ("truth", "format")  # at the place of what is asked
        if self.first <= at[0] <= self.last and frame.home.path == self.path and not asked:
            self.values[at] = value


def again(world: World, routine: Routine) -> None:
    """Run a settled routine once more, and leave it as it was."""
    kept = routine.sightings, routine.calls, routine.yielded, routine.seen, routine.node
    routine.sightings, routine.calls = {}, {}
    # The callers in this file are not all the callers: of the shape and dtype of what they pass nothing is proven.
    routine.seen = {
        name: value.but(rank=-1, dtype="") if type(value) is Tensor else value for name, value in routine.seen.items()
    }
    try:
        if type(routine.node) is core.Function:
            routine.node = _unsaid(routine.node)
            world.body(routine, routine.node)
        else:
            run(routine.node.body, Frame(world, routine, dict(routine.home.env)))
    finally:
        routine.sightings, routine.calls, routine.yielded, routine.seen, routine.node = kept


def _unsaid(node: core.Function) -> core.Function:
    """A function without the shapes that its docstring tells, which nobody checks."""
    if all(param.rank < 0 for param in node.params):
        return node
    return replace(node, params=tuple([replace(param, rank=-1) for param in node.params]))
