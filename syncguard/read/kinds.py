"""A kind of `ast` node in, how it is lowered out; of what a later Python may bring, how all of that is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Lowering = Callable[..., Any]


class Kinds(dict[type, Lowering]):
    """A dict that has an answer for every kind."""

    def __init__(self, known: dict[type, Lowering], other: Lowering) -> None:
        super().__init__(known)
        self.other = other

    def __missing__(self, kind: type) -> Lowering:
        return self.other
