"""A place in a method in, whether what is made there goes into what the method's object keeps out."""

from __future__ import annotations

from typing import Final

from syncguard.infer.domain.values import Named
from syncguard.infer.routine import Frame
from syncguard.read import core
from syncguard.read.core import At, Node
from syncguard.read.tags import ATTR, BIND, CALL, FUNCTION, INDEX, NAME, RUN, SEQ, UPDATE
from syncguard.read.walk import parts, walk

ADDERS: Final = ("append", "extend", "add", "appendleft", "insert")  # methods that put something into a container


def added_up(at: At, frame: Frame) -> bool:
    """Whether a tensor that is made here, or what is computed of it, is added to an attribute of the object, or put
    into one: `self.total += x.to(self.device)`."""
    routine = frame.routine
    node = routine.node
    if routine.owner is None or routine.owner.is_module or type(node) is not FUNCTION or not node.params:
        return False
    own = node.params[0].name
    names: set[str] = set()
    for part in walk(node.body):
        if type(part) is BIND:
            given = part.value
            if given is None or not _holds(given, at, names, own, frame):
                continue
            for target in part.targets:
                if root(target) == own:
                    if _reads(given, target, at):
                        return True
                else:
                    names.update(
                        one.id for one in (target.items if type(target) is SEQ else (target,)) if type(one) is NAME
                    )
        elif type(part) is UPDATE:
            if _holds(part.value, at, names, own, frame):
                if root(part.target) == own:
                    return True
                if type(part.target) is NAME:
                    names.add(part.target.id)
        elif type(part) is RUN and type(part.value) is CALL and type(part.value.fn) is ATTR:
            puts = part.value.fn.name in ADDERS and root(part.value.fn.of) == own
            if puts and any(_holds(arg, at, names, own, frame) for arg in part.value.args):
                return True
    return False


def root(node: Node) -> str:
    """The variable that an attribute or an item of something is asked of: `self` of `self.kept[key]`."""
    while type(node) is ATTR or type(node) is INDEX:
        node = node.of
    return node.id if type(node) is NAME else ""


def _reads(value: Node, target: Node, at: At) -> bool:
    """Whether a value is made of what its target held, too: `self.x = self.x + y`. To move that is none."""
    if type(value) is CALL and value.at == at:
        return False
    same = type(target) is ATTR and type(value) is ATTR and value.path == target.path
    return same or any(_reads(part, target, at) for part in parts(value))


def _holds(value: Node, at: At, names: set[str], own: str, frame: Frame) -> bool:
    """Whether this is the tensor, or a tensor computed of it and of no more than torch: nothing that the object's own
    methods and modules make of it, and no number."""
    if type(value) is NAME:
        return value.id in names
    if type(value) is CALL:
        return value.at == at or _passes(value, at, names, own, frame)
    if type(value) is ATTR and not _gives_tensor(f"torch.Tensor.{value.name}", frame):
        return False
    return any(_holds(part, at, names, own, frame) for part in parts(value))


def _passes(call: core.Call, at: At, names: set[str], own: str, frame: Frame) -> bool:
    """Whether a function of torch, or a method of tensors, is called with it."""
    fn = call.fn
    if type(fn) is not ATTR or root(fn.of) == own:
        return False
    library = frame.lookup(fn.path.partition(".")[0]) if fn.path else None
    name = f"{library.name}.{fn.path.partition('.')[2]}" if type(library) is Named else f"torch.Tensor.{fn.name}"
    receiver = () if type(library) is Named else (fn.of,)
    return _gives_tensor(name, frame) and any(_holds(one, at, names, own, frame) for one in (*receiver, *call.args))


def _gives_tensor(name: str, frame: Frame) -> bool:
    op = frame.world.op(name)
    return op is not None and ("tensor" in op.returns or op.returns.startswith("self"))
