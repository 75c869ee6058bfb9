"""A comparison and its outcome in, whether only a torch that nobody runs any more meets it out."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any, Final

from syncguard.infer.routine import Frame
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, CALL, CONST, SEQ
from syncguard.read.walk import walk

VERSION: Final = "torch.__version__"
OLDEST: Final = (2, 0)  # the first version that somebody may run
NUMBERS: Final = re.compile(r"\d+(?:\.\d+)*")
COMPARE: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
TURNED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}


def outdated(asked: core.Do, outcome: bool, frame: Frame) -> bool:
    """Whether this asks for a torch before 2.0: `version.parse(torch.__version__) < version.parse("1.8")`."""
    if asked.what not in COMPARE or len(asked.args) != 2:
        return False
    (left, right), what = asked.args, asked.what
    if not _is_version(left):
        left, right, what = right, left, TURNED[what]
    held = _numbers(right)
    if not held or held > OLDEST or not _is_version(left):
        return False
    return all(COMPARE[what](one, held) is not outcome for one in (OLDEST, max(OLDEST, frame.world.version)))


def _is_version(node: Node) -> bool:
    """Whether this is the version of torch, or made of it."""
    return any(type(part) is ATTR and part.path == VERSION for part in walk(node))


def _numbers(node: Node) -> tuple[int, ...]:
    """The version that is written in a text, in numbers or in what is made of one."""
    if type(node) is CALL:
        return _numbers(node.args[0]) if len(node.args) == 1 and not node.keywords else ()
    if type(node) is SEQ:
        parts = [part.value for part in node.items if type(part) is CONST and type(part.value) is int]
        return tuple(parts) if len(parts) == len(node.items) else ()
    if type(node) is not CONST or type(node.value) not in (str, int, float):
        return ()
    met = NUMBERS.match(str(node.value))
    return tuple([int(part) for part in met[0].split(".")]) if met is not None else ()
