"""What an optimizer keeps for a group of parameters under a key, `group["decay"]`, in, what its constructor gives all
groups by default out: `super().__init__(params, dict(decay=decay))`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from syncguard.infer.branches.meant import binders
from syncguard.infer.branches.subjects import last_name
from syncguard.infer.classes import ClassInfo
from syncguard.infer.domain.values import Call
from syncguard.infer.routine import Routine
from syncguard.judge.around.bound import bound_to
from syncguard.judge.defaults.carried import read_of
from syncguard.judge.defaults.defaults import Place, Written
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, BIND, CALL, CONST, FUNCTION, INDEX, LOOP, MAP, NAME
from syncguard.read.walk import walk

GROUPS: Final = "param_groups"
DEFAULTS: Final = "defaults"


def of_group(node: Node, place: Place) -> Written | None:
    """The expression that a constructor gives all groups under a key that this asks one for."""
    asked = read_of(node) if type(node) is INDEX or type(node) is CALL else None
    owner = place.routine.owner
    if asked is None or owner is None or not _is_group(asked.of, place.routine):
        return None
    return next(_given(owner, asked.name, place), None)


def _is_group(of: Node, routine: Routine) -> bool:
    """Whether this is one of an optimizer's groups, or what all are given: `for group in self.param_groups:`."""
    if type(of) is ATTR or type(of) is INDEX:
        return last_name(of if type(of) is ATTR else of.of) == (DEFAULTS if type(of) is ATTR else GROUPS)
    if type(of) is not NAME:
        return False
    binds = binders(routine).get(of.id, ())
    params = routine.node.params if type(routine.node) is FUNCTION else ()
    if not binds:
        return of.id.endswith("group") and any(param.name == of.id for param in params)
    return all(type(bind) is LOOP and _goes_through(bind.iterable) for bind in binds)


def _goes_through(iterable: Node | None) -> bool:
    """Whether a loop goes through the groups: `enumerate(self.param_groups)`."""
    if type(iterable) is CALL and type(iterable.fn) is NAME and len(iterable.args) == 1:
        return _goes_through(iterable.args[0])
    return type(iterable) is ATTR and iterable.name == GROUPS


def _given(owner: ClassInfo, key: str, place: Place) -> Iterator[Written]:
    """What the constructor, the nearest one that is written down, gives all groups under a key."""
    for one in owner.mro:
        member = one.members.get("__init__")
        routine = member.routine if type(member) is Call else None
        if routine is None or type(routine.node) is not FUNCTION:
            continue
        place.routine.uses[routine.home.path, routine.qualname] = None
        calls = [part for part in walk(routine.node.body) if type(part) is CALL and last_name(part.fn) == "__init__"]
        given = [value for call in calls if (value := _defaults(call)) is not None]
        if len(given) == 1:
            yield from [(value, place.of(routine)) for value in _under(given[0], key, routine)]
        return


def _defaults(call: core.Call) -> Node | None:
    named = dict(call.keywords).get(DEFAULTS)
    return named or (call.args[1] if len(call.args) == 2 else None)


def _under(table: Node, key: str, routine: Routine) -> list[Node]:
    """The one expression that a table holds under a key, which the function writes down; nothing where it puts several
    there."""
    found: list[Node] = []
    tables = [table]
    if type(table) is NAME:
        tables = [one for bind in binders(routine).get(table.id, ()) if (one := bound_to(bind, table.id)) is not None]
        for part in walk(routine.node.body):
            for aim in part.targets if type(part) is BIND else ():
                if type(aim) is INDEX and type(aim.of) is NAME and aim.of.id == table.id and _is(aim.key, key):
                    found += [part.value] if type(part) is BIND and part.value is not None else []
    for one in tables:
        if type(one) is MAP:
            found += [value for name, value in zip(one.keys, one.values, strict=True) if _is(name, key)]
        elif type(one) is CALL and last_name(one.fn) == "dict":
            found += [value for name, value in one.keywords if name == key]
    return found if len(found) == 1 else []


def _is(node: Node | None, key: str) -> bool:
    return type(node) is CONST and node.value == key
