"""A number that is read, what it is wanted for out: an element among others, a size, a count that a module keeps."""

from __future__ import annotations

from typing import Final

from syncguard.infer.branches.subjects import alike, last_name
from syncguard.judge.around.changes import holder
from syncguard.judge.around.standing import Place
from syncguard.judge.manners.together import listed
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, BIND, CALL, COMP, CONST, DO, INDEX, LOOP, NAME, SEQ, SLICE, UPDATE
from syncguard.read.walk import around, bound_in, everything, mentions, walk

NUMBERS: Final = frozenset(("len", "int", "float", "min", "max", "size", "numel"))  # what gives numbers of Python
OPPOSITES: Final = ("truth", "not", "neg")
COMPARES: Final = frozenset(("__lt__", "__le__", "__eq__", "__ne__", "__gt__", "__ge__", "__invert__"))


def several(place: Place) -> bool:
    """An element of what others are read of too, by the same function or in the turns of a loop; or one of several
    reads beside one another, `return x.item(), y.item()`."""
    return listed(place) or any(
        _turned(part, place) or (type(part) is INDEX and _picked(part) and _others(part, place))
        for part in place.read()
    )


def turned(place: Place) -> bool:
    """What a loop comes to in each turn, or what its turn picks."""
    return any(_turned(part, place) or (type(part) is INDEX and _moves_on(part, place)) for part in place.read())


def _moves_on(part: core.Index, place: Place) -> bool:
    """Whether each turn of a loop picks another piece of what it leaves as it is: `x[start : start + n]`."""
    for loop in _loops(place):
        if type(loop) is LOOP and around(loop.at, part.at):
            turns = _changed(loop) | {name.id for name in walk(loop.target) if type(name) is NAME}
            whole = holder(part.of)
            picks = any(type(name) is NAME and name.id in turns for name in walk(part.key))
            if picks and whole and whole.partition(".")[0] not in turns:
                return True
    return False


def _turned(part: Node, place: Place) -> bool:
    """Whether this is what a loop over a list or a tensor comes to in each turn, or what its turn picks."""
    turns, anew = set[str](), set[str]()
    for loop in _loops(place):
        if type(loop) is COMP and around(loop.at, part.at):
            turns |= {name.id for target, _, _ in loop.clauses for name in walk(target) if type(name) is NAME}
        if type(loop) is LOOP and loop.target is not None and around(loop.at, part.at):
            turns |= {name.id for name in walk(loop.target) if type(name) is NAME}
            anew |= _changed(loop)
    if type(part) is INDEX:
        kept = type(part.of) is not NAME or part.of.id not in anew
        return kept and _picked(part) and any(type(name) is NAME and name.id in turns for name in walk(part.key))
    return type(part) is NAME and part.id in turns


def _loops(place: Place) -> list[Node]:
    """The loops and comprehensions of its function."""
    written = place.routine.written
    if written.turns is None:
        written.turns = [part for part in place.pieces() if type(part) is COMP or type(part) is LOOP]
    return written.turns


def _changed(loop: core.Loop) -> set[str]:
    """The names that a turn binds, or what they hold is changed in: `x *= 2`, `x.mul_(2)`, `x[0] = 1`."""
    found = {part.id for part in bound_in(loop.body) if type(part) is NAME}
    for part in walk(loop.body):
        if type(part) is CALL and type(part.fn) is ATTR and part.fn.name.endswith("_") and type(part.fn.of) is NAME:
            found.add(part.fn.of.id)
    return found


def _picked(part: core.Index) -> bool:
    """Whether this picks one element: by numbers, or what may be some."""
    keys = part.key.items if type(part.key) is SEQ else (part.key,)
    return all(type(key) is NAME or (type(key) is CONST and type(key.value) is int) for key in keys)


def _others(part: core.Index, place: Place) -> bool:
    """Whether other elements of the same tensor are read, too."""
    read = {one.operand for one in place.routine.sightings.values() if one.hazard == place.sighting.hazard}
    return any(
        type(other) is INDEX and other.at != part.at and other.at in read and alike(other.of, part.of)
        for other in place.pieces()
    )


def sized(place: Place) -> bool:
    """A number that says how large something is, or how often a loop turns."""
    last = place.statement()
    bound = last.targets[0] if type(last) is BIND and len(last.targets) == 1 else None
    return any(
        around(size.at, place.sighting.at) or (type(bound) is NAME and mentions(size, bound.id))
        for size in _sizes(place)
    )


def _sizes(place: Place) -> list[Node]:
    """What the calls and slices of its function are given as sizes."""
    written, names = place.routine.written, place.world.places.tables["names"]
    if written.sizes is None:
        sizes = written.sizes = list[Node]()
        for part in place.pieces():
            if type(part) is SLICE:
                sizes += part.bounds
            elif type(part) is CALL:
                sizes += part.args if last_name(part.fn) in names["counting"] else ()
                if last_name(part.fn) in names["picking"]:
                    whole = type(part.fn) is ATTR and part.fn.path.startswith("torch.")
                    sizes += part.args[1:] if whole else part.args[:1]
                sizes += [value for key, value in part.keywords if place.world.places.is_("names", "numbers", key)]
    return written.sizes


def counted(place: Place) -> bool:
    """A count, a flag or a setting that is kept from step to step, in a buffer of one number."""
    causes, owner = place.causes, place.routine.owner
    if (
        not causes
        or owner is None
        or around(place.routine.node.at, causes[-1].at)
        or not place.begins(causes[-1], "converts")
    ):
        return False
    made = [part for part in everything(owner.node.body) if type(part) is CALL and part.at == causes[-1].at]
    plain = {*COMPARES, *place.world.places.tables["manners"]["moves"]}
    compared = all(why.text.rpartition(".")[2] in plain for why in causes[:-1])
    return (
        compared
        and any(one_number(part.args) or _one_setting(part.args) for part in made)
        and not _adds_computed(place)
    )


def _one_setting(args: tuple[Node, ...]) -> bool:
    """Whether what comes first has a name, or is its opposite: a number, where one number is read of what it became."""
    first = args[0] if args else None
    while type(first) is DO and first.what in OPPOSITES:
        first = first.args[0]
    return type(first) is NAME


def _adds_computed(place: Place) -> bool:
    """Whether a method adds what torch computes to what is read: `self.total += torch.sum(x)`."""
    read, owner = {part.path for part in place.read() if type(part) is ATTR}, place.routine.owner
    pieces = everything(owner.node.body) if owner is not None and read else ()
    added = (part.value for part in pieces if type(part) is UPDATE and holder(part.target) in read)
    calls = (part for value in added for part in walk(value) if type(part) is CALL)
    return any(last_name(call.fn) not in NUMBERS for call in calls)


def one_number(args: tuple[Node, ...]) -> bool:
    """Whether what comes first is a number, or a list of one and the same: `[1, 1]`, `[n] * size`."""
    first = args[0] if args else None
    if type(first) is DO and first.what == "*x":
        return any(type(part) is SEQ and len(part.items) == 1 for part in first.args)
    parts = walk(first.args[0] if type(first) is DO and first.what == "neg" else first)
    numbers = {part.value for part in parts if type(part) is CONST}
    return len(numbers) == 1 and all(type(part) in (CONST, SEQ) for part in parts)
