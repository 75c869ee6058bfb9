"""An expression and a frame in, its value out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from syncguard.infer.branches.gates import gated
from syncguard.infer.branches.guards import off_device
from syncguard.infer.branches.narrow import narrowed
from syncguard.infer.branches.refuted import refuted
from syncguard.infer.branches.subjects import asked_path, item_path, last_name
from syncguard.infer.branches.undeclared import undeclared
from syncguard.infer.branches.ungiven import UNMET
from syncguard.infer.domain.contents import arrived, tensor_in, there_too, without
from syncguard.infer.domain.lattice import as_given, join, join_all
from syncguard.infer.domain.sureness import POSSIBLE, tensor_sureness
from syncguard.infer.domain.values import (
    FALSE,
    NONE,
    TRUE,
    UNKNOWN,
    Alias,
    Bound,
    Call,
    ClassOf,
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
    constant,
    options,
)
from syncguard.infer.expressions import attributes, calls
from syncguard.infer.expressions.displays import comp, seq, table
from syncguard.infer.expressions.elements import element_of
from syncguard.infer.expressions.operate import binary, contains, unary
from syncguard.infer.expressions.subscript import item
from syncguard.infer.functions.leaving import keep
from syncguard.infer.functions.wrappers import decided
from syncguard.infer.operations.apply import apply
from syncguard.infer.operations.kin import as_tensor
from syncguard.infer.operations.targets import begun
from syncguard.infer.routine import Frame
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, CALL, DO, EITHER, NAME


def value_of(node: Node, frame: Frame) -> Value:
    """What we know of an expression, here."""
    value = EVALUATE[type(node)](node, frame)
    if frame.world.watch is not None:
        frame.world.watch(frame, node, value)
    return value


def const(node: core.Const, frame: Frame) -> Value:
    return constant(node.value)


def name(node: core.Name, frame: Frame) -> Value:
    return frame.lookup(node.id)


def attr(node: core.Attr, frame: Frame) -> Value:
    """An attribute that is not called: what we cannot look up is unknown, not a method."""
    value = member(node, frame)
    if type(value) is Bound and type(value.of) is Instance and frame.world.places.is_("names", "devices", node.name):
        return Host("device:assumed")  # `fabric.device`, of a class that we have not read
    if type(value) is Bound:
        return value.of if type(value.of) is Unknown else UNKNOWN if type(value.of) is Instance else value
    if type(value) is Union and any(
        type(option) is Bound and type(option.of) in (Unknown, Instance) for option in value.options
    ):
        return without(value, lambda option: type(option) is Bound and type(option.of) in (Unknown, Instance))
    return value if frame.world.guesses else unguessed(value)


def unguessed(value: Value) -> Value:
    """A tensor without the dtype that only a name told where it was bound, or that may be one of several."""
    return value.but(dtype="") if type(value) is Tensor and value.dtype in ("named mask", "number") else value


def member(node: core.Attr, frame: Frame) -> Value:
    if node.path:
        known = frame.env.get(node.path)
        if known is not None:
            return known
    return attributes.attribute(value_of(node.of, frame), node.name, node, frame)


def slice_(node: core.Slice, frame: Frame) -> Value:
    return Seq("slice", tuple([value_of(bound, frame) for bound in node.bounds]))


def index(node: core.Index, frame: Frame) -> Value:
    if type(node.of) is NAME and node.of.id in frame.dotted:
        known = frame.env.get(item_path(node))
        if known is not None:
            return known
    of, key = value_of(node.of, frame), value_of(node.key, frame)
    if type(of) is Unknown and of.batch is None and type(key) is Const and _device(key, frame):
        return Host("device:assumed")  # `config["device"]`
    if type(of) is not Union:
        return item(of, key, node, frame)
    # What a tensor of many places picks from is a tensor itself, where it may be one.
    picked = type(key) is Tensor and key.rank > 0 and any(type(option) is Tensor for option in of.options)
    kinds = [option for option in of.options if option is not NONE and not (picked and type(option) is Seq)]
    return join_all([item(option, key, node, frame) for option in kinds] or [UNKNOWN])


def _device(key: Const, frame: Frame) -> bool:
    return type(key.value) is str and frame.world.places.is_("names", "devices", key.value)


def call(node: core.Call, frame: Frame) -> Value:
    if frame.dotted and (path := asked_path(node)):
        known = frame.env.get(path)
        if known is not None:
            return known
    fn = member(node.fn, frame) if type(node.fn) is ATTR else value_of(node.fn, frame)
    several = fn.options if type(fn) is Union else None
    told_apart = calls.has_parameters(fn) if several is None else any(map(calls.has_parameters, several))
    args, nodes, counted = positional(node, frame, told_apart)
    keywords = named(node, frame)
    frame.given, frame.several = (node, args, keywords), None if counted else node.at
    receiver: tuple[Node, ...] = ()
    if type(node.fn) is ATTR:
        receiver = (node.fn.of,)
        if node.fn.name in frame.world.stamps:
            frame.routine.clocks.add(node.at[0])  # the time that the device noted is read
    bound = type(fn) is Bound if several is None else any(type(option) is Bound for option in several)
    result = calls.invoke(fn, args, keywords, node.at, (*receiver, *nodes) if bound else tuple(nodes), frame)
    if receiver and type(frame.env) is dict:
        keep(fn, node, args, keywords, frame)
    if keywords.get("non_blocking") is TRUE:
        started(node, result, frame)
    if type(result) is Union and keywords.get("default") in (TRUE, FALSE):
        return without(result, lambda option: type(option) is Tensor)  # what is a flag by default is one
    if type(result) is Instance and keywords and not frame.world.host_keywords.isdisjoint(keywords):
        return there_too(result)
    if type(result) is not Unknown:
        return result if frame.world.guesses else unguessed(result)
    if keywords and not frame.world.host_keywords.isdisjoint(keywords):
        return Unknown(batch=frame.why("prepared", node.at))
    named_device = frame.world.places.is_("names", "device_getters", last_name(node.fn))
    return Host("device:assumed") if named_device else result


def started(node: core.Call, result: Value, frame: Frame) -> None:
    """A copy is under way that the host may have to wait for: what goes to the device is met there in its turn."""
    copies = frame.routine.copies
    there = any(type(option) is Tensor and option.device == "device" for option in options(result))
    if there or frame.world.places.is_("names", "uploads", last_name(node.fn)):
        copies.pop(node.at[0], None)
    else:
        copies[node.at[0]] = len(frame.context.loops)


def positional(node: core.Call, frame: Frame, told_apart: bool) -> tuple[list[Value], list[Node], bool]:
    """The arguments of a call that have no keyword, where each is written (all of `*pair` are written there), and
    whether it is known how many they are. What stands behind nobody knows how many is unknown, where what is called
    tells its parameters apart."""
    args: list[Value] = []
    nodes: list[Node] = []
    counted = True
    for part in node.args:
        value = value_of(part, frame)
        if type(part) is DO and part.what == "*":
            if type(value) is Seq and value.items is not None:
                args += value.items
                nodes += [part] * len(value.items)
                continue
            value = element_of(value, node.at, frame)
            counted = False
        elif not counted and told_apart:
            value = UNKNOWN
        args.append(value)
        nodes.append(part)
    return args, nodes, counted


def named(node: core.Call, frame: Frame) -> dict[str, Value]:
    """The arguments of a call by keyword; "**" is there where it may have others."""
    keywords: dict[str, Value] = {}
    for key, part in node.keywords:
        value = value_of(part, frame)
        if key:
            keywords[key] = value
            continue
        if type(value) is Table:
            keywords.update({str(name): held for name, held in value.items.items()})
        if type(value) is not Table or value.element is not UNKNOWN or not value.items:
            keywords["**"] = UNKNOWN
    return keywords


def do(node: core.Do, frame: Frame) -> Value:
    what = node.what
    if what in ("truth", "not"):
        return truth(node, frame)
    args = [value_of(arg, frame) for arg in node.args]
    match what:
        case "format":
            if tensor_sureness(args[0]):
                apply(frame, frame.world.row("torch.Tensor.__format__"), node.at, args[:1], {}, node.args[:1])
            return Host("str")
        case "join":
            return begun(args[0]) if args else Host("str")
        case "*" | "await":
            return args[0]
        case "yield" | "yield from":
            value = args[0] if args else NONE
            value = value if what == "yield" else element_of(value, node.at, frame)
            frame.yielded = value if frame.yielded is None else join(frame.yielded, value)
            return UNKNOWN
        case "is" | "is not":
            return Host("bool")
        case "in" | "not in":
            return contains(args[0], args[1], node, frame)
        case "unknown":
            return UNKNOWN
    if what == "|" and all(type(arg) in (Named, ClassOf, Alias) or arg is NONE for arg in args):
        return Alias(node, frame)
    if len(args) == 1:
        return join_all([unary(what, option, node, frame) for option in options(args[0])])
    return binary(what, args[0], args[1], node.at, node.args, frame)


def truth(node: core.Do, frame: Frame, replaced: bool = False) -> Value:
    """Python asks `bool()` of the operand; `replaced` if another tensor stands in for one that is false."""
    operand = node.args[0]
    value = as_tensor(value_of(operand, frame), "__bool__")
    if node.what == "not" and type(operand) is DO and operand.what in ("truth", "not"):
        return FALSE if value is TRUE else TRUE if value is FALSE else Host("bool")
    if type(operand) is EITHER:
        return Host("bool")
    tensor = tensor_in(value)
    if tensor is not None:
        single = tensor.rank == 0 and tensor.sure  # of any other, who asks so is hardly ever given one
        optional = not single and (any(option is NONE for option in options(value)) or _is_guess(operand, tensor))
        if tensor.on_device or tensor.pending:
            limit, frame.limit = frame.limit, POSSIBLE if optional and not replaced else frame.limit
            asked = node.args
            if type(operand) is DO and operand.args and operand.args[0].at[:2] < operand.at[:2]:
                asked = operand.args[:1]  # the subject of a `match`, which a literal pattern is compared with
            apply(frame, frame.world.row("torch.Tensor.__bool__"), node.at, [value], {}, asked)
            frame.limit = limit
        return Host("bool", tensor.why)
    if type(value) is Const:
        return TRUE if value.value else FALSE
    return Host("bool")


def _is_guess(operand: Node, tensor: Tensor) -> bool:
    """Whether this is an argument that is held for a tensor since a forward is given it, and nothing else: who asks it
    for its truth as it is, in whatever function, has a flag."""
    guessed = not tensor.sure and tensor.why is not None and tensor.why.text == "forward"
    return type(operand) is NAME and guessed and tensor.why is not None and tensor.why.parent is None


def either(node: core.Either, frame: Frame) -> Value:
    """Each operand is reached only if those before it let it be."""
    before = dict(frame.env)
    values = []
    quiet, sometimes, surrounding = frame.quiet, frame.sometimes, frame.context
    replaced, holds = replaces(node, frame), node.what == "and"
    for operand in node.operands:
        if replaced and type(operand) is DO and operand.what == "truth":
            values.append(truth(operand, frame, True))
        else:
            values.append(value_of(operand, frame))
        frame.sometimes += not decided(operand)
        off = off_device(operand, holds, frame)
        frame.quiet += off
        frame.surround(gate=gated(operand, holds, frame), test=(operand, holds), off=off)
        for key, value in narrowed(operand, holds, frame).items():
            frame.env[key] = value
    frame.quiet, frame.sometimes, frame.context = quiet, sometimes, surrounding
    after, kept = frame.env, {key: value for key, value in before.items() if key in frame.env}
    told = [key for key, value in kept.items() if after[key] is not value]
    frame.env = {**after, **kept, **{key: _as_before(kept[key], after[key]) for key in told}}
    tested = [v for v, o in zip(values[:-1], node.operands, strict=False) if type(o) is DO and o.what == "truth"]
    if tested and not (type(node.operands[-1]) is DO and node.operands[-1].what in ("truth", "not")):
        asked = [quiet_value(o.args[0], frame) for o in node.operands[:-1] if type(o) is DO and o.what == "truth"]
        if node.what == "or":
            asked = [
                join_all([o for o in options(v) if not (type(o) is Const and not o.value)] or [UNKNOWN]) for v in asked
            ]
        return join_all([*asked, values[-1]])
    return values[-1] if type(values[-1]) in (Host, Const) else Host("bool")


def _as_before(value: Value, now: Value) -> Value:
    """What a name stands for behind a test that narrowed it; a copy that the test has asked for has arrived."""
    return value if arrived(now) is not now else arrived(value)


def replaces(node: core.Either, frame: Frame) -> bool:
    """Whether a tensor stands in for what is None: `mean or torch.zeros(1)` asks a mean that is given for its truth."""
    last = node.operands[-1]
    if node.what != "or" or type(last) is not CALL:
        return False
    return type(quiet_value(last, frame)) is Tensor


def quiet_value(node: Node, frame: Frame) -> Value:
    """The value once more, without a word; while a test is looked at from both sides, each part is asked once."""
    asked = frame.asked
    if asked is not None:
        known = asked.get(id(node))
        if known is not None:
            return known
    frame.quiet += 1
    frame.again += 1
    value = value_of(node, frame)
    frame.again -= 1
    frame.quiet -= 1
    if asked is not None:
        asked[id(node)] = value
    return value


def choose(node: core.Choose, frame: Frame) -> Value:
    test = value_of(node.test, frame)
    before = frame.env
    values = []
    offs = []
    asked, frame.asked = frame.asked, {}
    told = []
    for outcome in (True, False):
        elsewhere = off_device(node.test, outcome, frame)
        off = elsewhere or refuted(node.test, outcome, frame)
        gate = gated(node.test, outcome, frame) or undeclared(node.test, outcome, frame)
        told.append((off, elsewhere, narrowed(node.test, outcome, frame), gate))
    frame.asked = asked
    open_ = not decided(node.test) and not (told[0][0] or told[1][0])
    frame.sometimes += open_
    for (off, elsewhere, known, gate), arm in zip(told, (node.yes, node.no), strict=True):
        frame.env = {**before, **known}
        frame.quiet += off
        surrounding = frame.surround(gate=gate, test=(node.test, arm is node.yes), off=elsewhere)
        value = value_of(arm, frame)
        if elsewhere and type(value) is Call and type(arm) is not CALL and frame.home.own:
            frame.routine.calls.setdefault(value.routine, []).append((arm.at, frame.context))
        values.append(value)
        frame.context = surrounding
        offs.append(off)
        frame.quiet -= off
    yes, no = values
    frame.sometimes -= open_
    frame.env = before
    if offs[0] is not offs[1]:  # the device, or this caller, never sees the other one
        return no if offs[0] else yes
    unmet = [side[3] == UNMET for side in told]
    if unmet[0] is not unmet[1]:
        return no if unmet[0] else yes
    if test is TRUE or test is FALSE:
        return yes if test is TRUE else no
    both = join(yes, no)
    for (_, _, known, _), other in zip(told, (no, yes), strict=True):
        if NONE in known.values():
            both = as_given(both, other)
    return both


def lambda_(node: core.Function, frame: Frame) -> Value:
    return Call(frame.world.routine(node, frame, None))


def let(node: core.Let, frame: Frame) -> Value:
    value = value_of(node.value, frame)
    assign(node.target, value, frame)
    return value


def assign(target: Node, value: Value, frame: Frame) -> None:
    from syncguard.infer.statements.bind import store

    store(target, value, frame)


EVALUATE: Final[dict[type, Callable[[Any, Frame], Value]]] = {
    core.Const: const, core.Name: name, core.Attr: attr, core.Index: index, core.Slice: slice_, core.Call: call,
    core.Do: do, core.Either: either, core.Choose: choose, core.Seq: seq, core.Map: table, core.Comp: comp,
    core.Function: lambda_, core.Let: let,
}  # fmt: skip
