"""A call of a part of a module in, how that part was made out; and what a method is given by parts made so: of one
class, one takes a length and has no table, and the other has a table and is given none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from syncguard.infer.branches.keeps import set_in
from syncguard.infer.branches.meant import as_given, binders
from syncguard.infer.branches.passing import given, left_out, positional, spread
from syncguard.infer.branches.subjects import last_name
from syncguard.infer.domain.contents import tensor_in
from syncguard.infer.domain.lattice import join_all, same
from syncguard.infer.domain.values import NONE, UNKNOWN, Call, Instance, Unknown, Value, options
from syncguard.infer.routine import Flags, Frame, Routine
from syncguard.read import core
from syncguard.read.core import At
from syncguard.read.tags import ATTR, BIND, CALL, CONST, FUNCTION, NAME

if TYPE_CHECKING:
    from syncguard.infer.classes import ClassInfo


def by_flag(flag: core.Attr, outcome: bool, frame: Frame) -> dict[str, Value]:
    """What parameters hold where `self.flag` comes out so: what those parts are given that were not made otherwise."""
    routine = frame.routine
    node = routine.node
    if not routine.made or type(node) is not FUNCTION or not node.params:
        return {}
    if flag.path != f"{node.params[0].name}.{flag.name}":
        return {}
    calls = [handed for flags, handed in routine.made.values() if flags.get(flag.name, outcome) is outcome]
    if not calls or len(calls) == len(routine.made):
        return {}  # others may make such a part
    found = {}
    for param in node.params[1:]:
        value = frame.env.get(param.name)
        if type(param.default) is not CONST or param.default.value is not None or value is None:
            continue
        if tensor_in(value) is None or not as_given(param.name, flag.at, frame):
            continue
        passed = join_all([NONE, *[handed.get(param.name, UNKNOWN) for handed in calls]])
        if tensor_in(passed) is None and not any(type(option) is Unknown for option in options(passed)):
            found[param.name] = passed
    return found


def note(routine: Routine, receiver: Value | None, handed: dict[str, Value], at: At, frame: Frame) -> bool:
    """Note how the part was made that a call calls, and what it is given; tells whether that is news."""
    node = routine.node
    if type(node) is not FUNCTION or type(receiver) is not Instance or receiver.info is None or frame.quiet:
        return False
    if not flags_in(receiver.info, frame):
        return False
    call = frame.given[0]
    flags: Flags = {}
    passed = handed
    if type(call) is CALL and call.at == at and not spread(call):
        flags = _made(call, receiver.info, frame)
        passed = {**{param.name: NONE for param in left_out(call, at, node, True)}, **handed}
    place = frame.routine, at
    known = routine.made.get(place)
    routine.made[place] = flags, passed
    if known is None:
        return True
    return known[1].keys() != passed.keys() or not all(same(value, known[1][name]) for name, value in passed.items())


def _made(call: core.Call, info: ClassInfo, frame: Frame) -> Flags:
    """The yes or no that a part was made with, of what its class keeps by the same name: `self.part(x)`."""
    owner, fn = frame.routine.owner, call.fn
    if owner is None or type(fn) is not ATTR or type(fn.of) is not NAME or fn.of.id != "self":
        return {}
    makers = frame.world.storing(owner, fn.name)
    made = set_in(makers[0]).get(f"self.{fn.name}", []) if len(makers) == 1 and makers[0].name == "__init__" else []
    value = made[0].value if len(made) == 1 else None
    if type(value) is not CALL or last_name(value.fn) != info.name or spread(value):
        return {}
    found = {}
    for param, places in flags_in(info, frame):
        told = given(value, param, places, True)
        said = param.default if not told else told[0] if len(told) == 1 else None
        if type(said) is CONST and isinstance(said.value, bool):
            found[param.name] = said.value
    return found


def flags_in(info: ClassInfo, frame: Frame) -> list[tuple[core.Param, list[core.Param]]]:
    """The parameters of a constructor that are yes or no by default, and that an instance keeps under that name for
    good; and all that have a place."""
    if info.flags is None:
        member = info.find("__init__")
        maker = member[0].routine if member is not None and type(member[0]) is Call else None
        node = maker.node if maker is not None else None
        info.flags = []
        if maker is not None and type(node) is FUNCTION and maker.owner is info:
            flags = [param for param in node.params if _is_flag(param) and _kept(param.name, maker, info, frame)]
            info.flags = [(param, positional(node)) for param in flags]
    return info.flags


def _is_flag(param: core.Param) -> bool:
    return type(param.default) is CONST and isinstance(param.default.value, bool)


def _kept(name: str, maker: Routine, info: ClassInfo, frame: Frame) -> bool:
    """Whether an instance is given this once, when it is made, under the same name."""
    if name in binders(maker) or list(frame.world.storing(info, name)) != [maker]:
        return False
    given_here = [aim for part in info.home.pieces if type(part) is BIND for aim in part.targets if type(aim) is ATTR]
    if sum(aim.name == name and aim.path != f"self.{name}" for aim in given_here):
        return False
    told = set_in(maker).get(f"self.{name}", [])
    return len(told) == 1 and type(told[0].value) is NAME and told[0].value.id == name
