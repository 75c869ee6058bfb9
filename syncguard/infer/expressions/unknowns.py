"""A method of something unknown and its arguments in, what it gives out: the call itself may prove it a tensor."""

from __future__ import annotations

from syncguard.infer.branches.receivers import (
    collected_on_host,
    kept_on_host,
    made_of_host,
    of_distribution,
    of_numbers,
    of_table,
    part_of_batch,
    picked_by_host,
    restored,
    works,
)
from syncguard.infer.branches.subjects import last_name, path_of
from syncguard.infer.domain.sureness import number_sureness
from syncguard.infer.domain.values import SHAPES, UNKNOWN, Const, Host, Instance, Tensor, Union, Unknown, Value, options
from syncguard.infer.functions.brought import brought_below
from syncguard.infer.operations.apply import apply
from syncguard.infer.operations.arguments import Arguments
from syncguard.infer.operations.conditions import sureness
from syncguard.infer.operations.kin import made_of, operand
from syncguard.infer.operations.targets import device_of
from syncguard.infer.routine import Frame
from syncguard.read.core import At, Node
from syncguard.read.tags import ATTR, CALL, INDEX
from syncguard.terms import Op

Keywords = dict[str, Value]
Nodes = tuple[Node, ...]


def method(of: Unknown, name: str, args: list[Value], keywords: Keywords, at: At, nodes: Nodes, frame: Frame) -> Value:
    """A method of something unknown: what it was computed from, or the method itself, may prove it a tensor."""
    world = frame.world
    if hasattr(str, name) and args and type(args[0]) is Const and isinstance(args[0].value, str):
        return UNKNOWN  # `version.split(".")`
    op = world.op(f"torch.Tensor.{name}")
    if op is None and len(args) == 1 and not keywords and name in world.densities and of_distribution(nodes, frame):
        op = world.row(f"{world.distribution.name}.{name}")
        return apply(frame, op, at, [of, *map(operand, args)], keywords, nodes)
    alone = op is not None and world.op(f"torch.nn.Module.{name}") is None
    there = fetched(of, f"use:{name}", nodes, frame) if alone else None
    if op is not None and there is not None:
        return apply(frame, op, at, [there, *args], keywords, nodes)
    if op is None and world.places.is_("names", "array_methods", name):
        return Host("array")
    if op is None or keywords.keys() - set(op.args):
        return of if of.weak or of.batch else made_of([*args, *keywords.values()], at, frame)
    if of.weak is not None and (
        world.places.is_("names", "tabular", name) or world.places.is_("names", "inverted", name)
    ):
        return of
    moved_alone = of.weak is not None and of.weak.text == "computed" and of.weak.parent is None
    casts = not alone and "host" not in op.returns.split()
    if moved_alone and casts and nodes and type(nodes[0]) is not ATTR:
        return of  # as modules are: `model.cuda().half()`
    if of.weak is not None:
        return apply(frame, op, at, [Tensor(sure=False, why=of.weak), *args], keywords, nodes)
    moves = (
        name in world.family
        and (of.batch is not None or world.only_torch(frame, name) or (of is UNKNOWN and part_of_batch(nodes, frame)))
    ) or (
        name in world.placers
        and any(device_of(option) for value in (*args, *keywords.values()) for option in options(value))
    )
    if moves:
        if of is UNKNOWN and "host" in op.returns.split() and may_be_made(nodes, frame) and not copies(nodes, frame):
            return UNKNOWN
        return moved(of, op, name, args, keywords, at, nodes, frame)
    if of.batch is not None:
        pins = name == "pin_memory" and not of.pinned
        return Unknown(batch=frame.why("pinned batch", at, of.batch), part=of.part) if pins else of
    there = proven(op, name, args, keywords, at, nodes, frame)
    if there is None and of is UNKNOWN and not (args or keywords) and "host" in op.returns.split():
        return brought(at, nodes, frame)
    if there is None:
        return made_of([*args, *keywords.values()], at, frame)
    return apply(frame, op, at, [there, *args], keywords, nodes)


def brought(at: At, nodes: Nodes, frame: Frame) -> Value:
    """What `.cpu()` gives of what nobody knows: something on the host, unless it may as well be a module."""
    node = nodes[0] if nodes else None
    while type(node) is INDEX:
        node = node.of
    if type(node) is not CALL or at == frame.unused or may_be_made(nodes, frame):
        return UNKNOWN
    return Unknown(batch=frame.why("placed", at))


def may_be_made(nodes: Nodes, frame: Frame) -> bool:
    """Whether this is a call that may make a module: `build_model(args).cpu()`."""
    node = nodes[0] if nodes else None
    maker = last_name(node.fn) if type(node) is CALL else ""
    return maker[:1].isupper() or frame.world.places.is_("names", "builders", maker)


def reshaped(name: str, args: list[Value], nodes: Nodes, frame: Frame) -> bool:
    """Whether sizes are given to what an array is given a type: `x.view(-1, n)`. What may be a tensor anyway, perhaps
    of the host, is no news."""
    from syncguard.infer.expressions.evaluate import quiet_value

    sized = name in frame.world.reshapers and any(map(_sizes, args))
    return sized and bool(nodes) and type(quiet_value(nodes[0], frame)) is Unknown


def _sizes(value: Value) -> bool:
    return number_sureness(value) > 0 or (type(value) is Host and value.kind in SHAPES)


def fetched(of: Unknown, told: str, nodes: Nodes, frame: Frame) -> Value | None:
    """What was fetched to the host, where it goes on as only a tensor does: `outputs["image"].cpu().numpy()`; `told`
    says so."""
    world, node = frame.world, nodes[0] if nodes else None
    while type(node) is ATTR and node.name in world.views:
        node = node.of  # `x.cpu().data.numpy()`
    nobody_knows = of is UNKNOWN or (of.batch is not None and of.batch.text == "placed")
    if not nobody_knows or type(node) is not CALL or node.args or node.keywords or type(node.fn) is not ATTR:
        return None
    fetch = world.op(f"torch.Tensor.{node.fn.name}")
    if fetch is None or "host" not in fetch.returns.split():
        return None
    inner = (node.fn.of,)
    hostly = part_of_batch(inner, frame) or picked_by_host(inner, frame) or made_of_host(inner[0], frame)
    if hostly or not world.computes_torch(frame):
        return None
    here = Tensor(device=world.place(frame.routine), sure=False, why=frame.why(told, node.at))
    return apply(frame, fetch, node.at, [here], {}, inner)


def moved(
    of: Unknown, op: Op, name: str, args: list[Value], keywords: Keywords, at: At, nodes: Nodes, frame: Frame
) -> Value:
    """What is put elsewhere: a batch, which comes from the host and stays a container of tensors, or a tensor."""
    part = of is UNKNOWN and part_of_batch(nodes, frame)
    module = frame.world.op(f"torch.nn.Module.{name}")
    to_host = "host" in op.returns.split() or any(device_of(o) == "host" for value in args for o in options(value))
    there = to_host and of is UNKNOWN and bool(nodes) and made_of_host(nodes[0], frame)
    here = Tensor(
        device="host" if part or there or of.batch else frame.world.place(frame.routine),
        sure=False,
        why=of.batch or frame.why("part" if part else "moved" if module is not None else f"use:{name}", at),
        pinned=of.pinned,
    )
    if module is not None and of is UNKNOWN and not part and is_module(at, nodes, frame):
        apply(frame, module, at, [here, *args], keywords, nodes)
        return Instance(None, "torch.nn.Module", "host") if to_host else UNKNOWN
    result = apply(frame, op, at, [here, *args], keywords, nodes)
    stays = type(result) is Tensor and not result.on_device
    frame.home.moves_batches |= of.batch is not None and not (stays and to_host)
    if of.part or stays or type(result) is not Tensor:
        return result
    return Unknown(frame.why("computed", at, of.batch))


def is_module(at: At, nodes: Nodes, frame: Frame) -> bool:
    """Whether what is moved is a module: it is asked for its parameters, or its copy is dropped, where a tensor would
    stay where it is."""
    path = path_of(nodes[0]) if nodes and nodes[0] is not None else ""
    return frame.unused == at or _asked_as_module(path, frame) or copies(nodes, frame)


def copies(nodes: Nodes, frame: Frame) -> bool:
    """Whether this is a copy of a module: `copy.deepcopy(net).cpu()`."""
    node = nodes[0] if nodes else None
    if type(node) is not CALL or last_name(node.fn) != "deepcopy" or len(node.args) != 1:
        return False
    return _asked_as_module(path_of(node.args[0]), frame)


def _asked_as_module(path: str, frame: Frame) -> bool:
    """Whether what has this name is asked for what only modules have."""
    return bool(path) and not frame.uses(path).isdisjoint(frame.world.of_modules)


def proven(
    op: Op, name: str, args: list[Value], keywords: Keywords, at: At, nodes: Nodes, frame: Frame
) -> Value | None:
    """The tensor that something unknown is, or may be, where what it is asked for shows it: `x.sum(dim=1)`."""
    world = frame.world
    if keywords.keys() & world.tensor_keywords or reshaped(name, args, nodes, frame):
        return Tensor(device=world.place(frame.routine), sure=False, why=frame.why(f"use:{name}", at))
    alone = world.only_torch(frame, name)
    if alone and name in world.elementary and not (args or keywords or own_method(name, frame)):
        return Tensor(device=world.place(frame.routine), sure=False, why=frame.why("torch only", at))
    named = name not in world.family and nodes and world.places.is_("names", "losses", last_name(nodes[0]))
    loss = named and not world.other_losses(frame)
    read = (op.waits and (alone or loss)) or (alone and name in world.reductions)  # `if state.mask.any():`
    if not read or args or keywords or of_numbers(nodes, frame) or not waits_alone(op, name, frame):
        return None
    if name not in world.family and not loss and own_method(name, frame):
        return None  # `self.window.mean()`, of a class of this file
    if hasattr(object, name) or world.places.is_("names", "inverted", name):
        return None  # `module.__repr__()`
    if works(nodes, frame) or of_table(nodes, frame):
        return None
    hostly = bool(nodes) and (
        picked_by_host(nodes, frame)
        or kept_on_host(nodes[0], frame)
        or collected_on_host(nodes[0], frame)
        or brought_below(nodes[0], frame)
    )
    place = "host" if hostly else world.place(frame.routine)
    there = Tensor(device=place, sure=False, why=frame.why("torch only" if alone else "loss", at))
    doubted = name not in world.family and bool(nodes) and restored(nodes[0], frame)
    return Union((there, Host("array"))) if doubted else there


def own_method(name: str, frame: Frame) -> bool:
    """Whether classes of this file have a method of that name."""
    return any(name in info.members for info in frame.home.classes)


def waits_alone(op: Op, name: str, frame: Frame) -> bool:
    """Whether a method is a tensor's where it is given nothing: it waits for the tensor itself, as `line.split()` would
    for sizes that are not there."""
    alone = Arguments(op.args, [Tensor(device="device")], {}, frame.world.default_device)
    return name in frame.world.reductions or any(sureness(wait.when, alone) for wait in op.waits)
