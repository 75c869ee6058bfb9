"""A piece of core in, every piece within it out, each before its parts."""

from __future__ import annotations

import re
from typing import Any

from syncguard.read.core import Class, Function, Node

_PLACES = re.compile(r"\bPiece\b|\bParam\b")  # in the types of fields that hold pieces
_INSIDE: dict[type[Any], tuple[str, ...]] = {
    kind: tuple([name for name, held in kind.__annotations__.items() if _PLACES.search(held)])[::-1]
    for kind in Node.__subclasses__()
}
_WITHIN = {kind: () if kind in (Function, Class) else names for kind, names in _INSIDE.items()}


def walk(part: Any) -> list[Node]:
    """A piece, or pieces, and all within but for what is defined there."""
    return _pieces(part, _WITHIN)


def everything(part: Any) -> list[Node]:
    """A piece, or pieces, and all within, what is defined there included."""
    return _pieces(part, _INSIDE)


def _pieces(part: Any, inside: dict[type[Any], tuple[str, ...]]) -> list[Node]:
    found: list[Node] = []
    todo: list[Any] = [part]
    while todo:
        part = todo.pop()
        if type(part) is tuple:
            todo.extend(part[::-1])
            continue
        names = inside.get(type(part))
        if names is not None:
            found.append(part)
            todo.extend([getattr(part, name) for name in names])
    return found
