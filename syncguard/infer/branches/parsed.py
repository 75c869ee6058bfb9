"""A file in, what its parser of arguments says that each one is where it is not given out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from syncguard.infer.branches.ungiven import calls_of
from syncguard.infer.home import Home
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import CONST

FLAGS: Final = {"store_true": False, "store_false": True}


def parsed(home: Home) -> dict[str, list[Node | None]]:
    """What each `add_argument` of a file says that an argument is where it is not given."""
    found: dict[str, list[Node | None]] = {}
    for call in calls_of("add_argument", home):
        for name in _destination(call):
            found.setdefault(name, []).append(_default(call))
    return found


def _destination(call: core.Call) -> Iterator[str]:
    """The attribute that holds an argument: as is said, or its first long name."""
    said = [value for key, value in call.keywords if key == "dest"]
    for node in said or [arg for arg in call.args if type(arg) is CONST and str(arg.value)[:2] == "--"]:
        if type(node) is CONST and isinstance(node.value, str):
            yield node.value.lstrip("-").replace("-", "_")
            return


def _default(call: core.Call) -> Node | None:
    given = dict(call.keywords)
    action = given.get("action")
    if "default" in given or "required" in given or "" in given:
        return given.get("default")
    return core.Const(FLAGS.get(action.value) if type(action) is CONST else None, call.at)
