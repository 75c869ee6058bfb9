"""A name in, whether a test that leads to it has found out that what it holds is no tensor out."""

from __future__ import annotations

from syncguard.infer.branches.meant import binders
from syncguard.infer.branches.narrow import narrowed
from syncguard.infer.domain.values import UNKNOWN, Tensor
from syncguard.infer.routine import Frame
from syncguard.read.core import Node
from syncguard.read.tags import NAME
from syncguard.read.walk import around


def no_tensor(node: Node, frame: Frame) -> bool:
    """Whether this is bound to nothing else since a test for a tensor failed: `if not torch.is_tensor(x):`."""
    if type(node) is not NAME or not frame.context.tests:
        return False
    bound = [part.at for part in binders(frame.routine).get(node.id, ()) if not around(part.at, node.at)]
    asking = Frame(frame.world, frame.routine, {node.id: Tensor()})
    for test, outcome in frame.context.tests:
        if any(test.at < at < node.at for at in bound):
            continue
        if narrowed(test, outcome, asking).get(node.id) is UNKNOWN:
            other = narrowed(test, not outcome, asking).get(node.id)
            if type(other) is Tensor:
                return True
    return False
