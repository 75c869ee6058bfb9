"""A test in, what is said of it out where it asks for one of several flags of an object, in turn: `if self.plain: ..
elif self.exact: ..`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from syncguard.infer.branches.meant import body_of, plainly
from syncguard.infer.domain.contents import holds_tensor
from syncguard.infer.domain.values import Seq, Table, options
from syncguard.judge.defaults.defaults import Place
from syncguard.judge.defaults.settled import outcome_of
from syncguard.read.core import If, Node
from syncguard.read.tags import ATTR, FUNCTION, IF
from syncguard.read.walk import walk

LEAST: Final = 2  # flags, of which one may be


def alternative(test: Node, outcome: bool, place: Place) -> str:
    """What is said of a wait that needs another flag than the first of these, which nothing but a constructor sets; ''
    of any other test."""
    asked, came = plainly(test, outcome)
    if type(asked) is not ATTR or not came or not _flag(asked, place):
        return ""
    row = next((row for row in _rows(body_of(place.routine)) if any(part is asked for part in row[1:])), ())
    of_one = len(row) >= LEAST and all(_flag(part, place) for part in row)
    return f"only where `{asked.path}` holds" if of_one and outcome_of(test, place) is None else ""


def _rows(body: tuple[Node, ...]) -> Iterator[tuple[Node, ...]]:
    """What tests ask that stand in the place of one another: `if a: .. elif b: ..`."""
    every = [part for part in walk(body) if type(part) is IF]
    later = {id(part.orelse[0]) for part in every if len(part.orelse) == 1}
    for part in every:
        if id(part) not in later:
            yield tuple(_row(part))


def _row(first: If) -> Iterator[Node]:
    held: Node = first
    while type(held) is IF:
        yield plainly(held.test, True)[0]
        held = held.orelse[0] if len(held.orelse) == 1 else held.test


def _flag(node: Node, place: Place) -> bool:
    """Whether an object keeps this, set as it is made, and it is neither data that we see nor a mode."""
    owner, function = place.routine.owner, place.routine.node
    if owner is None or type(node) is not ATTR or type(function) is not FUNCTION or not function.params:
        return False
    name, world = node.name, place.frame.world
    if node.path != f"{function.params[0].name}.{name}" or name in place.callers.set:
        return False
    if world.places.is_("names", "modes", name) or owner.find(name) is not None:
        return False
    held = [value for info in owner.mro if (value := info.attrs.get(name)) is not None]
    if any(holds_tensor(one) or type(one) in (Seq, Table) for value in held for one in options(value)):
        return False
    return all(method.name == "__init__" for info in owner.mro for method in world.storing(info, name))
