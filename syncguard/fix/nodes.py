"""A node of the tree by itself in, what it is out."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import libcst as cst


def inside(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """A node and all that is in it."""
    todo = [node]
    while todo:
        node = todo.pop()
        yield node
        todo += children(node)


@lru_cache(maxsize=1 << 14)
def children(node: cst.CSTNode) -> tuple[cst.CSTNode, ...]:
    """The nodes that a node holds itself; libcst visits it anew whenever it is asked."""
    return tuple(node.children)


def zero(node: cst.CSTNode) -> bool:
    """Whether a node is the number 0."""
    return isinstance(node, cst.Integer) and node.evaluated_value == 0
