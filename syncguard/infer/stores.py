"""A class in, the methods that assign each of its attributes out: what to run to learn what an attribute holds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from syncguard.infer.domain.values import Call
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, DO, FUNCTION, IF, LOOP, NAME, RUN, SEQ, TRY, WITH
from syncguard.read.walk import binds, targets

if TYPE_CHECKING:
    from syncguard.infer.classes import ClassInfo
    from syncguard.infer.routine import Routine


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


def stored(function: core.Function, registrars: frozenset[str] | None = None) -> Iterator[str]:
    """The attributes of its first parameter that a function assigns; without `registrars`, any method may be one."""
    me = function.params[0].name
    todo: list[Node] = [*function.body]
    while todo:
        node = todo.pop()
        if binds(node):
            yield from _targets(targets(node), me)
        if type(node) is RUN:
            yield from _registered(node.value, me, registrars)
        elif type(node) is IF or type(node) is LOOP:
            todo += [*node.body, *node.orelse]
        elif type(node) is WITH:
            todo += node.body
        elif type(node) is TRY:
            handled = [inner for _, body in node.handlers for inner in body]
            todo += [*node.body, *node.orelse, *node.final, *handled]


def _registered(call: Node, me: str, registrars: frozenset[str] | None) -> Iterator[str]:
    match call:
        case core.Call(fn=core.Attr(of=core.Name(id=of), name=how), args=(core.Const(value=str() as name), *_)):
            if of == me and (registrars is None or how in registrars):
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
