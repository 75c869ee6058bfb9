"""The lists that an instance keeps, of which a method takes one thing at a time."""

from __future__ import annotations

from typing import Final

from syncguard.infer.branches.keeps import methods, set_in
from syncguard.infer.routine import Frame, Routine
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, CALL, FUNCTION, LOOP, SEQ
from syncguard.read.walk import walk

TAKES: Final = ("pop", "popleft")
PUTS: Final = ("append",)
FILLS: Final = ("extend", "appendleft", "extendleft", "insert")


def queued(node: Node, frame: Frame) -> bool:
    """Whether this method takes from what the instance keeps what is put there one by one: that there is nothing left
    in it is no rare thing."""
    if type(node) is not ATTR or not node.path.startswith("self.") or type(frame.routine.node) is not FUNCTION:
        return False
    if not _calls(frame.routine.node.body, node.path, TAKES):
        return False
    every = [*methods(frame)]
    put = any(_calls(method.node.body, node.path, PUTS) for method in every)
    return put and not any(_several(method, node.path) for method in every)


def _calls(body: tuple[Node, ...], path: str, names: tuple[str, ...]) -> list[core.Call]:
    """The calls of these methods of what lies there."""
    return [
        part
        for part in walk(body)
        if type(part) is CALL
        and type(part.fn) is ATTR
        and part.fn.name in names
        and part.fn.path == f"{path}.{part.fn.name}"
    ]


def _several(method: Routine, path: str) -> bool:
    """Whether a method puts more than one there: in a loop, or all at once."""
    loops = [part for part in walk(method.node.body) if type(part) is LOOP]
    bound = not all(_empty(bind.value) for bind in set_in(method).get(path, ()))
    filled = bool(_calls(method.node.body, path, FILLS))
    return bound or filled or any(_calls(loop.body, path, PUTS) for loop in loops)


def _empty(value: Node | None) -> bool:
    """Whether a list is made with nothing in it: `[]`, `deque(maxlen=4)`."""
    return (type(value) is SEQ and not value.items) or (type(value) is CALL and not value.args)
