"""A test or a number in, what it is for those who leave parameters and settings with their defaults out."""

from __future__ import annotations

from syncguard.infer.branches.meant import as_given, ruled_out
from syncguard.infer.branches.subjects import value_at
from syncguard.infer.branches.ungiven import private
from syncguard.infer.domain.values import UNKNOWN, Const
from syncguard.infer.routine import Frame
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, CONST, FUNCTION, NAME


def only_if_given(test: Node, outcome: bool, frame: Frame) -> bool:
    """Whether a test comes out so only where a caller gives what is something else by default."""
    return ruled_out(test, outcome, lambda part: _by_default(part, frame))


def is_one(node: Node, frame: Frame) -> bool:
    """Whether a number is one unless somebody sets it: a parameter, a field of the settings or a constant."""
    default = _default(node, frame)
    if default is None:
        held = value_at(node, frame) if type(node) is NAME or type(node) is ATTR else UNKNOWN
        return type(held) is Const and type(held.value) is int and held.value == 1
    return type(default.value) is int and default.value == 1


def _by_default(test: Node, frame: Frame) -> bool | None:
    """How a part of a test comes out by default; None where nobody can tell."""
    match test:
        case core.Name():
            default = _default(test, frame)
            return None if default is None else bool(default.value)
        case core.Do(what="==" | "!=" | "is" | "is not" as what, args=(asked, core.Const(value=value))):
            default = _default(asked, frame)
            return None if default is None else (default.value == value) is (what in ("==", "is"))
    return None


def _default(asked: Node, frame: Frame) -> core.Const | None:
    """What a parameter of this function is by default, where it may be that here."""
    node = frame.routine.node
    if type(asked) is not NAME or type(node) is not FUNCTION:
        return None
    param = next((param for param in node.params if param.name == asked.id), None)
    default = param.default if param is not None else None
    if type(default) is not CONST or not as_given(asked.id, asked.at, frame):
        return None
    given = frame.routine.seen.get(asked.id)
    other = given is not None and not (type(given) is Const and given.value == default.value)
    return None if other and (frame.routine.aside or private(frame.routine)) else default
