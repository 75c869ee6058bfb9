"""Statements and a frame in; the frame's variables moved on, or None where control does not come out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from syncguard.infer import pythonic
from syncguard.infer.annotations import promised
from syncguard.infer.apply import apply
from syncguard.infer.evaluate import assign, binary, element_of, quiet_value, value_of
from syncguard.infer.gates import gated, size_threshold, step_reason
from syncguard.infer.narrow import narrowed, off_device
from syncguard.infer.routine import Env, Frame, Step
from syncguard.infer.values import (
    FALSE,
    NONE,
    TRUE,
    UNKNOWN,
    Call,
    Const,
    Host,
    Instance,
    Named,
    Seq,
    Table,
    Tensor,
    Union,
    Unknown,
    Value,
    join,
    options,
    same,
    tensor_in,
)  # fmt: skip
from syncguard.read import core
from syncguard.read.core import At, Node

ROUNDS = 4  # passes over a loop body before what it binds is taken as settled
HOST_READS = frozenset(("item", "python-number"))


class Dead(dict[str, Value]):
    """The variables of a place that control does not reach."""


def run(body: tuple[Node, ...], frame: Frame) -> None:
    """Run a block."""
    quiet, gate = frame.quiet, frame.context
    for node in body:
        if type(frame.env) is Dead:
            break
        STATEMENTS[type(node)](node, frame)
    frame.quiet = quiet
    frame.context = gate


def alive_in(env: Env) -> bool:
    return type(env) is not Dead


def alive(frame: Frame) -> bool:
    return type(frame.env) is not Dead


def joined(a: Env, b: Env) -> Env:
    """What two paths agree on; a name that only one of them binds keeps its value."""
    if type(a) is Dead:
        return b
    if type(b) is Dead:
        return a
    result = dict(a)
    for name, value in b.items():
        other = a.get(name)
        if other is not value:
            result[name] = value if other is None else join(other, value)
    for path in [name for name in result if "." in name and not (name in a and name in b)]:
        del result[path]  # only one path knows it
    return result


# -- binding --------------------------------------------------------------------------------------


def store(target: Node, value: Value, frame: Frame) -> None:
    """Bind a value to a target."""
    match target:
        case core.Name(id=name):
            value = told(name, name, value, target.at, frame)
            if name in frame.dotted:
                prefix = f"{name}."
                frame.env = {key: held for key, held in frame.env.items() if not key.startswith(prefix)}
            frame.env[name] = value
        case core.Attr():
            of = value_of(target.of, frame)
            value = told(target.path, target.name, value, target.at, frame)
            if target.path:
                frame.dotted.add(target.path.partition(".")[0])
                frame.env[target.path] = value
            for option in options(of):
                if type(option) is Named:
                    frame.home.called.add(f"{option.name}.{target.name}")
                elif type(option) is Instance and option.info is not None:
                    frame.world.learn(option.info, target.name, value)
        case core.Seq():
            unpack(target, value, frame)
        case core.Index():
            write(target, value, frame)
        case core.Do(what="*", args=(inner,)):
            store(inner, Seq("list", None, value), frame)


def told(path: str, name: str, value: Value, at: At, frame: Frame) -> Value:
    """The value with what its uses prove, where it is unknown, and what its name hints at."""
    if type(value) is Unknown and path:
        known = frame.world.evidence(path, name, frame, at)
        if known is not None and not (value.weak and type(known) is not Tensor):
            value = known
    return hinted(name, value, frame) if type(value) is Tensor or type(value) is Union else value


def hinted(name: str, value: Value, frame: Frame) -> Value:
    """What a name alone tells of a tensor: `mask` is boolean where its dtype is unknown, `x_cpu` is on the host."""
    if type(value) is Union:
        return Union(tuple([hinted(name, option, frame) for option in value.options]))
    if type(value) is not Tensor or (value.dtype != "" and value.device != "assumed"):
        return value
    mask, host = frame.world.hint(name)
    if mask and value.dtype == "":
        value = value.but(dtype="named mask")
    return value.but(device="host") if host and value.device == "assumed" else value


def unpack(target: core.Seq, value: Value, frame: Frame) -> None:
    wanted = target.items
    exact = None
    for option in options(value):
        if type(option) is Seq and option.items is not None and len(option.items) == len(wanted):
            exact = option.items
    starred = any(type(part) is core.Do for part in wanted)
    element = UNKNOWN if exact and not starred else element_of(value, target.at, frame)
    for i, part in enumerate(wanted):
        store(part, exact[i] if exact and not starred else element, frame)


def write(target: core.Index, value: Value, frame: Frame) -> None:
    """`of[key] = value`."""
    of, key = value_of(target.of, frame), value_of(target.key, frame)
    for option in options(of):
        match option:
            case Tensor():
                apply(
                    frame,
                    frame.world.row("torch.Tensor.__setitem__"),
                    target.at,
                    [option, key, value],
                    {},
                    (target.of, target.key, target),
                )
            case Named(name=name) if (
                type(key) is Const and f"{name}.{key.value}" in frame.world.places.tables["debugging"]["environ"]
            ):
                if not (type(value) is Const and value.value in ("0", 0, "")):
                    frame.sight(target.at, name, "debugging-on", None, None, 3)
            case Seq() | Table():
                tensor = tensor_in(key)
                if type(option) is Seq and tensor is not None and tensor.on_device:
                    apply(frame, frame.world.row("torch.Tensor.__index__"), target.at, [key], {}, (target.key,))
                rebind(target.of, filled(option, key, value), frame)
            case Unknown():
                tensor = tensor_in(key)
                if tensor is not None and tensor.on_device and tensor_in(value) is not None:
                    base = Tensor(device=tensor.device, sure=False, why=tensor.why)
                    apply(
                        frame,
                        frame.world.row("torch.Tensor.__setitem__"),
                        target.at,
                        [base, key, value],
                        {},
                        (target.of, target.key, target),
                    )


def filled(of: Seq | Table, key: Value, value: Value) -> Value:
    """The container with `value` under `key`."""
    if isinstance(of, Seq):
        return Seq(of.kind, None, join(of.element, value) if of.items != () else value)
    if type(key) is Const and isinstance(key.value, (str, int)):
        return Table({**of.items, key.value: value}, of.element, of.keys)
    element = value if of.element is UNKNOWN and not of.items else join(of.element, value)
    return Table(of.items, element, of.keys if type(key) is Const else key)


def rebind(node: Node, value: Value, frame: Frame) -> None:
    """A container that was changed in place is held by the same name."""
    if type(node) is core.Name and node.id in frame.env:
        frame.env[node.id] = value
    elif type(node) is core.Attr:
        store(node, value, frame)


def bind(node: core.Bind, frame: Frame) -> None:
    seen = len(frame.emitted)
    value = value_of(node.value, frame) if node.value is not None else UNKNOWN
    if (
        frame.context.loops
        and type(node.value) is core.Do
        and node.value.what == "+"
        and any(alike(node.targets[0], side) for side in node.value.args)
    ):
        accumulated(frame, seen)
    if node.annotation is not None:
        declared = promised(node.annotation, frame, frame.world.place(frame.routine))
        if (
            node.value is None
            or (type(value) is Unknown and declared is not UNKNOWN)
            or (type(value) is Seq and value.items == () and type(declared) is Seq)
        ) or (type(value) is Table and not value.items and type(declared) is Table):
            value = declared
        if node.value is None and type(node.targets[0]) is core.Name and node.targets[0].id in frame.env:
            return
    for target in node.targets:
        assign(target, value, frame)


def alike(a: Node, b: Node) -> bool:
    """The same place, written twice."""
    match a, b:
        case core.Name(), core.Name():
            return a.id == b.id
        case core.Attr(), core.Attr():
            return bool(a.path) and a.path == b.path
        case core.Const(), core.Const():
            return bool(a.value == b.value)
        case core.Index(), core.Index():
            return alike(a.of, b.of) and alike(a.key, b.key)
    return False


def update(node: core.Update, frame: Frame) -> None:
    seen = len(frame.emitted)
    current = value_of(node.target, frame)
    value = value_of(node.value, frame)
    result = binary(node.what, current, value, node.at, (node.target, node.value), frame)
    if node.what in ("+", "-", "*x") and frame.context.loops:
        accumulated(frame, seen)
    assign(node.target, result, frame)


def accumulated(frame: Frame, since: int) -> None:
    """A read of the device that a loop adds up is its own hazard."""
    for sighting in frame.emitted[since:]:
        if sighting.hazard in HOST_READS:
            frame.routine.sightings.pop((sighting.at, sighting.hazard), None)
            frame.sight(sighting.at, sighting.op, "accumulated-read", None, sighting.why, sighting.sure)
            key = (sighting.at, "accumulated-read")
            if key in frame.routine.sightings:
                frame.routine.sightings[key].operand = sighting.operand


def effect(node: core.Run, frame: Frame) -> None:
    """An expression statement; `xs.append(v)` changes what `xs` holds."""
    call = node.value
    seen = len(frame.emitted)
    result = value_of(call, frame)
    if (
        type(result) is Tensor
        and result.pending
        and type(call) is core.Call
        and type(call.fn) is core.Attr
        and call.fn.name.endswith("_")
    ):
        rebind(call.fn.of, result, frame)  # an in-place copy that is still under way
    if type(call) is core.Call and type(call.fn) is core.Attr and call.fn.name in pythonic.MUTATORS:
        frame.quiet += 1
        held = value_of(call.fn.of, frame)
        args = [value_of(arg, frame) for arg in call.args]
        keywords = {key: value_of(part, frame) for key, part in call.keywords}
        frame.quiet -= 1
        if type(held) in (Seq, Table):
            if call.fn.name == "append" and frame.context.loops:
                accumulated(frame, seen)
            rebind(call.fn.of, pythonic.grown(held, call.fn.name, args, keywords, node.at, frame), frame)


def narrowing(test: Node, outcome: bool, frame: Frame) -> Env:
    """What a test tells, noted as ours to forget when the variable is bound again."""
    told = narrowed(test, outcome, frame)
    for path in told:
        if "." in path:
            frame.dotted.add(path.partition(".")[0])
    return told


# -- control --------------------------------------------------------------------------------------


def branch(node: core.If, frame: Frame) -> None:
    """Run both arms; afterwards we know only what they agree on."""
    test = value_of(node.test, frame)
    before = frame.env
    arms: list[Env] = []
    copies: list[bool] = []
    offs: list[bool] = []
    gates: list[str] = []
    for outcome, body in ((True, node.body), (False, node.orelse)):
        if test is (FALSE if outcome else TRUE) and frame.world.settled(node.test, frame):
            arms.append(Dead())
            offs.append(False)
            gates.append("")
            continue
        frame.env = before
        told = narrowing(node.test, outcome, frame)
        off = off_device(node.test, outcome, frame)
        gate = gated(node.test, outcome, frame)
        frame.env = {**before, **told}
        frame.quiet += off
        surrounding = frame.surround(gate=gate)
        seen = len(frame.emitted)
        run(body, frame)
        frame.context = surrounding
        copies.append(any(sighting.hazard == "copy-to-host" for sighting in frame.emitted[seen:]))
        frame.quiet -= off
        arms.append(frame.env)
        offs.append(off)
        gates.append(gate)
    if len(copies) == 2 and copies[0] != copies[1] and size_threshold(node.test, frame):
        frame.sight(node.test.at, "if", "size-threshold", None, None, 2)
    yes, no = (Dead() if offs[i] and alive_in(arms[1 - i]) and not offs[1 - i] else arms[i] for i in (0, 1))
    frame.env = joined(yes, no)
    for i, other in ((1, arms[0]), (0, arms[1])):
        if type(other) is Dead and alive(frame):  # the rest of the block is this arm
            frame.quiet += offs[i]
            frame.surround(gate=gates[i])


def loop(node: core.Loop, frame: Frame) -> None:
    iterated = value_of(node.iterable, frame) if node.iterable is not None else UNKNOWN
    element = element_of(iterated, node.at, frame) if node.iterable is not None else UNKNOWN
    step = Step(node.at, step_reason(node, iterated, frame))
    frame.home.steps |= bool(step.reason)
    surrounding = frame.surround(loops=(*frame.context.loops, step))
    breaks, continues = frame.breaks, frame.continues
    frame.breaks, frame.continues = [], []
    head = frame.env
    for _ in range(ROUNDS):
        frame.env = dict(head)
        if node.target is not None:
            assign(node.target, element, frame)
        if node.test is not None:
            value_of(node.test, frame)
            frame.env = {**frame.env, **narrowing(node.test, True, frame)}
        run(node.body, frame)
        tail = frame.env
        for env in frame.continues:
            tail = joined(tail, env)
        frame.continues = []
        after = joined(head, tail)
        settled = all(name in after and same(value, after[name]) for name, value in head.items() if "." not in name)
        head = after
        if settled:
            break
    if _forever(node):
        frame.env = Dead()
    else:
        frame.env = dict(head)
        if node.test is not None:
            quiet_value(node.test, frame)  # it ran once more, and said no
            frame.env = {**frame.env, **narrowed(node.test, False, frame)}
    frame.context = surrounding
    run(node.orelse, frame)
    for env in frame.breaks:
        frame.env = joined(frame.env, env)
    frame.breaks, frame.continues = breaks, continues


def _forever(node: core.Loop) -> bool:
    test = node.test
    return type(test) is core.Do and type(test.args[0]) is core.Const and bool(test.args[0].value)


def attempt(node: core.Try, frame: Frame) -> None:
    before = frame.env
    run(node.body, frame)
    after_body = frame.env
    run(node.orelse, frame)
    ends = [frame.env]
    start = joined(before, after_body)
    for name, body in node.handlers:
        frame.env = dict(start)
        if name:
            frame.env[name] = Host("object")
        surrounding = frame.surround(failing=True)
        run(body, frame)
        frame.context = surrounding
        ends.append(frame.env)
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
            assign(target, entered, frame)
        if type(value) is Host and value.kind.startswith("device:"):
            frame.world.default_device = value.kind[7:]
    run(node.body, frame)
    frame.world.default_device = default


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
    frame.env = Dead()


def check(node: core.Check, frame: Frame) -> None:
    value_of(node.test, frame)
    if node.message is not None:
        surrounding = frame.surround(failing=True)
        value_of(node.message, frame)
        frame.context = surrounding
    frame.env = {**frame.env, **narrowing(node.test, True, frame)}


# -- definitions ----------------------------------------------------------------------------------


def bring(node: core.Bring, frame: Frame) -> None:
    for bound, module, name in node.names:
        frame.world.bring(frame, bound, module, name, node.level)


def function(node: core.Function, frame: Frame) -> None:
    value: Value = Call(frame.world.routine(node, frame, None))
    for decorator in node.decorators:
        value_of(decorator, frame)
    if node.name in frame.env and any(
        type(d) is core.Attr and d.name in ("setter", "deleter", "register", "overload") for d in node.decorators
    ):
        return
    frame.env[node.name] = value


def class_(node: core.Class, frame: Frame) -> None:
    frame.env[node.name] = frame.world.define(node, frame)


STATEMENTS: dict[type, Callable[[Any, Frame], None]] = {
    core.Bind: bind, core.Update: update, core.Run: effect, core.If: branch, core.Loop: loop, core.Try: attempt,
    core.With: within, core.Leave: leave, core.Check: check, core.Bring: bring, core.Function: function,
    core.Class: class_,
}  # fmt: skip
