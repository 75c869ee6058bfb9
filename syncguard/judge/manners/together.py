"""A read in, whether another that needs nothing of it stands beside it out."""

from __future__ import annotations

from collections.abc import Sequence

from syncguard.infer.branches.subjects import last_name
from syncguard.judge.around.changes import aimed_at, holder
from syncguard.judge.around.standing import Place, enclosing
from syncguard.read import core
from syncguard.read.core import At, Node
from syncguard.read.tags import ATTR, CALL, CHOOSE, COMP, DO, IF, LEAVE, LET, MAP, NAME, SEQ
from syncguard.read.walk import around, binds, mentions, walk


def neighbour(place: Place) -> bool:
    """Something else is fetched just above or below, as often, both are fetched whatever comes of the other, or it is
    fetched in the turns of a comprehension."""
    one = place.sighting
    turns = [loop.at for loop in one.context.loops]
    if any(type(part) is COMP and around(part.at, one.at) for part in place.pieces()):
        return True
    return any(
        other.hazard == one.hazard
        and other.at[:2] != one.at[:2]
        and abs(other.at[0] - one.at[0]) <= 1
        and [loop.at for loop in other.context.loops] == turns
        and not _needs(place, *sorted((one.at, other.at)))
        for other in place.routine.sightings.values()
    )


def listed(place: Place) -> bool:
    """Whether a list, a tuple or a dict is made of this and another read."""
    one, last = place.sighting, place.statement()
    reads = {other.at for other in place.routine.sightings.values() if other.hazard == one.hazard}
    if len(reads) < 2 or last is None:
        return False
    for items in map(_items, walk(last)):
        found = [reads.intersection(_straight(item)) for item in items]
        if any(one.at in ats for ats in found) and any(ats and one.at not in ats for ats in found):
            return True
    return False


def _items(part: Node) -> Sequence[Node]:
    """What a display is made of."""
    if type(part) is SEQ:
        return part.items
    if type(part) is MAP:
        return part.values
    if type(part) is CALL and type(part.fn) is NAME and last_name(part.fn) == "dict":
        return [value for _, value in part.keywords]
    return ()


def _straight(item: Node) -> list[At]:
    """Where this stands, and what it is made of by arithmetic and calls: `round(x.item(), 2)`, `x.item() / n`."""
    found, todo = list[At](), [item]
    while todo:
        part = todo.pop()
        found.append(part.at)
        if type(part) is DO or type(part) is CALL:
            todo.extend(part.args)
    return found


def _needs(place: Place, first: At, second: At) -> bool:
    """Whether a later wait needs what an earlier one gives, comes to pass only by it or instead of it, or one of them
    stands in the other."""
    if around(first, second) or around(second, first):
        return True
    above, below = ([*enclosing(place.routine.node.body, at)] for at in (first, second))
    shared = 0
    while shared < min(len(above), len(below)) and above[shared] is below[shared]:
        shared += 1
    held, above, below = above[:shared], above[shared:], below[shared:]
    if not above and not below:
        return _needs_within(held[-1], first, second) if held else False
    if not above or not below or type(above[-1]) is LEAVE or (held and _apart(held[-1], above[0], below[0])):
        return True
    names = {holder(aim) for part in walk(above[0]) if binds(part) for aim in aimed_at(part)} - {""}
    return any(
        (one.id if type(one) is NAME else one.path if type(one) is ATTR else "") in names for one in walk(below[0])
    )


def _needs_within(statement: Node, first: At, second: At) -> bool:
    """The same of two waits of one statement."""
    for part in walk(statement):
        if type(part) is CHOOSE and {_arm(part, first), _arm(part, second)} == {"yes", "no"}:
            return True
        name = part.target.id if type(part) is LET and around(part.at, first) and type(part.target) is NAME else ""
        if name and any(one.at == second and mentions(one, name) for one in walk(statement)):
            return True
    return False


def _arm(part: core.Choose, at: At) -> str:
    return "yes" if around(part.yes.at, at) else "no" if around(part.no.at, at) else ""


def _apart(held: Node, one: Node, other: Node) -> bool:
    """Whether two statements stand in different arms of a branch."""
    return type(held) is IF and any(part is one for part in held.body) != any(part is other for part in held.body)
