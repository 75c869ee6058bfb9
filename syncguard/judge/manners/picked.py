"""A subscript in, how it picks out: one of each row, by what an object keeps, by a list made for it, or what is written
back through the same mask."""

from __future__ import annotations

from syncguard.infer.branches.subjects import last_name
from syncguard.judge.around.changes import changes, sets
from syncguard.judge.around.standing import Place
from syncguard.judge.manners.elementwise import mask_of, one_by_one
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import BIND, CALL, CONST, FUNCTION, INDEX, NAME, SEQ
from syncguard.read.walk import bound_in, walk


def each_row(place: Place) -> bool:
    """One of each row is read, and a range of Python's counts the rows: `x[range(n), labels]`."""
    return place.sighting.op == "torch.Tensor.__getitem__" and any(
        type(part.key) is SEQ
        and len(part.key.items) == 2
        and type(part.key.items[0]) is CALL
        and part.key.items[0].at == place.sighting.operand
        and last_name(part.key.items[0].fn) == "range"
        and len(part.key.items[0].args) == 1
        for part in _subscripts(place)
    )


def stored(place: Place) -> bool:
    """What picks is kept by the object whose method this is, which does not set it, as none of its methods changes it
    but for the one that makes the object."""
    method, owner, kept = place.routine.node, place.routine.owner, place.operand.partition("[")[0]
    if owner is None or type(method) is not FUNCTION or not method.params:
        return False
    own, _, name = kept.partition(".")
    if own != method.params[0].name or not name or sets(method.body, kept):
        return False
    methods = [one for one in owner.node.body if type(one) is FUNCTION and one.params and one.name != "__init__"]
    views = place.views()
    return not any(changes(walk(one.body), f"{one.params[0].name}.{name}", views) for one in methods)


def made(place: Place) -> bool:
    """What picks is a list that is none written with its numbers."""
    return any(not _written(part, place) for part in place.read())


def _written(part: Node, place: Place) -> bool:
    """Whether this is a list of numbers that are written there, or stands outside of the function."""
    if type(part) is SEQ:
        return True
    function = place.routine.node
    if type(part) is not NAME or type(function) is not FUNCTION:
        return False
    bound = [
        one.value
        for one in place.pieces()
        if type(one) is BIND and any(type(to) is NAME and to.id == part.id for to in one.targets)
    ]
    if any(param.name == part.id for param in function.params):
        return False
    if not bound and any(type(one) is NAME and one.id == part.id for one in bound_in(function.body)):
        return False  # by a loop, or by what is taken apart
    return all(
        type(value) is SEQ and value.items and all(type(item) is CONST for item in value.items) for value in bound
    )


def written_back(place: Place) -> bool:
    """What is computed of each of the picked elements by itself, as far as is seen, goes through the same mask:
    `out[mask] = f(x[mask])`, at once or by a name."""
    return one_by_one(place, [mask_of(part) for part in _subscripts(place)])


def _subscripts(place: Place) -> list[core.Index]:
    """The subscript that waits."""
    return [part for part in place.written_at(place.sighting.at) if type(part) is INDEX]
