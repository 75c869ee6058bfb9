"""A loop in, whether it tries one thing until that goes well out: it has more turns only where something fails."""

from __future__ import annotations

from typing import Final

from syncguard.infer.branches.meant import necessary
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import BIND, CONST, DO, LEAVE, NAME, TRY

LEAVES: Final = ("break", "return")


def retries(node: core.Loop) -> bool:
    """Whether all that a loop does is to try something, at the end of which it leaves: `while not done: try: .. done =
    True`, `while True: try: return f(x)`."""
    tried = [part for part in node.body if type(part) is TRY and part.handlers]
    if len(tried) != 1 or len(node.body) - node.body.index(tried[0]) != 1:
        return False
    body = tried[0].orelse or tried[0].body
    last = body[-1] if body else None
    if type(last) is LEAVE:
        return last.what in LEAVES
    return node.test is not None and type(last) is BIND and _ends(last, node.test)


def _ends(bind: core.Bind, test: Node) -> bool:
    """Whether this sets the flag that a loop goes on for: `done = True`, for `while not done`."""
    aim, value = bind.targets[0] if len(bind.targets) == 1 else None, bind.value
    if type(aim) is not NAME or type(value) is not CONST or type(value.value) is not bool:
        return False
    return any(_goes_on(part, outcome, aim.id, not value.value) for part, outcome in necessary(test, True))


def _goes_on(test: Node, outcome: bool, name: str, value: bool) -> bool:
    """Whether a part of a test asks for a flag to have a value."""
    if type(test) is NAME:
        return test.id == name and outcome is value
    if type(test) is not DO or test.what not in ("is", "=="):
        return False
    named = any(type(one) is NAME and one.id == name for one in test.args)
    return named and outcome and any(type(one) is CONST and one.value is value for one in test.args)
