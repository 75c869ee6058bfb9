"""What a routine was found to return in, what its callers believe of it out: its annotation, and what they passed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from syncguard.infer.branches.passing import given, left_out, none_if_left, positional, unpacks
from syncguard.infer.domain.contents import (
    any_on_device,
    changed,
    holds_tensor,
    leaves_of,
    tensor_in,
    tensors_in,
    there,
    without,
)
from syncguard.infer.domain.lattice import join
from syncguard.infer.domain.values import (
    NONE,
    UNKNOWN,
    Const,
    Host,
    Instance,
    Seq,
    Table,
    Tensor,
    Union,
    Unknown,
    Value,
    constant,
    is_array,
    kind_of,
    options,
)
from syncguard.infer.functions.annotations import promised
from syncguard.infer.functions.brought import brought, places_anew
from syncguard.infer.functions.hosts import keeps_data
from syncguard.infer.operations.targets import device_of
from syncguard.infer.routine import Frame, Given, Routine
from syncguard.pack.places import Places
from syncguard.read import core
from syncguard.read.core import At, Node
from syncguard.read.tags import ATTR, CALL, CONST, FUNCTION, NAME, RUN

if TYPE_CHECKING:
    from syncguard.infer.classes import ClassInfo
    from syncguard.infer.project import World

TRUSTED: Final = ("int", "bool", "str", "none", "shape")  # declared results that are believed over what we infer


def with_annotation(frame: Frame, node: core.Function, returned: Value) -> Value:
    """Where we could not tell what is returned, the annotation does."""
    if (node.returns is not None or frame.routine.owner is not None) and all(
        type(part) is RUN and type(part.value) is CONST for part in node.body
    ):
        returned = UNKNOWN  # `...`: a protocol or an overload only declares, and so does a method that does nothing
    if node.returns is None:
        return returned
    unknown = any(
        type(option) is Unknown or (type(option) is Tensor and not option.sure) for option in options(returned)
    )
    if type(returned) is Union:
        returned = _as_told(returned, node, frame)
    if not unknown and (type(returned) is Tensor or not holds_tensor(returned)):
        return returned  # a tensor for sure is one, whatever is declared
    if type(returned) is Union and any(map(is_array, returned.options)):
        declared = promised(node.returns, frame, frame.world.place(frame.routine))
        if type(declared) is Tensor:  # arrays are what it has on the paths that other options take
            returned = without(returned, is_array)
    written = frame.routine.written
    if written.whole is False and not unknown:
        return returned
    declared = promised(node.returns, frame, frame.world.place(frame.routine))
    written.whole = scalar(declared)
    if written.whole:
        return declared
    if declared is UNKNOWN or not unknown:
        return returned
    promise = tensor_in(declared)
    found = tensor_in(returned)
    # What is declared to be a tensor is one for sure, and what is known of it says more than the declaration.
    own = found is not None and promise is not None
    result = without(declared, lambda option: own and type(option) is Tensor)
    for option in options(returned):
        if type(option) is Tensor and promise is not None:
            rank = option.rank if option.rank >= 0 else promise.rank
            option = option.but(sure=option.sure or promise.sure, dtype=option.dtype or promise.dtype, rank=rank)
        if type(option) is not Unknown:
            result = option if result is UNKNOWN else join(option, result)
    return result


def _as_told(returned: Union, node: core.Function, frame: Frame) -> Value:
    """What a method gives, of a tensor and an object that it may be as far as we see the one that it says it is: `def
    covariance(self) -> LinearOperator`, of a `Tensor | LinearOperator`, where that is of another library, and `def
    data(self) -> Tensor`, of an `Image | Tensor`."""
    objects = [option for option in returned.options if type(option) is Instance]
    libraries = [option.name for option in objects if option.info is None]
    if not objects or not (type(node.returns) is NAME or type(node.returns) is ATTR):
        return returned
    told = promised(node.returns, frame, frame.world.place(frame.routine))
    if type(told) is Tensor and tensor_in(returned) is not None:
        return without(returned, lambda option: type(option) is Instance or type(option) is Table)
    among = type(told) is Instance and told.info is None and told.name in libraries
    return without(returned, lambda option: type(option) is Tensor) if among else returned


def scalar(value: Value) -> bool:
    """Whether a declared type holds whole numbers, flags and texts alone. A declared float may well be a 0-d tensor."""
    match value:
        case Const() | Host():
            return (value.kind if type(value) is Host else kind_of(value)) in TRUSTED
        case Seq():
            return all(map(scalar, value.items)) if value.items else scalar(value.element)
        case Union():
            return all(map(scalar, value.options))
    return False


def declared(frame: Frame, routine: Routine) -> Value:
    """What a routine that is not run yet says that it returns."""
    node = routine.node
    routine.recurs |= routine.running
    if routine.inner is not None:
        return routine.inner
    if type(node) is not FUNCTION or node.returns is None:
        return UNKNOWN
    asking = Frame(frame.world, routine, {})
    return promised(node.returns, asking, frame.world.place(routine))


def of_receiver(found: Value, routine: Routine, receiver: Value | None, places: Places) -> Value:
    """A copy of an instance is of its own class, where the method of a base says that it gives an instance of that."""
    owner = routine.owner
    if type(receiver) is not Instance or receiver.info is None or receiver.info is owner:
        return found
    if owner is None or not places.is_("names", "copies", routine.name):
        return found
    bases = [option for option in options(found) if type(option) is Instance and option.info is owner]
    if not bases:
        return found
    rest = without(found, lambda option: any(option is base for base in bases))
    own = Instance(receiver.info, device=receiver.device)
    return own if rest is UNKNOWN else join(rest, own)


def made_there(info: ClassInfo, args: list[Value], frame: Frame) -> bool:
    """Whether an instance, and all that it holds, is on the host: it is made of nothing else by what runs there, or
    holds data for a loader; where the user says that all is on the device, so is what holds data."""
    if info.is_module or any_on_device(args) or frame.world.default_device == "assumed":
        return False
    return bool(frame.routine.host) or keeps_data(info, frame.world)


def hostly(args: list[Value]) -> bool:
    """Whether these are tensors of the host, and numbers and texts beside them: nothing that may be elsewhere, and no
    device."""
    return any(map(there, args)) and all(there(arg) or all(map(_plain, leaves_of(arg))) for arg in args)


def _plain(leaf: Value) -> bool:
    return type(leaf) is Const or (type(leaf) is Host and not leaf.kind.startswith("device"))


def by_place(returned: Value, args: list[Value]) -> bool:
    """Whether a routine that gives several things back, some of the device, may give others to a caller that passes
    what is on the host, and nothing else."""
    if type(returned) is Tensor or not any(tensor.device in ("assumed", "mixed") for tensor in tensors_in(returned)):
        return False
    passed = [tensor for arg in args for tensor in tensors_in(arg)]
    return bool(passed) and not any(tensor.on_device for tensor in passed)


def chosen(routine: Routine, handed: Given, passed: list[Value], at: At, frame: Frame) -> Given | None:
    """What a call gives a function which puts something elsewhere, and gives a tensor that may be there, where that
    chooses a place: yes or no as it is written, or left out, or nothing but what is on the host."""
    found, node, call = routine.returned, routine.node, frame.given[0]
    if type(found) is not Tensor or found.device not in ("assumed", "mixed"):
        return None
    if type(node) is not FUNCTION or type(call) is not CALL or call.at != at or unpacks(call):
        return None
    if not places_anew(routine, frame.world):
        return None
    flags, leaves = said(routine, at, frame), [leaf for arg in passed for leaf in leaves_of(arg)]
    known = all(_plain(leaf) or type(leaf) is Tensor or device_of(leaf) for leaf in leaves)
    if not known or (any_on_device(passed) and not flags):
        return None
    left = {param.name for param in left_out(call, at, node, routine.owner is not None)}
    seen = {name: value for name, value in routine.seen.items() if name not in left and not holds_tensor(value)}
    return {**seen, **handed, **flags}


def said(routine: Routine, at: At, frame: Frame) -> Given:
    """The yes and no that a call gives a function which puts something elsewhere, as they are written, or left out."""
    node, call = routine.node, frame.given[0]
    if type(node) is not FUNCTION or type(call) is not CALL or call.at != at or unpacks(call):
        return {}
    found: Given = {}
    if places_anew(routine, frame.world):
        bound, places = routine.owner is not None and type(call.fn) is ATTR, positional(node)
        for param in node.params:
            nodes = given(call, param, places, bound) or ([param.default] if param.default is not None else [])
            if len(nodes) == 1 and type(nodes[0]) is CONST and type(nodes[0].value) is bool:
                found[param.name] = constant(nodes[0].value)
    return found


def placeless(routine: Routine, handed: Given, at: At, frame: Frame) -> Given:
    """The devices that a call leaves None, or gives as None, where what the routine returns is on some device that
    nobody names."""
    written = routine.written
    if written.placeless is None:
        written.placeless = placeless_of(routine.node, frame.world.places)
    if not written.placeless or routine.returned is None or type(routine.node) is not FUNCTION:
        return {}
    if not any(tensor.device == "assumed" for tensor in tensors_in(routine.returned)):
        return {}
    left = {param.name for param in left_out(frame.given[0], at, routine.node, routine.owner is not None)}
    return {name: NONE for name in written.placeless if name in left or handed.get(name) is NONE}


def placeless_of(node: Node, places: Places) -> frozenset[str]:
    """The parameters that are called a device and None by default."""
    params = node.params if type(node) is FUNCTION else ()
    unset = [param.name for param in params if none_if_left(param)]
    return frozenset([name for name in unset if places.is_("names", "devices", name)])


def instantiated(returned: Value, args: list[Value]) -> Value:
    """A routine that serves host and device callers returns to each what it passed."""
    if type(returned) is Tensor and returned.device in ("assumed", "mixed"):
        devices = {option.device for arg in args for option in options(arg) if type(option) is Tensor}
        if devices == {"host"}:
            return returned.but(device="host")
    if any(tensor.device == "mixed" for tensor in tensors_in(returned)):  # it varies by path
        passed = {tensor.device for arg in args for tensor in tensors_in(arg)}
        if passed and "host" not in passed:
            return changed(returned, on_device)
    return returned


def varied(returned: Value, args: list[Value], routine: Routine, world: World) -> Value:
    """What is computed of tensors that are on the host by some paths, and of nothing else, is there by these, too; not
    what brings them to a device, or is told of one, is given what nobody knows, or has tensors of its own."""
    if type(returned) is not Tensor or returned.device != "assumed" or routine.owner is not None or routine.closure:
        return returned
    leaves = [leaf for arg in args for leaf in leaves_of(arg)]
    devices = {leaf.device for leaf in leaves if type(leaf) is Tensor}
    varies = "mixed" in devices and devices <= {"host", "mixed"}
    plain = varies and all(type(leaf) is Tensor or _plain(leaf) for leaf in leaves)
    return returned.but(device="mixed") if plain and not brought(routine, world) else returned


def on_host(tensor: Tensor) -> Tensor:
    return tensor.but(device="host")


def on_device(tensor: Tensor) -> Tensor:
    """The same for who is known to compute on the device."""
    return tensor.but(device="assumed") if tensor.device == "mixed" else tensor
