"""A name that a test asks for in, the test that it holds the outcome of out: `often = step % 10 == 0`, `if often:`."""

from __future__ import annotations

from typing import Final

from syncguard.infer.routine import Frame, Routine
from syncguard.read import core
from syncguard.read.core import COMPARISONS, Node
from syncguard.read.tags import BIND, CONST, FUNCTION, LEAVE, MODULE, NAME, RUN
from syncguard.read.walk import BINDING, everything, targets, walk

TESTS: Final = frozenset((*COMPARISONS, "is", "is not", "in", "not in"))


def meant(name: core.Name, frame: Frame) -> Node | None:
    """The test, where the function or else its file binds the name once, to nothing but a test, and what that asks is
    not bound anew behind it."""
    routine = frame.routine
    node, top = routine.node, routine.home.top
    if type(node) is FUNCTION and name.id in [param.name for param in node.params]:
        return None
    found = _tests(routine).get(name.id)
    if found is None and top is not None and top is not routine and name.id not in binders(routine):
        found = _tests(top).get(name.id)
    return found if found is not None and found.at < name.at else None


def binders(routine: Routine) -> dict[str, tuple[Node, ...]]:
    """The statements that bind each name, those of functions inside a function too, for they may bind it from there;
    what functions declare `global` is bound by the file once more."""
    written = routine.written
    if written.binders is None:
        node = routine.node
        found: dict[str, list[Node]] = {name: [node] for name in routine.home.core.rebound if node is routine.home.core}
        for part in walk(node.body) if type(node) is MODULE else everything(node.body):
            if type(part) in BINDING:
                for name in {aim.id for aim in walk(targets(part)) if type(aim) is NAME}:
                    found.setdefault(name, []).append(part)
        written.binders = {name: tuple(parts) for name, parts in found.items()}
    return written.binders


def _tests(routine: Routine) -> dict[str, Node]:
    """The names of a function that hold the outcome of a test, with it."""
    if routine.written.meant is None:
        found = routine.written.meant = {}
        for name, parts in binders(routine).items():
            test = _test(name, parts[0], routine) if len(parts) == 1 else None
            if test is not None:
                found[name] = test
    return routine.written.meant


def _test(name: str, bind: Node, routine: Routine) -> Node | None:
    """What a name is bound to, if that is a test of what is not bound anew behind it."""
    if type(bind) is not BIND or len(bind.targets) > 1 or bind.value is None:
        return None
    test = as_test(bind.value)
    if type(bind.targets[0]) is not NAME or test is None or name in routine.home.core.rebound:
        return None
    asked = [one.id for one in walk(test) if type(one) is NAME]
    stays = all(part.at < bind.at for other in asked for part in binders(routine).get(other, ()))
    return test if stays else None


def answer(node: Node) -> Node | None:
    """What a function of one line gives back, its docstring aside."""
    if type(node) is not FUNCTION:
        return None
    body = [part for part in node.body if not (type(part) is RUN and type(part.value) is CONST)]
    last = body[0] if len(body) == 1 else None
    return last.value if type(last) is LEAVE and last.what == "return" else None


def as_test(value: Node) -> Node | None:
    """What is assigned, or given back, as a test of it."""
    match value:
        case core.Either(operands=operands):
            last = as_test(operands[-1]) or core.Do("truth", (operands[-1],), operands[-1].at)
            return core.Either(value.what, (*operands[:-1], last), value.at)
        case core.Do(what="not" | "truth"):
            return value
        case core.Do(what=what) if what in TESTS:
            return core.Do("truth", (value,), value.at)
        case core.Call():
            return core.Do("truth", (value,), value.at)
        case core.Attr(name=name) if name.startswith("is_"):
            return core.Do("truth", (value,), value.at)
    return None
