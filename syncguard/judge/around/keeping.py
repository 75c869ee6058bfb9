"""A function in, the lines out at which it makes what it keeps under an attribute of its object, each with the name of
that: `self.norm = Norm()`, `self.layers.append(Layer())`, `layers = [Layer()]` and `self.net = Sequential(*layers)`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from syncguard.infer.branches.subjects import ME
from syncguard.infer.routine import Routine
from syncguard.read.core import At, Node
from syncguard.read.tags import ATTR, BIND, CALL, DO, FUNCTION, NAME, RUN, SEQ, UPDATE
from syncguard.read.walk import walk

ADDS: Final = ("append", "insert", "extend", "add_module")


def keeping(routine: Routine) -> dict[int, str]:
    """These lines, with the attributes."""
    if type(routine.node) is not FUNCTION:
        return {}
    parts = walk(routine.node.body)
    held: dict[str, str] = {}  # what a name is kept under
    for name, (uses, kept) in _uses(parts).items():
        if uses == 0 and len(kept) == 1:
            held[name] = next(iter(kept))
    found: dict[int, str] = {}
    for aim, at in _given(parts):
        attribute = _of_self(aim) or (held.get(aim.id, "") if type(aim) is NAME else "")
        if attribute:
            found.update(dict.fromkeys(range(at[0], at[2] + 1), attribute))
    return found


def _given(parts: list[Node]) -> Iterator[tuple[Node, At]]:
    """What is bound to something, or has something added, and where."""
    for part in parts:
        if type(part) is BIND and len(part.targets) == 1 and part.value is not None:
            yield part.targets[0], part.at
        elif type(part) is UPDATE:
            yield part.target, part.at
        elif type(part) is RUN and (of := _added_to(part.value)) is not None:
            yield of, part.at


def _added_to(value: Node) -> Node | None:
    """What a call adds something to: `self.layers.append(x)`."""
    fn = value.fn if type(value) is CALL else None
    return fn.of if type(fn) is ATTR and fn.name in ADDS else None


def _of_self(aim: Node) -> str:
    own = type(aim) is ATTR and type(aim.of) is NAME and aim.of.id == ME[0]
    return aim.name if type(aim) is ATTR and own else ""


def _uses(parts: list[Node]) -> dict[str, tuple[int, set[str]]]:
    """Of each name, how often it is used otherwise than to bind it, to add to it, or to keep it under an attribute, and
    which attributes these are."""
    uses: dict[str, int] = {}
    kept: dict[str, set[str]] = {}
    for part in parts:
        if type(part) is NAME:
            uses[part.id] = uses.get(part.id, 0) + 1
    for part in parts:
        names: list[str] = []
        if type(part) is RUN:
            of = _added_to(part.value)
            names += [of.id] if type(of) is NAME else []
            attribute = _of_self(of) if of is not None else ""
            for name in _handed(part.value) if attribute else ():
                kept.setdefault(name, set()).add(attribute)
                names.append(name)
        elif type(part) is UPDATE:
            names += [part.target.id] if type(part.target) is NAME else []
        elif type(part) is BIND and len(part.targets) == 1:
            aim = part.targets[0]
            names += [aim.id] if type(aim) is NAME else []
            if attribute := _of_self(aim):
                handed = _handed(part.value)
                names += handed
                for name in handed:
                    kept.setdefault(name, set()).add(attribute)
        for name in names:
            uses[name] -= 1
    return {name: (uses[name], attributes) for name, attributes in kept.items()}


def _handed(value: Node | None) -> list[str]:
    """The names that are kept as they are, or in what is made of them: `Sequential(*layers)`."""
    every: list[Node] = [value] if value is not None else []
    if type(value) is CALL:
        every = [*value.args]
    found: list[str] = []
    for one in every:
        one = one.args[0] if type(one) is DO and one.what == "*" else one
        items = [*one.items] if type(one) is SEQ else [one]
        found += [item.id for item in items if type(item) is NAME]
    return found
