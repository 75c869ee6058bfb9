"""A test of a parameter that every call must give in, whether no call that is seen meets an outcome of it out."""

from __future__ import annotations

from typing import Final

from syncguard.infer.branches.instances import kinds_of
from syncguard.infer.branches.meant import as_given, ruled_out
from syncguard.infer.branches.refuted import is_one
from syncguard.infer.branches.subjects import ME, dotted
from syncguard.infer.branches.ungiven import calls_of, only_bound
from syncguard.infer.classes import ClassInfo
from syncguard.infer.domain.sureness import CONTAINERS, exact_kind
from syncguard.infer.domain.values import NONE, Const, Host, Named, Seq, Table, Tensor, Value, options
from syncguard.infer.home import Home
from syncguard.infer.routine import Frame
from syncguard.read import core
from syncguard.read.core import At, Node
from syncguard.read.tags import ATTR, CALL, FUNCTION, NAME
from syncguard.read.walk import around, everything

UNSEEN: Final = "where no call in this file leads"
KINDS: Final = ("positional", "keyword")
HOSTED: Final = (Host, Const, Seq, Table)


def unseen(test: Node, outcome: bool, frame: Frame) -> bool:
    """Whether each call in the file gives a function what lets a test of it come out the other way: `if not
    torch.is_tensor(x)` of what all of them compute. A parameter that may be left out is for those we do not see."""
    return ruled_out(test, outcome, lambda inner: _holds(inner, frame))


def _holds(inner: Node, frame: Frame) -> bool | None:
    """How a test comes out for every call; None where that is not known, or not the same for all."""
    match inner:
        case core.Do(what="is" | "is not" as what, args=(core.Name() as subject, core.Const(value=None))):
            held = _held(subject, frame)
            known = all(_is_tensor(option) or exact_kind(option) for option in held)
            return _all([(option is NONE) is (what == "is") for option in held]) if known else None
        case core.Call(fn=core.Name(id="isinstance"), args=(core.Name() as subject, kinds)):
            held = _held(subject, frame)
            named = kinds_of(kinds, frame) if held else []
            return _all([_is(option, named, frame) for option in held])
        case core.Call(fn=core.Attr() as fn, args=(core.Name() as subject,)):
            asked = frame.world.is_type_test(dotted(fn, frame))
            return _all([_is_tensor(option) for option in _held(subject, frame)]) if asked else None
    return None


def _all(answers: list[bool | None]) -> bool | None:
    """The one answer that all give."""
    first = answers[0] if answers else None
    return first if all(answer is first for answer in answers) else None


def _is(option: Value, kinds: list[Value], frame: Frame) -> bool | None:
    """Whether what is passed is of one of these types; None where we cannot tell."""
    if kinds and all(type(one) is Named and frame.world.is_tensor_type(one.name) for one in kinds):
        return _is_tensor(option)
    if type(option) is Host and option.kind == "object":  # of some class of a library of the host
        return False if all(map(_container, kinds)) else None
    return is_one(option, kinds, frame)


def _container(kind: Value) -> bool:
    return type(kind) is Named and kind.name in [f"builtins.{name}" for name in CONTAINERS]


def _is_tensor(option: Value) -> bool | None:
    if type(option) is Tensor:
        return True if option.sure else None
    return False if type(option) in HOSTED else None


def _held(subject: core.Name, frame: Frame) -> tuple[Value, ...]:
    """What calls give a parameter that has nothing else where it is asked; none where that is not known of each."""
    routine, name = frame.routine, subject.id
    node = routine.node
    seen = routine.seen.get(name)
    if type(node) is not FUNCTION or seen is None or name in routine.vague or routine.aside or not frame.home.own:
        return ()
    if not any(param.name == name and param.default is None and param.kind in KINDS for param in node.params):
        return ()
    if not as_given(name, subject.at, frame) or not _called_here(node, frame):
        return ()
    called = any(routine in one.calls for one in frame.home.routines if one is not routine)
    return tuple(options(seen)) if called else ()


def _called_here(node: core.Function, frame: Frame) -> bool:
    """Whether a function is called by its name, and nobody else has business with it that we could know of."""
    routine, name, places = frame.routine, node.name, frame.world.places
    if not only_bound(node):
        return False
    if (name.startswith("__") and name.endswith("__")) or places.is_("hot", "module_methods", name):
        return False
    calls, owner = calls_of(name, frame.home), routine.owner
    if routine.closure:
        return _only_called(node, frame.home)
    if owner is None:
        return bool(calls)
    return _of_own(calls) and not _inherited(name, owner, frame)


def _inherited(name: str, owner: ClassInfo, frame: Frame) -> bool:
    """Whether a class has a method by this name from elsewhere, so that others call it by that."""
    above = any(name in base.members for base in owner.mro[1:])
    return above or any(frame.world.op(f"{base}.{name}") is not None for base in owner.libraries())


def _of_own(calls: list[core.Call]) -> bool:
    """Whether a method is called, and by nothing but its own object."""
    own = [type(call.fn) is ATTR and type(call.fn.of) is NAME and call.fn.of.id in ME for call in calls]
    return bool(own) and all(own)


def _only_called(node: core.Function, home: Home) -> bool:
    """Whether a function inside another is called there, or given to `map`, and is nothing but that."""
    outer = [part for part in home.pieces if type(part) is FUNCTION and part is not node and around(part.at, node.at)]
    parts = everything(max(outer, key=_begins).body) if outer else []
    named = sum(type(part) is NAME and part.id == node.name for part in parts)
    return 0 < named == sum(_calls(part, node.name) for part in parts)


def _begins(node: core.Function) -> At:
    return node.at


def _calls(part: Node, name: str) -> bool:
    """Whether this calls what has this name, or maps it: `map(flat, (x, y))`."""
    if type(part) is not CALL or type(part.fn) is not NAME:
        return False
    first = part.args[0] if part.args and part.fn.id == "map" else part.fn
    return type(first) is NAME and first.id == name
