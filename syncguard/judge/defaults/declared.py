"""A class and the name of a field in, what it is declared to be by default out, and what that says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from syncguard.infer.branches.subjects import last_name
from syncguard.infer.classes import ClassInfo
from syncguard.judge.around.bound import path_of
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import BIND, CALL, CONST

FIELDS: Final = ("field", "Field", "attrib", "ib")
SETTINGS: Final = ("settings", "parameters")  # lists of names
LAST_WORD: Final = re.compile(r"[A-Z][a-z0-9]*$")


def declared_in(node: core.Class, name: str) -> Iterator[Node]:
    """The default of a field: `name: bool = False`."""
    for part in node.body:
        if type(part) is BIND and part.value is not None:
            yield from [_default_in(part.value) for aim in part.targets if path_of(aim) == name]


def _default_in(value: Node) -> Node:
    """What a field is by default: `field(default=False)`, `Field(False, ge=0)`."""
    if type(value) is not CALL or last_name(value.fn) not in FIELDS:
        return value
    given = [one for key, one in value.keywords if key == "default"]
    return (*given, *value.args, value)[0]


def off_at_first(info: ClassInfo, name: str) -> bool:
    """Whether a class declares a field that is off unless its constructor is given it, or changes it."""
    declared = [node for one in info.mro for node in declared_in(one.node, name)]
    return bool(declared) and all(type(one) is CONST and not one.value for one in declared)


def counts(default: Node, info: ClassInfo) -> bool:
    """Whether a field says how many there are, which is no setting of what is named for none: `num_rows: int = 0`."""
    nothing = type(default) is CONST and type(default.value) is int and default.value == 0
    kind = LAST_WORD.search(info.name) if nothing else None
    told = kind is not None and any(info.world.places.is_("names", key, kind[0].lower()) for key in SETTINGS)
    return nothing and not told


def takes_fields(info: ClassInfo) -> bool:
    """Whether what a class declares is what its constructor takes: that of another one is for those below to set."""
    makers = (*info.node.decorators, *[base for one in info.mro for base in one.node.bases])
    return any(info.world.places.is_("names", "fields", last_name(maker)) for maker in makers)
