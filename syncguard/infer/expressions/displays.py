"""A display or a comprehension in, the container that it makes out."""

from __future__ import annotations

from typing import Any, Final

from syncguard.infer.branches.narrow import narrowed
from syncguard.infer.branches.receivers import taken
from syncguard.infer.domain.lattice import join_all
from syncguard.infer.domain.values import NONE, SHAPES, UNKNOWN, Const, Host, Seq, Table, Value, constant, options
from syncguard.infer.expressions import evaluate
from syncguard.infer.expressions.elements import element_of, item_of
from syncguard.infer.routine import Frame
from syncguard.infer.sightings import Step
from syncguard.read import core
from syncguard.read.tags import CONST, DO, INDEX, SLICE

LONGEST: Final = 40  # items of a display that are told apart


def seq(node: core.Seq, frame: Frame) -> Value:
    items: list[Value] = []
    counted = True
    for part in node.items:
        value = evaluate.value_of(part, frame)
        if type(part) is DO and part.what == "*":
            if type(value) is Seq and value.items is not None:
                items += value.items
                continue
            if first := _first(part.args[0], value):
                items += [Host("int")] * first
                continue
            value, counted = element_of(value, node.at, frame), False
        items.append(value)
    if not counted or len(items) > LONGEST:
        return Seq(node.kind, None, join_all(items[:LONGEST]))
    return Seq(node.kind, tuple(items))


def _first(node: core.Node, value: Value) -> int:
    """How many sizes `*x.shape[:2]` puts here; 0 where the code does not say."""
    if type(node) is not INDEX or type(node.key) is not SLICE or type(value) is not Host:
        return 0
    key = node.key
    if value.kind not in SHAPES or len(key.bounds) != 1 or type(key.bounds[0]) is not CONST:
        return 0
    bound, (line, column, *end) = key.bounds[0], key.at
    ends = bound.at == (line, column + 1, *end)  # `[:2]`, and neither `[2:]` nor `[::2]`
    return bound.value if ends and type(bound.value) is int else 0


def table(node: core.Map, frame: Frame) -> Value:
    items: dict[Any, Value] = {}
    rest: list[Value] = []
    for key, part in zip(node.keys, node.values, strict=True):
        value = evaluate.value_of(part, frame)
        if key is None:
            held = [option for option in options(value) if option is not NONE]  # which `**` does not take
            for option in held:
                items = {**items, **option.items} if type(option) is Table else items
            rest += [option.element if type(option) is Table else UNKNOWN for option in held]
            continue
        literal = evaluate.value_of(key, frame)
        if type(literal) is Const and isinstance(literal.value, (str, int, float, bool)):
            items[literal.value] = value
        else:
            rest.append(value)
    return Table(items, join_all(rest))


def comp(node: core.Comp, frame: Frame) -> Value:
    """A comprehension is a loop whose variables are its own."""
    before, around = frame.env, frame.comps
    frame.env, frame.comps = dict(before), (node.uses, *around)
    context = frame.context
    for target, iterable, conditions in node.clauses:
        element = item_of(evaluate.value_of(iterable, frame), iterable, iterable.at, frame)
        context = (
            frame.surround(loops=(*frame.context.loops, Step(node, ""))) if target is node.clauses[0][0] else context
        )
        taken(target, iterable, frame)
        evaluate.assign(target, element, frame)
        for condition in conditions:
            evaluate.value_of(condition, frame)
            frame.env.update(narrowed(condition, True, frame))
    values = [evaluate.value_of(part, frame) for part in node.body]
    last = node.body[-1]
    if type(last) is DO and last.what == "*":  # since Python 3.15: what each turn gives is put together
        values = [values[0] if node.kind == "dict" else element_of(values[0], last.at, frame)]
    each = _each(node, frame)
    frame.env, frame.context, frame.comps = before, context, around
    if each is not None:
        return each
    if node.kind == "dict":
        return Table({}, values[1]) if len(values) > 1 else values[0] if type(values[0]) is Table else Table({})
    return Seq(node.kind, None, values[0])


def _each(node: core.Comp, frame: Frame) -> Table | None:
    """What a dict becomes whose items a comprehension goes through, each under its key: `{k: f(v) for k, v in
    found.items()}`; None of any other, and where the keys are not known."""
    match node:
        case core.Comp(
            kind="dict",
            clauses=(
                (
                    core.Seq(items=(core.Name(id=key), core.Name(id=name))),
                    core.Call(fn=core.Attr(of=of, name="items"), args=()),
                    conditions,
                ),
            ),
            body=(core.Name(id=under), value),
        ) if under == key:
            held = evaluate.quiet_value(of, frame)
            if type(held) is not Table or not 0 < len(held.items) <= LONGEST:
                return None
            if held.element is not UNKNOWN or held.keys is not UNKNOWN:
                return None  # it may have others
            env, items = frame.env, dict[Any, Value]()
            for literal, one in held.items.items():
                frame.env = {**env, key: constant(literal), name: one}
                for condition in conditions:
                    frame.env.update(narrowed(condition, True, frame))
                items[literal] = evaluate.quiet_value(value, frame)
            frame.env = env
            return Table(items) if any(one is not UNKNOWN for one in items.values()) else None
    return None
