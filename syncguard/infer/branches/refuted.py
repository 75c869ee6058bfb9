"""A test in, whether an outcome cannot be: for this caller, by what it passes, or as a number was read before."""

from __future__ import annotations

from syncguard.infer.branches.arms import steady
from syncguard.infer.branches.asking import types_asked
from syncguard.infer.branches.instances import KINDS, kinds_of
from syncguard.infer.branches.meant import ruled_out
from syncguard.infer.branches.subjects import dotted
from syncguard.infer.domain.sureness import CERTAIN, CONTAINERS, exact_kind, number_sureness
from syncguard.infer.domain.values import FALSE, NONE, TRUE, UNKNOWN, Host, Named, Tensor, Value, options
from syncguard.infer.routine import Frame
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import CALL


def refuted(test: Node, outcome: bool, frame: Frame) -> bool:
    """Whether a test cannot come out so: `isinstance(x, list)` of a tensor that is passed, `if flag` of a False, and
    `torch.is_tensor(n)` of what is a number by then, `n = x.item()`."""
    return ruled_out(test, outcome, lambda inner: _holds(inner, frame))


def _is_read(name: str, frame: Frame) -> bool:
    """Whether a name stands for a number that was read from a tensor, and nothing else."""
    kinds = options(frame.env.get(name, UNKNOWN))
    return all(type(one) is Host and one.read is not None and number_sureness(one) == CERTAIN for one in kinds)


def _asked_whether_tensor(inner: core.Call, frame: Frame) -> str:
    """The name that is asked whether it is a tensor, and nothing else; '' of any other question."""
    match inner:
        case core.Call(fn=core.Name(id="isinstance"), args=(core.Name(id=name), kinds)):
            named = kinds_of(kinds, frame)
            told = [type(one) is Named and frame.world.is_tensor_type(one.name) for one in named]
            return name if told and all(told) else ""
        case core.Call(fn=core.Attr() as fn, args=(core.Name(id=name),)):
            return name if frame.world.is_type_test(dotted(fn, frame)) else ""
    return ""


def _holds(inner: Node, frame: Frame) -> bool | None:
    if type(inner) is CALL and (name := _asked_whether_tensor(inner, frame)) and _is_read(name, frame):
        return False
    if not frame.passed:
        return None
    match inner:
        case core.Name(id=name):
            said = frame.routine.seen.get(name) if name in frame.passed else None
            return said is TRUE if (said is TRUE or said is FALSE) and steady(name, frame.routine) else None
        case core.Do(what="is" | "is not" as what, args=(core.Name(id=name), core.Const(value=None))):
            value = _passed(name, frame)
            return (value is NONE) is (what == "is") if value is not None and exact_kind(value) else None
        case core.Call(fn=core.Name(id="isinstance"), args=(core.Name(id=name), kinds)):
            value = _believed(name, frame)
            return None if value is None else is_one(value, kinds_of(kinds, frame), frame)
        case core.Call(fn=core.Attr() as fn, args=(core.Name(id=name),)) if frame.world.is_type_test(dotted(fn, frame)):
            return True if type(_believed(name, frame)) is Tensor else None
        case core.Call(fn=core.Name() as fn, args=(core.Name(id=name),), keywords=()):
            value = _believed(name, frame)
            return None if value is None else is_one(value, types_asked(fn, frame), frame)
    return None


def _believed(name: str, frame: Frame) -> Value | None:
    """What a parameter holds that a call gives something: a tensor, if that is all that it is believed to be."""
    value = _passed(name, frame)
    return value.but(sure=True, either=False) if type(value) is Tensor else value


def _passed(name: str, frame: Frame) -> Value | None:
    """What a parameter holds that a call gives something."""
    return frame.env.get(name) if name in frame.passed else None


def is_one(value: Value, kinds: list[Value], frame: Frame) -> bool | None:
    """Whether a value, whichever of several it is, is of one of these types; None where we cannot tell."""
    answers = {_is_one(option, kinds, frame) for option in options(value)}
    return answers.pop() if len(answers) == 1 else None


def _is_one(value: Value, kinds: list[Value], frame: Frame) -> bool | None:
    kind = exact_kind(value)
    told = [_answer(kind, one.name, frame) if type(one) is Named else None for one in kinds] if kind else [None]
    return True if True in told else None if None in told else False


def _answer(kind: str, name: str, frame: Frame) -> bool | None:
    """Whether what is of a kind is of the type of this name."""
    last = name.rpartition(".")[2]
    if name in frame.world.places.tables["types"]["tensor"]:
        return (True if last == "Tensor" else None) if kind == "tensor" else False
    if name == "numpy.ndarray":
        return kind == "array"
    if kind == "number" and last in KINDS and last != "str":
        return None
    if name.startswith("builtins.") and (last in KINDS or last in CONTAINERS):
        return kind == last or kind in KINDS.get(last, ())
    return None
