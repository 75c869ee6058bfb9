"""A part of a test in, the name by which a frame knows it, and what it holds out."""

from __future__ import annotations

from typing import Final

from syncguard.infer.domain.values import UNKNOWN, Named, Value
from syncguard.infer.routine import Frame
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, CALL, CONST, INDEX, LET, NAME

ME: Final = ("self", "cls")  # what a method calls what it is bound to
ASKS: Final = ("get", "pop")  # methods of a dict that give what it has under a key


def path_of(node: Node) -> str:
    """The name or dotted path that narrowing can speak of, or ''."""
    if type(node) is NAME:
        return node.id
    if type(node) is ATTR:
        return node.path
    if type(node) is INDEX:
        return _key_path(node)
    return node.target.id if type(node) is LET and type(node.target) is NAME else ""


def item_path(node: core.Index) -> str:
    """The same of an item under a name, or under a text of what has a name: `batch[key]`, `batch["mask"]`."""
    if type(node.of) is not NAME:
        return ""
    if type(node.key) is NAME:
        return f"{node.of.id}[{node.key.id}]"
    return f'{node.of.id}["{node.key.value}' if type(node.key) is CONST and isinstance(node.key.value, str) else ""


def asked_path(node: core.Call) -> str:
    """The same of an item that a dict is asked for: `batch.get("mask")`."""
    fn = node.fn
    asked = type(fn) is ATTR and fn.name in ASKS and len(node.args) > 0
    return item_path(core.Index(fn.of, node.args[0], node.at)) if type(fn) is ATTR and asked else ""


def _key_path(node: core.Index) -> str:
    """The same of what a dict holds under a text that is written out, `state["step`, or under a name."""
    if type(node.key) is NAME:
        return item_path(node)
    named = type(node.of) is NAME or type(node.of) is ATTR
    if not named or type(node.key) is not CONST or not isinstance(node.key.value, str):
        return ""
    holder = path_of(node.of)
    return f'{holder}["{node.key.value}' if holder else ""


def value_at(node: Node, frame: Frame) -> Value:
    """What a part of a test holds, without a word."""
    from syncguard.infer.expressions.evaluate import quiet_value

    return quiet_value(node.target if type(node) is LET else node, frame)


def held_at(node: Node, frame: Frame) -> Value:
    """The same, asked when its function has been run: what it calls is known, and is not counted once more."""
    routine = frame.routine
    calls, routine.calls = routine.calls, {}
    value = value_at(node, frame)
    routine.calls = calls
    return value


def dotted(fn: core.Attr, frame: Frame) -> str:
    """The dotted name of an attribute of something imported, '' of all else."""
    value = frame.lookup(fn.of.id) if type(fn.of) is NAME else UNKNOWN
    return f"{value.name}.{fn.name}" if type(value) is Named else ""


def last_name(node: Node) -> str:
    """`c` of `a.b.c`, and of a call of it; '' of what has no name."""
    if type(node) is NAME:
        return node.id
    if type(node) is ATTR:
        return node.name
    return last_name(node.fn) if type(node) is CALL else ""


def alike(a: Node, b: Node) -> bool:
    """The same place, written twice."""
    match a, b:
        case core.Name(), core.Name():
            return a.id == b.id
        case core.Attr(), core.Attr():
            return bool(a.path) and a.path == b.path
        case core.Const(), core.Const():
            return bool(a.value == b.value)
        case core.Index(), core.Index():
            return alike(a.of, b.of) and alike(a.key, b.key)
    return False
