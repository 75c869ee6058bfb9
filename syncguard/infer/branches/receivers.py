"""What a method of something unknown is called on, as it is written, in; what that tells of it out."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Final

from syncguard.infer.branches.keeps import set_in
from syncguard.infer.branches.meant import binders
from syncguard.infer.branches.subjects import dotted, last_name
from syncguard.infer.domain.sureness import number_sureness
from syncguard.infer.domain.values import Named, Tensor, Unknown
from syncguard.infer.routine import Frame
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, BIND, CALL, CONST, DO, INDEX, NAME, RUN, SEQ
from syncguard.read.walk import walk

Nodes = tuple[Node, ...]
TAKEN: Final = 2  # names between a thing and what is taken from it


def part_of_batch(nodes: Nodes, frame: Frame) -> bool:
    """Whether what is moved is taken by a key from what is called a batch, and moved to where the caller says: that
    one was given it as a loader made it, unless it is fetched. What a framework hands to a module's methods it has
    moved before, and who moves a part to a device of its own (`self.device`) makes sure of it, no more."""
    call, owner, part = frame.given[0], frame.routine.owner, nodes[0] if nodes else None
    while type(part) is CALL and type(part.fn) is ATTR and not part.args:
        part = part.fn.of  # `batch["x"].long().cuda()`
    while type(part) is INDEX and type(part.key) is not CONST and not _each(part):
        part = part.of  # `batch["x"][:, :limit].to(device)`
    named = type(part) is INDEX and frame.world.places.is_("names", "batches", last_name(part.of))
    if not named and not (type(part) is NAME and part.id in frame.parts):
        return False
    if owner is not None and owner.is_module and not all(map(of_python, owner.external())):
        return False
    if type(call) is not CALL or (type(call.fn) is ATTR and call.fn.name == "cpu"):
        return False
    aims = (*call.args, *(aim for key, aim in call.keywords if key == "device"))
    aim = aims[0] if aims else None  # `.cuda()` has none
    return aim is None or type(aim) is NAME or (type(aim) is CONST and aim.value != "cpu")


def _each(part: core.Index) -> bool:
    """Whether a key of a loop is asked for: `batch[key] = batch[key].to(device)`."""
    return type(part.key) is NAME and type(part.of) is not INDEX


def taken(target: Node, iterable: Node, frame: Frame) -> None:
    """Note which names a loop gives to the parts of what is called a batch: `for key, part in batch.items()`."""
    while type(iterable) is CALL and type(iterable.fn) is ATTR and not iterable.args:
        iterable = iterable.fn.of
    batch = frame.world.places.is_("names", "batches", last_name(iterable))
    for name in target.items if type(target) is SEQ else (target,):
        if type(name) is NAME:
            (frame.parts.add if batch else frame.parts.discard)(name.id)


def of_python(name: str) -> bool:
    """Whether a dotted name is one of Python itself: `abc.ABC` is no framework."""
    return name.partition(".")[0] in sys.stdlib_module_names


def of_distribution(nodes: Nodes, frame: Frame) -> bool:
    """Whether what has a density is a distribution for all that is known: it is not said to be something else."""
    from syncguard.infer.expressions.evaluate import quiet_value

    said = quiet_value(nodes[0], frame) if nodes else None
    return type(said) is Unknown and not frame.world.own_density(frame)


def of_numbers(nodes: Nodes, frame: Frame) -> bool:
    """Whether the receiver is what somebody else's function makes of numbers alone, which is hardly on the device."""
    from syncguard.infer.expressions.evaluate import quiet_value

    made = nodes[0] if nodes else None
    if type(made) is not CALL or not made.args or made.keywords:
        return False
    return all(number_sureness(quiet_value(arg, frame)) for arg in made.args)


def of_table(nodes: Nodes, frame: Frame) -> bool:
    """Whether the receiver is, or stands in, what is called a table of pandas (`df["from"].unique()`), or is asked for
    what such tables alone have (`rows["from"].dropna().unique()`)."""
    part, places = nodes[0] if nodes else None, frame.world.places
    while part is not None:
        name = last_name(part) if type(part) is NAME or type(part) is ATTR else ""
        if places.is_("names", "frames", name):
            return True
        if type(part) is CALL and type(part.fn) is ATTR and places.is_("names", "columnar", part.fn.name):
            return True
        call = part.fn if type(part) is CALL else part
        part = call.of if type(call) is ATTR or type(call) is INDEX else None
    return False


def works(nodes: Nodes, frame: Frame) -> bool:
    """Whether a method of the receiver is called here for an effect that a tensor's would not have: `queue.add(x)`."""
    name = nodes[0].id if nodes and type(nodes[0]) is NAME else ""
    for part in walk(frame.routine.node.body) if name else ():
        call = part.value if type(part) is RUN else None
        if type(call) is not CALL or type(call.fn) is not ATTR or not call.args:
            continue
        of, asked = call.fn.of, call.fn.name
        if type(of) is NAME and of.id == name and asked not in frame.world.family and not asked.endswith("_"):
            op = frame.world.op(f"torch.Tensor.{asked}")
            if op is not None and not op.writes and op.returns.startswith("tensor"):
                return True
    return False


def restored(node: Node | None, frame: Frame, deep: int = 0) -> bool:
    """Whether this is, or is taken from, what somebody has kept in a file as an object, which may hold arrays as well:
    `stats = pickle.load(file)`, `stats["mean"]`; also of an attribute of the instance."""
    while type(node) is INDEX or (type(node) is ATTR and node.path != f"self.{node.name}"):
        node = node.of
    if type(node) is CALL:  # by its name alone: what it gives may come of what is asked for here
        held = frame.lookup(node.fn.id) if type(node.fn) is NAME else None
        named = held.name if type(held) is Named else dotted(node.fn, frame) if type(node.fn) is ATTR else ""
        return bool(named) and frame.world.places.is_("host", "restores", named)
    if deep > TAKEN:
        return False
    if type(node) is NAME:
        return any(restored(value, frame, deep + 1) for value in _bound_to(node.id, binders(frame.routine)))
    owner = frame.routine.owner if type(node) is ATTR else None
    if owner is None or type(node) is not ATTR:
        return False
    stored = [
        bind.value for maker in frame.world.storing(owner, node.name) for bind in set_in(maker).get(node.path, ())
    ]
    return any(type(value) is CALL and restored(value, frame, deep + 1) for value in stored)


def _bound_to(name: str, binds: Mapping[str, tuple[Node, ...]]) -> Iterator[Node]:
    """What statements bind a name to, or the part of that which it takes: `a, b = stats["a"], stats["b"]`."""
    for bind in binds.get(name, ()):
        value = bind.value if type(bind) is BIND else None
        aim = bind.targets[0] if type(bind) is BIND else None
        if type(aim) is SEQ and type(value) is SEQ and len(aim.items) == len(value.items):
            for one, part in zip(aim.items, value.items, strict=True):
                if type(one) is NAME and one.id == name:
                    yield part
        elif value is not None:
            yield value


def picked_by_host(nodes: Nodes, frame: Frame) -> bool:
    """Whether the receiver holds what a tensor of the host picks: `counts[on_host] == 0`. It is likely there, too."""
    from syncguard.infer.expressions.evaluate import quiet_value

    of = nodes[0] if nodes else None
    while type(of) is DO and of.args:
        of = of.args[0]
    if type(of) is not INDEX:
        return False
    key = quiet_value(of.key, frame)
    return type(key) is Tensor and key.device == "host"


def kept_on_host(node: Node, frame: Frame) -> bool:
    """Whether what holds this is named as what is kept on the host: `batch.seq_lens_cpu[i]`, `host["lens"]`."""
    while type(node) is INDEX:
        if type(node.key) is CONST and isinstance(node.key.value, str) and frame.world.hint(node.key.value)[1]:
            return True
        node = node.of
    name = last_name(node) if type(node) is NAME or type(node) is ATTR else ""
    # What is fetched (`x_cpu.cpu()`) is not there yet.
    return bool(name) and frame.world.hint(name)[1] and "cpu" not in frame.uses(name)


def made_of_host(node: Node, frame: Frame) -> bool:
    """Whether this is, or names, what is made of tensors that the function put on the host: `scale(from_numpy(x))`."""
    if type(node) is CALL:
        return _of_host(node, frame)
    body = frame.routine.node.body if type(node) is NAME else ()
    return any(
        type(part) is BIND
        and type(part.value) is CALL
        and part.at[2:] <= node.at[:2]  # not `x = scale(x.cpu())`
        and _names(part.targets, node)
        and _of_host(part.value, frame)
        for part in walk(body)
    )


def _of_host(call: core.Call, frame: Frame) -> bool:
    """Whether a call is given a tensor that lies on the host."""
    from syncguard.infer.expressions.evaluate import quiet_value

    given = [quiet_value(arg, frame) for arg in call.args]
    return any(type(one) is Tensor and one.device == "host" for one in given)


def _names(targets: Nodes, node: Node) -> bool:
    return any(type(part) is NAME and type(node) is NAME and part.id == node.id for part in targets)
