"""A class in, the methods that assign each of its attributes out: what to run to learn what an attribute holds;
and whether an instance holds what it was made of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from syncguard.infer.domain.values import Call
from syncguard.infer.moves import moved
from syncguard.infer.spelling import spelled
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, CALL, DO, FUNCTION, IF, INDEX, LOOP, NAME, RUN, SEQ, TRY, WITH
from syncguard.read.walk import binds, targets, walk

if TYPE_CHECKING:
    from syncguard.infer.classes import ClassInfo
    from syncguard.infer.routine import Routine


CONSTRUCTORS: Final = frozenset(("__init__", "__post_init__", "__attrs_post_init__", "__new__"))


def maker_of(info: ClassInfo) -> Routine | None:
    """The constructor of a class."""
    member = info.find("__init__")
    return member[0].routine if member is not None and type(member[0]) is Call else None


def stores_of(info: ClassInfo, registrars: frozenset[str]) -> dict[str, list[Routine]]:
    """Attribute names, and the methods of this class that assign them to their first parameter."""
    found: dict[str, list[Routine]] = {}
    for member in info.members.values():
        routine = member.routine if type(member) is Call else None
        node = routine.node if routine is not None else None
        if routine is None or type(node) is not FUNCTION or not node.params or routine.owner is not info:
            continue
        for name in dict.fromkeys(stored(node, registrars)):
            found.setdefault(name, []).append(routine)
    return found


def steady(info: ClassInfo, moving: frozenset[str]) -> bool:
    """Whether an instance holds what its constructor was given, where that is: no method of it gives it anything else,
    or moves or makes anything on a device."""
    return all(_leaves(node, moving) for node in _methods(info))


def stays_where_made(info: ClassInfo, moving: frozenset[str]) -> bool:
    """The same of what its constructor makes on a device that it is told; a `cpu` brings it to the host."""
    others = [node for node in _methods(info) if node.name not in CONSTRUCTORS and node.name != "cpu"]
    makers = [node for node in _methods(info) if node.name in CONSTRUCTORS]
    return all(_leaves(node, moving) for node in others) and not any(moved(node.body, moving) for node in makers)


def constructs_above(node: core.Function) -> core.Call | None:
    """The call by which a constructor has the one above it run: `super().__init__(count, "cpu")`."""
    for part in node.body:
        call = part.value if type(part) is RUN else None
        if type(call) is CALL and type(call.fn) is ATTR and call.fn.name == "__init__":
            of = call.fn.of
            if type(of) is CALL and type(of.fn) is NAME and of.fn.id == "super":
                return call
    return None


def _methods(info: ClassInfo) -> list[core.Function]:
    """The methods of a class, and of those above it."""
    nodes = [member.routine.node for base in info.mro for member in base.members.values() if type(member) is Call]
    return [node for node in nodes if type(node) is FUNCTION]


def _leaves(node: core.Function, moving: frozenset[str]) -> bool:
    """Whether a method leaves all that its instance holds, or constructs it, and nothing in it is put on a device."""
    makes = any(type(part) is CALL and any(key == "device" for key, _ in part.keywords) for part in walk(node.body))
    if makes or moved(node.body, moving):
        return False
    return node.name in CONSTRUCTORS or not node.params or not (any(stored(node)) or _grows(node))


def _grows(node: core.Function) -> bool:
    """Whether a method puts something into a container that its instance holds."""
    me = f"{node.params[0].name}."
    for part in walk(node.body):
        aims = targets(part) if binds(part) else ()
        fn = part.value.fn if type(part) is RUN and type(part.value) is CALL else None
        into = [aim.of for aim in aims if type(aim) is INDEX] + ([fn.of] if type(fn) is ATTR else [])
        if any(type(of) is ATTR and of.path.startswith(me) for of in into):
            return True
    return False


def fills(info: ClassInfo, asker: Routine) -> bool:
    """Whether a method gives the instance attributes whose names nobody knows: then any name may be one of these."""
    for base in info.mro:
        for member in base.members.values():
            routine = member.routine if type(member) is Call else None
            node = routine.node if routine is not None else None
            if routine is None or type(node) is not FUNCTION or not node.params:
                continue
            if not base.home.own:
                asker.uses[base.home.path, routine.qualname] = None
            if any(_fills(part, node.params[0].name) for part in walk(node.body)):
                return True
    return False


def _fills(part: Node, me: str) -> bool:
    """Whether this is `self.__dict__.update(found)`, `vars(self)[name] = x`, or `setattr(self, name, x)`."""
    if binds(part):
        aims = targets(part)
        return any(_all_of(aim.of if type(aim) is INDEX else aim, me) for aim in aims)
    match part:
        case core.Call(fn=core.Attr(of=of, name="update")):
            return _all_of(of, me)
        case core.Call(fn=core.Name(id="setattr"), args=(core.Name(id=of), name, _)):
            return of == me and not spelled(name)
    return False


def _all_of(node: Node, me: str) -> bool:
    """Whether this is the dict of all that an object holds."""
    match node:
        case core.Attr(of=core.Name(id=of), name="__dict__"):
            return of == me
        case core.Call(fn=core.Name(id="vars"), args=(core.Name(id=of),)):
            return of == me
    return False


def stored(function: core.Function, registrars: frozenset[str] | None = None) -> Iterator[str]:
    """The attributes of its first parameter that a function assigns; without `registrars`, any method may be one."""
    me = function.params[0].name
    todo: list[Node] = [*function.body]
    while todo:
        node = todo.pop()
        if binds(node):
            yield from _targets(targets(node), me)
        if type(node) is RUN:
            yield from registered(node.value, me, registrars)
        elif type(node) is IF or type(node) is LOOP:
            todo += [*node.body, *node.orelse]
        elif type(node) is WITH:
            todo += node.body
        elif type(node) is TRY:
            handled = [inner for _, body in node.handlers for inner in body]
            todo += [*node.body, *node.orelse, *node.final, *handled]


def registered(call: Node, me: str, registrars: frozenset[str] | None) -> Iterator[str]:
    """The attribute that a call has its receiver take up, `self.register_buffer("x", y)`; `*_x` of several."""
    match call:
        case core.Call(fn=core.Attr(of=core.Name(id=of), name=how), args=(written, *_)):
            if of == me and (registrars is None or how in registrars) and (name := spelled(written)):
                yield name


def _targets(aims: tuple[Node, ...], me: str) -> Iterator[str]:
    for aim in aims:
        if type(aim) is ATTR:
            if type(aim.of) is NAME and aim.of.id == me:
                yield aim.name
        elif type(aim) is SEQ:
            yield from _targets(aim.items, me)
        elif type(aim) is DO and aim.what == "*":
            yield from _targets(aim.args, me)
