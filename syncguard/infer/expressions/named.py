"""The name of an attribute as a call gives it in, the name out, or what it is spelled like: `*_seen`."""

from __future__ import annotations

from typing import Final

from syncguard.infer.branches.meant import binders
from syncguard.infer.domain.lattice import join_all
from syncguard.infer.domain.values import NONE, Call, Const, Instance, Tensor, Value, options
from syncguard.infer.routine import Frame
from syncguard.infer.spelling import is_made_up, spelled
from syncguard.infer.stores import fills
from syncguard.read.core import Node
from syncguard.read.tags import BIND, CONST, LOOP, NAME, SEQ

MOST: Final = 8  # methods or modules of which a made-up name may be any


def name_given(value: Value, node: Node, frame: Frame) -> str:
    """A name by its value, or as it is written, here or where the name is bound that stands for it; '' if it may be
    any."""
    if type(value) is Const:
        return value.value if type(value.value) is str else ""
    if type(node) is not NAME:
        return spelled(node)
    binds = binders(frame.routine).get(node.id, ())
    bind = binds[0] if len(binds) == 1 else None
    return spelled(bind.value) if type(bind) is BIND and bind.value is not None else ""


def names_looped(node: Node, frame: Frame) -> tuple[str, ...]:
    """The names that a loop gives one after another, as they are written: `for key in ("low", "high"):`."""
    binds = binders(frame.routine).get(node.id, ()) if type(node) is NAME else ()
    loop = binds[0] if len(binds) == 1 else None
    if type(loop) is not LOOP or type(loop.target) is not NAME or type(loop.iterable) is not SEQ:
        return ()
    found = [one.value for one in loop.iterable.items if type(one) is CONST and type(one.value) is str]
    return tuple(found) if len(found) == len(loop.iterable.items) else ()


def held_named(of: Value, made: str, frame: Frame) -> Value | None:
    """What an attribute holds whose name is made up, where all that may be meant are tensors, or None; or each is a
    method or a module, and they are few."""
    if type(of) is not Instance or of.info is None or not is_made_up(made) or fills(of.info, frame.routine):
        return None
    found = of.info.alike(made, frame.routine)
    kinds = [option for value in found for option in options(value) if option is not NONE]
    if not kinds:
        return None
    if all(type(kind) is Tensor for kind in kinds):
        return join_all(found)
    called = [_called(kind, of) for kind in kinds] if len(kinds) <= MOST else [None]
    return join_all([one for one in called if one is not None]) if None not in called else None


def _called(held: Value, of: Instance) -> Value | None:
    """A method as the instance has it, or a module; None of anything else."""
    from syncguard.infer.expressions.attributes import bound, decorators

    if type(held) is Call and held.receiver is None and of.info is not None:
        kinds = decorators(held)
        return None if "property" in kinds else bound(held, kinds, of, of.info)
    return held if type(held) is Instance and (held.info is None or held.info.is_module) else None
