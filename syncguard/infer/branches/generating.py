"""A loop over what a generator of the project gives in, whether its turns are the steps of that, or each of them comes
behind many, out."""

from __future__ import annotations

import builtins
from typing import Final

from syncguard.infer.branches.stepping import by_epoch, loads
from syncguard.infer.domain.values import UNKNOWN, Call, Seq, Value
from syncguard.infer.routine import Frame, Routine
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import CALL, DO, FUNCTION, IF, LOOP, NAME
from syncguard.read.walk import around, named_in, walk

PYTHON: Final = frozenset(dir(builtins))
YIELDS: Final = ("yield", "yield from")


def turns_of(node: core.Loop, iterated: Value, frame: Frame) -> tuple[str, bool]:
    """Why each turn of a loop takes a step of a generator, and whether each comes behind many steps that this takes."""
    if type(iterated) is not Seq or iterated.kind != "iterator" or node.calls & frame.world.places.loop_calls:
        return "", False  # no generator, or it takes steps itself
    over = node.iterable
    if type(over) is NAME:  # it was made above
        made = [part.value for part in named_in(walk(frame.routine.node.body), over.id)]
        over = made[0] if len(made) == 1 else None
    routine = _generator(over, frame) if type(over) is CALL else None
    if routine is None or not routine.stepping:
        return "", False
    body = routine.node.body
    loops = [part for part in walk(body) if type(part) is LOOP]
    if not any(_runs(loop, routine) for loop in loops):
        return "", False
    given = [part for part in walk(body) if type(part) is DO and part.what in YIELDS]
    tests = [part for part in walk(body) if type(part) is IF]
    if any(around(test.at, one.at) for test in tests for one in given):
        return "", False  # who knows at how many of its steps
    within = [[loop for loop in loops if around(loop.at, one.at)] for one in given]
    steps = [bool(some) and _steps(some[-1], routine, frame) for some in within]
    return (f"each turn takes a step of `{routine.name}`" if all(steps) else ""), not any(steps)


def _generator(node: Node | None, frame: Frame) -> Routine | None:
    """The generator that a loop goes through, be its items numbered or shown on a bar on the way."""
    from syncguard.infer.expressions.evaluate import quiet_value

    while type(node) is CALL:
        called = quiet_value(node.fn, frame)
        if type(called) is Call:
            inner = called.routine.node
            return called.routine if type(inner) is FUNCTION and inner.generator else None
        node = node.args[0] if node.args else None
    return None


def _runs(loop: core.Loop, routine: Routine) -> bool:
    """Whether the turns of a loop of a generator do something: what calls nothing hands on parts of what is there."""
    called = [part.fn for part in walk(loop.body) if type(part) is CALL]
    return loop.at in routine.stepping and not all(type(fn) is NAME and fn.id in PYTHON for fn in called)


def _steps(loop: core.Loop, routine: Routine, frame: Frame) -> bool:
    """Whether each turn of a loop is a step, and no epoch of them."""
    if not _runs(loop, routine):
        return False
    inner = [part for part in walk(loop.body) if type(part) is LOOP and part.at in routine.stepping]
    return not any(loads(part, UNKNOWN, frame) or by_epoch(loop, frame) for part in inner)
