"""A class of the file that is checked in, the methods that it has from other files and that call its own out."""

from __future__ import annotations

from collections.abc import Iterator

from syncguard.infer.classes import ClassInfo
from syncguard.infer.domain.values import Call, Value
from syncguard.infer.heirs import unwritten
from syncguard.infer.routine import Routine
from syncguard.pack.places import Places
from syncguard.read import core
from syncguard.read.tags import ATTR, BIND, CALL, FUNCTION, NAME
from syncguard.read.walk import walk


def callers(info: ClassInfo, places: Places) -> Iterator[tuple[Routine, Routine]]:
    """The inherited methods of other files that call a method of this class, and that method: `forward` of a base
    class says what `_compute` is given, of which nobody in this file says anything, and waits for what it gives."""
    gives = _written(info, places)
    mine = {name: asking for name, member in info.members.items() if (asking := _asks(member, places)) is not None}
    mine |= gives
    if not mine:
        return
    asker = next(iter(mine.values()))
    for base in info.mro[1:]:
        if base.home.own:
            continue
        for name, member in base.members.items():
            routine = member.routine if type(member) is Call else None
            node = routine.node if routine is not None else None
            if routine is None or type(node) is not FUNCTION or not node.params or routine.owner is not base:
                continue
            asker.uses[base.home.path, routine.qualname] = None  # it may call more of them tomorrow
            uses = node.uses.get(node.params[0].name, frozenset())
            called = [name for name in sorted(mine) if name in uses and (name in gives or _computes(mine[name]))]
            found = info.find(name)
            if called and found is not None and found[1] is base:
                yield routine, mine[called[0]]


def _written(info: ClassInfo, places: Places) -> dict[str, Routine]:
    """The methods that a class of another file leaves to this one to write."""
    found: dict[str, Routine] = {}
    for name, member in info.members.items():
        if type(member) is not Call or not member.routine.home.own:
            continue  # `__xor__ = Other.__xor__`
        above = info.find(name, True) if len(info.mro) > 1 else None
        if above is None or type(above[0]) is not Call or above[1].home.own:
            continue
        if unwritten(above[0].routine) and not unwritten(member.routine) and not places.seldom(name):
            found[name] = member.routine
    return found


def _asks(member: Value, places: Places) -> Routine | None:
    """The method, if it has a parameter of which only its callers can tell what it holds, and runs often."""
    node = member.routine.node if type(member) is Call else None
    if type(member) is not Call or type(node) is not FUNCTION or not _untold(node) or not member.routine.home.own:
        return None
    return None if places.seldom(node.name) else member.routine


def _computes(routine: Routine) -> bool:
    """Whether a method does something else with such a parameter than to keep it or hand it to its namesake."""
    node = routine.node
    if type(node) is not FUNCTION:
        return False
    told, parts = _untold(node), walk(node.body)
    kept = {id(part.value) for part in parts if type(part) is BIND}
    for part in parts:
        if type(part) is CALL and type(part.fn) is ATTR and part.fn.name == node.name:
            kept.update(map(id, part.args))
    return any(type(part) is NAME and part.id in told and id(part) not in kept for part in parts)


def _untold(node: core.Function) -> set[str]:
    return {param.name for param in node.params[1:] if param.annotation is None and param.kind == "positional"}
