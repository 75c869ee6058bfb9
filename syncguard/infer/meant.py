"""A name that a test asks for in, the test that it holds the outcome of out: `often = step % 10 == 0`, `if often:`."""

from __future__ import annotations

from syncguard.infer.routine import Frame, Routine
from syncguard.read import core
from syncguard.read.core import At, Node
from syncguard.read.walk import targets, walk

TESTS = frozenset(("==", "!=", "<", "<=", ">", ">=", "is", "is not", "in", "not in", "not", "truth"))


def meant(name: core.Name, frame: Frame) -> Node | None:
    """The test, where the function or else its file binds the name once, to nothing but a test, and what that asks is
    not bound anew behind it."""
    routine = frame.routine
    found = _tests(routine).get(name.id)
    top = routine.home.top
    if found is None and top is not None and top is not routine and name.id not in _bound(routine):
        found = _tests(top).get(name.id)
    return found if found is not None and found.at < name.at else None


def _tests(routine: Routine) -> dict[str, Node]:
    if routine.written.meant is None:
        _read(routine)
    return routine.written.meant or {}


def _bound(routine: Routine) -> dict[str, list[At]]:
    if routine.written.where is None:
        _read(routine)
    return routine.written.where or {}


def _read(routine: Routine) -> None:
    """Note where a function binds each name, and which hold the outcome of a test."""
    node, where = routine.node, dict[str, list[At]]()
    if type(node) is core.Function:
        where = {param.name: [node.at] for param in node.params}
    parts = walk(node.body)
    for part in parts:
        for target in targets(part):
            for one in walk(target):
                if type(one) is core.Name:
                    where.setdefault(one.id, []).append(one.at)
    routine.written.where, routine.written.meant = where, {}
    for part in parts:
        if type(part) is core.Bind and len(part.targets) == 1 and part.value is not None:
            target, test = part.targets[0], as_test(part.value)
            if type(target) is core.Name and test is not None and _stays(target, test, routine, where):
                routine.written.meant[target.id] = test


def answer(node: Node) -> Node | None:
    """What a function of one line gives back, its docstring aside."""
    if type(node) is not core.Function or not node.body:
        return None
    first = node.body[0]
    said = type(first) is core.Run and type(first.value) is core.Const
    body = node.body[1:] if said else node.body
    last = body[0] if len(body) == 1 else None
    return last.value if type(last) is core.Leave and last.what == "return" else None


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


def _stays(target: core.Name, test: Node, routine: Routine, where: dict[str, list[At]]) -> bool:
    if len(where[target.id]) > 1 or target.id in routine.home.core.rebound:
        return False
    asked = [one.id for one in walk(test) if type(one) is core.Name]
    return all(at <= target.at for name in asked for at in where.get(name, ()))
