"""An argument as a call writes it in, whether it is surely something there out: it is written out, declared to be, or
was filled where it was None."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from syncguard.infer.branches.meant import binders
from syncguard.infer.branches.ungiven import is_number, tells_none
from syncguard.infer.domain.values import Host, options
from syncguard.infer.functions.annotations import promised
from syncguard.infer.project import World
from syncguard.infer.routine import Frame
from syncguard.judge.around.calling import Made
from syncguard.judge.around.standing import enclosing
from syncguard.judge.options.leading import tests_around
from syncguard.read import core
from syncguard.read.core import At, Node
from syncguard.read.tags import BIND, CALL, CONST, DO, FUNCTION, IF, LEAVE, LOOP, MAP, NAME, SEQ
from syncguard.read.walk import walk

COUNTS: Final = ("+", "-", "*", "//", "%", "neg")


def is_something(argument: Node, made: Made, world: World) -> bool:
    """Whether what a call gives cannot be None: it is written out, a number, or filled where it was None."""
    if type(argument) is CONST:
        return argument.value is not None
    if type(argument) in (SEQ, MAP, DO) or is_count(argument, made, world):
        return True
    return type(argument) is NAME and _filled(argument.id, made)


def is_count(argument: Node, made: Made, world: World) -> bool:
    """Whether what a call gives is a number of Python, or a text."""
    if type(argument) is CONST:
        return argument.value is not None
    if type(argument) is DO:  # with a number, a tensor gives a tensor
        return argument.what in COUNTS and all(is_count(part, made, world) for part in argument.args)
    return is_number(argument) or (type(argument) is NAME and _is_number(argument.id, made, world))


def _is_number(name: str, made: Made, world: World) -> bool:
    """Whether a name of the caller stands for a number: it is declared to be one, `size: int`, or bound to nothing
    else."""
    node, bound = made.caller.node, binders(made.caller).get(name, ())
    param = next((one for one in node.params if one.name == name), None) if type(node) is FUNCTION else None
    if bound and type(node) is FUNCTION:
        sure = [part for part in node.body if part in bound and part.at[2:] <= made.call.at[:2]]
        since = sure[-1].at if param is not None and sure else (0, 0, 0, 0)
        return (param is None or bool(sure)) and all(_counted(part, name) for part in bound if part.at >= since)
    if param is None or param.annotation is None or (type(param.default) is CONST and param.default.value is None):
        return False
    declared = promised(param.annotation, Frame(world, made.caller, {}), "assumed")
    return all(type(one) is Host for one in options(declared))


def _counted(part: Node, name: str) -> bool:
    """Whether a statement binds a name to a number: `size = x.shape[0]`, `for step in range(n)`."""
    if type(part) is LOOP:
        of, aim = part.iterable, part.target
        return type(aim) is NAME and type(of) is CALL and type(of.fn) is NAME and of.fn.id == "range"
    of = part.value if type(part) is BIND and _is_bound(part, name) else None
    return of is not None and _is_plain(of)


def _is_plain(node: Node) -> bool:
    """Whether an expression is a number, with all that it is computed of."""
    return node.what in COUNTS and all(map(_is_plain, node.args)) if type(node) is DO else is_number(node)


def _filled(name: str, made: Made) -> bool:
    """Whether all that leads to a call has filled a name where it was None, or left: `if x is None: x = f()`."""
    node = made.caller.node
    if type(node) is not FUNCTION:
        return False
    for part in walk(node.body):
        if type(part) is IF and part.at[2:] <= made.call.at[:2] and tells_none(part.test, True, name):
            kept = not any(_empties(bind, name, part.at) for bind in binders(made.caller).get(name, ()))
            return kept and _fills(part.body, name) and _leads(node.body, part, made.call.at)
    return False


def _fills(body: Iterable[Node], name: str) -> bool:
    """Whether an arm gives a name something, or leads elsewhere."""
    return any(
        (type(part) is LEAVE and part.what in ("raise", "return"))
        or (type(part) is BIND and _is_bound(part, name) and type(part.value) is not CONST and part.value is not None)
        for part in body
    )


def _is_bound(bind: core.Bind, name: str) -> bool:
    return any(type(aim) is NAME and aim.id == name for aim in bind.targets)


def _empties(bind: Node, name: str, since: At) -> bool:
    """Whether a statement behind a place may leave a name without anything."""
    if bind.at[:2] < since[:2]:
        return False
    return type(bind) is not BIND or not _is_bound(bind, name) or type(bind.value) is CONST or type(bind.value) is NAME


def _leads(body: tuple[Node, ...], part: core.If, call: At) -> bool:
    """Whether a call stands behind all that a test before it stands behind."""
    tests = {key for key, (asked, _) in tests_around(body, part.at) if asked is not part.test}
    loops = [held.at for held in enclosing(body, part.at) if type(held) is LOOP]
    further = [held.at for held in enclosing(body, call) if type(held) is LOOP]
    return tests <= dict(tests_around(body, call)).keys() and all(at in further for at in loops)
