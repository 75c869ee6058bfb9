"""An expression in, the one of several that have a name out which it is: `Mode.FAST`, `Mode("fast")`, `Mode[name]`."""

from __future__ import annotations

from typing import Any

from syncguard.infer.branches.subjects import held_at
from syncguard.infer.classes import ClassInfo
from syncguard.infer.domain.values import ClassOf
from syncguard.judge.defaults.defaults import Place
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, BIND, CALL, CONST, INDEX, NAME


class Member:
    """One of these, with what it stands for; a text is the one that it spells."""

    def __init__(self, of: str, name: str, value: Any) -> None:
        self.of, self.name, self.value = of, name, value

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Member):
            return self.of == other.of and self.name == other.name
        if isinstance(other, str):
            return self.is_spelled(other)
        return other is not None and bool(self.value == other)

    def __hash__(self) -> int:
        return hash((self.of, self.name))

    def __repr__(self) -> str:
        return f"{self.of}.{self.name}"

    def is_spelled(self, text: str) -> bool:
        """Whether a text stands for it."""
        return _plain(text) in (_plain(self.name), _plain(self.value if isinstance(self.value, str) else self.name))


def member_of(node: Node, place: Place) -> Member | None:
    """The one that has this name, `Mode.FAST`."""
    if (
        type(node) is not ATTR
        or not node.name[:1].isupper()
        or (type(node.of) is not NAME and type(node.of) is not ATTR)
    ):
        return None
    info = _class(node.of, place)
    return next((one for one in _members(info) if one.name == node.name), None) if info is not None else None


def converts(node: Node, place: Place) -> list[Member]:
    """Those of which the one is given that is asked for: `Mode("fast")`, `Mode["FAST"]`, `Mode.from_str("fast")`."""
    if type(node) is INDEX:
        info = _class(node.of, place)
        return _members(info) if info is not None else []
    if type(node) is not CALL or len(node.args) != 1 or node.keywords:
        return []
    fn = node.fn
    info = _class(fn, place)
    if info is None and type(fn) is ATTR:
        info = _class(fn.of, place)
    return _members(info) if info is not None else []


def _class(node: Node, place: Place) -> ClassInfo | None:
    """The class of such that an expression names."""
    name = node.id if type(node) is NAME else node.name if type(node) is ATTR else ""
    if not name.lstrip("_")[:1].isupper():
        return None
    held = held_at(node, place.frame)
    info = held.info if type(held) is ClassOf else None
    if info is None or not any(one.endswith("Enum") for one in info.external()):
        return None
    place.routine.uses.update(info.elsewhere)
    return info


def _members(info: ClassInfo) -> list[Member]:
    found: list[Member] = []
    for part in info.node.body:
        aim = part.targets[0] if type(part) is BIND and len(part.targets) == 1 else None
        if type(part) is BIND and type(aim) is NAME and part.value is not None and not aim.id.startswith("_"):
            found.append(Member(info.name, aim.id, part.value.value if type(part.value) is CONST else None))
    return found


def _plain(text: str) -> str:
    return text.lower().replace("-", "_")
