"""A test and its outcome in, what it tells of the variables out."""

from __future__ import annotations

from typing import Final

from syncguard.infer.branches.arms import recalled
from syncguard.infer.branches.asking import none_asked
from syncguard.infer.branches.each import of_each
from syncguard.infer.branches.instances import of_options, of_types, with_method
from syncguard.infer.branches.keyed import beside
from syncguard.infer.branches.kinds import on_gpu
from syncguard.infer.branches.meant import meant
from syncguard.infer.branches.ranks import of_rank, ranked
from syncguard.infer.branches.subjects import dotted, path_of, value_at
from syncguard.infer.domain.contents import without
from syncguard.infer.domain.lattice import join_all
from syncguard.infer.domain.sureness import MASKS
from syncguard.infer.domain.values import (
    NONE,
    UNKNOWN,
    Const,
    Host,
    Table,
    Tensor,
    Unknown,
    Value,
    options,
)
from syncguard.infer.functions.flagged import by_flag
from syncguard.infer.functions.leaning import leaning
from syncguard.infer.routine import Frame, of_part
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, CALL, DO, EITHER, NAME

EQUAL: Final = ("is", "is not", "==", "!=")


def narrowed(test: Node, outcome: bool, frame: Frame) -> dict[str, Value]:
    """The variables about which the test's outcome tells something, with what they are then; of a part of one, noted to
    be forgotten when the variable is bound again."""
    told = _told(test, outcome, frame)
    for path in told:
        if of_part(path):
            holder, _, key = path.partition("[")
            frame.dotted.update((holder.partition(".")[0], key.removesuffix("]")))
    if not any('["' in path for path in told):
        return told
    found: dict[str, Value] = {}
    for path, value in told.items():
        holder, _, key = path.partition('["')
        held = found.get(holder) or frame.env.get(holder) if key else None
        if type(held) is Table:
            found[holder] = Table({**held.items, key: value}, held.element, held.keys)
        elif not key:
            found[path] = value
    return found


def _told(test: Node, outcome: bool, frame: Frame) -> dict[str, Value]:
    match test:
        case core.Do(what="truth", args=(inner,)):
            return _truth(inner, outcome, frame)
        case core.Do(what="not", args=(inner,)):
            return _told(inner, not outcome, frame) if type(inner) in (DO, EITHER) else {}
        case core.Either(what=what, operands=operands):
            found = [_told(operand, outcome, frame) for operand in operands]
            if (what == "and") is outcome:
                return {key: value for one in found for key, value in one.items()}
            return _one_of(found, frame)
    return {}


def _one_of(found: list[dict[str, Value]], frame: Frame) -> dict[str, Value]:
    """What one of several outcomes tells, of which nobody knows which it is: of what each speaks of, the kinds are out
    that none of them leaves. A kind that only a test names is believed where nothing else is left, or anything may
    be."""
    names = [name for name in found[0] if '["' not in name and all(name in one for one in found)]
    vague = frame.routine.vague
    return {name: _left([one[name] for one in found], frame.env.get(name, UNKNOWN), name in vague) for name in names}


def _left(outcomes: list[Value], before: Value, vague: bool) -> Value:
    left = [value for value in outcomes if value is not UNKNOWN]
    if len(left) < len(outcomes) and any(type(option) is Unknown for option in options(before)):
        return before  # of which one outcome leaves all that it may be
    those = [option for value in left for option in options(value)]
    if vague or any(type(option) is Unknown for option in options(before)):
        return join_all(left or [UNKNOWN])
    tensor = any(type(option) is Tensor for option in those)
    kept = without(before, lambda o: not (tensor if type(o) is Tensor else any(o is other for other in those)))
    return kept if kept is not UNKNOWN else join_all(left or [UNKNOWN])


def _truth(inner: Node, outcome: bool, frame: Frame) -> dict[str, Value]:
    told = _asked(inner, outcome, frame)
    if type(inner) is ATTR and frame.routine.made:
        told = {**by_flag(inner, outcome, frame), **told}
    test = meant(inner, frame) if type(inner) is NAME else None
    if test is not None:
        told = {**_told(test, outcome, frame), **told}
    return {**recalled(inner, outcome, frame), **told} if frame.arms else told


def _asked(inner: Node, outcome: bool, frame: Frame) -> dict[str, Value]:
    if type(inner) is DO:
        return _compared(inner, outcome, frame) if inner.what in EQUAL else _told(inner, outcome, frame)
    if type(inner) is CALL:
        return _called(inner, outcome, frame)
    if type(inner) is EITHER:
        return _told(inner, outcome, frame)
    path = path_of(inner) if outcome else ""
    if type(inner) is ATTR and path and on_gpu(inner, frame):
        return _there(inner, frame)
    value = value_at(inner, frame) if path else UNKNOWN
    return {path: without(value, _falsy)} if any(_falsy(option) for option in options(value)) else {}


def _there(asked: core.Attr, frame: Frame) -> dict[str, Value]:
    """What `x.is_cuda` tells of something unknown: modules have no such attribute, nor have arrays."""
    path = path_of(asked.of)
    if not path or value_at(asked.of, frame) is not UNKNOWN or not frame.world.computes_torch(frame):
        return {}
    return {path: Tensor(device="device", sure=False, why=frame.why(f"use:{asked.name}", asked.of.at))}


def _compared(inner: core.Do, outcome: bool, frame: Frame) -> dict[str, Value]:
    """What it tells that two things are the same, or are not."""
    match inner:
        case core.Do(what=what, args=(subject, core.Const(value=None))):
            return _none(subject, (what in ("is", "==")) is outcome, frame)
        case core.Do(
            what=what,
            args=(core.Call(fn=core.Name(id="type"), args=(subject,)), core.Name() | core.Attr() as kind),
        ):
            return of_types(subject, kind, (what in ("is", "==")) is outcome, frame)
        case core.Do(what="==" | "!=" as what, args=(core.Name(id=key), core.Const(value=str() as said))) if (
            frame.keyed
        ):
            return beside(key, said, (what == "==") is outcome, frame)
        case core.Do(what="==" | "!=" as what, args=(core.Attr(of=subject, name="dtype"), kind)):
            return _dtype(subject, kind, (what == "==") is outcome, frame)
        case core.Do(what="==" | "!=" as what, args=(asked, core.Const(value=int(rank)))) if of := ranked(asked):
            equal = (what == "==") is outcome
            return of_rank(path_of(of), value_at(of, frame), rank) if equal else {}
    return {}


def _called(inner: Node, outcome: bool, frame: Frame) -> dict[str, Value]:
    """What the answer of a function tells of what it was asked for."""
    match inner:
        case core.Call(fn=fn, args=(subject, kinds)) if type(fn) is NAME and fn.id == "isinstance":
            return of_types(subject, kinds, outcome, frame)
        case core.Call(fn=core.Name(id="hasattr"), args=(subject, core.Const(value=str() as name))):
            return with_method(subject, name, outcome, frame)
        case core.Call(fn=core.Attr() as fn, args=(subject,)) if frame.world.is_type_test(dotted(fn, frame)):
            return of_options(subject, outcome, frame, lambda option: type(option) is Tensor)
        case core.Call(fn=core.Name(id="all" | "any" as which), args=(core.Comp(),), keywords=()):
            return of_each(inner, which, outcome, frame, _told)
        case core.Call(fn=core.Name() as fn, args=(subject,)) if said := none_asked(fn, frame):
            return _none(subject, (said == "is") is outcome, frame)
    return {}


def _falsy(option: Value) -> bool:
    return type(option) is Const and not option.value


def _none(subject: Node, is_none: bool, frame: Frame) -> dict[str, Value]:
    path = path_of(subject)
    if not path:
        return {}
    if is_none:
        return {path: NONE, **leaning(subject, frame)} if type(subject) is NAME else {path: NONE}
    value = value_at(subject, frame)
    return {path: without(value, lambda option: option is NONE)} if type(value) is not Unknown else {}


def _dtype(subject: Node, kind: Node, equal: bool, frame: Frame) -> dict[str, Value]:
    """`x.dtype == torch.bool` tells the class of a tensor; where it is not bool, a mask by name is an index."""
    path = path_of(subject)
    asked = value_at(kind, frame) if path else UNKNOWN
    value = value_at(subject, frame) if path else UNKNOWN
    if type(asked) is not Host or not asked.kind.startswith("dtype:"):
        return {}
    told = asked.kind[6:]
    if type(value) is not Tensor or (not equal and not (told == "bool" and value.dtype in MASKS)):
        return {}
    if told == "number" and value.dtype:
        return {}
    return {path: value.but(dtype=told if equal else "int")}
