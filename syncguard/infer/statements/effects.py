"""A call that is made for what it does in, what is known of its object and of its arguments from there on out."""

from __future__ import annotations

from syncguard.infer.domain.contents import there_too
from syncguard.infer.domain.values import Call, Instance, Tensor, Unknown
from syncguard.infer.functions.stored_there import stored, stored_there
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


def moved_parts(node: core.Run, frame: Frame) -> None:
    """What holds tensors that nobody else tells of, and whose parts are moved to the device in their place: by a
    function that it is given to, `to_cuda(batch)`, or by name, `setattr(batch, name, getattr(batch, name).cuda())`."""
    call = node.value
    if type(call) is not CALL or not call.args:
        return
    held = {arg.id: frame.env.get(arg.id) for arg in call.args if type(arg) is NAME}
    waiting = {name: one for name, one in held.items() if type(one) is Unknown and one.weak is None}
    if not waiting:
        return
    for name in _moved_by(node, call, frame):
        if name in waiting:
            batch = waiting[name].batch
            frame.env[name] = Unknown(frame.why("moved parts", call.at, batch))
            frame.home.moves_batches |= batch is not None


def _moved_by(node: core.Run, call: core.Call, frame: Frame) -> list[str]:
    """The names of what a call moves parts of."""
    from syncguard.infer.expressions.evaluate import quiet_value

    if name := stored(node, frame.routine, frame.world):
        return [name]
    value = quiet_value(call.fn, frame)
    routine = value.routine if type(value) is Call and value.given is None else None
    if routine is None or type(routine.node) is not FUNCTION or not (taken := stored_there(routine, frame.world)):
        return []
    frame.routine.uses[routine.home.path, routine.qualname] = None
    bound = type(value) is Call and value.receiver is not None
    params = [param.name for param in routine.node.params[bound:]]
    return [arg.id for arg, param in zip(call.args, params) if type(arg) is NAME and param in taken]
