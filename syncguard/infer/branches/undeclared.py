"""A test and its outcome in, whether something is then of another class than it is declared to be out."""

from __future__ import annotations

from typing import Final

from syncguard.infer.branches.instances import kinds_of, of_kind
from syncguard.infer.branches.meant import plainly
from syncguard.infer.branches.refuted import is_one
from syncguard.infer.branches.subjects import dotted, path_of, value_at
from syncguard.infer.branches.unseen import UNSEEN, unseen
from syncguard.infer.domain.values import Const, Host, Instance, Tensor, Value, options
from syncguard.infer.routine import Frame
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import FUNCTION

UNDECLARED: Final = "where something else is given than what is declared"
BY_KIND: Final = (UNDECLARED, UNSEEN)  # why an arm is rarely taken, by what is tested


def undeclared(test: Node, outcome: bool, frame: Frame) -> str:
    """Why such an arm is rarely taken; '' where it is not one: `if not isinstance(self.clock, Clock):`."""
    test, outcome = plainly(test, outcome)
    match test:
        case core.Call(fn=core.Attr() as fn, args=(core.Name() as subject,)) if not outcome:
            made = frame.world.is_type_test(dotted(fn, frame)) and subject.id not in _taken(frame)
            if made and all(type(one) is Tensor and one.sure for one in options(value_at(subject, frame))):
                return UNDECLARED
        case core.Call(fn=core.Name(id="isinstance"), args=(subject, kinds)) if not outcome and path_of(subject):
            named, held = kinds_of(kinds, frame), options(value_at(subject, frame))
            if all(_is(one, named, frame) for one in held):
                return UNDECLARED
    return UNSEEN if unseen(test, outcome, frame) else ""


def _taken(frame: Frame) -> list[str]:
    """The parameters of a function: others may give them something else."""
    node = frame.routine.node
    return [param.name for param in node.params] if type(node) is FUNCTION else []


def _is(one: Value, kinds: list[Value], frame: Frame) -> bool:
    """Whether what is declared, or was made, is of one of these classes."""
    if type(one) is Instance:
        return one.info is not None and of_kind(one, kinds, frame)
    return (type(one) is Host or type(one) is Const) and is_one(one, kinds, frame) is True
