"""A call or a block in, whether it reports that something went wrong out: what warns, raises or gives up."""

from __future__ import annotations

from syncguard.infer.branches.subjects import last_name
from syncguard.infer.routine import Frame
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, BIND, CALL, CONST, DO, LEAVE, NAME, RUN, UPDATE
from syncguard.read.walk import walk


def complains(call: Node, frame: Frame) -> bool:
    """Whether a call only warns or logs an error: what it shows is computed where something went wrong."""
    if type(call) is not CALL:
        return False
    is_, fn = frame.world.places.is_, call.fn
    if type(fn) is ATTR and fn.name in frame.world.places.tables["cold"]["failures"]:
        return is_("cold", "loggers", last_name(fn.of).lower())
    if type(fn) is NAME and fn.id == "print":
        return bool(call.args) and is_("cold", "cries", beginning(call.args[0]).lstrip(" [(<*!-#\n").lower())
    return is_("cold", "warners", last_name(fn))


def beginning(text: Node) -> str:
    """What a text begins with, as far as it is written out."""
    if type(text) is DO and text.what in ("join", "%", "+") and text.args:
        return beginning(text.args[0])
    if type(text) is CALL and type(text.fn) is ATTR and text.fn.name == "format":
        return beginning(text.fn.of)
    return text.value if type(text) is CONST and type(text.value) is str else ""


def fails(body: tuple[Node, ...], frame: Frame) -> bool:
    """Whether a block ends in raise or an exit, prepares a warning, or warns and gives up: all of it reports a
    failure."""
    last = body[-1] if body else None
    if type(last) is LEAVE:
        return last.what == "raise" or _gives_up(body[:-1], last.value, frame)
    if type(last) is not RUN or type(last.value) is not CALL:
        return False
    exits = last_name(last.value.fn) in frame.world.places.tables["cold"]["exits"]
    said = all(type(part) in (BIND, UPDATE) for part in body[:-1])
    return exits or (said and complains(last.value, frame))


def _gives_up(before: tuple[Node, ...], value: Node | None, frame: Frame) -> bool:
    """Whether a block warns, every time, and then leaves with a value that takes no computing."""
    warns = [part.value for part in before if type(part) is RUN]
    if not warns or not all(complains(call, frame) and "once" not in last_name(_called(call)) for call in warns):
        return False
    said = all(type(part) in (BIND, UPDATE, RUN) for part in before)
    calls = [part for part in walk(value) if type(part) is CALL]
    return said and all(type(arg) is CONST or type(arg) is CALL for call in calls for arg in call.args)


def _called(node: Node) -> Node:
    return node.fn if type(node) is CALL else node


def amiss(body: tuple[Node, ...], frame: Frame) -> bool:
    """Whether a block begins with what a log, or a reader, is told each time: `warnings` show one only once."""
    first = body[0] if body else None
    call = first.value if type(first) is RUN else None
    if type(call) is not CALL or not complains(call, frame):
        return False
    logs = type(call.fn) is ATTR and last_name(call.fn.of) != "warnings" and "once" not in call.fn.name
    return logs or (type(call.fn) is NAME and call.fn.id == "print")
