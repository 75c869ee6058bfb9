"""A method in that a class above it leaves to be written, whether that class asks for it seldom out: as an object is
made, or moved, or where what it keeps is changed (`if self.size != size: self.rebuild(size)`)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from syncguard.infer.branches.meant import plainly
from syncguard.infer.branches.ungiven import lines_of, private
from syncguard.infer.domain.values import Call
from syncguard.infer.heirs import unwritten
from syncguard.infer.routine import Routine
from syncguard.judge.defaults.alone import seen_above
from syncguard.pack.places import Places
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, BIND, DO, EITHER, FUNCTION, IF, NAME, SEQ
from syncguard.read.walk import walk

MOVES: Final = ("to", "_apply", "cuda", "cpu")
UNLIKE: Final = ("!=", "is not")


def asked_seldom(routine: Routine, places: Places) -> bool:
    """Whether all that asks for a method is a class that leaves it to be written, and does so seldom."""
    owner, name = routine.owner, routine.name
    above = owner.find(name, above=True) if owner is not None else None
    if owner is None or above is None or type(above[0]) is not Call or not unwritten(above[0].routine):
        return False
    if above[1].home is routine.home or lines_of(name, routine.home):
        return False
    if not (private(routine) or seen_above(owner, places)):  # a library has no name for what is private here
        return False
    methods = [part for info in owner.mro for part in info.node.body if type(part) is FUNCTION and part.params]
    asking = [part for part in methods if name in part.uses.get(part.params[0].name, ())]
    return bool(asking) and all(_rests(part, name, places) for part in asking)


def _rests(method: core.Function, name: str, places: Places) -> bool:
    """Whether a method that asks for another one is run seldom, or comes to it only where something is changed."""
    if places.seldom(method.name) or method.name in MOVES:
        return True
    me = method.params[0].name
    behind = {id(part) for block in _changing(method, me) for part in walk(block)}
    asks = [part for part in walk(method.body) if type(part) is ATTR and part.path == f"{me}.{name}"]
    return all(id(part) in behind for part in asks)


def _changing(method: core.Function, me: str) -> Iterator[tuple[Node, ...]]:
    """The blocks that store what their test finds to be unlike what the object keeps."""
    for part in walk(method.body):
        if type(part) is IF:
            kept = _unlike(part.test, me)
            aims = [aim for bind in walk(part.body) if type(bind) is BIND for aim in bind.targets]
            each = [one for aim in aims for one in (aim.items if type(aim) is SEQ else (aim,))]
            if kept and kept <= {one.path for one in each if type(one) is ATTR}:
                yield part.body


def _unlike(test: Node, me: str) -> set[str]:
    """The attributes of the object of which a test says that one at least is unlike what is given; none where it may
    say something else."""
    inner, outcome = plainly(test, True)
    if type(inner) is EITHER and outcome:
        each = [_unlike(one, me) for one in inner.operands]
        return set().union(*each) if all(each) or inner.what == "and" else set()
    if type(inner) is not DO or inner.what not in UNLIKE or not outcome or len(inner.args) != 2:
        return set()
    kept = [part.path for part in inner.args if type(part) is ATTR and part.path == f"{me}.{part.name}"]
    given = [part for part in inner.args if type(part) is NAME]
    return set(kept) if len(kept) == len(given) == 1 else set()
