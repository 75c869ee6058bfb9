"""A count in, whether it is the number of a part of a module: each step goes through all of them, `for i, layer in
enumerate(self.layers): if i % 4 == 0`, so none of them runs seldom for it."""

from __future__ import annotations

from syncguard.infer.branches.rhythm import turned
from syncguard.infer.routine import Frame
from syncguard.infer.stores import CONSTRUCTORS
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, NAME


def counts_parts(node: Node, frame: Frame) -> bool:
    """Whether what the forward of a module asks for counts the turns of a loop of its own, or is what its constructor
    alone has given it: its place among others."""
    owner = frame.routine.owner
    if owner is None or not owner.is_module or not frame.world.places.is_("hot", "module_methods", frame.routine.name):
        return False
    if type(node) is NAME:
        return any(not loop.reason and node.id in turned(loop.node) for loop in frame.context.loops)
    if type(node) is not ATTR or node.path != f"self.{node.name}":
        return False
    storing = {one.name for info in owner.mro for one in frame.world.storing(info, node.name)}
    return bool(storing) and storing <= CONSTRUCTORS
