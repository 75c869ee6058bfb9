"""Pieces of a function in, whether they set or change what stands under a name or a path out: by its elements, or in
place."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

from syncguard.infer.branches.subjects import last_name
from syncguard.infer.expressions.methods import MUTATORS
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, BIND, CALL, CONST, INDEX, LOOP, NAME, SEQ, UPDATE
from syncguard.read.walk import binds, targets, walk

SHRINKS: Final = frozenset(("pop", "popleft", "remove", "discard", "clear", "sort", "reverse", "fill"))
OF_FIRST: Final = frozenset(("shuffle", "heappush", "heappop", "copyto", "put", "fill_diagonal"))  # functions


def changes(pieces: Collection[Node], text: str, views: Collection[str]) -> bool:
    """Whether something is put into what has this name, added to it, or it is changed in place: by this name, or by
    another one of it or of what is seen in it."""
    names = _names(pieces, text, views)
    return any(_changes(part, names) for part in pieces)


def sets(body: tuple[Node, ...], path: str) -> bool:
    """Whether a block puts something else in the place of what has this path."""
    return any(type(aim) is ATTR and aim.path == path for part in walk(body) if binds(part) for aim in aimed_at(part))


def _names(pieces: Iterable[Node], text: str, views: Collection[str]) -> frozenset[str]:
    """All the names and paths by which a function has the same thing, or a view of it."""
    pairs = [pair for part in pieces for pair in _pairs(part, views)]
    names = {text}
    while found := {name for pair in pairs if not names.isdisjoint(pair) for name in pair} - names:
        names |= found
    return frozenset(names)


def _pairs(part: Node, views: Collection[str]) -> list[tuple[str, str]]:
    """What a statement gives another name, with that of which it is a view."""
    if type(part) is BIND:
        value, aims = part.value, part.targets
    elif type(part) is LOOP and part.target is not None:
        value, aims = part.iterable, (part.target,)
    else:
        return []
    found = list[tuple[str, str]]()
    for aim in aims:
        alone = (aim,) if type(aim) is not SEQ else aim.items
        given = value.items if type(aim) is SEQ and type(value) is SEQ else [value] * len(alone)
        for to, what in zip(alone, given, strict=False):
            seen = holder(what, views)
            if seen and (type(to) is NAME or type(to) is ATTR):
                found.append((holder(to), seen))
    return found


def _changes(part: Node, names: frozenset[str]) -> bool:
    if type(part) is CALL:
        return _call_changes(part, names)
    if type(part) is UPDATE and _of(part.target, names):
        return True
    return binds(part) and any(type(aim) is INDEX and _of(aim, names) for aim in aimed_at(part))


def aimed_at(part: Node) -> list[Node]:
    """What a statement binds, one by one."""
    return [one for aim in targets(part) for one in (aim.items if type(aim) is SEQ else (aim,))]


def bindings(body: tuple[Node, ...], name: str) -> list[core.Bind]:
    """The assignments of a block that put something in this name, or path."""
    found = (part for part in walk(body) if type(part) is BIND and name)
    return [part for part in found if any(holder(to) == name for to in aimed_at(part))]


def _call_changes(call: core.Call, names: frozenset[str]) -> bool:
    """Whether a call changes what it is asked of, what it is given first, or what it is told to write to."""
    name, keywords = last_name(call.fn), dict(call.keywords)
    if type(call.fn) is ATTR and _in_place(name) and _of(call.fn.of, names):
        return True
    if call.args and _of(call.args[0], names):
        flag = keywords.get("inplace")
        said = type(flag) is CONST and flag.value is True
        if said or name in OF_FIRST or _ends_in_place(name):
            return True
    out = keywords.get("out")
    return any(_of(one, names) for one in (out.items if type(out) is SEQ else (out,)))


def _in_place(name: str) -> bool:
    return name in MUTATORS or name in SHRINKS or _ends_in_place(name)


def _ends_in_place(name: str) -> bool:
    return name.endswith("_") and not name.endswith("__")


def _of(node: Node | None, names: frozenset[str]) -> bool:
    """Whether this is one of these, or a part of one: `x.data` is of `x`."""
    held = holder(node)
    while held and held not in names:
        held = held.rpartition(".")[0]
    return bool(held)


def holder(node: Node | None, views: Collection[str] | None = None) -> str:
    """The name or path that something is read from: `x` of `x[0]` and of `x.view(-1)[0]`; '' of anything else, and of
    what a method gives that is none of the views, if these are told."""
    while node is not None:
        if type(node) is INDEX:
            node = node.of
        elif type(node) is CALL and type(node.fn) is ATTR and (views is None or node.fn.name in views):
            node = node.fn.of
        elif type(node) is ATTR and views is not None and node.name in views:
            node = node.of
        else:
            break
    return node.id if type(node) is NAME else node.path if type(node) is ATTR else ""
