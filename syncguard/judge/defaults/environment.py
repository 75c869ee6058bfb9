"""A question that is put to the environment in, what is asked for and what it is where nobody has set it out."""

from __future__ import annotations

from typing import Any

from syncguard.infer.branches.subjects import held_at
from syncguard.infer.domain.values import Const, Named
from syncguard.infer.routine import Frame
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, CALL, CONST, DO, NAME


def asked_of(node: Node, frame: Frame) -> str | None:
    """The name of a variable of the environment that this reads, or asks for: `os.environ.get("X")`, `"X" in
    os.environ`."""
    match node:
        case core.Call(fn=core.Attr() | core.Name() as fn, args=(asked, *_)) if _reads(fn, frame):
            held = held_at(asked, frame) if type(asked) is NAME else None
            value = asked.value if type(asked) is CONST else held.value if type(held) is Const else None
            return value if isinstance(value, str) else None
        case core.Do(what="in" | "not in", args=(core.Const(value=str() as name), core.Attr() | core.Name() as of)):
            return name if _is(of, "keepers", frame) else None
    return None


def is_switch(fn: Node, frame: Frame) -> bool:
    """Whether this function of a library asks for a setting that is off by default."""
    return _is(fn, "switches", frame)


def default_in(node: Node) -> tuple[Node | None, Any]:
    """What is written for the case that it is not set; else what is told then."""
    if type(node) is CALL:
        given = (*node.args[1:2], *[value for key, value in node.keywords if key == "default"])
        return (given[0], None) if given else (None, None)
    return None, type(node) is DO and node.what == "not in"


def _reads(fn: Node, frame: Frame) -> bool:
    if type(fn) is ATTR and fn.name == "get":
        return _is(fn.of, "keepers", frame)
    return _is(fn, "readers", frame)


def _is(node: Node, key: str, frame: Frame) -> bool:
    value = held_at(node, frame) if type(node) is NAME or type(node) is ATTR else None
    return type(value) is Named and frame.world.places.is_("environment", key, value.name)
