"""A test of a parameter in, whether an outcome of it is never met out: no call of a private function gives it any,
each does, or what it is declared to be is never that."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, cast

from syncguard.infer.branches.above import asked_above
from syncguard.infer.branches.meant import binders
from syncguard.infer.branches.passing import given, positional, spread
from syncguard.infer.domain.values import NONE, Tensor, Unknown, options
from syncguard.infer.functions.annotations import promised
from syncguard.infer.home import Home
from syncguard.infer.routine import Frame, Mentioned, Routine
from syncguard.read import core
from syncguard.read.core import Attr, Call, Const, Name, Node, Param
from syncguard.read.tags import ATTR, CLASS, CONST, DO, FUNCTION, IF, NAME
from syncguard.read.walk import around, parts, targets, walk

UNMET: Final = "where no call leads"
UNPROMISED: Final = "where a parameter is None that is declared to be a tensor"
BINDING: Final = ("staticmethod", "classmethod")
GIVEN: Final = "given"


def unmet(inner: Node, outcome: bool, frame: Frame) -> bool:
    """Whether no call in the file meets this outcome of `mask is not None`, of `mask is None`, or of `mask`."""
    if type(inner) is NAME:
        return outcome and _left(inner.id, frame) is not GIVEN
    if type(inner) is not DO:
        return False
    match inner:
        case core.Do(what="is" | "is not" as what, args=(core.Name(id=name), core.Const(value=None))):
            met = (what == "is not") is outcome
            return _left(name, frame) is None if met else _always(name, frame)
    return False


def unpromised(inner: Node, outcome: bool, frame: Frame) -> bool:
    """Whether this outcome says that a parameter is None that every caller must give, as a tensor."""
    if type(inner) is not DO:
        return False
    match inner:
        case core.Do(what="is" | "is not" as what, args=(core.Name(id=name), core.Const(value=None))):
            return (what == "is") is outcome and _demanded(name, frame)
    return False


def _demanded(name: str, frame: Frame) -> bool:
    """Whether a parameter is declared to be a tensor, with nothing to be where none is given."""
    node = frame.routine.node
    params = node.params if type(node) is FUNCTION else ()
    param = next((param for param in params if param.name == name), None)
    if type(node) is not FUNCTION or param is None or param.default is not None or param.annotation is None:
        return False
    declared = promised(param.annotation, frame, "assumed")
    return type(declared) is Tensor and not _anew(node, name, frame)


def _left(name: str, frame: Frame) -> Any:
    """The None or False that a parameter of this function has at each call; GIVEN what has more, or is no such."""
    node = frame.routine.node
    if type(node) is not FUNCTION or not any(param.name == name for param in node.params):
        return GIVEN
    written = frame.routine.written
    if written.ungiven is None:
        written.ungiven = {}  # of what calls itself with its own parameters, until it is known
        written.ungiven = dict(_ungiven(node, frame)) if _private(node, frame) else {}
    return written.ungiven.get(name, GIVEN)


def _always(name: str, frame: Frame) -> bool:
    """Whether each call gives a parameter of this function something, and none gives it None."""
    seen = frame.routine.seen.get(name)
    written = frame.routine.written
    if written.passed is None:
        written.passed = dict(_passed_by_all(frame))
    counted = written.passed.get(name)
    if counted or counted is None or seen is None:
        return bool(counted)
    return not any(option is NONE or type(option) is Unknown for option in options(seen))


def _passed_by_all(frame: Frame) -> Iterator[tuple[str, bool]]:
    """The parameters of a private function that each call of it writes, and that keep what they are given; and whether
    each is a number, whatever it is taken from."""
    node = frame.routine.node
    if type(node) is not FUNCTION or not _private(node, frame):
        return
    calls, places = calls_of(node.name, frame.home), positional(node)
    for param in node.params if calls else ():
        told = param.kind in ("positional", "keyword") and all(_written(call, param, places) for call in calls)
        if told and not _anew(node, param.name, frame, given=True):
            bound = frame.routine.owner is not None
            yield param.name, all(_counts(call, param, places, bound) for call in calls)


def _counts(call: core.Call, param: Param, places: list[Param], bound: bool) -> bool:
    """Whether a call gives a parameter a number: `x.shape[1]`, `len(xs)`, `2 * n`."""
    nodes = given(call, param, places, bound and type(call.fn) is ATTR)
    return len(nodes) == 1 and is_number(nodes[0])


def is_number(node: Node) -> bool:
    """Whether an expression is a number, whatever it is taken from: `x.shape[1]`, `len(xs)`, `2 * n`, `max(2, n)`,
    `loss.item()`, `optimizer.param_groups[0]["lr"]`."""
    match node:
        case core.Const(value=value):
            return isinstance(value, int | float)
        case core.Index(of=core.Attr(name="shape")) | core.Call(fn=core.Name(id="len" | "int" | "float")):
            return True
        case core.Call(fn=core.Attr(name="size" | "numel" | "dim" | "item")):
            return True
        case core.Index(of=core.Index(of=core.Attr(name="param_groups")), key=core.Const(value=str() as key)):
            return key != "params"
        case core.Call(fn=core.Name(id="max" | "min"), args=args, keywords=()):
            return len(args) > 1 and all(map(is_number, args))
        case core.Do(what="+" | "-" | "*" | "//" | "%", args=args):
            return any(map(is_number, args))
    return False


def _written(call: core.Call, param: Param, places: list[Param]) -> bool:
    """Whether a call names a parameter, or has enough arguments to reach it."""
    if spread(call):
        return False
    reached = param in places and places.index(param) < len(call.args) + (type(call.fn) is ATTR)
    return reached or any(key == param.name for key, _ in call.keywords)


def private(routine: Routine) -> bool:
    """Whether nobody outside of the file has business with a function."""
    name = routine.node.name if type(routine.node) is FUNCTION else ""
    return bool(name) and (bool(routine.closure) or (name.startswith("_") and not name.endswith("__")))


def _private(node: core.Function, frame: Frame) -> bool:
    """Whether a function is private, and neither a decorator calls it nor a class above it in another file."""
    return private(frame.routine) and only_bound(node) and not asked_above(frame.routine)


def only_bound(node: core.Function) -> bool:
    """Whether the decorators of a function say what a method is bound to, and nothing else."""
    return all(type(one) is NAME and one.id in BINDING for one in node.decorators)


def _ungiven(node: core.Function, frame: Frame) -> Iterator[tuple[str, Any]]:
    calls, places = calls_of(node.name, frame.home), positional(node)
    for param in node.params if calls else ():
        if param.kind in ("positional", "keyword"):
            passed = {_passed(call, param, places, frame) for call in calls}
            if len(passed) == 1 and GIVEN not in passed and not _anew(node, param.name, frame):
                yield param.name, passed.pop()


def _passed(call: core.Call, param: Param, places: list[Param], frame: Frame) -> Any:
    """The None or False that a call leaves a parameter or gives it, if only by handing on what nobody gives; GIVEN of
    all else."""
    if spread(call):
        return GIVEN
    told = {_handed(value, call, frame) for value in given(call, param, places)} or {_value(param.default)}
    return told.pop() if len(told) == 1 else GIVEN


def _handed(node: Node, call: core.Call, frame: Frame) -> Any:
    if type(node) is not NAME:
        return _value(node)
    inside = [one for one in frame.home.routines if type(one.node) is FUNCTION and around(one.node.at, call.at)]
    caller = max(inside, key=_begins, default=None)
    return GIVEN if caller is None else _left(node.id, Frame(frame.world, caller, {}))


def _begins(routine: Routine) -> tuple[int, ...]:
    return routine.node.at[:2] if type(routine.node) is FUNCTION else ()


def _value(node: Node | None) -> Any:
    return node.value if type(node) is CONST and (node.value is None or node.value is False) else GIVEN


def calls_of(name: str, home: Home) -> list[core.Call]:
    """Every call of a function by this name in a file; none where it is handed about, or named in a text."""
    return _mentioned(home)[0].get(name, [])


def handed_about(home: Home) -> frozenset[str]:
    """The names of a file that stand somewhere else than where they are called."""
    return _mentioned(home)[1]


def lines_of(name: str, home: Home) -> list[int]:
    """The lines of a file at which a name is read or bound, or asked for as an attribute."""
    return _mentioned(home)[2].get(name, [])


def _mentioned(home: Home) -> Mentioned:
    """The calls of a file by the name of what is nothing but called, the names that stand elsewhere too, and where each
    stands."""
    if home.mentioned is None:
        calls: dict[str, list[core.Call]] = {}
        named: dict[str, list[int]] = {}
        quoted: set[str] = set()
        of_name, of_attr, of_call, of_const = Name, Attr, Call, Const  # a global is looked up each time
        for part in home.pieces:
            kind = type(part)
            if kind is of_name or kind is of_attr:
                name = cast(Name, part).id if kind is of_name else cast(Attr, part).name
                lines = named.get(name)
                if lines is None:
                    named[name] = [part.at[0]]
                else:
                    lines.append(part.at[0])
            elif kind is of_call:
                call = cast(Call, part)
                if told := _name(call.fn):
                    calls.setdefault(told, []).append(call)
            elif kind is of_const and type(text := cast(Const, part).value) is str:
                quoted.add(text)
        handed = frozenset([told for told, lines in named.items() if len(lines) > len(calls.get(told, ()))])
        alone = {told: found for told, found in calls.items() if told not in quoted and told not in handed}
        home.mentioned = alone, handed, named
    return home.mentioned


def _name(node: Node) -> str:
    return node.id if type(node) is Name else node.name if type(node) is Attr else ""


def _anew(node: core.Function, name: str, frame: Frame, given: bool = False) -> bool:
    """Whether the body gives a parameter something else, where it may come to that."""
    return name in binders(frame.routine) and any(_bound(node.body, name, given))


def _bound(part: Any, name: str, given: bool = False) -> Iterator[Node]:
    """Where a block binds a name, but for where nothing leads while it is None; while it is not, if it is `given`."""
    if type(part) is tuple:
        for item in part:
            yield from _bound(item, name, given)
    elif type(part) is IF:
        yield from _bound(part.test, name, given)
        yield from () if _dead(part.test, True, name, given) else _bound(part.body, name, given)
        yield from () if _dead(part.test, False, name, given) else _bound(part.orelse, name, given)
    elif type(part) is not FUNCTION and type(part) is not CLASS:
        yield from (aim for aim in walk(targets(part)) if type(aim) is NAME and aim.id == name)
        for inner in parts(part):
            yield from _bound(inner, name, given)


def lacks(test: Node, outcome: bool, name: str) -> bool:
    """Whether an outcome of a test is never met while what has this name is None."""
    return _dead(test, outcome, name, False)


def spared(test: Node, outcome: bool, name: str) -> bool:
    """Whether an outcome of a test is never met while what has this name is something."""
    return _dead(test, outcome, name, True)


def tells_none(test: Node, outcome: bool, name: str) -> bool:
    """Whether a test comes out so where what has this name is None, and nowhere else."""
    return lacks(test, not outcome, name) and spared(test, outcome, name)


def _dead(test: Node, outcome: bool, name: str, given: bool) -> bool:
    """Whether an outcome is never met while this name is None; or while it is not, where it is `given`."""
    match test:
        case core.Do(what="truth", args=(inner,)):
            return _dead(inner, outcome, name, given)
        case core.Do(what="not", args=(inner,)):
            return _dead(inner, not outcome, name, given)
        case core.Do(what="is" | "is not" as what, args=(core.Name(id=subject), core.Const(value=None))):
            return subject == name and ((what == "is not") is outcome) is not given
        case core.Name(id=subject):
            return subject == name and outcome and not given
        case core.Either(what=what, operands=operands):
            return (what == "and") is outcome and any(_dead(operand, outcome, name, given) for operand in operands)
    return False
