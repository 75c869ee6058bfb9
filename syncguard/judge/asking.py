"""A file in, the names that its functions ask of something behind options alone out, with these: who is asked for by
such a name elsewhere runs only where they are set."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from syncguard.infer.branches.subjects import ME
from syncguard.infer.domain.values import Named
from syncguard.infer.home import Home
from syncguard.infer.project import World
from syncguard.infer.routine import Routine
from syncguard.infer.sightings import Asked, Context
from syncguard.judge.called import Asking
from syncguard.judge.common import shared_by_all
from syncguard.judge.passed import passed, within
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, CALL, CLASS, FUNCTION, NAME
from syncguard.read.walk import everything
from syncguard.terms import Fact

Tests = tuple[Asked, ...]
ALWAYS: Final[Tests] = ()
PYTHON: Final = frozenset(name for kind in (str, list, dict, set, tuple, int) for name in dir(kind))
LEFT: Final = (" is not given", " is None", " is no tensor")  # what holds unless a call gives something
LAMBDA: Final = "<lambda>"


def asking(
    home: Home, world: World, around: Callable[[Routine, Context], tuple[Fact, ...]]
) -> dict[Routine, tuple[Asking, ...]]:
    """By the functions that ask for them, these names."""
    found: dict[Routine, tuple[Asking, ...]] = {}
    for routine in home.routines:
        node = routine.node
        if type(node) is not FUNCTION or node.name == LAMBDA:
            continue
        told: list[Asking] = []
        known: dict[Tests, tuple[Fact, ...]] = {}
        for name, every in _asked(node.body, home).items():
            if ALWAYS in every or _is_tensors(name, world):
                continue
            for tests in every:
                if tests not in known:
                    told_by = around(routine, Context(tests=tests))
                    known[tests] = tuple([fact for fact in told_by if not fact.text.endswith(LEFT)])
            if shared := shared_by_all([known[tests] for tests in every]):
                told.append(Asking(name, shared))
        if told:
            found[routine] = tuple(told)
    return found


def _is_tensors(name: str, world: World) -> bool:
    """Whether tensors, or what Python itself makes, have something of this name."""
    tensors = world.op(f"torch.Tensor.{name}") is not None or world.op(f"torch.{name}") is not None
    return tensors or name in PYTHON or name[:1].isupper()


def _asked(body: tuple[Node, ...], home: Home) -> dict[str, dict[Tests, None]]:
    """The names that are asked of something and called, or asked of the object of a method, each with the tests of
    every place where one is asked for; of what is defined inside nobody knows when it runs."""
    found: dict[str, dict[Tests, None]] = {}
    counts: set[str] = set()
    todo: list[tuple[Node, Tests]] = passed(body)
    while todo:
        node, tests = todo.pop()
        if type(node) is ATTR:
            if type(home.env.get(node.path.partition(".")[0])) is Named:
                continue  # of another library
            found.setdefault(node.name, {})[tests] = None
            if type(node.of) is NAME and node.of.id == ME[0]:
                counts.add(node.name)
        elif type(node) is CALL and type(node.fn) is ATTR:
            counts.add(node.fn.name)
        elif type(node) is CLASS or (type(node) is FUNCTION and node.name != LAMBDA):
            for part in everything((node,)):
                if type(part) is ATTR:
                    found.setdefault(part.name, {})[ALWAYS] = None
            continue
        todo += [(part, (*tests, *more)) for part, more in within(node)]
    return {name: every for name, every in found.items() if name in counts}
