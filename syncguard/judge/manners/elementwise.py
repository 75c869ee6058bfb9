"""A function and its masks in, whether it computes each element that these pick by itself, as far as is seen, out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from syncguard.infer.branches.subjects import alike, last_name
from syncguard.judge.around.changes import aimed_at
from syncguard.judge.around.standing import Place
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, BIND, CALL, CHOOSE, DO, FUNCTION, INDEX, NAME, RUN, SEQ, UPDATE
from syncguard.read.walk import walk

MIXING: Final = frozenset(("@", "*", "in", "not in", "await", "yield", "yield from"))  # among operators and the like
FLOWS: Final = frozenset((BIND, UPDATE, RUN))  # statements that put something somewhere
SPACES: Final = ("torch", "torch.Tensor", "torch.nn.functional")  # where a function of torch may stand


def one_by_one(place: Place, masks: list[Node]) -> bool:
    """Whether what is picked here goes through these masks again, and nothing that does is made of several elements
    that they picked."""
    picked, own, mixed, back = set[str](), set[str](), set[str](), False  # names, of what is picked or made of that
    statements = [part for part in place.pieces() if type(part) in FLOWS]
    if not any(_through(aim, masks) for part in statements if type(part) is BIND for aim in aimed_at(part)):
        return False  # seldom does anything go back
    for part in statements:
        value, aims = _flow(part)
        if value is None or not _picks(value, masks, picked):
            continue
        alone = _alone(value, place, masks, picked) and (type(part) is not UPDATE or part.what not in MIXING)
        names, read = {aim.id for aim in aims if type(aim) is NAME}, walk(value)
        here = any(one.at == place.sighting.at or (type(one) is NAME and one.id in own) for one in read)
        through = any(_through(aim, masks) for aim in aims)
        if not alone or any(type(one) is NAME and one.id in mixed for one in read):
            if through:
                return False
            mixed |= names
        back = back or (through and here)
        picked |= names
        own |= names if here else set()
    return back


def _flow(part: Node) -> tuple[Node | None, list[Node]]:
    """What a statement computes, and what it puts it into."""
    if type(part) is BIND:
        return part.value, aimed_at(part)
    if type(part) is UPDATE:
        return part.value, [part.target]
    if type(part) is RUN and type(part.value) is CALL and last_name(part.value.fn).endswith("_"):
        fn = part.value.fn
        return part.value, [fn.of] if type(fn) is ATTR else [*part.value.args[:1]]
    return None, []


def mask_of(part: core.Index) -> Node:
    """The first part of a subscript."""
    return part.key.items[0] if type(part.key) is SEQ and part.key.items else part.key


def _through(part: Node, masks: Iterable[Node]) -> bool:
    """Whether this is what one of the masks picks."""
    return type(part) is INDEX and any(alike(mask_of(part), mask) for mask in masks)


def _picks(value: Node, masks: list[Node], names: set[str]) -> bool:
    """Whether something in this is picked, or made of what is."""
    return any(_through(part, masks) or (type(part) is NAME and part.id in names) for part in walk(value))


def _alone(value: Node, place: Place, masks: list[Node], names: set[str]) -> bool:
    """Whether each picked element is computed by itself: a mean of what is not picked is one number for all."""
    if not _picks(value, masks, names) or type(value) is NAME or _through(value, masks):
        return True
    within: tuple[Node, ...]
    if type(value) is CHOOSE:
        within = (value.yes, value.no)
        fits = not _picks(value.test, masks, names)
    elif type(value) is CALL:
        method = (value.fn.of,) if type(value.fn) is ATTR and _picks(value.fn.of, masks, names) else ()
        within = (*value.args, *dict(value.keywords).values(), *method)
        fits = _each(value, bool(method), place)
    elif type(value) is INDEX:  # each is looked up by itself
        within, fits = (value.key,), not _picks(value.of, masks, names)
    elif type(value) is DO:
        within, fits = value.args, value.what not in MIXING
    else:
        within, fits = (value.items, True) if type(value) is SEQ else ((), False)
    return fits and all(_alone(one, place, masks, names) for one in within)


def _each(call: core.Call, method: bool, place: Place) -> bool:
    """Whether what is called goes element by element; what a project's own function does is not known."""
    name = last_name(call.fn).rstrip("_")
    if name in place.world.places.tables["manners"]["elementwise"]:
        return True
    return not (method or _kept(call.fn, place) or any(place.world.op(f"{space}.{name}") for space in SPACES))


def _kept(fn: Node, place: Place) -> bool:
    """Whether this is what an object keeps, a layer say, and no method of its class."""
    function, owner = place.routine.node, place.routine.owner
    if owner is None or type(fn) is not ATTR or type(function) is not FUNCTION or not function.params:
        return False
    own = type(fn.of) is NAME and fn.of.id == function.params[0].name
    return own and not any(fn.name in info.members for info in owner.mro)
