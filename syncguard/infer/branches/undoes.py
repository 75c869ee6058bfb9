"""An arm of a test in, whether it has the object undo what led there out: `if self.merged: self.unmerge()`."""

from __future__ import annotations

from typing import Final

from syncguard.infer.branches.meant import answer, necessary, plainly
from syncguard.infer.classes import ClassInfo
from syncguard.infer.domain.values import Call
from syncguard.infer.routine import Frame, Routine
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, BIND, CALL, CONST, FUNCTION, RUN, SEQ
from syncguard.read.walk import binds, targets, walk

LESS: Final = ("pop", "popitem", "clear", "remove", "discard", "popleft")
MORE: Final = ("append", "add", "extend", "insert", "update", "appendleft")
ASKING: Final = 1  # methods that a method has do its work


def undoes(test: Node, outcome: bool, body: tuple[Node, ...], frame: Frame) -> bool:
    """Whether this arm calls a method of the object by which the test comes out the other way from there on, until
    somebody calls another one: it is met once for each such call, which no step makes. Of what is no module nobody
    knows which methods each step calls, so none may."""
    owner, node = frame.routine.owner, frame.routine.node
    if owner is None or type(node) is not FUNCTION or not node.params:
        return False
    me = node.params[0].name
    here = [part for part in body if type(part) is RUN and _method(part.value, me, owner) is not None]
    if not here:
        return False
    within = {id(part) for part in walk(tuple(here))}
    for flag, on in necessary(test, outcome):
        kept, holds = _kept(flag, on, me, owner)
        if not kept or not any(_turns((part,), me, kept, not holds, owner, frame) for part in here):
            continue
        others = tuple([part for part in walk(node.body) if id(part) not in within])
        back = _turns(others, me, kept, holds, owner, frame) or (not owner.is_module and _set(kept, me, frame))
        return not back and not any(_turned(one, kept, holds, owner, frame) for one in _stepping(owner, frame))
    return False


def _set(name: str, me: str, frame: Frame) -> bool:
    """Whether this file gives an attribute of this name to something else."""
    aims = [aim for part in frame.home.pieces if binds(part) for aim in targets(part) if type(aim) is ATTR]
    return any(aim.name == name and aim.path != f"{me}.{name}" for aim in aims)


def _kept(flag: Node, on: bool, me: str, owner: ClassInfo) -> tuple[str, bool]:
    """The attribute that says so, and whether it then holds something: the flag, or what a property of one line asks,
    `return bool(self.merged_adapters)`."""
    if type(flag) is not ATTR or flag.path != f"{me}.{flag.name}":
        return "", on
    routine = _routine(flag.name, owner)
    if routine is None:
        return flag.name, on
    node, said = routine.node, answer(routine.node)
    if type(node) is not FUNCTION or not node.params or said is None:
        return "", on
    asked, on = plainly(said, on)
    match asked:
        case core.Call(fn=core.Name(id="bool"), args=(of,)):
            asked = of
        case core.Do(what=">" | "!=", args=(core.Call(fn=core.Name(id="len"), args=(of,)), core.Const(value=0))):
            asked = of
    return (asked.name, on) if type(asked) is ATTR and asked.path == f"{node.params[0].name}.{asked.name}" else ("", on)


def _stepping(owner: ClassInfo, frame: Frame) -> list[Routine]:
    """The methods of a module that run at every step by their names; of another class, all that may."""
    places = frame.world.places
    every = [routine for info in owner.mro for name in info.members if (routine := _routine(name, owner)) is not None]
    if not owner.is_module:
        return [one for one in every if one.name != "__init__" and one is not frame.routine]
    return [one for one in every if places.each_step(one.name) or places.is_("hot", "module_methods", one.name)]


def _turned(routine: Routine, kept: str, on: bool, owner: ClassInfo, frame: Frame) -> bool:
    node = routine.node
    if type(node) is not FUNCTION or not node.params:
        return False
    return _turns(tuple(walk(node.body)), node.params[0].name, kept, on, owner, frame)


def _turns(
    parts: tuple[Node, ...], me: str, kept: str, on: bool, owner: ClassInfo, frame: Frame, deep: int = ASKING
) -> bool:
    """Whether one of these gives the object's attribute a value that holds so, or has a method do it."""
    path = f"{me}.{kept}"
    for part in parts:
        if type(part) is BIND and _binds(part, path, on):
            return True
        call = part.value if type(part) is RUN else part
        if type(call) is not CALL or type(call.fn) is not ATTR:
            continue
        if call.fn.path == f"{path}.{call.fn.name}" and call.fn.name in (MORE if on else LESS):
            return True
        routine = _method(call, me, owner) if deep >= 0 else None
        node = routine.node if routine is not None else None
        if routine is None or type(node) is not FUNCTION or not node.params or routine is frame.routine:
            continue
        frame.routine.uses[routine.home.path, routine.qualname] = None
        if _turns(tuple(walk(node.body)), node.params[0].name, kept, on, owner, frame, deep - 1):
            return True
    return False


def _binds(bind: core.Bind, path: str, on: bool) -> bool:
    """Whether an assignment gives the attribute of this path what holds, or does not."""
    if not any(type(aim) is ATTR and aim.path == path for aim in bind.targets):
        return False
    if type(bind.value) is CONST:
        return bool(bind.value.value) is on
    return on if type(bind.value) is not SEQ else bool(bind.value.items) is on


def _method(call: Node | None, me: str, owner: ClassInfo) -> Routine | None:
    """The method of the object that this calls."""
    fn = call.fn if type(call) is CALL else None
    return _routine(fn.name, owner) if type(fn) is ATTR and fn.path == f"{me}.{fn.name}" else None


def _routine(name: str, owner: ClassInfo) -> Routine | None:
    member = owner.find(name)
    return member[0].routine if member is not None and type(member[0]) is Call else None
