"""A function in, the decorator that may find another to run in its place out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from syncguard.infer.branches.subjects import last_name
from syncguard.infer.domain.values import Call
from syncguard.infer.routine import Frame, Routine
from syncguard.pack.places import Places
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, BIND, CALL, FUNCTION, LEAVE, NAME
from syncguard.read.walk import everything, walk

if TYPE_CHECKING:
    from syncguard.infer.project import World


def replaced_by(routine: Routine, world: World) -> str:
    """The name of the decorator, of a function or of its class, that asks a table for what is to run and hands the
    function to it as what is taken where there is none; '' where nothing does."""
    node, owner = routine.node, routine.owner
    if type(node) is not FUNCTION:
        return ""
    frame = Frame(world, routine, {})
    for decorator in _functions(node.decorators, frame):
        if decorator.written.chooses is None:
            decorator.written.chooses = _chooses(decorator.node, world.places)
        if decorator.written.chooses:
            return _noted(decorator, routine)
    method = owner.members.get(node.name) if owner is not None else None
    if owner is not None and type(method) is Call and method.routine is routine:
        for decorator in _functions(owner.node.decorators, frame):
            if _puts(decorator.node, node.name, world.places):
                return _noted(decorator, routine)
    return ""


def _functions(decorators: Iterable[Node], frame: Frame) -> list[Routine]:
    """The functions of the project among decorators, called for arguments or not."""
    from syncguard.infer.expressions.evaluate import quiet_value

    named = [part.fn if type(part) is CALL else part for part in decorators]
    values = [quiet_value(part, frame) for part in named if type(part) in (NAME, ATTR)]
    return [value.routine for value in values if type(value) is Call]


def _noted(decorator: Routine, routine: Routine) -> str:
    if decorator.home is not routine.home:
        routine.uses[decorator.home.path, decorator.qualname] = None
    return decorator.name


def _chooses(function: Node, places: Places) -> bool:
    """Whether a decorator gives back a function of its own, which looks up what to run."""
    for part in everything(function):
        if type(part) is FUNCTION:
            given = frozenset(param.name for param in part.params)
            returned = {last_name(leave.value) for leave in walk(part.body) if type(leave) is LEAVE and leave.value}
            inner = [one for one in part.body if type(one) is FUNCTION and one.name in returned]
            if any(_looks_up(one, given, places) for one in inner):
                return True
    return False


def _puts(function: Node, method: str, places: Places) -> bool:
    """Whether a decorator puts a function of its own in the place of a class's method, which looks up what to run."""
    parts = everything(function)
    binds = [part for part in parts if type(part) is BIND]
    own = frozenset(
        target.id for bind in binds if _member(bind.value, method) for target in bind.targets if type(target) is NAME
    )
    put = {last_name(bind.value) for bind in binds if bind.value and any(_member(aim, method) for aim in bind.targets)}
    return any(type(part) is FUNCTION and part.name in put and _looks_up(part, own, places) for part in parts)


def _member(node: Node | None, name: str) -> bool:
    return type(node) is ATTR and node.name == name


def _looks_up(function: core.Function, decorated: frozenset[str], places: Places) -> bool:
    """Whether a function calls what it was made for only where it looks up nothing else: it is what a table is asked
    for by default."""
    calls = [part for part in walk(function.body) if type(part) is CALL]
    if any(type(call.fn) is NAME and call.fn.id in decorated for call in calls):
        return False
    return any(
        len(call.args) > 1
        and type(default := call.args[-1]) is NAME
        and default.id in decorated
        and places.is_("gates", "lookups", last_name(call.fn))
        for call in calls
    )
