"""A class in, the methods that assign each of its attributes out: what to run to learn what an attribute holds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from syncguard.infer.domain.values import Call
from syncguard.read import core
from syncguard.read.core import Node

if TYPE_CHECKING:
    from syncguard.infer.classes import ClassInfo
    from syncguard.infer.routine import Routine


def stores_of(info: ClassInfo, registrars: frozenset[str]) -> dict[str, list[Routine]]:
    """Attribute names, and the methods of this class that assign them to their first parameter."""
    found: dict[str, list[Routine]] = {}
    for member in info.members.values():
        routine = member.routine if type(member) is Call else None
        node = routine.node if routine is not None else None
        if routine is None or type(node) is not core.Function or not node.params or routine.owner is not info:
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
        match node:
            case core.Bind(targets=targets):
                yield from _targets(targets, me)
            case core.Update(target=target):
                yield from _targets((target,), me)
            case core.Run(
                value=core.Call(fn=core.Attr(of=core.Name(id=of), name=how), args=(core.Const(value=name), *_))
            ):
                if of == me and isinstance(name, str) and (registrars is None or how in registrars):
                    yield name
            case core.If(body=yes, orelse=no):
                todo += [*yes, *no]
            case core.Loop(target=aim, body=yes, orelse=no):
                yield from _targets((aim,) if aim is not None else (), me)
                todo += [*yes, *no]
            case core.With(items=items, body=yes):
                yield from _targets(tuple(aim for _, aim in items if aim is not None), me)
                todo += yes
            case core.Try(body=yes, handlers=handlers, orelse=no, final=final):
                todo += [*yes, *no, *final, *[inner for _, handled in handlers for inner in handled]]


def _targets(targets: tuple[Node, ...], me: str) -> Iterator[str]:
    for target in targets:
        match target:
            case core.Attr(of=core.Name(id=of), name=name) if of == me:
                yield name
            case core.Seq(items=items):
                yield from _targets(items, me)
            case core.Do(what="*", args=args):
                yield from _targets(args, me)
