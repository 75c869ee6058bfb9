"""Tests and loops in, how often what they hold runs out: a gate that makes it rare, or a loop that is a step."""

from __future__ import annotations

from typing import Final

from syncguard.infer.branches.begun import FIRST, begins
from syncguard.infer.branches.fallbacks import divides
from syncguard.infer.branches.first_turn import FIRST_TURN, in_first_turn
from syncguard.infer.branches.keeps import BUILDS, GROWS, held, lacking, renewed, strays, unbuilt
from syncguard.infer.branches.lengthening import lengthens
from syncguard.infer.branches.meant import as_test, binders, left_at, meant
from syncguard.infer.branches.moved_on import moved_on
from syncguard.infer.branches.numbered import counts_parts
from syncguard.infer.branches.ones import is_one
from syncguard.infer.branches.queued import queued
from syncguard.infer.branches.rhythm import MORE, OUT, SOME, number_of, raised, ranges, rest_of, timed, turned
from syncguard.infer.branches.sorted_out import sorted_into
from syncguard.infer.branches.subjects import last_name, value_at
from syncguard.infer.branches.ungiven import UNMET, UNPROMISED, unmet, unpromised
from syncguard.infer.branches.yeses import answered
from syncguard.infer.domain.values import FALSE, TRUE, Const, Host, Seq, options
from syncguard.infer.routine import Env, Frame
from syncguard.pack.places import Places
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, BIND, CALL, CONST, DO, EITHER, FUNCTION, INDEX, LET, LOOP, NAME
from syncguard.read.walk import walk

EVERY: Final = "every n-th step"
NOTHING: Final = "where there is nothing"
LEFT: Final = "behind a flag that this function leaves the other way"
ZERO: Final = "where it would divide by zero"
LAST: Final = "at the last step"
BROKEN: Final = "where a value is not finite"
SEVERAL: Final = 10  # turns of a loop, of which one is seldom
TURNS: Final = {  # the same, where the range of a loop alone says so: if it is a part of a step, each has such a turn
    FIRST: "in the first turn of this loop",
    SOME: "in some turns of this loop",
    LAST: "in the last turn of this loop",
}
EPOCHS: Final = {
    EVERY: "in every n-th epoch, though there at each step",
    FIRST: "in the first epoch, though there at each step",
    SOME: "in some epochs, though there at each step",
}


def gated(test: Node, outcome: bool, frame: Frame) -> str:
    """Why code on this side of a test runs seldom: every n-th step, or on one rank; '' if it does not."""
    match test:
        case core.Do(what="truth", args=(inner,)):
            return ZERO if divides(inner, outcome, frame) else _gate(inner, outcome, frame)
        case core.Do(what="not", args=(inner,)):
            return gated(inner, not outcome, frame)
        case core.Either(what=what, operands=operands):
            found = [gated(operand, outcome, frame) for operand in operands]
            if (what == "and") is outcome:
                return UNMET if UNMET in found else _rarest(found)
            if _counts_on(operands, outcome, found):
                return EVERY if EVERY in found else EPOCHS[EVERY]
            if renewed(operands, found, outcome, frame):
                return BUILDS
            return next((gate for gate in found if gate not in (UNMET, OUT)), found[0]) if all(found) else ""
    return ""


def _rarest(found: list[str]) -> str:
    """The first of these gates that is met by single steps, or else the first one."""
    met = [gate for gate in found if gate]
    return next((gate for gate in met if gate not in EPOCHS.values()), met[0] if met else "")


def _counts_on(operands: tuple[Node, ...], outcome: bool, found: list[str]) -> bool:
    """Whether all that is asked besides every n-th step is some steps more: `step == 0 or step % n == 0`, `step in
    marked or step % n == 0`."""
    if EVERY not in found and EPOCHS[EVERY] not in found:
        return False
    each = [*zip(operands, found, strict=True)]
    equal = ("==", "in") if outcome else ("!=", "not in")  # that none of several holds is asked of their opposites
    counted = {_counted(operand, ("%",)) for operand, gate in each if gate in (EVERY, EPOCHS[EVERY])}
    rest = [_counted(operand, equal) for operand, gate in each if not gate]
    return bool(rest) and counted.issuperset(rest) and "" not in rest


def _counted(test: Node, what: tuple[str, ...]) -> str:
    """The name that a test divides, or compares with a number, or with several."""
    for part in walk(test):
        if type(part) is DO and part.what in what and type(part.args[-1]) is not DO:
            return last_name(part.args[0])
    return ""


def _gate(inner: Node, outcome: bool, frame: Frame) -> str:
    if type(inner) is NAME or type(inner) is ATTR:
        failed = type(inner) is NAME and frame.failed.get(inner.id) is outcome
        return "after a failure" if failed else _flag(inner, outcome, frame)
    if type(inner) is DO:
        return _compared(inner, outcome, frame) if not _in_stretch(inner, frame) else ""
    if type(inner) is CALL:
        if not outcome and type(inner.fn) is NAME and inner.fn.id == "hasattr" and lacking(inner, frame):
            return BUILDS
        if begins(inner, outcome, frame):
            return FIRST
        named = "behind a gate" if outcome and _gate_name(inner.fn, frame) else ""
        return BROKEN if _finite(inner.fn, outcome, frame) else named or answered(inner.fn, outcome, frame)
    if type(inner) is LET:
        test = as_test(inner.value)
        return gated(test, outcome, frame) if test is not None else ""
    return gated(inner, outcome, frame) if type(inner) is EITHER else ""


def _compared(inner: core.Do, outcome: bool, frame: Frame) -> str:
    if begins(inner, outcome, frame):
        return FIRST
    if inner.what == "is" or inner.what == "is not":
        return _none(inner, outcome, frame)
    rest = rest_of(inner.args[0]) if len(inner.args) == 2 else None
    if rest is not None:
        return _divided(inner, rest, outcome, frame)
    match inner:
        case core.Do(what="%", args=(left, right)):
            often = outcome or _measures(left, frame) or is_one(right, frame) or counts_parts(left, frame)
            return "" if often else _paced(EVERY, left, frame)
        case core.Do(what="&"):
            return _turn(SOME, inner, frame) if not outcome and _counts_steps(number_of(inner), frame) else ""
        case core.Do(what="==" | "!=" | ">" | "<" as what, args=(left, core.Const(value=0 | 1 as least))) if _counts(
            left, frame
        ):
            empty = what in ("==", "<")
            found = empty is outcome and least == (what == "<")
            given = left.args[0] if type(left) is CALL and left.args else left
            return NOTHING if found and not (_sorted(given, frame) or queued(given, frame)) else ""
        case core.Do(what="==" | "!=" as what, args=(core.Attr(name="device"), core.Attr(name="device"))):
            return BUILDS if (what == "!=") is outcome and strays(inner.args[0], inner.args[1], frame) else ""
        case core.Do(what=">" | "<" | ">=" | "<=" as what, args=(left, right)) if held(left) or held(right):
            return _outgrown(what, left, right, outcome, frame)
        case core.Do(what="==" | "!=" as what, args=(left, core.Const(value=0))) if "rank" in last_name(left).lower():
            return "on one rank" if (what == "==") is outcome else ""
        case core.Do(what="==" | "!=" | ">" as what, args=(left, core.Const(value=0))) if _counts_steps(left, frame):
            return _paced(FIRST, left, frame) if (what == "==") is outcome else ""
        case core.Do(what="==" | "!=" | "in" | "not in" as what, args=(left, _)) if _counts_steps(
            number_of(left), frame
        ):
            return _paced(SOME, left, frame) if (what in ("==", "in")) is outcome else ""
        case core.Do(what="in" | "not in" as what, args=(left, _)):
            steps = [loop.node for loop in frame.context.loops if loop.reason]
            return SOME if (what == "in") is outcome and any(_numbers(left, loop) for loop in steps) else ""
        case core.Do(what=">" | ">=" | "<" | "<=" as what, args=(left, right)) if _counts_steps(
            number_of(left), frame
        ) and frame.world.places.is_("gates", "totals", last_name(number_of(right)).lower()):
            return _turn(LAST, left, frame) if (what in MORE) is outcome else ""
    first = FIRST_TURN if in_first_turn(inner, outcome, frame) else ""
    return first or timed(inner, outcome, frame) or moved_on(inner, outcome, frame)


def _outgrown(what: str, left: Node, right: Node, outcome: bool, frame: Frame) -> str:
    """Why a table that is kept is seldom smaller than what is asked for, or larger than that."""
    more = ">" in what if held(right) else "<" in what
    if more is not outcome or (held(left) and held(right)):
        return ""
    wanted, table = (left, right) if held(right) else (right, left)
    return GROWS if not lengthens(wanted, table, frame) else ""


def _paced(gate: str, counted: Node, frame: Frame) -> str:
    """The same gate, or what is true of it where the epochs are counted in the loop that takes their steps."""
    loops, name = frame.context.loops, last_name(number_of(counted))
    if not loops or not loops[-1].reason or name in turned(loops[-1].node):
        return _turn(gate, counted, frame)
    around = any(name in turned(loop.node) for loop in loops[:-1] if loop.steps)
    return EPOCHS[gate] if around or frame.world.places.is_("hot", "loop_epochs", name.lower()) else gate


def _turn(gate: str, counted: Node, frame: Frame) -> str:
    """The same gate, or that of the turns of a loop where nothing but its range says what is counted."""
    return TURNS.get(gate, gate) if not _named_step(number_of(counted), frame) else gate


def _divided(inner: core.Do, divided: Node, outcome: bool, frame: Frame) -> str:
    """The same of a comparison with the rest of a division."""
    if _measures(divided, frame) or (type(divided) is CALL and last_name(divided) == "sum"):  # how many are so
        return ""
    by = inner.args[0].args[-1] if type(inner.args[0]) is DO else inner.args[0]
    if is_one(by, frame) or (type(inner.args[0]) is DO and counts_parts(inner.args[0].args[0], frame)):
        return ""
    match inner:
        case core.Do(what="==" | "!=" as what, args=(_, core.Const() | core.Name() | core.Do())):
            return _paced(EVERY, divided, frame) if (what == "==") is outcome else ""
        case core.Do(what="<" | ">=" as what, args=(_, least)) if type(least) is not CONST or least.value == 1:
            return _paced(EVERY, divided, frame) if (what == "<") is outcome else ""
    return ""


def _flag(inner: core.Name | core.Attr, outcome: bool, frame: Frame) -> str:
    """The same of a name: by what it is called, what it holds, or the test that it was set to."""
    if not outcome and _lists(inner, frame):
        return "" if _sorted(inner, frame) else NOTHING
    if unmet(inner, outcome, frame):
        return UNMET
    if type(inner) is ATTR and begins(inner, outcome, frame):
        return FIRST
    if outcome and _gate_name(inner, frame) and not _open(inner, frame):
        return "behind a gate"
    if type(inner) is NAME and left_at(inner, frame) is (not outcome):
        return LEFT
    if in_first_turn(inner, outcome, frame):
        return FIRST_TURN
    if type(inner) is not NAME:
        return answered(inner, outcome, frame, asked=True)
    test = meant(inner, frame, then=True) or raised(inner, frame)
    return (gated(test, outcome, frame) if test is not None else "") or moved_on(inner, outcome, frame)


def _none(inner: Node, outcome: bool, frame: Frame) -> str:
    """Why this outcome of a test for None is rare."""
    if unbuilt(inner, outcome, frame):
        return BUILDS
    if in_first_turn(inner, outcome, frame):
        return FIRST_TURN
    if unmet(inner, outcome, frame):
        return UNMET
    return UNPROMISED if unpromised(inner, outcome, frame) else ""


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
    """Whether a body runs a backward pass."""
    return any(type(node) is CALL and last_name(node.fn) in places.passes for node in walk(body))


def sets_rhythm(body: tuple[Node, ...], places: Places) -> bool:
    """Whether a body runs a backward pass, or has an optimizer take what several have added up: a test around it sets
    the rhythm of training, and makes nothing rare."""
    called = {last_name(node.fn) for node in walk(body) if type(node) is CALL}
    return not called.isdisjoint(places.passes) or called.issuperset(places.tables["hot"]["loop_takes"])


def _counts(node: Node, frame: Frame) -> bool:
    """Whether this is how many there are: `len(xs)`, `x.numel()`, `x.shape[0]`; `len(x.shape)` counts dimensions."""
    counted = node.of if type(node) is INDEX else node
    if type(node) not in (CALL, INDEX) or not frame.world.places.is_("gates", "sizes", last_name(counted)):
        return False
    given = node.args[0] if type(node) is CALL and node.args else None
    return given is None or not _tells_sizes(given, frame)


def _tells_sizes(node: Node, frame: Frame) -> bool:
    """Whether this is a shape, by its name or what it holds: `x.shape`, `self.batch_shape`, `lead = x.shape[:-2]`."""
    name, is_ = last_name(node), frame.world.places.is_
    if is_("gates", "sizes", name) or is_("gates", "shapes", name):
        return True
    held = options(value_at(node, frame)) if type(node) is NAME or type(node) is ATTR else ()
    return bool(held) and all(type(option) is Host and option.kind == "shape" for option in held)


def _sorted(node: Node, frame: Frame) -> bool:
    """Whether this is one of the lists that things are sorted into by what they are, not by how many there are."""
    return sorted_into(node, frame.routine, lambda part: _counts(part, frame))


def _measures(node: Node, frame: Frame) -> bool:
    """Whether this is a tensor's size, or a name for it, which counts no steps; a list's items may come one by one."""
    if type(node) is NAME:
        binds = binders(frame.routine).get(node.id, ())
        return bool(binds) and all(type(bind) is BIND and _is_size(bind.value, frame) for bind in binds)
    return last_name(node) != "len" and _counts(node, frame)


def _is_size(value: Node | None, frame: Frame) -> bool:
    """Whether this is a shape, or a part of it: `b, n = x.shape`, `n = x.size(1)`."""
    if value is None or last_name(value) == "len":
        return False
    if type(value) is ATTR:
        return frame.world.places.is_("gates", "sizes", value.name)
    return _counts(value, frame)


def _lists(node: Node, frame: Frame) -> bool:
    """Whether this is a list or the like, whose truth tells whether there is anything in it."""
    from syncguard.infer.expressions.evaluate import quiet_value

    return type(node) is NAME and type(quiet_value(node, frame)) is Seq


def _finite(fn: Node, outcome: bool, frame: Frame) -> bool:
    """Whether this outcome of `x.isnan().any()`, or of `torch.isfinite(x)`, says that a value is not finite."""
    if type(fn) is ATTR and fn.name == "item" and type(fn.of) is CALL:
        fn = fn.of.fn
    asked = fn.of if type(fn) is ATTR and fn.name == ("any" if outcome else "all") else fn
    return frame.world.places.is_("gates", "broken" if outcome else "finite", last_name(asked).lower())


def _counts_steps(node: Node, frame: Frame) -> bool:
    """Whether a name counts steps, and not the turns of a loop within one."""
    return (_named_step(node, frame) or _counts_turns(node, frame)) and not counts_parts(node, frame)


def _named_step(node: Node, frame: Frame) -> bool:
    """Whether a name is that of a count, or numbers what the loop of the steps goes through."""
    loops = frame.context.loops
    named = frame.world.places.is_("gates", "counters", last_name(node).lower())
    return (named or (bool(loops) and _numbers(node, loops[-1].node))) and all(loop.reason for loop in loops)


def _counts_turns(node: Node, frame: Frame) -> bool:
    """Whether a name is given by the range that the loop of the steps goes through, `for i in range(n)`. A loop that
    adds up gradients, or in another one that trains, may be a part of its step."""
    loops, places = frame.context.loops, frame.world.places
    held = loops[-1].node if loops and loops[-1].reason else None
    if type(node) is not NAME or type(held) is not LOOP or not ranges(held) or _turns_little(held):
        return False
    outer = [loop.node for loop in loops[:-1] if loop.reason]
    if not all(type(one) is LOOP and ranges(one) and not trains(one.body, places) for one in outer):
        return False
    if trains(held.body, places) and not takes(held, places):
        return False
    return type(held.target) is NAME and held.target.id == node.id


def takes(loop: core.Loop, places: Places) -> bool:
    """Whether an optimizer takes a step in a loop."""
    hot = places.tables["hot"]
    return any(one in loop.calls for one in hot["loop_takes"] if one not in hot["loop_clears"])


def _turns_little(loop: core.Loop) -> bool:
    """Whether the turns of a range are written out, and so few that each is often taken."""
    over = loop.iterable
    last = over.args[-1] if type(over) is CALL and over.args else None
    return type(last) is CONST and type(last.value) is int and last.value < SEVERAL


def _in_stretch(test: core.Do, frame: Frame) -> bool:
    """Whether a test asks for all numbers from one to another, which are no single steps: `step in range(100, 200)`."""
    within = test.args[-1] if test.what == "in" or test.what == "not in" else None
    if type(within) is NAME and frame.home.top is not None:
        bound = binders(frame.home.top).get(within.id, ()) if within.id not in binders(frame.routine) else ()
        bind = bound[0] if len(bound) == 1 else None
        within = bind.value if type(bind) is BIND else None
    return type(within) is CALL and type(within.fn) is NAME and within.fn.id == "range" and len(within.args) < 3


def _numbers(node: Node, loop: Node) -> bool:
    """Whether a name numbers the turns of a loop: `for i, batch in enumerate(loader)`."""
    match loop:
        case core.Loop(iterable=core.Call(fn=core.Name(id="enumerate")), target=core.Seq(items=items)) if items:
            return type(node) is NAME and type(first := items[0]) is NAME and first.id == node.id
    return False


def _turn_of(node: Node, loop: Node) -> bool:
    """Whether a name is the number that a loop counts to: `for step in range(steps)`."""
    match loop:
        case core.Loop(iterable=core.Call(fn=core.Name(id="range")), target=core.Name(id=name)):
            return type(node) is NAME and node.id == name
    return False


def _gate_name(node: Node, frame: Frame) -> bool:
    name = last_name(node)
    return bool(name) and frame.world.places.is_("gates", "names", name.lower())


def _open(node: core.Name | core.Attr, frame: Frame) -> bool:
    """Whether a gate stands open unless somebody closes it: a parameter that is True by default."""
    function = frame.routine.node
    if type(node) is not NAME or type(function) is not FUNCTION:
        return False
    default = next((param.default for param in function.params if param.name == node.id), None)
    return type(default) is CONST and default.value is True


def size_threshold(test: Node, frame: Frame) -> bool:
    """Whether a test compares a tensor's size with a number written into the code."""
    from syncguard.infer.expressions.evaluate import quiet_value

    loops = frame.context.loops
    match test:
        case core.Do(what="truth" | "not", args=(inner,)):
            return size_threshold(inner, frame)
        case core.Either(operands=operands):
            return any(size_threshold(operand, frame) for operand in operands)
        case core.Do(what="<" | "<=" | ">" | ">=", args=(left, right)):
            values = [quiet_value(side, frame) for side in (left, right)]
            if any(frame.world.places.is_("gates", "counters", last_name(side).lower()) for side in (left, right)):
                return False
            if any(_numbers(side, loop.node) or _turn_of(side, loop.node) for side in (left, right) for loop in loops):
                return False  # it is the number of a turn
            literal = any(type(v) is Const and isinstance(v.value, int) and v.value > 1 for v in values)
            return literal and any(type(v) is Host and v.kind in ("int", "size", "number") for v in values)
    return False
