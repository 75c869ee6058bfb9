"""What a name is passed to in, whether a function of the project takes a tensor there, or insists on one, out."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from syncguard.infer.domain.values import Call, Instance, Source, Tensor, Value
from syncguard.read import core
from syncguard.read.core import At
from syncguard.read.tags import CHECK, FUNCTION, IF, LEAVE

if TYPE_CHECKING:
    from syncguard.infer.routine import Frame, Routine

PASSED: Final = re.compile(r"\((\d+|\w+=)(.+)")


def handed_on(uses: Iterable[str], frame: Frame, at: At) -> Tensor | None:
    """A tensor, if what has these uses is given to a function of the project that declares to take one there."""
    for use in sorted(uses):
        passed = PASSED.match(use)
        if passed is None:
            continue
        called = _function(passed[2], frame)
        if called is not None and _takes(called, passed[1], frame):
            why = frame.why(f"passed:{passed[2]}", at)
            return Tensor(device=frame.world.place(frame.routine), sure=False, why=why)
    return None


def _function(path: str, frame: Frame) -> Call | None:
    """The function of the project that this path names."""
    head, _, rest = path.partition(".")
    value: Value = frame.lookup(head)
    if type(value) is Source and rest:
        value = frame.world.member(value, rest, frame.routine)
    elif type(value) is Instance and value.info is not None and rest:
        found = value.info.find(rest)
        node = found[0].routine.node if found is not None and type(found[0]) is Call else None
        if found is None or type(found[0]) is not Call or type(node) is not FUNCTION or node.decorators:
            return None
        return Call(found[0].routine, value)
    elif rest:
        return None
    return value if type(value) is Call and value.given is None else None


def _takes(called: Call, place: str, frame: Frame) -> bool:
    """Whether the parameter at a position, or of a `name=`, is declared to be a tensor, and nothing else."""
    routine = called.routine
    if not routine.home.own:
        frame.routine.uses[routine.home.path, routine.qualname] = None
    if place[-1] != "=":
        position = int(place) + (called.receiver is not None)
    else:
        params = routine.node.params if type(routine.node) is FUNCTION else ()
        position = next((index for index, param in enumerate(params) if param.name == place[:-1]), len(params))
    known = routine.written.takes.get(position)
    if known is None:
        known = routine.written.takes[position] = _declared(routine, position, frame)
    return known


def _declared(routine: Routine, position: int, frame: Frame) -> bool:
    from syncguard.infer.functions.annotations import promised
    from syncguard.infer.routine import Frame as Asking

    node = routine.node
    if type(node) is not FUNCTION or position >= len(node.params) or routine.host:
        return False
    param = node.params[position]
    if param.kind not in ("positional", "keyword"):
        return False
    asking = Asking(frame.world, routine, {})
    if param.annotation is None:
        return _demanded(node, param.name, asking)
    return type(promised(param.annotation, asking, "assumed")) is Tensor


def _demanded(node: core.Function, name: str, asking: Frame) -> bool:
    """Whether a function goes no further with what is no tensor: `assert isinstance(x, torch.Tensor)`."""
    from syncguard.infer.branches.narrow import narrowed

    for part in node.body:
        told: dict[str, Value] = {}
        if type(part) is CHECK:
            told = narrowed(part.test, True, asking)
        elif type(part) is IF and not part.orelse and part.body:
            last = part.body[-1]
            told = narrowed(part.test, False, asking) if type(last) is LEAVE and last.what == "raise" else {}
        if type(told.get(name)) is Tensor:
            return True
    return False
