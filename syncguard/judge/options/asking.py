"""A file in, the names that its functions ask of something behind options alone out, with these: who is asked for by
such a name elsewhere runs only where they are set."""

from __future__ import annotations

from collections.abc import Callable
from logging import Logger
from typing import Final

from syncguard.infer.branches.subjects import ME, last_name
from syncguard.infer.domain.values import Named
from syncguard.infer.home import Home
from syncguard.infer.project import World
from syncguard.infer.routine import Routine
from syncguard.infer.sightings import Asked, Context
from syncguard.judge.around.called import Asking
from syncguard.judge.around.passed import passed, within
from syncguard.judge.options.common import shared_by_all
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, BIND, CALL, CHOOSE, CLASS, EITHER, FUNCTION, IF, NAME
from syncguard.read.walk import everything, walk
from syncguard.terms import Fact

Tests = tuple[Asked, ...]
ALWAYS: Final[Tests] = ()
PYTHON: Final = frozenset(name for kind in (str, list, dict, set, tuple, int, Logger) for name in dir(kind))
LEFT: Final = (" is not given", " is None", " is no tensor")  # what holds unless a call gives something
LAMBDA: Final = "<lambda>"


def asking(
    home: Home, world: World, around: Callable[[Routine, Context], tuple[Fact, ...]]
) -> dict[Routine, tuple[Asking, ...]]:
    """By the functions that ask for them, these names."""
    found: dict[Routine, tuple[Asking, ...]] = {}
    objects = _objects(home)
    known_names: dict[str, bool] = {}
    for routine in home.routines:
        node = routine.node
        if type(node) is not FUNCTION or node.name == LAMBDA:
            continue
        wanted = _wanted(node.body, objects, known_names, world)
        told: list[Asking] = []
        known: dict[Tests, tuple[Fact, ...]] = {}
        for name, every in _asked(node.body, home, wanted).items() if wanted else ():
            if ALWAYS in every:
                continue
            if shared := shared_by_all(_behind(tests, routine, around, known) for tests in every):
                told.append(Asking(name, shared))
        if told:
            found[routine] = tuple(told)
    return found


def _behind(
    tests: Tests,
    routine: Routine,
    around: Callable[[Routine, Context], tuple[Fact, ...]],
    known: dict[Tests, tuple[Fact, ...]],
) -> tuple[Fact, ...]:
    """The options that some tests ask for, worked out once; not what a call need only give."""
    if tests not in known:
        told = around(routine, Context(tests=tests))
        known[tests] = tuple([fact for fact in told if not fact.text.endswith(LEFT)])
    return known[tests]


def _is_tensors(name: str, world: World) -> bool:
    """Whether tensors, or what Python itself makes, have something of this name."""
    tensors = world.op(f"torch.Tensor.{name}") is not None or world.op(f"torch.{name}") is not None
    return tensors or name in PYTHON or name[:1].isupper()


def _wanted(body: tuple[Node, ...], objects: frozenset[str], known: dict[str, bool], world: World) -> frozenset[str]:
    """The names that a function which tests something asks of something and calls, or of the object of its method that
    keeps `objects` so, but for what tensors have, or what Python itself makes."""
    found: set[str] = set()
    tests = False
    for part in walk(body):
        tests = tests or _tests(part)
        name = ""
        if type(part) is CALL and type(part.fn) is ATTR:
            name = part.fn.name
        elif type(part) is ATTR and part.name in objects and type(part.of) is NAME and part.of.id == ME[0]:
            name = part.name
        if name and name not in found:
            if name not in known:
                known[name] = _is_tensors(name, world)
            if not known[name]:
                found.add(name)
    return frozenset(found) if tests else frozenset()


def _tests(part: Node) -> bool:
    return type(part) is IF or type(part) is CHOOSE or type(part) is EITHER


def _splits(part: Node) -> bool:
    """Whether some of what is in this need not run with it, or runs at another time."""
    return _tests(part) or _defines(part)


def _defines(part: Node) -> bool:
    return type(part) is FUNCTION or type(part) is CLASS


def _objects(home: Home) -> frozenset[str]:
    """The attributes that are given what is made of a class: `self.layers = nn.Sequential(Layer())`."""
    found: set[str] = set()
    for part in home.pieces:
        aim = part.targets[0] if type(part) is BIND and len(part.targets) == 1 else None
        if type(part) is BIND and type(aim) is ATTR and aim.name not in found and part.value is not None:
            calls = (one for one in walk(part.value) if type(one) is CALL)
            if any(last_name(call.fn)[:1].isupper() for call in calls):
                found.add(aim.name)
    return frozenset(found)


def _asked(body: tuple[Node, ...], home: Home, wanted: frozenset[str]) -> dict[str, dict[Tests, None]]:
    """Those of these names that are asked of something, each with the tests of every place where one is asked for; of
    what is defined inside nobody knows when it runs."""
    found: dict[str, dict[Tests, None]] = {}
    todo: list[tuple[Node, Tests]] = passed(body)
    while todo:
        node, tests = todo.pop()
        if type(node) is CLASS or (type(node) is FUNCTION and node.name != LAMBDA):
            for part in everything((node,)):
                if type(part) is ATTR and part.name in wanted:
                    found.setdefault(part.name, {})[ALWAYS] = None
            continue
        parts = walk(node)
        if not any(type(part) is ATTR and part.name in wanted for part in parts) and not any(map(_defines, parts)):
            continue
        if any(map(_splits, parts)):
            if type(node) is ATTR and _counts(node, wanted, home):
                found.setdefault(node.name, {})[tests] = None
            todo += [(part, (*tests, *more)) for part, more in within(node)]
            continue
        bound = node.targets if type(node) is BIND else ()
        for part in parts:
            if type(part) is ATTR and part not in bound and _counts(part, wanted, home):
                found.setdefault(part.name, {})[tests] = None
    return found


def _counts(node: core.Attr, wanted: frozenset[str], home: Home) -> bool:
    """Whether an attribute is one of these names, and of no other library."""
    return node.name in wanted and type(home.env.get(node.path.partition(".")[0])) is not Named
