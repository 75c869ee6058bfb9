"""A call in, the two things out of which it gives the second where the first is None: `default(steps, 1)`; and the one
that it gives as it is where that is None: `weights = read(weights)`."""

from __future__ import annotations

from syncguard.infer.branches.asking import spelled_out
from syncguard.infer.branches.meant import plainly
from syncguard.infer.branches.ungiven import lacks
from syncguard.infer.domain.values import Call
from syncguard.infer.routine import Frame
from syncguard.judge.around.bound import given_back
from syncguard.judge.defaults.defaults import Place
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import CALL, CHOOSE, CONST, FUNCTION, IF, LEAVE, NAME, RUN


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


def kept_none(call: core.Call, place: Place) -> Node | None:
    """The one argument of a function that does nothing but test it and give it back, where it does nothing to None."""
    called = place.frame.lookup(call.fn.id) if type(call.fn) is NAME and len(call.args) == 1 else None
    routine = called.routine if type(called) is Call and not call.keywords else None
    node = routine.node if routine is not None else None
    if routine is None or type(node) is not FUNCTION or len(node.params) != 1 or node.decorators or node.generator:
        return None
    name = node.params[0].name
    place.routine.uses[routine.home.path, routine.qualname] = None
    done = [part for part in node.body if not (type(part) is RUN and type(part.value) is CONST)]
    last = done[-1] if done else None
    gives = type(last) is LEAVE and last.what == "return" and type(last.value) is NAME and last.value.id == name
    tested = all(type(part) is IF and not part.orelse and _is_there(part.test, name) for part in done[:-1])
    return call.args[0] if gives and tested else None


def _is_there(test: Node, name: str) -> bool:
    """Whether a test comes out so only where what has this name is no None: `isinstance(path, str)`."""
    match plainly(test, True):
        case core.Call(fn=core.Name(id="isinstance"), args=(core.Name(id=asked), core.Name())), True:
            return asked == name
    return lacks(test, True, name)


def _is(node: Node, name: str) -> bool:
    """Whether this is what has a name, or what that gives which is called with nothing."""
    if type(node) is CHOOSE:
        return _is(node.yes, name) and _is(node.no, name)
    if type(node) is CALL and not (node.args or node.keywords):
        node = node.fn
    return type(node) is NAME and node.id == name
