"""An expression in, the classes of the project that it may be an instance of out."""

from __future__ import annotations

from collections.abc import Iterable

from syncguard.infer.branches.meant import binders
from syncguard.infer.classes import ClassInfo
from syncguard.infer.domain.values import Call, Instance, Seq, Value, options
from syncguard.infer.functions.annotations import promised
from syncguard.infer.routine import Frame, Routine
from syncguard.judge.defaults.defaults import DEEPEST, Place, outer_of, passed_to, sources_of
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, FUNCTION, INDEX, NAME, SEQ
from syncguard.read.walk import targets, walk


def classes_of(node: Node, place: Place) -> list[ClassInfo]:
    """The classes that an expression may be an instance of, as far as something tells; where a base class is declared
    and one below it is known, it is that."""
    if type(node) is not ATTR:
        return _nearest(_classes(node, place))
    known, key = place.callers.classes, (id(node), place.routine, place.given, place.depth, place.only)
    if key not in known:  # of `a.b.c` it is asked what `a.b` is more than once, and of that in turn
        known[key] = node, _nearest(_classes(node, place))
    return known[key][1]


def _nearest(classes: list[ClassInfo]) -> list[ClassInfo]:
    found = dict.fromkeys(classes)
    return [info for info in found if not any(info is not one and info in one.mro for one in found)]


def _classes(node: Node, place: Place) -> list[ClassInfo]:
    routine = place.routine
    params = routine.node.params if type(routine.node) is FUNCTION else ()
    if place.depth > DEEPEST:
        return []
    if type(node) is ATTR:
        held = [found for info in classes_of(node.of, place) for found in _held(info, node.name, place)]
        return held or _of_sources(node, place)
    if type(node) is INDEX and type(node.of) is NAME:
        several = next((param for param in params if param.name == getattr(node.of, "id", "")), None)
        return _instances(_elements(_may_be(several, place.frame))) if several is not None else []
    if type(node) is not NAME:
        return []
    param = next((param for param in params if param.name == node.id), None)
    if param is None:
        outer = outer_of(routine) if not _is_bound(node.id, routine) else None
        return _classes(node, place.of(outer)) if outer is not None else _of_sources(node, place)
    if routine.owner is not None and params[0] is param:
        return [routine.owner]
    found = _instances(_may_be(param, place.frame))
    if found or param.annotation is not None:
        return found
    given = [classes_of(*one) for one in passed_to(param, place)]
    return [info for one in given for info in one] if all(given) else []


def _is_bound(name: str, routine: Routine) -> bool:
    """Whether a function binds a name itself: to set an attribute of what has it leaves it what it was."""
    return any(_binds(aim, name) for part in binders(routine).get(name, ()) for aim in targets(part))


def _binds(aim: Node, name: str) -> bool:
    if type(aim) is SEQ:
        return any(_binds(item, name) for item in aim.items)
    return type(aim) not in (ATTR, INDEX) and any(type(one) is NAME and one.id == name for one in walk(aim))


def _elements(values: tuple[Value, ...]) -> tuple[Value, ...]:
    """What those of these that are lists hold."""
    return tuple([option for value in values if type(value) is Seq for option in options(value.element)])


def _of_sources(node: Node, place: Place) -> list[ClassInfo]:
    """The classes of what a name stands for."""
    sources = sources_of(node, place)
    return [] if sources.option else [info for one in sources.written for info in classes_of(*one)]


def _may_be(param: core.Param, frame: Frame) -> tuple[Value, ...]:
    """What a parameter is declared to be, and what it was seen to be given."""
    declared = promised(param.annotation, frame, "assumed") if param.annotation is not None else None
    held = (declared, frame.routine.seen.get(param.name))
    return tuple([option for value in held if value is not None for option in options(value)])


def _held(info: ClassInfo, name: str, place: Place) -> list[ClassInfo]:
    """The classes of what an attribute holds: as the nearest class declares it, or by what is assigned to it, or handed
    to what keeps it."""
    place.routine.uses.update(info.elsewhere)
    for one in info.mro:
        for held in (one.promises.get(name), one.members.get(name)):
            if held is not None and (found := _instances(options(held))):
                return found
    held = info.attribute(name, place.routine)
    return (_instances(options(held)) if held is not None else []) or _registered(info, name, place)


def _registered(info: ClassInfo, name: str, place: Place) -> list[ClassInfo]:
    """The classes of what the constructor hands to a method of its own by this name: `self.register(net=net)`."""
    member = info.find("__init__")
    routine = member[0].routine if member is not None and type(member[0]) is Call else None
    if routine is None or type(routine.node) is not FUNCTION or not routine.node.params:
        return []
    place.routine.uses[routine.home.path, routine.qualname] = None
    me = routine.node.params[0].name
    for part in walk(routine.node.body):
        match part:
            case core.Call(fn=core.Attr(of=core.Name(id=of)), keywords=keywords) if of == me:
                for key, value in keywords:
                    if key == name and type(value) is NAME:
                        return classes_of(value, place.of(routine))
    return []


def _instances(values: Iterable[Value]) -> list[ClassInfo]:
    return [one.info for one in values if type(one) is Instance and one.info is not None]
