"""A call that only asks whether something is None, or of a type, in, that question out: `exists(mask)` is `mask is not
None`."""

from __future__ import annotations

from syncguard.infer.branches.instances import kinds_of
from syncguard.infer.branches.meant import answer
from syncguard.infer.domain.values import Call, Value
from syncguard.infer.routine import Frame, Routine
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import BRING, CALL, CONST, DO, EITHER, FUNCTION, IF, LEAVE, NAME, RUN
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


def types_asked(fn: core.Name, frame: Frame) -> list[Value]:
    """The types that a function asks for which only tells whether what it is given is one of them; none of any
    other."""
    called = frame.lookup(fn.id)
    routine = called.routine if type(called) is Call else None
    node = routine.node if routine is not None else None
    if routine is None or type(node) is not FUNCTION or len(node.params) != 1:
        return []
    body = [part for part in node.body if not (type(part) is RUN and type(part.value) is CONST)]
    last = body[-1] if body and all(map(_denies, body[:-1])) else None
    if type(last) is not LEAVE:
        return []
    match last.value:
        case core.Call(fn=core.Name(id="isinstance"), args=(core.Name(id=name), kinds)) if name == node.params[0].name:
            return kinds_of(kinds, _inside(routine, body, frame))
    return []


def _inside(routine: Routine, body: list[Node], frame: Frame) -> Frame:
    """A frame of a function with what it imports itself."""
    inner = Frame(frame.world, routine, {})
    for part in body:
        for bound, module, name in part.names if type(part) is BRING else ():
            frame.world.bring(inner, bound, module, name, part.level if type(part) is BRING else 0)
    return inner


def _denies(part: Node) -> bool:
    """Whether this imports something, or says no to whatever is asked: `if not has_torch: return False`."""
    return type(part) is BRING or (
        type(part) is IF
        and not part.orelse
        and all(type(inner) is LEAVE and type(inner.value) is CONST and not inner.value.value for inner in part.body)
    )


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
