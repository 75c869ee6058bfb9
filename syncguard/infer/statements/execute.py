"""Statements and a frame in; the frame's variables moved on, or None where control does not come out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from syncguard.infer.branches.arms import forget, turned
from syncguard.infer.branches.failures import fails
from syncguard.infer.branches.gates import NOTHING, flags, sets_rhythm, size_threshold
from syncguard.infer.branches.generating import turns_of
from syncguard.infer.branches.guards import off_device
from syncguard.infer.branches.keeps import BUILDS, GROWS, outgrown
from syncguard.infer.branches.keyed import paired
from syncguard.infer.branches.narrow import narrowed
from syncguard.infer.branches.receivers import taken
from syncguard.infer.branches.remembers import recalled
from syncguard.infer.branches.stepping import CAPTURED, epochs, step_reason, waits_for_people
from syncguard.infer.domain.lattice import join_all, same
from syncguard.infer.domain.sureness import LIKELY
from syncguard.infer.domain.values import (
    FALSE,
    NONE,
    TRUE,
    UNKNOWN,
    Call,
    Host,
    Instance,
    Value,
    options,
)
from syncguard.infer.expressions.elements import drawn
from syncguard.infer.expressions.evaluate import assign, quiet_value, value_of
from syncguard.infer.functions.wrappers import decided
from syncguard.infer.routine import Frame, of_part
from syncguard.infer.sightings import Asked, Context, Step
from syncguard.infer.statements.bind import bind, effect, update
from syncguard.infer.statements.declaring import ask_defaults
from syncguard.infer.statements.holders import lend
from syncguard.infer.statements.managers import managed, yielded
from syncguard.infer.statements.paths import Dead, alive, alive_in, joined, stand_in, unless
from syncguard.infer.statements.refills import refill
from syncguard.infer.statements.sides import Side, meet, sides_of
from syncguard.read import core
from syncguard.read.core import At, Node
from syncguard.read.tags import ATTR, BRING, CONST, DO, FUNCTION, LEAVE, LOOP
from syncguard.read.walk import walk

ROUNDS: Final = 4  # passes over a loop body before what it binds is taken as settled


def run(body: tuple[Node, ...], frame: Frame) -> tuple[Asked, ...]:
    """Run a block; the tests in it that lead to its end are given back."""
    quiet, gate, sometimes = frame.quiet, frame.context, frame.sometimes
    for node in body:
        if type(frame.env) is Dead:
            break
        STATEMENTS[type(node)](node, frame)
    passed = frame.context.tests[len(gate.tests) :]
    frame.quiet, frame.sometimes = quiet, sometimes
    frame.context = gate
    return passed


def starred(node: core.Bring) -> bool:
    """Whether an import asks for all that a module has: it is read at once, and not when a name is first used."""
    return any(name == "*" for name, _, _ in node.names)


# -- control --------------------------------------------------------------------------------------


def branch(node: core.If, frame: Frame) -> None:
    """Run both arms; afterwards we know only what they agree on."""
    test = value_of(node.test, frame)
    before, paid = frame.env, frame.paid
    yes, no = sides_of(node, frame)
    open_ = not decided(node.test) and not (yes.off or no.off)
    frame.sometimes += open_
    for side, other, dead in ((yes, no, FALSE), (no, yes, TRUE)):
        if side.refuted or (test is dead and frame.world.settled(node.test, frame)):
            run(tuple([part for part in side.body if type(part) is BRING and not starred(part)]), frame)
            continue  # its imports are bound all the same: annotations name them
        frame.env = {**before, **side.told}
        frame.paid = dict(paid)
        _take(side, other, node.test, frame)
    frame.sometimes -= open_
    frame.paid = paid
    if yes.taken and no.taken and yes.copies != no.copies and size_threshold(node.test, frame):
        frame.sight(node.test.at, "if", "size-threshold", None, None, LIKELY)
    meet(node, yes, no, before, frame)
    for side, other in ((no, yes), (yes, no)):
        if not alive_in(other.left) and alive(frame):  # the rest of the block is this arm
            failed = fails(other.body, frame)
            frame.quiet += side.off
            frame.sometimes += open_ and not failed
            gate = "" if failed or side.gate == NOTHING else side.beyond
            if gate and sets_rhythm(_rest(node, frame), frame.world.places):
                gate = ""
            frame.surround(gate=gate, test=(node.test, side.outcome), off=side.off)
            for passed in side.passed:
                frame.surround(test=passed)
    if alive(frame) and recalled(node, frame):
        frame.surround(gate=BUILDS)
    if alive(frame) and outgrown(node):
        frame.surround(gate=GROWS)


def _rest(node: core.If, frame: Frame) -> tuple[Node, ...]:
    """What follows an `if` that stands in the body of a loop, or of a function, by itself."""
    around = frame.context.loops[-1].node if frame.context.loops else frame.routine.node
    body: tuple[Node, ...] = around.body if type(around) is LOOP or type(around) is FUNCTION else ()
    return next((body[at + 1 :] for at, part in enumerate(body) if part is node), ())


def _take(side: Side, other: Side, test: Node, frame: Frame) -> None:
    """Run one arm of an `if`."""
    # where anything else would be a failure, this is what there always is
    gate = side.excuse if side.gate and fails(other.body, frame) else side.gate or side.excuse
    rare = gate if gate and not sets_rhythm(side.body, frame.world.places) else ""
    failing = frame.context.failing or fails(side.body, frame)
    surrounding = frame.surround(gate=rare, failing=failing, test=(test, side.outcome), off=side.off)
    seen = len(frame.emitted)
    frame.quiet += side.off
    side.passed = run(side.body, frame)
    frame.quiet -= side.off
    frame.context = surrounding
    side.taken = True
    side.copies = any(sighting.hazard == "copy-to-host" for sighting in frame.emitted[seen:])
    side.left = frame.env


def loop(node: core.Loop, frame: Frame) -> None:
    iterated = value_of(node.iterable, frame) if node.iterable is not None else UNKNOWN
    element = drawn(node, iterated, frame)
    surrounding = frame.context if _once(node) else _turning(node, iterated, frame)
    breaks, continues = frame.breaks, frame.continues
    frame.breaks, frame.continues = [], []
    if frame.arms:
        turned(node, frame)
    head, paid = frame.env, frame.paid
    for _ in range(ROUNDS):
        frame.env, frame.paid = dict(head), {}
        if node.target is not None and node.iterable is not None:
            taken(node.target, node.iterable, frame)
            assign(node.target, element, frame)
            paired(node, frame)
            lend(node.target, node.iterable, frame)
        if node.test is not None:
            value_of(node.test, frame)
            frame.env = {**frame.env, **narrowed(node.test, True, frame)}
        run(node.body, frame)
        tail = frame.env
        for env in frame.continues:
            tail = joined(tail, env)
        frame.continues = []
        after = joined(head, tail)
        settled = all(name in after and same(value, after[name]) for name, value in head.items() if not of_part(name))
        head = after
        if settled:
            break
    frame.paid = paid
    if _forever(node):
        frame.env = Dead()
    else:
        frame.env = dict(head)
        if node.test is not None:
            quiet_value(node.test, frame)  # it ran once more, and said no
            frame.env = {**frame.env, **narrowed(node.test, False, frame)}
        refill(node, frame)
    frame.context = surrounding
    run(node.orelse, frame)
    for env in frame.breaks:
        frame.env = joined(frame.env, env)
    frame.breaks, frame.continues = breaks, continues


def _turning(node: core.Loop, iterated: Value, frame: Frame) -> Context:
    """Enter a loop; what surrounds it is given back."""
    driven, many = turns_of(node, iterated, frame)
    step = Step(node, "" if many else step_reason(node, iterated, frame) or driven)
    if many:
        step.steps = node.at[0]
    if step.reason:
        frame.home.steps = True
        frame.routine.stepping.add(node.at)
    epochs(step, iterated, frame)
    return frame.surround(loops=(*frame.context.loops, step), gate=waits_for_people(node, frame))


def _once(node: core.Loop) -> bool:
    """Whether no turn of a loop is followed by another: `for x in loader: ...; break` takes the first batch."""
    last = node.body[-1] if node.body else None
    if type(last) is not LEAVE or last.what == "continue":
        return False
    return not any(type(part) is LEAVE and part.what == "continue" for part in walk(node.body))


def _forever(node: core.Loop) -> bool:
    test = node.test
    return type(test) is DO and type(test.args[0]) is CONST and bool(test.args[0].value)


def attempt(node: core.Try, frame: Frame) -> None:
    before = frame.env
    run(node.body, frame)
    after_body = frame.env
    run(node.orelse, frame)
    ends = [frame.env]
    start = joined(before, after_body)
    paid = frame.paid
    lacks = any(type(part) is BRING for part in node.body)
    for name, body in node.handlers:
        frame.env = dict(start)
        frame.paid = dict(paid)
        if name:
            frame.env[name] = Host("object")
            if frame.arms:
                forget(name, frame)
        # A library that is not there is not there the next time either.
        surrounding = frame.context if lacks else frame.surround(failing=True)
        run(body, frame)
        frame.context = surrounding
        ends.append(frame.env)
    frame.paid = paid
    stand_in(ends)
    frame.failed.update(flags(ends[0], ends[1:]))
    frame.env = ends[0]
    for env in ends[1:]:
        frame.env = joined(frame.env, env, unless)
    if node.final:
        dead = not alive(frame)
        if dead:
            frame.env = dict(start)
        run(node.final, frame)
        if dead:
            frame.env = Dead()


def within(node: core.With, frame: Frame) -> None:
    default = frame.world.default_device
    managers: list[tuple[Value, At]] = []
    for context, target in node.items:
        value = value_of(context, frame)
        managers.append((value, context.at))
        entered = join_all([managed(option, "enter", [], context.at, frame) for option in options(value)])
        if target is not None:
            assign(target, yielded(entered), frame)
        if type(value) is Host and value.kind.startswith("device:"):
            frame.world.default_device = value.kind[7:]
    start, surrounding = dict(frame.env), frame.context
    if any(_captures(value, frame) for value, _ in managers):
        test = core.Do("truth", (core.Const(True, node.at),), node.at)  # as often as it is replayed
        captured = core.Loop(test, None, None, node.body, (), frozenset(), node.at)
        frame.surround(loops=(*surrounding.loops, Step(captured, CAPTURED)))
    run(node.body, frame)
    if frame.context.loops is not surrounding.loops:
        frame.context = surrounding
    dead = not alive(frame)
    if dead:
        frame.env = start
    for value, at in reversed(managers):
        for option in options(value):
            managed(option, "exit", [UNKNOWN, UNKNOWN, UNKNOWN], at, frame)
    if dead:
        frame.env = Dead()
    frame.world.default_device = default


def _captures(manager: Value, frame: Frame) -> bool:
    """Whether a `with` records what stands in it as a CUDA graph, where nothing may wait."""
    names = frame.world.places.tables["cold"]["captures"]
    return any(type(option) is Instance and option.name in names for option in options(manager))


def leave(node: core.Leave, frame: Frame) -> None:
    match node.what:
        case "return":
            value = value_of(node.value, frame) if node.value is not None else NONE
            if not frame.quiet:  # what a tracer or the CPU gets is not what our callers get
                frame.give(value)
                frame.ends.append(frame.env)
        case "raise":
            surrounding = frame.surround(failing=True)
            if node.value is not None:
                value_of(node.value, frame)
            frame.context = surrounding
        case "break":
            frame.breaks.append(frame.env)
        case "continue":
            frame.continues.append(frame.env)
    if frame is frame.home.frame:
        frame.home.bound = frame.env  # what ends the program takes no name from the functions that it has called
    frame.env = Dead()


def check(node: core.Check, frame: Frame) -> None:
    value_of(node.test, frame)
    if node.message is not None:
        surrounding = frame.surround(failing=True)
        value_of(node.message, frame)
        frame.context = surrounding
    off = off_device(node.test, True, frame)  # the rest of the block runs on no GPU
    frame.env = {**frame.env, **narrowed(node.test, True, frame)}
    frame.quiet += off
    frame.surround(off=off)


# -- definitions ----------------------------------------------------------------------------------


def bring(node: core.Bring, frame: Frame) -> None:
    for bound, module, name in node.names:
        frame.world.bring(frame, bound, module, name, node.level)
        if frame.arms:
            forget(bound, frame)


def function(node: core.Function, frame: Frame) -> None:
    value: Value = Call(frame.world.routine(node, frame, None))
    ask_defaults(node, frame)
    for decorator in node.decorators:
        value_of(decorator, frame)
    if node.name in frame.env and any(
        type(d) is ATTR and d.name in ("setter", "deleter", "register", "overload") for d in node.decorators
    ):
        return
    frame.env[node.name] = value
    if frame.arms:
        forget(node.name, frame)


def class_(node: core.Class, frame: Frame) -> None:
    frame.env[node.name] = frame.world.define(node, frame)
    if frame.arms:
        forget(node.name, frame)


STATEMENTS: Final[dict[type, Callable[[Any, Frame], None]]] = {
    core.Bind: bind, core.Update: update, core.Run: effect, core.If: branch, core.Loop: loop, core.Try: attempt,
    core.With: within, core.Leave: leave, core.Check: check, core.Bring: bring, core.Function: function,
    core.Class: class_,
}  # fmt: skip
