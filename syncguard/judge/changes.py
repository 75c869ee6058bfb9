"""Pieces of a function in, whether they change what stands under a name or a path out: by its elements, or in place."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from syncguard.infer.expressions.methods import MUTATORS
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, CALL, INDEX, NAME, SEQ, UPDATE
from syncguard.read.walk import binds, targets

SHRINKS: Final = frozenset(("pop", "popleft", "remove", "discard", "clear", "sort", "reverse"))


def changes(pieces: Iterable[Node], text: str) -> bool:
    """Whether something is put into what has this name, added to it, or it is changed by one of its methods."""
    return any(_changes(part, text) for part in pieces)


def _changes(part: Node, text: str) -> bool:
    if type(part) is CALL:
        return type(part.fn) is ATTR and _in_place(part.fn.name) and holder(part.fn.of) == text
    if type(part) is UPDATE and holder(part.target) == text:
        return True
    aims = [one for aim in targets(part) for one in (aim.items if type(aim) is SEQ else (aim,))] if binds(part) else ()
    return any(type(aim) is INDEX and holder(aim) == text for aim in aims)


def _in_place(name: str) -> bool:
    return name in MUTATORS or name in SHRINKS or (name.endswith("_") and not name.endswith("__"))


def holder(node: Node | None) -> str:
    """The name or path that something is read from: `x` of `x[0]` and of `x.view(-1)[0]`; '' of anything else."""
    while node is not None:
        if type(node) is INDEX:
            node = node.of
        elif type(node) is CALL and type(node.fn) is ATTR:
            node = node.fn.of
        else:
            break
    return node.id if type(node) is NAME else node.path if type(node) is ATTR else ""
