"""A test for what may be nothing in, the tests out behind which alone it was bound to something: `x = None`,
`if cfg.deep: x = f()`, `if x is not None:`."""

from __future__ import annotations

from collections.abc import Iterator

from syncguard.infer.branches.meant import binders, plainly
from syncguard.infer.routine import Routine
from syncguard.infer.sightings import Asked
from syncguard.judge.around.bound import bound_to
from syncguard.judge.around.standing import enclosing
from syncguard.read import core
from syncguard.read.core import At, Node
from syncguard.read.tags import CHOOSE, CONST, FUNCTION, IF
from syncguard.read.walk import around


def leading(test: Node, outcome: bool, routine: Routine) -> Iterator[Asked]:
    """The tests, with the outcome that each must have; none where it is given, or bound elsewhere as well."""
    name, node = _asked(test, outcome), routine.node
    params = node.params if type(node) is FUNCTION else ()
    if not name or name in [param.name for param in params]:
        return
    binds = binders(routine).get(name, ())
    values = [(part, bound_to(part, name)) for part in binds]
    something = [(part, value) for part, value in values if not _is_nothing(value)]
    choices = [dict(_chosen(value)) for _, value in something]
    if len(something) == len(binds) and not any(choices):
        return
    around_each = [dict(tests_around(node.body, part.at)) for part, _ in something]
    found = [{**asked, **choice} for asked, choice in zip(around_each, choices, strict=True)]
    # What is bound behind this very test was something before.
    paths = [path for path in found if not any(around(asked.at, test.at) for asked, _ in path.values())]
    if not paths:
        return
    yield from [asked for key, asked in paths[0].items() if all(key in path for path in paths)]


def _asked(test: Node, outcome: bool) -> str:
    """The name of which this says that it is something."""
    test, outcome = plainly(test, outcome)
    match test:
        case core.Name(id=name) if outcome:
            return name
        case core.Do(what="is" | "is not" as what, args=(core.Name(id=name), core.Const(value=None))):
            return name if (what == "is not") is outcome else ""
    return ""


def _chosen(value: Node | None) -> Iterator[tuple[tuple[int, bool], Asked]]:
    """The test behind which alone a choice gives something: `x if test else None`."""
    if type(value) is CHOOSE:
        for arm, other, outcome in ((value.yes, value.no, True), (value.no, value.yes, False)):
            if _is_nothing(other) and not _is_nothing(arm):
                yield (id(value.test), outcome), (value.test, outcome)


def _is_nothing(value: Node | None) -> bool:
    return type(value) is CONST and not value.value


def tests_around(parts: tuple[Node, ...], at: At) -> Iterator[tuple[tuple[int, bool], Asked]]:
    """The tests around a statement, from without."""
    for held in enclosing(parts, at):
        if type(held) is IF:
            outcome = any(around(part.at, at) for part in held.body)
            yield (id(held.test), outcome), (held.test, outcome)
