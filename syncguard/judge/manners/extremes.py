"""A call of `max` or `min` in, whether it compares tensors with one another, or the elements of one, out."""

from __future__ import annotations

from syncguard.infer.branches.subjects import last_name
from syncguard.infer.domain.values import Why
from syncguard.judge.around.standing import Place
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import BIND, CALL, COMP, FUNCTION, NAME, SEQ


def elements(place: Place) -> bool:
    """The elements of one tensor are compared with one another, for the largest or the smallest."""
    why, given = place.sighting.why, [call.args[0] for call in _calls(place) if len(call.args) == 1]
    return why is not None and largest(place) and any(_one(part, why, place) for part in given)


def _one(part: Node, why: Why, place: Place) -> bool:
    """Whether this is one tensor for sure: what is declared to be one, or an operation gives as one."""
    function = place.routine.node
    if why.text == "parameter":
        params = function.params if type(function) is FUNCTION else ()
        return type(part) is NAME and any(
            one.name == part.id and one.at == why.at for one in params if one.kind[0] != "*"
        )
    op = place.world.op(why.text)
    if op is None or not op.returns.startswith(("tensor", "new")):
        return False
    bound = [one.value for one in place.pieces() if type(one) is BIND and type(part) is NAME and _aims_at(one, part.id)]
    return any(one is not None and one.at == why.at for one in (part, *bound))


def _aims_at(bind: core.Bind, name: str) -> bool:
    return any(type(to) is NAME and to.id == name for to in bind.targets)


def largest(place: Place) -> bool:
    """It is compared with others for the largest or the smallest of them."""
    if place.sighting.op not in ("builtins.max", "builtins.min"):
        return False
    return not any("key" in dict(call.keywords) or _of_rows(call.args) for call in _calls(place))


def _calls(place: Place) -> list[core.Call]:
    return [part for part in place.written_at(place.sighting.at) if type(part) is CALL]


def _of_rows(args: tuple[Node, ...]) -> bool:
    """Whether this is one list of tuples: the first of each that differ decide."""
    only = args[0] if len(args) == 1 else None
    if type(only) is COMP:
        return type(only.body[0]) is SEQ
    return type(only) is CALL and last_name(only.fn) == "zip"
