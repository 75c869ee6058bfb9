"""A function in, the decorator of its file that keeps it in a table and gives it back as it is out."""

from __future__ import annotations

from syncguard.infer.routine import Routine
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import BIND, CALL, FUNCTION, INDEX, LEAVE, NAME
from syncguard.read.walk import everything, walk


def kept_by(routine: Routine) -> str:
    """The name of what keeps a function for those who ask for it by a key; '' where nothing does."""
    node = routine.node
    if type(node) is not FUNCTION or len(node.decorators) != 1:
        return ""
    decorator = node.decorators[0]
    named = decorator.fn if type(decorator) is CALL else decorator
    if type(named) is not NAME:
        return ""
    made = (part for part in routine.home.core.body if type(part) is FUNCTION and part.name == named.id)
    inner = (part for function in made for part in everything((function,)) if type(part) is FUNCTION)
    return named.id if any(map(_keeps, inner)) else ""


def _keeps(function: core.Function) -> bool:
    """Whether a function puts its first parameter into a table, and gives it back."""
    name = function.params[0].name if function.params else ""
    parts = walk(function.body)
    kept = any(type(part) is BIND and _named(part.value, name) and _indexes(part) for part in parts)
    return kept and any(type(part) is LEAVE and _named(part.value, name) for part in parts)


def _named(node: Node | None, name: str) -> bool:
    return type(node) is NAME and node.id == name


def _indexes(node: core.Bind) -> bool:
    return any(type(target) is INDEX for target in node.targets)
