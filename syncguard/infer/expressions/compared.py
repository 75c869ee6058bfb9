"""A part of a dict of which nobody knows what it holds and its index in, whether that is a mask of tensors out."""

from __future__ import annotations

from syncguard.infer.branches.meant import binders
from syncguard.infer.domain.values import Named
from syncguard.infer.expressions.operate import compares
from syncguard.infer.routine import Frame
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import BIND, CONST, INDEX, NAME
from syncguard.read.walk import walk


def picks_by_part(node: core.Index, frame: Frame) -> bool:
    """Whether a part of a dict is picked from by a comparison of another part of it, where torch computes and nothing
    else that has arrays: `found["boxes"][found["scores"] > limit]`. No list takes a comparison."""
    holder, key = _holder(node.of), _written(node.key, frame)
    if not holder or not compares(key) or not any(_holder(part) == holder for part in walk((key,))):
        return False
    return frame.world.only_torch(frame) and _by_torch(frame)


def _holder(node: Node) -> str:
    """The name of the dict out of which a text takes this."""
    by_text = type(node) is INDEX and type(node.key) is CONST and isinstance(node.key.value, str)
    return node.of.id if type(node) is INDEX and by_text and type(node.of) is NAME else ""


def _written(key: Node, frame: Frame) -> Node:
    """What indexes, as it is written where it has its name."""
    bound = binders(frame.routine).get(key.id, ()) if type(key) is NAME else ()
    made = bound[0] if len(bound) == 1 else None
    if type(made) is BIND and made.value is not None and len(made.targets) == 1 and type(made.targets[0]) is NAME:
        return made.value
    return key


def _by_torch(frame: Frame) -> bool:
    """Whether a function, or what it is decorated with, names torch."""
    named = (frame.lookup(name) for name in frame.routine.node.uses)
    return any(type(value) is Named and value.name.partition(".")[0] == "torch" for value in named)
