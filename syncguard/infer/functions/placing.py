"""A call of a function that puts all that it is given on a device in, what that leaves of its argument out: where the
device is the host, every tensor inside is there."""

from __future__ import annotations

from syncguard.infer.branches.subjects import last_name
from syncguard.infer.domain.contents import believed, tensor_in
from syncguard.infer.domain.values import UNKNOWN, Const, Seq, Table, Tensor, Union, Unknown, Value, Why, options
from syncguard.infer.functions.learnt import given
from syncguard.infer.operations.apply import apply
from syncguard.infer.operations.targets import device_of
from syncguard.infer.routine import Frame, Routine
from syncguard.read import core
from syncguard.read.core import At, Node
from syncguard.read.tags import ATTR, CALL, CHOOSE, FUNCTION, LEAVE, NAME
from syncguard.read.walk import walk


def placed(
    found: Value, routine: Routine, args: list[Value], keywords: dict[str, Value], bound: bool, at: At, frame: Frame
) -> Value:
    """What a call gives back: where it only puts things on the host, what it was given, on the host."""
    if routine.written.placing is None:
        routine.written.placing = _placing(routine)
    subject, target = routine.written.placing
    if not subject:
        return found
    passed = given(routine, args, keywords, bound)
    if target and device_of(passed.get(target, UNKNOWN)) != "host":
        return found
    value = passed.get(subject, UNKNOWN)
    # Where all callers name the host, the function's own line is known to wait.
    there = tensor_in(believed(value))
    if there is not None and there.on_device and target and device_of(routine.seen.get(target, UNKNOWN)) != "host":
        call = frame.given[0]
        written = call.args[:1] if type(call) is CALL and call.at == at else ()
        apply(frame, frame.world.row("torch.Tensor.cpu"), at, [there], {}, written)
    return on_host(value, frame.why("placed", at))


def _placing(routine: Routine) -> tuple[str, str]:
    """The parameter of which a function puts all tensors somewhere, and the one that says where, '' if it is always the
    host: it gives the one back, moved, and calls itself for what that holds. ('', '') of any other."""
    node = routine.node
    if type(node) is not FUNCTION or node.generator:
        return "", ""
    parts = walk(node.body)
    if not any(type(part) is CALL and _itself(part.fn, node) for part in parts):
        return "", ""
    names = {param.name for param in node.params}
    for given_back in [part.value for part in parts if type(part) is LEAVE and part.what == "return"]:
        for call in (given_back.yes, given_back.no) if type(given_back) is CHOOSE else (given_back,):
            subject = _root(call.fn.of) if type(call) is CALL and type(call.fn) is ATTR else ""
            where = _where(call, names - {subject}) if type(call) is CALL and subject in names else None
            if where is not None:
                return subject, where
    return "", ""


def _itself(fn: Node, node: core.Function) -> bool:
    """Whether a call is one of this function, or of this method of the same instance."""
    if type(fn) is NAME:
        return fn.id == node.name
    return (
        type(fn) is ATTR
        and fn.name == node.name
        and bool(node.params)
        and fn.path == f"{node.params[0].name}.{fn.name}"
    )


def _where(call: core.Call, names: set[str]) -> str | None:
    """The one of these names that tells where a call moves its receiver; '' for the host; None where it does not."""
    match last_name(call.fn), [*call.args, *[value for key, value in call.keywords if key == "device"]]:
        case "cpu", []:
            return ""
        case "to", [core.Name(id=name), *_] if name in names:
            return name
        case "to", [core.Const(value=str() as text), *_] if device_of(Const(text)) == "host":
            return ""
    return None


def _root(node: Node) -> str:
    """`x` of `x.detach()`."""
    while type(node) is CALL and type(node.fn) is ATTR:
        node = node.fn.of
    return node.id if type(node) is NAME else ""


def on_host(value: Value, why: Why) -> Value:
    """A value with all its tensors on the host; what it is is known as well as before."""
    match value:
        case Tensor():
            return value.but(device="host")
        case Unknown():
            return Unknown(batch=why)
        case Seq(items=items) if items is not None:
            return Seq(value.kind, tuple([on_host(item, why) for item in items]), names=value.names)
        case Seq():
            return Seq(value.kind, None, on_host(value.element, why), value.names)
        case Table():
            held = {key: on_host(item, why) for key, item in value.items.items()}
            return Table(held, on_host(value.element, why), value.keys)
        case Union():
            return Union(tuple([on_host(option, why) for option in options(value)]), value.wide)
    return value
