"""A call in, the two things out of which it gives the second where the first is None: `default(steps, 1)`."""

from __future__ import annotations

from syncguard.infer.branches.asking import spelled_out
from syncguard.infer.branches.meant import plainly
from syncguard.infer.domain.values import Call
from syncguard.infer.routine import Frame
from syncguard.judge.bound import given_back
from syncguard.judge.defaults import Place
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import CALL, CHOOSE, FUNCTION, NAME


def falls_back(call: core.Call, place: Place) -> tuple[Node, Node] | None:
    """These, of a function that does nothing but ask whether the first is there; None of any other."""
    called = place.frame.lookup(call.fn.id) if type(call.fn) is NAME and len(call.args) == 2 else None
    routine = called.routine if type(called) is Call and not call.keywords else None
    node = routine.node if routine is not None else None
    if routine is None or type(node) is not FUNCTION or len(node.params) != 2 or node.decorators or node.generator:
        return None
    told = given_back(node.body)
    first, second = [param.name for param in node.params]
    place.routine.uses[routine.home.path, routine.qualname] = None
    if type(told) is not CHOOSE:
        return None
    match plainly(spelled_out(told.test, Frame(place.frame.world, routine, {})), True):
        case core.Do(what="is" | "is not" as what, args=(core.Name(id=name), core.Const(value=None))), came:
            there = (what == "is not") is came
            one, other = (told.yes, told.no) if there else (told.no, told.yes)
            gives = name == first and type(one) is NAME and one.id == first and _is(other, second)
            return (call.args[0], call.args[1]) if gives else None
    return None


def _is(node: Node, name: str) -> bool:
    """Whether this is what has a name, or what that gives which is called with nothing."""
    if type(node) is CHOOSE:
        return _is(node.yes, name) and _is(node.no, name)
    if type(node) is CALL and not (node.args or node.keywords):
        node = node.fn
    return type(node) is NAME and node.id == name
