"""A call that is made for what it does in, what is known of its object and of its arguments from there on out."""

from __future__ import annotations

from syncguard.infer.domain.contents import there_too
from syncguard.infer.domain.values import Call, Instance, Tensor, Unknown, Value
from syncguard.infer.functions.stored_there import Parts, stored_there
from syncguard.infer.routine import Frame
from syncguard.read import core
from syncguard.read.tags import CALL, FUNCTION, NAME


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
    if type(call) is not CALL or not call.args:
        return {}
    held = {arg.id: frame.env.get(arg.id) for arg in call.args if type(arg) is NAME}
    waiting = {name: one for name, one in held.items() if type(one) is Unknown and one.weak is None}
    found: dict[str, Value] = {}
    for name, parts in _moved_by(call, frame) if waiting else ():
        if name in waiting:
            batch = waiting[name].batch
            there = Unknown(frame.why("moved parts", call.at, batch))
            frame.home.moves_batches |= batch is not None
            found |= {f"{name}.{part}": there for part in parts} if parts else {name: there}
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
    return [(arg.id, taken[param]) for arg, param in zip(call.args, params) if type(arg) is NAME and param in taken]
