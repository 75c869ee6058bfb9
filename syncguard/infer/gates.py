"""Tests and loops in, how often what they hold runs out: a gate that makes it rare, or a loop that is a step."""

from __future__ import annotations

from syncguard.infer.routine import Env, Frame
from syncguard.infer.values import FALSE, TRUE, Const, Host, Instance, Value, options
from syncguard.places import Places
from syncguard.read import core
from syncguard.read.core import Node


def gated(test: Node, outcome: bool, frame: Frame) -> str:
    """Why code on this side of a test runs seldom: every n-th step, or on one rank; '' if it does not."""
    match test:
        case core.Do(what="truth", args=(inner,)):
            return _gate(inner, outcome, frame)
        case core.Do(what="not", args=(inner,)):
            return gated(inner, not outcome, frame)
        case core.Either(what=what, operands=operands):
            if (what == "and") is outcome:
                return next((gate for operand in operands if (gate := gated(operand, outcome, frame))), "")
    return ""


def _gate(inner: Node, outcome: bool, frame: Frame) -> str:
    match inner:
        case core.Do(what="==" | "!=" as what, args=(core.Do(what="%"), core.Const() | core.Name() | core.Do())):
            return "every n-th step" if (what == "==") is outcome else ""
        case core.Do(what="%"):
            return "" if outcome else "every n-th step"
        case core.Do(what="==" | "!=" as what, args=(left, core.Const(value=0))) if "rank" in last_name(left).lower():
            return "on one rank" if (what == "==") is outcome else ""
        case core.Call(fn=fn):
            return "behind a gate" if outcome and _gate_name(fn, frame) else ""
        case core.Name(id=name) if frame.failed.get(name) is outcome:
            return "after a failure"
        case core.Name() | core.Attr():
            return "behind a gate" if outcome and _gate_name(inner, frame) else ""
        case core.Either():
            return gated(inner, outcome, frame)
    return ""


def flags(done: Env, failed: list[Env]) -> dict[str, bool]:
    """The flags that tell a failure from what was done: `failed = True`, in a handler alone."""
    said = {name: value for name, value in done.items() if value is TRUE or value is FALSE}
    return {
        name: env[name] is TRUE
        for env in failed
        for name, value in said.items()
        if name in env and env[name] is not value and (env[name] is TRUE or env[name] is FALSE)
    }


def trains(body: tuple[Node, ...], places: Places) -> bool:
    """Whether a body runs a backward pass: a test around it sets the rhythm of training, and makes nothing rare."""
    return any(type(node) is core.Call and last_name(node.fn) in places.passes for node in core.walk(body))


def last_name(node: Node) -> str:
    """`c` of `a.b.c`, and of a call of it; '' of what has no name."""
    if type(node) is core.Name:
        return node.id
    if type(node) is core.Attr:
        return node.name
    return last_name(node.fn) if type(node) is core.Call else ""


def complains(call: Node, frame: Frame) -> bool:
    """Whether a call only warns or logs an error: what it shows is computed where something went wrong."""
    if type(call) is not core.Call:
        return False
    is_, fn = frame.world.places.is_, call.fn
    if type(fn) is core.Attr and fn.name in frame.world.places.tables["cold"]["failures"]:
        return is_("cold", "loggers", last_name(fn.of).lower())
    return is_("cold", "warners", last_name(fn))


def _gate_name(node: Node, frame: Frame) -> bool:
    name = last_name(node)
    return bool(name) and frame.world.places.is_("gates", "names", name.lower())


def size_threshold(test: Node, frame: Frame) -> bool:
    """Whether a test compares a tensor's size with a number written into the code."""
    from syncguard.infer.evaluate import quiet_value

    match test:
        case core.Do(what="truth" | "not", args=(inner,)):
            return size_threshold(inner, frame)
        case core.Either(operands=operands):
            return any(size_threshold(operand, frame) for operand in operands)
        case core.Do(what="<" | "<=" | ">" | ">=", args=(left, right)):
            values = [quiet_value(side, frame) for side in (left, right)]
            literal = any(type(v) is Const and isinstance(v.value, int) and v.value > 1 for v in values)
            return literal and any(type(v) is Host and v.kind in ("int", "size", "number") for v in values)
    return False


def step_reason(node: core.Loop, iterated: Value, frame: Frame) -> str:
    """Why a loop runs once per training or inference step; '' for an ordinary loop."""
    called = node.calls & frame.world.places.loop_calls
    if called:
        return f"the loop at line {node.at[0]} calls `{min(called)}`"
    places = frame.world.places
    for option in options(iterated):
        if type(option) is Instance and places.is_("hot", "loop_iterables", option.name):
            return f"the loop at line {node.at[0]} iterates over a DataLoader"
    if node.iterable is not None:
        for name in _names_in(node.iterable):
            if places.is_("hot", "loop_names", name.lower()):
                return f"the loop at line {node.at[0]} iterates over `{name}`"
    return ""


def _names_in(node: Node) -> list[str]:
    if type(node) is core.Call:
        return [name for arg in node.args for name in _names_in(arg)] + (
            [node.fn.name] if type(node.fn) is core.Attr else []
        )
    return [name] if (name := last_name(node)) else []
