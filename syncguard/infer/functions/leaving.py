"""A method that is told a device in, the attributes of its object that it assigns, and what a run left there, out."""

from __future__ import annotations

from syncguard.infer.domain.contents import arrived, leaves_of, tensors_in
from syncguard.infer.domain.lattice import join_all
from syncguard.infer.domain.values import (
    NONE,
    Bound,
    Call,
    Const,
    Host,
    Instance,
    Seq,
    Table,
    Unknown,
    Value,
    options,
)
from syncguard.infer.functions.promises import placeless_of
from syncguard.infer.functions.undone import undone
from syncguard.infer.routine import Env, Frame, Routine
from syncguard.infer.stores import stored
from syncguard.pack.places import Places
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, FUNCTION, NAME
from syncguard.read.walk import walk


def leaves(routine: Routine, places: Places) -> frozenset[str]:
    """The attributes that a method assigns which has a parameter that is called a device."""
    written = routine.written
    if written.leaves is None:
        node = routine.node
        told = (
            type(node) is FUNCTION
            and routine.owner is not None
            and any(places.is_("names", "devices", param.name) for param in node.params[1:])
        )
        written.leaves = frozenset(stored(node)) if told and type(node) is FUNCTION else frozenset()
    return written.leaves


def left(names: frozenset[str], node: core.Function, frame: Frame) -> Env:
    """The tensors that a run left under these names, wherever it returned."""
    found: Env = {}
    for name in names:
        held = [end.get(f"{node.params[0].name}.{name}") for end in frame.ends]
        known = [value for value in held if value is not None]
        if known and len(known) == len(held) and _is_tensor(value := join_all(known)):
            found[name] = arrived(value)
    return found


def _is_tensor(value: Value) -> bool:
    return bool(tensors_in(value)) and not any(type(leaf) is Unknown for leaf in leaves_of(value))


def nowhere(routine: Routine, places: Places) -> frozenset[str]:
    """The parameters of a method that are called a device and None by default."""
    written = routine.written
    if written.placeless is None:
        written.placeless = placeless_of(routine.node, places)
    return written.placeless


def keep(fn: Value, call: core.Call, args: list[Value], keywords: dict[str, Value], frame: Frame) -> None:
    """What is asked of an object, behind a call of its method, is what this call left there."""
    path = _path(call.fn)
    methods = [option for option in options(fn) if type(option) is Call and type(option.receiver) is Instance]
    if not path or not methods or type(frame.routine.node) is not FUNCTION:
        return
    world = frame.world
    assigned = [leaves(method.routine, world.places) for method in methods]
    asked = frozenset().union(*assigned) & _asked(path, frame.routine) if any(assigned) else frozenset()
    if not asked:
        return
    sole = all(type(option) is Call or _lacks(option) for option in options(fn))
    sole = sole and not undone(path, call, asked, frame)
    kept = [world.leaving(method, args, keywords, call.at, frame) for method in methods] if sole else []
    for name in asked:
        frame.env.pop(f"{path}.{name}", None)
        held = [one[name] for one in kept if name in one]
        if kept and len(held) == len(kept):
            frame.dotted.add(path.partition(".")[0])
            frame.env[f"{path}.{name}"] = join_all(held)


def _lacks(option: Value) -> bool:
    """Whether this is asked of what has no such method: then that is not what is called here."""
    return option is NONE or (type(option) is Bound and type(option.of) in (Seq, Table, Host, Const))


def _path(fn: Node) -> str:
    """What a method is called on, as it is written: `self.clock` of `self.clock.start`."""
    if type(fn) is not ATTR:
        return ""
    return fn.of.id if type(fn.of) is NAME else fn.of.path if type(fn.of) is ATTR else ""


def _asked(path: str, routine: Routine) -> frozenset[str]:
    """What a function asks of what a path stands for."""
    written = routine.written
    if written.parts is None:
        found: dict[str, set[str]] = {}
        for part in walk(routine.node.body):
            if type(part) is ATTR and part.path:
                found.setdefault(part.path.rpartition(".")[0], set()).add(part.name)
        written.parts = {of: frozenset(names) for of, names in found.items()}
    return written.parts.get(path, frozenset())
