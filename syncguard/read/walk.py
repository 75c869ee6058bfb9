"""A piece of core in, every piece within it out, each before its parts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final, cast

from syncguard.read.core import At, Attr, Bind, Call, Class, Do, Function, Let, Loop, Name, Node, Update, With
from syncguard.read.tags import ATTR, BIND, CALL, CONST, DO, LET, LOOP, NAME, UPDATE, WITH

_PLACES: Final = re.compile(r"\bPiece\b|\bParam\b")  # in the types of fields that hold pieces
_INSIDE: Final[dict[type[Any], tuple[str, ...]]] = {
    kind: tuple([name for name, held in kind.__annotations__.items() if _PLACES.search(held)])
    for kind in Node.__subclasses__()
}
_WITHIN: Final = {kind: () if kind in (Function, Class) else names for kind, names in _INSIDE.items()}


KEPT: Final = 8192  # blocks that were walked through lately
_lately: dict[int, tuple[Any, list[Node]]] = {}


def walk(part: Any) -> list[Node]:
    """A piece, or pieces, and all within but for what is defined there; nobody changes the list, for whoever asks about
    the same block again gets it again."""
    if type(part) is not tuple:
        return _pieces(part, _WITHIN)
    known = _lately.get(id(part))
    if known is not None and known[0] is part:
        return known[1]
    found = _pieces(part, _WITHIN)
    if len(_lately) >= KEPT:
        _lately.clear()
    _lately[id(part)] = (part, found)
    return found


def everything(part: Any) -> list[Node]:
    """A piece, or pieces, and all within, what is defined there included."""
    return _pieces(part, _INSIDE)


def parts(node: Node) -> list[Node]:
    """The pieces that a piece is made of."""
    held = [getattr(node, name) for name in _INSIDE.get(type(node), ())]
    found: list[Node] = []
    todo: list[Any] = held[::-1]
    while todo:
        part = todo.pop()
        if type(part) is tuple:
            todo.extend(part[::-1])
        elif type(part) in _INSIDE:
            found.append(part)
    return found


def binds(node: Node) -> bool:
    """Whether this is what `targets` asks for what it binds."""
    kind = type(node)
    return kind is BIND or kind is UPDATE or kind is LET or kind is LOOP or kind is WITH


def targets(node: Node) -> tuple[Node, ...]:
    """What a statement, or a `:=`, binds; nothing of what stands inside it."""
    kind = type(node)  # to ask a class of msgspec whether something is an instance takes five times as long
    if kind is BIND:
        return cast(Bind, node).targets
    if kind is UPDATE or kind is LET:
        return (cast(Update | Let, node).target,)
    if kind is LOOP:
        target = cast(Loop, node).target
        return (target,) if target is not None else ()
    if kind is WITH:
        return tuple([target for _, target in cast(With, node).items if target is not None])
    return ()


def around(whole: At, part: At) -> bool:
    """Whether a place encloses another."""
    return whole[:2] <= part[:2] and part[2:] <= whole[2:]


def loops_around(body: Any, at: At) -> list[Loop]:
    """The loops in a block that enclose a place."""
    return [one for one in walk(body) if type(one) is Loop and around(one.at, at)]


def looped(body: Any) -> set[int]:
    """What stands in the bodies of the loops of a block, by identity."""
    return {id(part) for loop in walk(body) if type(loop) is Loop for part in walk(loop.body)}


def mentions(part: Any, name: str) -> bool:
    """Whether a variable of this name stands in a piece, or in pieces."""
    return any(type(one) is Name and one.id == name for one in walk(part))


def named_in(parts: Iterable[Node], name: str) -> list[Bind]:
    """The statements among some pieces that give a name a value."""
    binds = [part for part in parts if type(part) is BIND]
    return [bind for bind in binds if any(type(aim) is NAME and aim.id == name for aim in bind.targets)]


def bound_in(part: Any) -> list[Node]:
    """All that the statements of a block bind, with the pieces of each target."""
    found: list[Node] = []
    for one in walk(part):
        if binds(one):
            _add(targets(one), _WITHIN, found)
    return found


def _pieces(part: Any, inside: dict[type[Any], tuple[str, ...]]) -> list[Node]:
    found: list[Node] = []
    _add(part, inside, found)
    return found


def _add(part: Any, inside: dict[type[Any], tuple[str, ...]], found: list[Node]) -> None:
    kind = type(part)
    if kind is NAME or kind is CONST:  # half of all pieces
        found.append(part)
    elif kind is tuple:
        for one in part:
            _add(one, inside, found)
    elif kind is ATTR:  # these are most of the others: to look up what they hold takes longer than to add it
        found.append(part)
        _add(cast(Attr, part).of, inside, found)
    elif kind is CALL:
        call = cast(Call, part)
        found.append(part)
        _add(call.fn, inside, found)
        for argument in call.args:
            _add(argument, inside, found)
        for _, value in call.keywords:
            _add(value, inside, found)
    elif kind is DO:
        found.append(part)
        for argument in cast(Do, part).args:
            _add(argument, inside, found)
    else:
        names = inside.get(kind)
        if names is None:
            return
        found.append(part)
        for name in names:
            held = getattr(part, name)
            if held:  # a piece always does
                _add(held, inside, found)
