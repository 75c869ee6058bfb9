"""A test in, how it comes out for those who leave parameters with their defaults out."""

from __future__ import annotations

from syncguard.infer.branches.meant import as_given, ruled_out
from syncguard.infer.branches.ungiven import private
from syncguard.infer.domain.values import Const
from syncguard.infer.routine import Frame
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import CONST, FUNCTION, NAME


def only_if_given(test: Node, outcome: bool, frame: Frame) -> bool:
    """Whether a test comes out so only where a caller gives what is something else by default."""
    return ruled_out(test, outcome, lambda part: _by_default(part, frame))


def _by_default(test: Node, frame: Frame) -> bool | None:
    """How a part of a test comes out by default; None where nobody can tell."""
    match test:
        case core.Name():
            default = default_of(test, frame)
            return None if default is None else bool(default.value)
        case core.Do(what="==" | "!=" | "is" | "is not" as what, args=(asked, core.Const(value=value))):
            default = default_of(asked, frame)
            return None if default is None else (default.value == value) is (what in ("==", "is"))
    return None


def default_of(asked: Node, frame: Frame) -> core.Const | None:
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
