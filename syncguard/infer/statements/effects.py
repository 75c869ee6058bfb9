"""A call that is made for what it does in, what is known of its object and of its arguments from there on out."""

from __future__ import annotations

from syncguard.infer.domain.contents import there_too
from syncguard.infer.domain.values import Call, Instance, Tensor, Unknown, Value
from syncguard.infer.functions.stored_there import Parts, stored_there
from syncguard.infer.operations.targets import device_of
from syncguard.infer.routine import Frame
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import CALL, CONST, FUNCTION, NAME


def proved(fn: core.Attr, frame: Frame) -> None:
    """What is asked for its gradients by a name is a tensor for sure from here on."""
    held = frame.env.get(fn.of.id) if type(fn.of) is NAME else None
    if type(fn.of) is NAME and type(held) is Tensor and frame.world.places.is_("names", "differentiators", fn.name):
        frame.env[fn.of.id] = held.but(sure=True)


def fetched(fn: core.Attr, frame: Frame) -> None:
    """An object of the project whose own method brings what it holds to the host in place: `rows.to_numpy()`."""
    held = frame.env.get(fn.of.id) if type(fn.of) is NAME else None
    if type(fn.of) is not NAME or type(held) is not Instance or held.info is None:
        return
    if frame.world.places.is_("cold", "moved", fn.name) and held.info.find(fn.name) is not None:
        frame.env[fn.of.id] = there_too(held)


def moved_parts(node: core.Run, frame: Frame) -> dict[str, Value]:
    """What holds tensors that nobody else tells of, and its parts, that are moved to the device in their place: by a
    function that it is given to, `to_cuda(batch)`."""
    call = node.value
    if type(call) is not CALL or not (call.args or call.keywords):
        return {}
    given = (*call.args, *[value for _, value in call.keywords])
    held = {arg.id: frame.env.get(arg.id) for arg in given if type(arg) is NAME}
    waiting = {name: one for name, one in held.items() if type(one) is Unknown and one.weak is None}
    found: dict[str, Value] = {}
    for name, parts in _moved_by(call, frame) if waiting else ():
        if name in waiting:
            batch = waiting[name].batch
            there = Unknown(frame.why("moved parts", call.at, batch))
            frame.home.moves_batches |= batch is not None
            found |= {f"{name}{part}": there for part in parts if part} if parts else {name: there}
    return found


def _moved_by(call: core.Call, frame: Frame) -> list[tuple[str, Parts]]:
    """The names of what a call moves parts of, and which, none where all are."""
    from syncguard.infer.expressions.evaluate import quiet_value

    value = quiet_value(call.fn, frame)
    routine = value.routine if type(value) is Call and value.given is None else None
    if routine is None or type(routine.node) is not FUNCTION or not (taken := stored_there(routine, frame.world)):
        return []
    frame.routine.uses[routine.home.path, routine.qualname] = None
    bound = type(value) is Call and value.receiver is not None
    params = [param.name for param in routine.node.params[bound:]]
    given: dict[str, Node] = {**dict(zip(params, call.args)), **dict(call.keywords)}
    if any(_is_host(quiet_value(arg, frame)) for arg in given.values()):
        return []  # whatever its device is by default
    return [
        (arg.id, tuple([_as_given(part, given) for part in taken[param]]))
        for param, arg in given.items()
        if type(arg) is NAME and param in taken
    ]


def _is_host(value: Value) -> bool:
    """Whether this names the host as a device."""
    return type(value) is not Tensor and device_of(value) == "host"


def _as_given(part: str, given: dict[str, Node]) -> str:
    """A part of what a call gives, as the caller has it under that name: `["mask` where `[key]` is given so."""
    key = given.get(part[1:-1]) if part.endswith("]") else None
    if type(key) is CONST:
        return f'["{key.value}' if type(key.value) is str else ""
    return f"[{key.id}]" if type(key) is NAME else "" if part.endswith("]") else part
