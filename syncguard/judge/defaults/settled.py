"""An expression in, what it is unless somebody sets an option, and the options that it hangs on, out."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Final

import msgspec

from syncguard.infer.branches.rhythm import throws
from syncguard.infer.branches.subjects import last_name
from syncguard.infer.branches.undoes import MORE
from syncguard.judge.around.bound import path_of
from syncguard.judge.defaults.answered import answer_of
from syncguard.judge.defaults.carried import carried, read_of
from syncguard.judge.defaults.defaults import Place, is_carrier, keywords_of, sources_of
from syncguard.judge.defaults.enumerated import Member, converts, member_of
from syncguard.judge.defaults.environment import asked_of, default_in, is_switch
from syncguard.judge.defaults.falls_back import falls_back, kept_none
from syncguard.judge.defaults.fields import answered_by
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, CALL, CONST, FUNCTION, INDEX, NAME

COMPARE: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "is": operator.is_, "is not": operator.is_not, "in": lambda a, b: a in b, "not in": lambda a, b: a not in b,
}  # fmt: skip
SAME: Final = {"is": "==", "is not": "!="}  # of those that have a name, each is there once
CASTS: Final[dict[str, Callable[[Any], Any]]] = {"bool": bool, "int": int, "float": float, "str": str}
UNSET: Final = object()  # a variable of the environment
SPELLINGS: Final = ("lower", "upper", "strip")


class Told(msgspec.Struct, frozen=True):
    """What an expression is by default, and the options that decide it, with their defaults."""

    value: Any
    by: dict[str, Any]


def outcome_of(test: Node, place: Place) -> Told | None:
    """How a test comes out where every option is as it is by default; None where that does not decide it."""
    match test:
        case core.Do(what="truth", args=(inner,)):
            return outcome_of(inner, place)
        case core.Do(what="not", args=(inner,)):
            told = outcome_of(inner, place)
            return Told(not told.value, told.by) if told is not None else None
        case core.Either(what=what, operands=operands):
            return _either([outcome_of(operand, place) for operand in operands], what == "or")
        case core.Name() | core.Attr():
            sources = sources_of(test, place)
            if not sources.option and len(sources.written) == 1:  # it stands for another test
                return outcome_of(*sources.written[0])
        case core.Call(fn=core.Attr() | core.Name() as fn, args=(), keywords=()) if (
            said := answered_by(fn, place)
        ) is not None:
            told = outcome_of(*said)
            return told if told is not None and told.by else None
    told = told_of(test, place)
    return Told(bool(told.value), told.by) if told is not None else None


def _either(told: list[Told | None], decisive: bool) -> Told | None:
    """One operand that is `decisive` decides; else all must be known."""
    for one in told:
        if one is not None and one.value is decisive:
            return one
    known = [one for one in told if one is not None]
    if len(known) < len(told):
        return None
    return Told(not decisive, {name: value for one in known for name, value in one.by.items()})


def told_of(node: Node, place: Place) -> Told | None:
    """What an expression is where every option is as it is by default; None where that does not tell. It is worked out
    once: methods that hand on what they are given to the same one of the class above are many ways to one place."""
    known = place.callers.told
    key = (id(node), place.routine, place.given, place.depth, place.only)
    if key not in known:
        known[key] = (node, _told(node, place))  # with the node, or its identity may become another's
    told = known[key][1]
    return told if isinstance(told, Told) else None


def _told(node: Node, place: Place) -> Told | None:
    if (name := asked_of(node, place.frame)) is not None:
        default, unset = default_in(node)
        told = told_of(default, place) if default is not None else Told(unset, {name: UNSET})
        return Told(told.value, {name: told.value, **told.by}) if told is not None else None
    match node:
        case core.Const(value=value):
            return Told(value, {})
        case core.Seq(items=items):
            return _all(items, place, lambda *values: values)
        case core.Do(what="neg", args=args):
            return _all(args, place, operator.neg)
        case core.Do(what="truth" | "not"):
            return outcome_of(node, place)
        case core.Do(what="<" | "<=", args=(core.Call() as lot, chance)) if throws(lot, place.frame):
            return _never_less(chance, place)
        case core.Do(what=what, args=sides) if what in COMPARE and len(sides) == 2:
            return _compared(what, sides, place)
        case core.Either(what=what, operands=operands):
            by: dict[str, Any] = {}
            for operand in operands[:-1]:
                told = told_of(operand, place)
                if told is None or bool(told.value) is (what == "or"):
                    return told
                by |= told.by
            told = told_of(operands[-1], place)
            return Told(told.value, {**by, **told.by}) if told is not None else None
        case core.Choose(test=test, yes=yes, no=no):
            told = outcome_of(test, place)
            if told is None:
                return _alike(told_of(yes, place), told_of(no, place))
            arm = told_of(yes if told.value else no, place)
            return Told(arm.value, {**told.by, **arm.by}) if arm is not None else None
        case core.Call():
            told = _of_several(node, place) or _called(node, place) or _fallen_back(node, place)
            return told or _option(node, place) or _taken(node, place)
    return _of_several(node, place) or _option(node, place)


def _of_several(node: Node, place: Place) -> Told | None:
    """The same of one of several that have a name, and of what it stands for."""
    if (member := member_of(node, place)) is not None:
        return Told(member, {})
    if type(node) is ATTR and node.name == "value":
        told = told_of(node.of, place)
        value = told.value.value if told is not None and isinstance(told.value, Member) else None
        return Told(value, told.by) if told is not None and value is not None else None
    members = converts(node, place)
    asked = node.args[0] if type(node) is CALL and members else node.key if type(node) is INDEX and members else None
    return _converted(asked, members, place) if asked is not None else None


def _converted(asked: Node, members: list[Member], place: Place) -> Told | None:
    """Which of several what is asked for by default is."""
    told = told_of(asked, place)
    found = [one for one in members if told is not None and one == told.value]
    return Told(found[0], told.by) if told is not None and len(found) == 1 else None


def _compared(what: str, sides: tuple[Node, ...], place: Place) -> Told | None:
    """How a comparison comes out. Two options that must be the same, or another, belong to one thing: nobody sets one
    of them alone."""
    told = [one for side in sides if (one := told_of(side, place)) is not None]
    if what in ("==", "!=") and sum(bool(one.by) for one in told) > 1:
        return None
    named = any(isinstance(one.value, Member) for one in told)
    return _all(sides, place, COMPARE[SAME[what] if named and what in SAME else what])


def _never_less(chance: Node, place: Place) -> Told | None:
    """That a number between 0 and 1 is less than another one, which is 0 by default: it never is."""
    told = told_of(chance, place)
    none = told is not None and isinstance(told.value, int | float) and told.value <= 0
    return Told(False, told.by) if told is not None and none else None


def _alike(one: Told | None, other: Told | None) -> Told | None:
    """What both of two arms are, whichever is taken."""
    if one is None or other is None or not _same(one.value, other.value):
        return None
    return Told(one.value, {**one.by, **other.by})


def _taken(call: core.Call, place: Place) -> Told | None:
    """The same of what is asked for by its name, with what is taken where nobody has set it: of settings, and of a
    switch whoever holds it."""
    asked = read_of(call)
    if asked is None or asked.default is None or (type(call.fn) is NAME and _is_own(asked.of, place)):
        return None
    told = told_of(asked.default, place)
    if told is None or not (told.value is False or asked.name not in place.callers.set):
        return None
    switch = isinstance(told.value, bool) and (type(asked.default) is CONST or bool(told.by))
    if not (switch or carried(asked.of, is_carrier(place))) or not place.callers.left_off(asked.name):
        return None
    return Told(told.value, {asked.name: told.value, **told.by})


def _fallen_back(call: core.Call, place: Place) -> Told | None:
    """The same of what stands for another thing where that is None, `default(steps, 1)`, and of what is given back as
    it is where it is None."""
    if (same := kept_none(call, place)) is not None:
        told = told_of(same, place)
        return told if told is not None and told.value is None else None
    both = falls_back(call, place)
    first = told_of(both[0], place) if both is not None else None
    if both is None or first is None or first.value is not None:
        return first
    rest = told_of(both[1], place)
    return Told(rest.value, {**first.by, **rest.by}) if rest is not None else None


def _is_own(node: Node, place: Place) -> bool:
    """Whether this is the object of a method."""
    function = place.routine.node
    params = function.params if type(function) is FUNCTION and place.routine.owner is not None else ()
    return bool(params) and type(node) is NAME and node.id == params[0].name


def _called(call: core.Call, place: Place) -> Told | None:
    """The same of a call: of `hasattr`, of a cast, of what takes an argument out of the others."""
    match call:
        case core.Call(fn=core.Name(id="hasattr"), args=(of, core.Const(value=str() as name))):
            known = sources_of(core.Attr(of, name, f"{path_of(of)}.{name}", call.at), place).written
            return Told(True, {}) if known else None
        case core.Call(
            fn=core.Attr(of=core.Name(id=of), name="get" | "pop"), args=(core.Const(value=str() as name), default)
        ) if of in keywords_of(place.routine):
            told = told_of(default, place)
            return Told(told.value, {name: told.value, **told.by}) if told is not None else None
        case core.Call(fn=core.Name(id=name), args=args, keywords=()) if name in CASTS and len(args) == 1:
            return _all(args, place, CASTS[name])
        case core.Call(fn=core.Name(id="len"), args=(several,), keywords=()):
            return _all((several,), place, len) if not _is_filled(several, place) else None
        case core.Call(fn=core.Attr(of=of, name=name), args=(), keywords=()) if name in SPELLINGS:
            return _all((of,), place, lambda text: getattr(text, name)() if isinstance(text, str) else None)
        case core.Call(fn=core.Attr(of=of, name="startswith" | "endswith" as name), args=(part,), keywords=()):
            return _all((of, part), place, lambda text, end: getattr(text, name)(end))
        case core.Call(fn=core.Attr() | core.Name() as fn, args=(), keywords=()) if is_switch(fn, place.frame):
            return Told(False, {f"{path_of(fn)}()": False})
        case core.Call(fn=fn) if (answer := answer_of(call, place)) is not None:
            return Told(answer.value, {f"{path_of(fn)}()": answer.value})
        case core.Call(fn=core.Attr() | core.Name() as fn, args=(), keywords=()) if (
            said := answered_by(fn, place)
        ) is not None:
            told = told_of(*said)
            return told if told is not None and told.by else None
    return None


def _is_filled(several: Node, place: Place) -> bool:
    """Whether what has a name may hold more than it is given, for the file puts something in; or data."""
    name = last_name(several)
    grown = any(
        type(part) is CALL and type(part.fn) is ATTR and part.fn.name in MORE and last_name(part.fn.of) == name
        for part in place.callers.home.pieces
    )
    return not name or grown or sources_of(several, place).data()


def _all(nodes: tuple[Node, ...], place: Place, make: Callable[..., Any]) -> Told | None:
    """What is made of several expressions, all of which are known."""
    told = [one for node in nodes if (one := told_of(node, place)) is not None]
    if len(told) < len(nodes):
        return None
    try:
        value = make(*[one.value for one in told])
    except (AttributeError, TypeError, ValueError, OverflowError):  # a text is not less than a number
        return None
    return Told(value, {name: default for one in told for name, default in one.by.items()})


def _option(node: Node, place: Place) -> Told | None:
    """The same of what has a name: what all that it may be by default agree on."""
    sources = sources_of(node, place)
    told = [told_of(*source) for source in sources.written]
    first = told[0] if told else None
    if first is None or any(one is None or not _same(one.value, first.value) for one in told):
        first = told_of(*sources.otherwise) if sources.otherwise is not None else None
        known = [one.value for one in told if one is not None]
        if first is None or (len(known) == len(told) and not any(_same(value, first.value) for value in known)):
            return None
    if (sources.hangs and not first.by) or (first.value is None and sources.data()):
        return None
    if not sources.option:
        return first
    handed_on = sources.hangs or all(_same(value, first.value) for value in first.by.values())
    return Told(first.value, {path_of(node): first.value, **({} if handed_on else first.by)})


def _same(value: Any, other: Any) -> bool:
    """Whether two defaults are one: `0` is not `False`."""
    return type(value) is type(other) and bool(value == other)
