"""A wait and the function around it in, what is written there of its arguments out: that they are one and the same, of
a dtype, or of a module that nothing moves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from syncguard.infer.branches.subjects import alike, last_name
from syncguard.infer.project import World
from syncguard.infer.routine import Routine
from syncguard.infer.sightings import Sighting
from syncguard.judge.around.calling import call_at
from syncguard.judge.around.changes import bindings, holder
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, BIND, CALL, NAME
from syncguard.read.walk import everything, parts, walk

NOT_BFLOAT16: Final = "not_bfloat16"  # the condition of a row
BFLOAT16: Final = "bfloat16"


def with_itself(sighting: Sighting, routine: Routine) -> bool:
    """Whether a call compares a tensor with itself: `torch.equal(x, x)`, `x.equal(x)`."""
    call = call_at(sighting.at, routine)
    if call is None:
        return False
    given = (call.fn.of, *call.args) if len(call.args) == 1 and type(call.fn) is ATTR else call.args
    return len(given) == 2 and (type(given[0]) is NAME or type(given[0]) is ATTR) and alike(*given)


def in_bfloat16(sighting: Sighting, routine: Routine, world: World) -> bool:
    """Whether a call that takes bfloat16 alone without a wait is given that, as its function says."""
    op = world.op(sighting.op)
    names = [names for wait in op.waits for one, names in wait.when if one == NOT_BFLOAT16] if op is not None else []
    call = call_at(sighting.at, routine) if names else None
    if op is None or call is None:
        return False
    place = op.args.index(names[0])
    given = call.args[place] if place < len(call.args) else dict(call.keywords).get(names[0])
    return given is not None and _says_bfloat16(given, routine)


def _says_bfloat16(given: Node, routine: Routine) -> bool:
    """Whether this names that dtype, or is a name that only what does so is bound to."""
    if _names_it(given):
        return True
    bound = [part.value for part in bindings(routine.node.body, holder(given, ()))]
    return bool(bound) and all(_names_it(value) for value in bound)


def _names_it(written: Node | None) -> bool:
    return any(type(part) is ATTR and part.name == BFLOAT16 for part in walk(written))


def stays(sighting: Sighting, routine: Routine, world: World) -> bool:
    """Whether what is saved is a module, or what one holds, that this function makes on the host and only computes
    with, asks for its state and saves."""
    call = call_at(sighting.at, routine)
    name = _holder(call.args[0]) if call is not None and call.args else ""
    made = [part.value for part in bindings(routine.node.body, name)]
    makes = len(made) == 1 and type(made[0]) is CALL and last_name(made[0].fn)[:1].isupper()
    if not makes or world.default_device != "host":
        return False
    return not any(type(part) is CALL and _placed(part) for part in walk(made[0])) and not _leaves(name, routine, world)


def _placed(call: core.Call) -> bool:
    return any(key == "device" for key, _ in call.keywords)


def _holder(saved: Node) -> str:
    """`net` of `net` and of `net.state_dict()`."""
    inner = saved.fn.of if type(saved) is CALL and type(saved.fn) is ATTR else saved
    return inner.id if type(inner) is NAME else ""


def _leaves(name: str, routine: Routine, world: World) -> bool:
    """Whether a name is moved, or handed to what may move it."""
    moves = world.places.tables["manners"]["moves"]
    for part in everything(routine.node.body):
        if type(part) is ATTR and part.name in moves and holder(part.of) == name:
            return True
        own = [one for one in parts(part) if type(one) is NAME and one.id == name]
        if own and not (type(part) is ATTR or _keeps(part, own, world)):
            return True
    return False


def _keeps(part: Node, own: Sequence[Node], world: World) -> bool:
    """Whether this calls the name, saves it, or is what binds it."""
    if type(part) is CALL:
        return any(part.fn is one for one in own) or world.places.is_("manners", "saves", last_name(part.fn))
    return type(part) is BIND and all(any(one is target for target in part.targets) for one in own)
