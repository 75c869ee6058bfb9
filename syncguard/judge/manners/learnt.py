"""A call whose backward waits in, how surely it is computed backward out."""

from __future__ import annotations

from typing import Final

from syncguard.infer.branches.gradless import generates
from syncguard.infer.branches.subjects import last_name
from syncguard.infer.domain.sureness import LIKELY, NO, POSSIBLE
from syncguard.infer.domain.values import Why
from syncguard.infer.project import World
from syncguard.infer.routine import Routine
from syncguard.infer.sightings import Sighting
from syncguard.judge.around.calling import call_at
from syncguard.judge.around.changes import bindings
from syncguard.read.core import At, Node
from syncguard.read.tags import ATTR, CALL, CONST, DO, NAME, WITH
from syncguard.read.walk import around, walk

WHOLE: Final = frozenset(("int", "bool"))  # kinds that have no gradients
ENTERS: Final = "enter_context"
FIXED: Final = ("built", "drawn", "converts", "of_data")


def learns(sighting: Sighting, routine: Routine, world: World) -> int:
    """How surely gradients go through what a call is given: it was computed of parameters, or of what nobody knows;
    what was drawn, filled in or loaded has none, nor what is computed where none are recorded, or made of whole
    numbers."""
    why = sighting.why
    if why is None or generates(routine.node, world.places) or _unrecorded(sighting.at, routine, world):
        return NO
    alone = True
    while True:
        if _cuts(why.text, world):
            return NO
        if world.places.is_("names", "learnt", why.text) or (why.parent is None and _asks(why.at, routine)):
            return LIKELY
        if why.parent is None:
            return NO if alone and _fixed(why, world) else POSSIBLE
        alone = alone and _of_one(why, routine, world)
        why = why.parent


def _cuts(text: str, world: World) -> bool:
    """Whether nothing goes back through what a chain says there: it is detached, made anew, or of whole numbers."""
    op = world.op(text) if text.startswith("torch.") else None
    return world.places.is_("names", "detached", text) or (
        op is not None and not WHOLE.isdisjoint(op.returns.partition(";")[0].split())
    )


def _fixed(root: Why, world: World) -> bool:
    """Whether a chain begins with what has no gradients."""
    tables = world.places.tables["factories"]
    return root.text.endswith("batch") or any(root.text in tables[kind] for kind in FIXED)


def _of_one(why: Why, routine: Routine, world: World) -> bool:
    """Whether this is computed of the link before it and of numbers that are written there, and of nothing else."""
    tables, name = world.places.tables, why.text.rpartition(".")[2]
    if name in tables["views"]["names"] or name in tables["manners"]["moves"]:
        return True
    for part in walk(routine.node.body):
        if part.at == why.at and (type(part) is CALL or type(part) is DO):
            return sum(type(one) is not CONST for one in _operands(part)) < 2
    return False


def _operands(part: Node) -> tuple[Node, ...]:
    """What a call, or an operator, computes with."""
    if type(part) is CALL:
        method = (part.fn.of,) if type(part.fn) is ATTR and not _of_library(part.fn) else ()
        return (*method, *part.args, *[value for _, value in part.keywords])
    return part.args if type(part) is DO else ()


def _of_library(fn: Node) -> bool:
    """Whether this is a function by its dotted name: `torch.sum`, `F.relu`."""
    return type(fn) is ATTR and fn.path.partition(".")[0] in ("torch", "F")


def _unrecorded(at: At, routine: Routine, world: World) -> bool:
    """Whether a place stands under `with torch.no_grad():`, be it kept in a name, or entered on a stack of such."""
    for part in walk(routine.node.body):
        if type(part) is WITH and around(part.at, at):
            managers = [*[item for item, _ in part.items], *_entered(part.body, at)]
            if any(_gradless(manager, routine, world) for manager in managers):
                return True
    return False


def _entered(body: tuple[Node, ...], at: At) -> list[Node]:
    """What a block enters on a stack above a place: `stack.enter_context(torch.no_grad())`."""
    calls = [part for part in walk(body) if type(part) is CALL and part.at < at and part.args]
    return [call.args[0] for call in calls if last_name(call.fn) == ENTERS]


def _gradless(manager: Node, routine: Routine, world: World) -> bool:
    made = [part.value for part in bindings(routine.node.body, manager.id)] if type(manager) is NAME else [manager]
    return bool(made) and all(one is not None and world.places.is_("hot", "gradless", last_name(one)) for one in made)


def _asks(at: At, routine: Routine) -> bool:
    """Whether what is made there is made to have gradients: `torch.rand(4, requires_grad=True)`."""
    call = call_at(at, routine)
    flags = [value for name, value in call.keywords if name == "requires_grad"] if call is not None else []
    return any(type(flag) is not CONST or flag.value is True for flag in flags)
