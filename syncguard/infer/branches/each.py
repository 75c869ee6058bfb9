"""`all(...)` or `any(...)` of a test of each item in, what its outcome tells of what holds the items out."""

from __future__ import annotations

from collections.abc import Callable

from syncguard.infer.branches.meant import as_test
from syncguard.infer.branches.subjects import path_of, value_at
from syncguard.infer.domain.lattice import join_all
from syncguard.infer.domain.values import UNKNOWN, Seq, Union, Value, options
from syncguard.infer.routine import Frame
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import COMP, NAME, SEQ

Told = Callable[[Node, bool, Frame], dict[str, Value]]


def of_each(call: core.Call, which: str, outcome: bool, frame: Frame, told: Told) -> dict[str, Value]:
    """What it tells that `all` items pass a test, or that not `any` does: `all(isinstance(x, Image) for x in xs)`."""
    comp = call.args[0]
    if outcome is not (which == "all") or type(comp) is not COMP or len(comp.clauses) != 1 or len(comp.body) != 1:
        return {}
    target, iterable, conditions = comp.clauses[0]
    if conditions or type(target) is not NAME:
        return {}
    test = as_test(comp.body[0]) or core.Do("truth", (comp.body[0],), comp.body[0].at)
    if type(iterable) is SEQ:
        found = {}
        for item in iterable.items:
            if path := path_of(item):
                value = value_at(item, frame)
                left = _passed(value, target.id, test, outcome, frame, told)
                found.update({path: left} if left is not value else {})
        return found
    path = path_of(iterable)
    held = value_at(iterable, frame) if path else None
    if held is UNKNOWN:
        element = _passed(held, target.id, test, outcome, frame, told)
        return {path: Seq("list", None, element)} if element is not UNKNOWN else {}
    if held is None or not any(type(option) is Seq for option in options(held)):
        return {}

    def left_of(option: Value) -> Value:
        if type(option) is not Seq:
            return option
        if option.items is not None:
            items = tuple([_passed(item, target.id, test, outcome, frame, told) for item in option.items])
            return Seq(option.kind, items, names=option.names)
        element = _passed(option.element, target.id, test, outcome, frame, told)
        return Seq(option.kind, None, element, option.names)

    if type(held) is not Union:
        return {path: left_of(held)}
    return {path: join_all([left_of(option) for option in held.options])}


def _passed(item: Value, name: str, test: Node, outcome: bool, frame: Frame, told: Told) -> Value:
    """An item that has passed a test, which calls it so."""
    env, asked = frame.env, frame.asked
    frame.env, frame.asked = {**env, name: item}, None  # each is asked by itself
    found = told(test, outcome, frame).get(name, item)
    frame.env, frame.asked = env, asked
    return found
