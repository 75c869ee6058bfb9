"""A test and its outcome in, whether it holds only now and then out: at some step, when a clock says so, by chance, or
when a count has been set back."""

from __future__ import annotations

from collections.abc import Container
from typing import Final

from syncguard.infer.branches.meant import binders, body_of, necessary
from syncguard.infer.branches.ones import is_one
from syncguard.infer.branches.subjects import last_name, path_of
from syncguard.infer.expressions.imported import imported_by
from syncguard.infer.routine import Frame
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, BIND, CALL, CONST, DO, IF, INDEX, LEAVE, LOOP, NAME, UPDATE
from syncguard.read.walk import around, loops_around, walk

SOME: Final = "on some steps"
CLOCK: Final = "as often as a clock says"
CHANCE: Final = "by chance"
BACK: Final = "when a count is set back"
OUT: Final = "on the way out of the loop"
SELDOM: Final = 0.1  # what happens by chance no more often than this runs now and then
COUNTED: Final = "a few times, as it counts"
FEW: Final = 100  # times that what counts itself may run and still be rare
MORE: Final = (">", ">=")
LESS: Final = ("<", "<=")
TURNED: Final = frozenset((*MORE, *LESS))


def rest_of(node: Node) -> Node | None:
    """What is divided, where this is the rest of a division: `step % n`, `np.mod(step, n)`, `divmod(step, n)[1]`."""
    if type(node) is DO:
        return node.args[0] if node.what == "%" else None
    if type(node) is not CALL and type(node) is not INDEX:
        return None
    match node:
        case core.Call(fn=core.Attr(name="mod" | "fmod" | "remainder"), args=(left, _)):
            return left
        case core.Index(of=core.Call(fn=core.Name(id="divmod"), args=(left, _)), key=core.Const(value=1)):
            return left
    return None


def number_of(node: Node) -> Node:
    """A number without the constant that is added to it, or with all its bits: `step` of `step + 1`, of `step & 63`."""
    match node:
        case core.Do(what="+" | "-", args=(left, core.Const())):
            return left
        case core.Do(what="&", args=(left, _)):
            return left
    return node


def turned(loop: Node) -> frozenset[str]:
    """The names that a loop binds anew in each turn, by what it goes through."""
    target = loop.target if type(loop) is LOOP else None
    return frozenset([one.id for one in walk(target) if type(one) is NAME]) if target is not None else frozenset()


def ranges(loop: Node) -> bool:
    """Whether a loop goes through a range of numbers."""
    over = loop.iterable if type(loop) is LOOP else None
    return type(over) is CALL and type(over.fn) is NAME and over.fn.id == "range"


def timed(inner: core.Do, outcome: bool, frame: Frame) -> str:
    """Whether this outcome of a comparison waits for a clock to go on, or for luck: `time.time() - last > 10`."""
    match inner:
        case core.Do(what=what, args=(left, right)) if what in TURNED:
            if type(left) is CALL and type(right) is CONST and isinstance(right.value, float | int):
                rare = right.value <= SELDOM if what in LESS else right.value >= 1 - SELDOM
                return CHANCE if outcome and rare and throws(left, frame) else ""
            if not _tells_time(frame):
                return ""
            here, there = _reads_clock(left, frame), _reads_clock(right, frame)
            if here == there:
                return ""
            later = what in MORE if here > there else what in LESS
            return CLOCK if later is outcome and not _begun_once(inner, frame) else ""
    return ""


def _tells_time(frame: Frame) -> bool:
    """Whether a file imports a clock."""
    home = frame.home
    if home.tells_time is None:
        clocks = {clock.partition(".")[0] for clock in frame.world.clocks}
        home.tells_time = not clocks.isdisjoint(imported_by(frame))
    return home.tells_time


def throws(call: core.Call, frame: Frame) -> bool:
    """Whether this gives a number between 0 and 1, as luck has it."""
    return _asks(frame.world.places.tables["gates"]["lots"], call, frame)


def _asks(whom: Container[str], call: core.Call, frame: Frame) -> bool:
    """Whether this asks one of these: a clock, or a dice."""
    return (type(call.fn) is NAME or type(call.fn) is ATTR) and frame.world.decorator_name(call.fn, frame) in whom


def _reads_clock(node: Node, frame: Frame) -> int:
    """2 where the time is asked for here, 1 where a name holds what was asked for in this turn of the loop, else 0."""
    if _clock_in(node, frame):
        return 2
    inner = frame.context.loops[-1].node if frame.context.loops else None
    for part in walk(node):
        binds = binders(frame.routine).get(part.id, ()) if type(part) is NAME else ()
        bind = binds[0] if len(binds) == 1 else None
        if type(bind) is not BIND or bind.value is None or (type(inner) is LOOP and not around(inner.at, bind.at)):
            continue
        if _clock_in(bind.value, frame):
            return 1
    return 0


def _begun_once(test: core.Do, frame: Frame) -> bool:
    """Whether a test asks how long ago a loop began, which is long ago from some turn on: no turn sets that anew."""
    inner = frame.context.loops[-1].node if frame.context.loops else None
    if type(inner) is not LOOP:
        return False
    for part in walk(test):
        binds = binders(frame.routine).get(part.id, ()) if type(part) is NAME else ()
        asked = [
            bind for bind in binds if type(bind) is BIND and bind.value is not None and _clock_in(bind.value, frame)
        ]
        if asked and not any(around(inner.at, bind.at) for bind in binds):
            return True
    return False


def _clock_in(node: Node, frame: Frame) -> bool:
    """Whether an expression asks for the time."""
    return any(type(part) is CALL and _asks(frame.world.clocks, part, frame) for part in walk(node))


def _path(node: Node) -> str:
    """The name that is counted by, as it is written."""
    return path_of(node) if type(node) is NAME or type(node) is ATTR else ""


def leads_out(body: tuple[Node, ...], frame: Frame) -> bool:
    """Whether an arm ends the loop of steps that it is in."""
    last = body[-1] if body else None
    loops = frame.context.loops
    return type(last) is LEAVE and last.what in ("break", "return") and bool(loops) and bool(loops[-1].reason)


def set_back(test: Node, outcome: bool, body: tuple[Node, ...], frame: Frame) -> bool:
    """Whether an arm sets back the count that has led there, or moves on what a count is held against: `if count >= n:
    count = 0`, `if step >= coming: coming += n`, `if step - last >= n: last = step`. What grows until it is enough is
    none."""
    if not outcome or type(test) is not DO:
        return False
    match test:
        case core.Do(
            what="truth", args=(core.Do(what=">" | ">=" as what, args=(core.Do(what="-", args=(left, right)), least)),)
        ) if _goes_up(left, frame):
            return not at_once(what, least, frame) and any(_follows(part, _path(right), _path(left)) for part in body)
        case core.Do(what="truth", args=(core.Do(what=what, args=(left, right)),)) if what in TURNED or what == "==":
            counted, least = (right, left) if what in LESS else (left, right)
            count, bar = _path(counted), _path(least)
            moving = bool(count) and any(type(bind) is not BIND for bind in binders(frame.routine).get(count, ()))
            lowered = bool(count) and not at_once(what, least, frame)
            return any((lowered and _lowers(part, count)) or (moving and _raises(part, bar, frame)) for part in body)
    return False


def counted_out(test: Node, outcome: bool, body: tuple[Node, ...], frame: Frame) -> bool:
    """Whether an arm counts how often it has been taken, up to a number that is written out, and nothing in the loop of
    the steps sets that back: `if not hit and shown < 5: shown += 1`."""
    if not frame.context.loops:
        return False
    step = next((loop.node for loop in frame.context.loops if loop.reason), None)
    counts = [part.target.id for part in body if type(part) is UPDATE and type(part.target) is NAME and _adds(part)]
    for asked, came in necessary(test, outcome) if counts and step is not None else ():
        name = _few(asked, came)
        if name in counts:
            binds = binders(frame.routine).get(name, ())
            inside = [bind for bind in binds if step is not None and around(step.at, bind.at)]
            return len(inside) < len(binds) and all(_adds(bind) for bind in inside)
    return False


def _adds(part: Node) -> bool:
    """Whether a statement counts on."""
    return type(part) is UPDATE and part.what == "+" and type(part.target) is NAME and type(part.value) is CONST


def _few(asked: Node, came: bool) -> str:
    """The name that must be less than a small number: `shown < 5`."""
    match asked:
        case core.Do(what="<" | "<=" | ">" | ">=" as what, args=(core.Name(id=name), core.Const(value=int() as most))):
            return name if (what in LESS) is came and 0 < most <= FEW else ""
    return ""


def at_once(what: str, least: Node, frame: Frame) -> bool:
    """Whether a count is enough as soon as it goes up by one: `count >= 1`, `step - last > 0`."""
    if what == ">" or what == "<":
        return type(least) is CONST and type(least.value) is int and least.value == 0
    return is_one(least, frame)


def _lowers(part: Node, count: str) -> bool:
    """Whether a statement sets a count back to a number, or takes something off it."""
    if type(part) is UPDATE:
        return part.what == "-" and _path(part.target) == count
    number = type(part) is BIND and type(part.value) is CONST and type(part.value.value) in (int, float)
    return number and type(part) is BIND and any(_path(aim) == count != "" for aim in part.targets)


def _goes_up(node: Node, frame: Frame) -> bool:
    """Whether this counts, by its name or as the function does: what is better than the best so far does not."""
    name = _path(node)
    counts = frame.world.places.is_("gates", "counters", last_name(node).lower())
    return bool(name) and (counts or any(type(bind) is not BIND for bind in binders(frame.routine).get(name, ())))


def _follows(part: Node, last: str, count: str) -> bool:
    """Whether a statement keeps where a count has come to: `last = step`."""
    if type(part) is not BIND or part.value is None or _path(part.value) != count:
        return False
    return any(_path(aim) == last != "" for aim in part.targets)


def _raises(part: Node, bar: str, frame: Frame) -> bool:
    """Whether a statement adds more than one to what a count is held against."""
    if type(part) is UPDATE:
        return part.what == "+" and _path(part.target) == bar and not is_one(part.value, frame)
    if type(part) is not BIND or type(part.value) is not DO or part.value.what != "+":
        return False
    return any(_path(aim) == bar != "" for aim in part.targets) and not any(
        is_one(arg, frame) for arg in part.value.args
    )


def raised(name: core.Name, frame: Frame) -> Node | None:
    """The test behind which a flag is raised that each turn of the loop lowers first: `often = False`, `if step % n ==
    0: often = True`."""
    binds = binders(frame.routine).get(name.id, ())
    if len(binds) != 2 or not all(type(bind) is BIND and type(bind.value) is CONST for bind in binds):
        return None
    lowered, up = sorted(binds, key=lambda bind: bind.at)
    if _held(lowered) is not False or _held(up) is not True or not lowered.at < up.at < name.at:
        return None
    parts = walk(body_of(frame.routine))
    arm = next((part for part in parts if type(part) is IF and any(one is up for one in part.body)), None)
    if arm is None:
        return None
    loops = loops_around(body_of(frame.routine), arm.at)
    return arm.test if all(around(loop.at, lowered.at) for loop in loops) else None


def _held(bind: Node) -> object:
    return bind.value.value if type(bind) is BIND and type(bind.value) is CONST else None
