"""Statements and a frame in; the frame's variables moved on, or None where control does not come out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from syncguard.infer.branches.arms import remember, turned
from syncguard.infer.branches.fallbacks import excused
from syncguard.infer.branches.gates import NOTHING, fails, flags, gated, size_threshold, trains
from syncguard.infer.branches.guards import aimed, off_device
from syncguard.infer.branches.keeps import BUILDS, GROWS, outgrown
from syncguard.infer.branches.keyed import paired
from syncguard.infer.branches.narrow import narrowed
from syncguard.infer.branches.receivers import taken
from syncguard.infer.branches.refuted import refuted
from syncguard.infer.branches.remembers import recalled
from syncguard.infer.branches.stepping import epochs, step_reason
from syncguard.infer.branches.ungiven import UNMET
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
    Seq,
    Union,
    Value,
)
from syncguard.infer.expressions.elements import drawn
from syncguard.infer.expressions.evaluate import assign, quiet_value, value_of
from syncguard.infer.functions.wrappers import decided
from syncguard.infer.routine import Context, Env, Frame, Step, of_part
from syncguard.infer.statements.arrivals import arrive
from syncguard.infer.statements.bind import bind, effect, update
from syncguard.infer.statements.holders import lend
from syncguard.infer.statements.paths import Dead, alive, alive_in, follow, forget, joined
from syncguard.infer.statements.refills import refill
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, BRING, CONST, DO, LEAVE
from syncguard.read.walk import walk

ROUNDS: Final = 4  # passes over a loop body before what it binds is taken as settled


def run(body: tuple[Node, ...], frame: Frame) -> None:
    """Run a block."""
    quiet, gate, sometimes = frame.quiet, frame.context, frame.sometimes
    for node in body:
        if type(frame.env) is Dead:
            break
        STATEMENTS[type(node)](node, frame)
    frame.quiet, frame.sometimes = quiet, sometimes
    frame.context = gate


def starred(node: core.Bring) -> bool:
    """Whether an import asks for all that a module has: it is read at once, and not when a name is first used."""
    return any(name == "*" for name, _, _ in node.names)


# -- control --------------------------------------------------------------------------------------


def branch(node: core.If, frame: Frame) -> None:
    """Run both arms; afterwards we know only what they agree on."""
    test = value_of(node.test, frame)
    before, paid = frame.env, frame.paid
    sides = both(node, frame)
    never = [refuted(node.test, outcome, frame) for outcome in (True, False)]
    arms: list[Env] = []
    copies: list[bool] = []
    open_ = not decided(node.test) and not (sides[0][1] or sides[1][1])
    frame.sometimes += open_
    for (told, off, gate, excuse), body, dead in zip(sides, (node.body, node.orelse), (FALSE, TRUE), strict=True):
        if gate and fails(node.orelse if body is node.body else node.body, frame):
            gate = ""  # where anything else would be a failure, this is what there always is
        if (test is dead and frame.world.settled(node.test, frame)) or never[body is node.orelse]:
            run(tuple([part for part in body if type(part) is BRING and not starred(part)]), frame)
            arms.append(Dead())  # its imports are bound all the same: annotations name them
            continue
        gate = gate or excuse
        frame.env = {**before, **told}
        frame.paid = dict(paid)
        frame.quiet += off
        rare = gate if gate and not trains(body, frame.world.places) else ""
        failing = frame.context.failing or fails(body, frame)
        surrounding = frame.surround(gate=rare, failing=failing, test=(node.test, body is node.body), off=off)
        seen = len(frame.emitted)
        run(body, frame)
        frame.context = surrounding
        copies.append(any(sighting.hazard == "copy-to-host" for sighting in frame.emitted[seen:]))
        frame.quiet -= off
        arms.append(frame.env)
    frame.sometimes -= open_
    frame.paid = paid
    if len(copies) == 2 and copies[0] != copies[1] and size_threshold(node.test, frame):
        frame.sight(node.test.at, "if", "size-threshold", None, None, LIKELY)
    offs = [off for _, off, _, _ in sides]
    never = [off or gate == UNMET for _, off, gate, _ in sides]
    yes, no = (Dead() if never[i] and alive_in(arms[1 - i]) and not never[1 - i] else arms[i] for i in (0, 1))
    if alive_in(yes) and alive_in(no):
        for (told, _, _, _), arm, other in zip(sides, (yes, no), (no, yes), strict=True):
            forget(told, arm, before)
            follow(arm, other, before, frame)
        arrive(node, yes, no)
    frame.env = joined(yes, no)
    if alive_in(yes) and alive_in(no):
        remember(node.test, yes, no, frame)
    for i, other in ((1, arms[0]), (0, arms[1])):
        if type(other) is Dead and alive(frame):  # the rest of the block is this arm
            frame.quiet += offs[i]
            failed = fails(node.orelse if i == 0 else node.body, frame)
            frame.sometimes += open_ and not failed
            gate = "" if failed or sides[i][2] == NOTHING else sides[i][2]
            frame.surround(gate=gate, test=(node.test, i == 0), off=offs[i])
    if alive(frame) and recalled(node, frame):
        frame.surround(gate=BUILDS)
    if alive(frame) and outgrown(node):
        frame.surround(gate=GROWS)


def both(node: core.If, frame: Frame) -> list[tuple[Env, bool, str, str]]:
    """Of either arm: what its test tells of the variables, whether it keeps the arm off the device, its gate by the
    test, and by what stands in the arm."""
    asked, frame.asked = frame.asked, {}
    sides = []
    for outcome, arm in ((True, node.body), (False, node.orelse)):
        off = off_device(node.test, outcome, frame) and not aimed(node.test, arm, frame)
        gate, excuse = gated(node.test, outcome, frame), excused(node, outcome, frame)
        sides.append((narrowed(node.test, outcome, frame), off, gate, excuse))
    frame.asked = asked
    return sides


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
    step = Step(node, step_reason(node, iterated, frame))
    if step.reason:
        frame.home.steps = True
        frame.routine.stepping.add(node.at)
    epochs(step, iterated, frame)
    return frame.surround(loops=(*frame.context.loops, step))


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
    for name, body in node.handlers:
        frame.env = dict(start)
        frame.paid = dict(paid)
        if name:
            frame.env[name] = Host("object")
        surrounding = frame.surround(failing=True)
        run(body, frame)
        frame.context = surrounding
        ends.append(frame.env)
    frame.paid = paid
    frame.failed.update(flags(ends[0], ends[1:]))
    frame.env = ends[0]
    for env in ends[1:]:
        frame.env = joined(frame.env, env)
    if node.final:
        dead = not alive(frame)
        if dead:
            frame.env = dict(start)
        run(node.final, frame)
        if dead:
            frame.env = Dead()


def within(node: core.With, frame: Frame) -> None:
    default = frame.world.default_device
    for context, target in node.items:
        value = value_of(context, frame)
        if target is not None:
            entered = value
            if type(value) is Instance and value.info is not None:
                member = value.info.find("__enter__")
                entered = (
                    frame.world.call(member[0].routine, value, [], {}, context.at, frame)
                    if member and type(member[0]) is Call
                    else UNKNOWN
                )
            assign(target, _yielded(entered), frame)
        if type(value) is Host and value.kind.startswith("device:"):
            frame.world.default_device = value.kind[7:]
    run(node.body, frame)
    frame.world.default_device = default


def _yielded(value: Value) -> Value:
    """What a generator that is a context manager gives to its block; all else unchanged."""
    if type(value) is Union:
        return join_all([_yielded(option) for option in value.options])
    return value.element if type(value) is Seq and value.kind == "iterator" else value


def leave(node: core.Leave, frame: Frame) -> None:
    match node.what:
        case "return":
            value = value_of(node.value, frame) if node.value is not None else NONE
            if not frame.quiet:  # what a tracer or the CPU gets is not what our callers get
                frame.give(value)
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
    frame.env = {**frame.env, **narrowed(node.test, True, frame)}


# -- definitions ----------------------------------------------------------------------------------


def bring(node: core.Bring, frame: Frame) -> None:
    for bound, module, name in node.names:
        frame.world.bring(frame, bound, module, name, node.level)


def function(node: core.Function, frame: Frame) -> None:
    value: Value = Call(frame.world.routine(node, frame, None))
    for decorator in node.decorators:
        value_of(decorator, frame)
    if node.name in frame.env and any(
        type(d) is ATTR and d.name in ("setter", "deleter", "register", "overload") for d in node.decorators
    ):
        return
    frame.env[node.name] = value


def class_(node: core.Class, frame: Frame) -> None:
    frame.env[node.name] = frame.world.define(node, frame)


STATEMENTS: Final[dict[type, Callable[[Any, Frame], None]]] = {
    core.Bind: bind, core.Update: update, core.Run: effect, core.If: branch, core.Loop: loop, core.Try: attempt,
    core.With: within, core.Leave: leave, core.Check: check, core.Bring: bring, core.Function: function,
    core.Class: class_,
}  # fmt: skip
