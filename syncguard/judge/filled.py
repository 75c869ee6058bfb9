"""An argument as a call writes it in, whether it is surely something there out: what is None was filled before."""

from __future__ import annotations

from collections.abc import Iterable

from syncguard.infer.branches.meant import binders
from syncguard.infer.branches.ungiven import tells_none
from syncguard.judge.calling import Made
from syncguard.judge.leading import tests_around
from syncguard.judge.standing import enclosing
from syncguard.read import core
from syncguard.read.core import At, Node
from syncguard.read.tags import BIND, CONST, DO, FUNCTION, IF, LEAVE, LOOP, MAP, NAME, SEQ
from syncguard.read.walk import walk


def is_something(argument: Node, made: Made) -> bool:
    """Whether what a call gives cannot be None: it is written out, or filled where it was."""
    if type(argument) is CONST:
        return argument.value is not None
    return type(argument) in (SEQ, MAP, DO) or (type(argument) is NAME and _filled(argument.id, made))


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
