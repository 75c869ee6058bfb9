"""An option out of a test in, what it is unless somebody sets it out: parameters, what a constructor takes, fields."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from syncguard.infer.annotations import promised
from syncguard.infer.arms import steady
from syncguard.infer.classes import ClassInfo
from syncguard.infer.gates import last_name
from syncguard.infer.routine import Frame, Routine
from syncguard.infer.ungiven import calls_of, private
from syncguard.infer.values import Instance, Tensor, Value, options
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.walk import targets, walk

UNSAID = object()


def default_of(node: Node, frame: Frame) -> Any:
    """What an option is unless somebody sets it; UNSAID of all else, and of what may be a tensor: that is no option."""
    match node:
        case core.Name(id=name):
            return _of_parameter(name, frame)
        case (
            core.Attr(of=of, name=name)
            | core.Call(fn=core.Name(id="getattr"), args=(of, core.Const(value=str() as name), *_))
        ) if steady(path_of(node), frame.routine):
            classes = _classes(of, frame)
            values = [_of_attribute(info, name, frame.routine) for info in classes]
            known = values and all(value == values[0] for value in values)
            return values[0] if known and not (values[0] is None and _holds(classes, name, frame)) else UNSAID
    return UNSAID


def _holds(classes: list[ClassInfo], name: str, frame: Frame) -> bool:
    """Whether an attribute that is None by default may hold a tensor."""
    held = [value for info in classes for value in (info.attribute(name, frame.routine), info.expected(name))]
    return any(type(option) is Tensor for value in held if value is not None for option in options(value))


def _of_parameter(name: str, frame: Frame) -> Any:
    routine, node = frame.routine, frame.routine.node
    value = _in_signature(name, node)
    if type(node) is not core.Function or value is UNSAID or not steady(name, routine):
        return UNSAID
    if value is None and any(type(option) is Tensor for option in _may_be(name, routine, frame)):
        return UNSAID
    given = [_given(call, name, node) for call in calls_of(node.name, routine.home)] if private(routine) else []
    return UNSAID if given and UNSAID not in given and value not in given else value


def _given(call: core.Call, name: str, node: core.Function) -> Any:
    """The literal that a call gives a parameter."""
    said = [value for key, value in call.keywords if key == name]
    place = [param.name for param in node.params].index(name) - (type(call.fn) is core.Attr)
    return _said((*said, *call.args[place : place + 1])[0]) if said or 0 <= place < len(call.args) else UNSAID


def _in_signature(name: str, node: Node) -> Any:
    params = node.params if type(node) is core.Function else ()
    return next((_said(param.default) for param in params if param.name == name), UNSAID)


def _said(node: Node | None) -> Any:
    return node.value if type(node) is core.Const else UNSAID


def _may_be(name: str, routine: Routine, frame: Frame) -> tuple[Value, ...]:
    """What a parameter is declared to be, and what it was seen to be given."""
    params = routine.node.params if type(routine.node) is core.Function else ()
    declared = next((param.annotation for param in params if param.name == name), None)
    said = (promised(declared, frame, "assumed") if declared is not None else None, routine.seen.get(name))
    return tuple([option for value in said if value is not None for option in options(value)])


def _classes(node: Node, frame: Frame) -> list[ClassInfo]:
    """The classes of the project that an expression may be an instance of."""
    if type(node) is core.Attr:
        return [found for info in _classes(node.of, frame) for found in _held(info, node.name, frame)]
    routine = frame.routine
    params = routine.node.params if type(routine.node) is core.Function else ()
    if type(node) is not core.Name or node.id not in [param.name for param in params]:
        return []
    if routine.owner is not None and params[0].name == node.id:
        return [routine.owner]
    return _instances(_may_be(node.id, routine, frame))


def _held(info: ClassInfo, name: str, frame: Frame) -> list[ClassInfo]:
    """The classes of what an attribute holds: as the nearest class declares it, or by what is assigned to it."""
    for one in info.mro:
        for held in (one.promises.get(name), one.members.get(name)):
            if held is not None and (found := _instances(options(held))):
                return found
    held = info.attribute(name, frame.routine)
    return _instances(options(held)) if held is not None else []


def _instances(values: Iterable[Value]) -> list[ClassInfo]:
    return [one.info for one in values if type(one) is Instance and one.info is not None]


def _of_attribute(info: ClassInfo, name: str, asker: Routine) -> Any:
    """The default of the parameter of `__init__` that sets an attribute, or of a field."""
    asker.uses.update(info.elsewhere)
    for one in info.mro:
        given = [*_assigned(one, name, asker)]
        if given:
            return given[0] if len(given) == 1 else UNSAID
        declared = [*_declared(one.node, name)]
        if declared:
            return declared[0] if _takes_fields(one) else UNSAID
    return UNSAID


def _assigned(info: ClassInfo, name: str, asker: Routine) -> Iterator[Any]:
    """What each assignment to an attribute takes by default."""
    for routine in info.world.storing(info, name):
        node = routine.node
        if type(node) is not core.Function or not node.params:
            continue
        asker.uses[info.home.path, routine.qualname] = None
        path = f"{node.params[0].name}.{name}"
        for part in walk(node.body):
            if any(path_of(aim) == path for aim in walk(targets(part))):
                plain = type(part) is core.Bind and node.name == "__init__" and path_of(part.targets[0]) == path
                yield _passed_on(part.value, node) if type(part) is core.Bind and plain else UNSAID


def _passed_on(value: Node | None, node: core.Function) -> Any:
    """The default of the parameter that a value is, or of what is taken out of keyword arguments."""
    match value:
        case core.Name(id=name):
            return _in_signature(name, node)
        case core.Call(fn=core.Attr(of=core.Name(), name="pop" | "get"), args=(core.Const(), default)):
            return _said(default)
    return UNSAID


def _takes_fields(info: ClassInfo) -> bool:
    """Whether what a class declares is what its constructor takes: that of another one is for those below to set."""
    makers = (*info.node.decorators, *[base for one in info.mro for base in one.node.bases])
    return any(info.world.places.is_("names", "fields", last_name(maker)) for maker in makers)


def _declared(node: core.Class, name: str) -> Iterator[Any]:
    """The default of a field: `name: bool = False`."""
    for part in node.body:
        if type(part) is core.Bind and part.annotation is not None and part.value is not None:
            yield from [_said(part.value) for aim in part.targets if path_of(aim) == name]


def path_of(node: Node) -> str:
    """`a.b.c`, of the attribute or of `getattr(a.b, "c")`; '' of all else."""
    match node:
        case core.Name(id=name):
            return name
        case core.Attr(path=path):
            return path
        case core.Call(fn=core.Name(id="getattr"), args=(of, core.Const(value=str() as name), *_)):
            return f"{path_of(of)}.{name}"
    return ""
