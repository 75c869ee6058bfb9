"""A method in, where it gives its instance a value out that the same block replaces before anything else sees it."""

from __future__ import annotations

from collections.abc import Iterator

from syncguard.infer.branches.keeps import set_in
from syncguard.infer.routine import Routine
from syncguard.read.core import At, Node
from syncguard.read.tags import ATTR, BIND, CALL, DO, FUNCTION, IF, LEAVE, LOOP, NAME, WITH
from syncguard.read.walk import walk


def fleeting(routine: Routine) -> frozenset[At]:
    """The places of `self.x` in `self.x = make()`, where `self.x = self.x.cpu()` follows."""
    written = routine.written
    if written.fleeting is None:
        node = routine.node
        me = node.params[0].name if type(node) is FUNCTION and node.params and routine.owner is not None else ""
        again = bool(me) and any(len(binds) > 1 for binds in set_in(routine).values())
        written.fleeting = frozenset(_replaced(node.body, me)) if again else frozenset()
    return written.fleeting


def _replaced(block: tuple[Node, ...], me: str) -> Iterator[At]:
    before: dict[str, At] = {}
    for part in block:
        if type(part) is IF or type(part) is LOOP:
            yield from _replaced(part.body, me)
            yield from _replaced(part.orelse, me)
        elif type(part) is WITH:
            yield from _replaced(part.body, me)
        if _shows(part, me):
            before.clear()
        if type(part) is BIND and len(part.targets) == 1 and part.value is not None:
            target = part.targets[0]
            if type(target) is ATTR and type(target.of) is NAME and target.of.id == me:
                if target.name in before:
                    yield before[target.name]
                before[target.name] = target.at


def _shows(part: Node, me: str) -> bool:
    """Whether others may see the instance as it is before the block goes on: by a method, as an argument, or because
    the function is left here. A function that is defined here sees it, too."""
    for one in walk(part):
        if type(one) is LEAVE or type(one) is FUNCTION or (type(one) is DO and one.what.startswith(("yield", "await"))):
            return True
        if type(one) is CALL:
            given = (*one.args, *[value for _, value in one.keywords])
            if any(type(value) is NAME and value.id == me for value in given):
                return True
            of = one.fn.of if type(one.fn) is ATTR else None
            of = of.fn if type(of) is CALL else of  # `super().build()`
            if type(of) is NAME and of.id in (me, "super"):
                return True
    return False
