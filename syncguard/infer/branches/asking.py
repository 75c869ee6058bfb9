"""A call that only asks whether something is None in, that question out: `exists(mask)` is `mask is not None`."""

from __future__ import annotations

from syncguard.infer.branches.meant import answer
from syncguard.infer.domain.values import Call
from syncguard.infer.routine import Frame
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import CALL, DO, EITHER, FUNCTION, NAME
from syncguard.read.walk import walk


def none_asked(fn: core.Name, frame: Frame) -> str:
    """'is' or 'is not', where a function of one line only asks that of what it is given and None."""
    called = frame.lookup(fn.id)
    node = called.routine.node if type(called) is Call else None
    if type(node) is not FUNCTION or len(node.params) != 1:
        return ""
    match answer(node):
        case core.Do(what=what, args=(core.Name(id=name), core.Const(value=None))):
            return what if what in ("is", "is not") and name == node.params[0].name else ""
    return ""


def spelled_out(test: Node, frame: Frame) -> Node:
    """A test with these questions written out; the same one each time."""
    known = frame.routine.written.spelled
    if id(test) not in known:
        asks = any(type(part) is CALL and type(part.fn) is NAME and len(part.args) == 1 for part in walk(test))
        known[id(test)] = (test, _spelled(test, frame) if asks else test)
    return known[id(test)][1]


def _spelled(test: Node, frame: Frame) -> Node:
    if type(test) is EITHER:
        return core.Either(test.what, tuple([_spelled(one, frame) for one in test.operands]), test.at)
    if type(test) is DO and test.what in ("truth", "not"):
        return core.Do(test.what, (_spelled(test.args[0], frame),), test.at)
    if type(test) is CALL and type(test.fn) is NAME and len(test.args) == 1 and not test.keywords:
        what = none_asked(test.fn, frame)
        return core.Do(what, (test.args[0], core.Const(None, test.at)), test.at) if what else test
    return test
