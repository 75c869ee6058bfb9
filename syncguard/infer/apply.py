"""An op's row and the arguments of one call in; the value of the call out, and the waits it causes recorded on the frame."""

from __future__ import annotations

from syncguard.infer.conditions import CERTAIN, NO, Arguments, sureness, tensor_sureness
from syncguard.infer.results import operands, result_of
from syncguard.infer.routine import Frame
from syncguard.infer.values import Const, Host, Seq, Tensor, Union, Value, Why, options
from syncguard.read import core
from syncguard.read.core import At, Node
from syncguard.terms import Op, Wait

READS = frozenset(("item", "python-number", "tensor-as-condition", "copy-to-host", "print-tensor", "tensor-equality"))


def apply(
    frame: Frame, op: Op, at: At, args: list[Value], keywords: dict[str, Value], nodes: tuple[Node, ...]
) -> Value:
    """Run one torch callable over abstract arguments."""
    arguments = Arguments(op.args, args, keywords, frame.world.default_device)
    tensors = operands(arguments)
    parent = next((t.why for t in tensors if t.on_device and t.why), None) or next(
        (t.why for t in tensors if t.why), None
    )
    if parent is None:
        parent = next(
            (value.read for value in args if type(value) is Host and value.read and value.kind == "array"), None
        )
    why = frame.why(op.name, at, parent)
    result = result_of(op.name, op.returns, arguments, tensors, why) if op.returns else frame.world.silent(tensors, why)
    if op.waits:
        for wait in op.waits:
            sure = _sure(wait, arguments, args, result, frame)
            if sure and wait.hazard == "synchronize" and _landed(frame):
                continue  # it waits for copies that were sent off together: the one wait that they need
            if sure:
                operand, reason = _operand(wait, arguments, args, nodes)
                frame.sight(at, op.name, wait.hazard, operand, reason or why, sure)
        _stale(frame, op, at, args, nodes)
    return _pending(result, arguments, tensors, why)


def _sure(wait: Wait, arguments: Arguments, args: list[Value], result: Value, frame: Frame) -> int:
    if not frame.world.in_version(wait.since, wait.until):
        return NO
    sure = sureness(wait.when, arguments)
    if sure == NO or wait.on == "always":
        return sure
    if wait.on == "self":
        there = tensor_sureness(args[0]) if args else NO
    elif wait.on == "result":
        there = tensor_sureness(result)
    else:
        there = max((tensor_sureness(value) for value in arguments.values()), default=NO)
    return min(sure, there)


POINTED = frozenset(("tensor", "mask", "zero_dim", "slice_bound", "integers"))  # conditions that point at the culprit


def _operand(
    wait: Wait, arguments: Arguments, args: list[Value], nodes: tuple[Node, ...]
) -> tuple[Node | None, Why | None]:
    """The argument that the wait is for, and why we think that it is on the device."""
    for condition, names in wait.when:
        if condition in POINTED:
            for name in names.split("|"):
                value = arguments.get(name)
                node = next((node for arg, node in zip(args, nodes, strict=False) if arg is value), None)
                found = (
                    _inside(value, node) if value is not None and sureness(((condition, name),), arguments) else None
                )
                if found is not None:
                    return found
    best: tuple[Node | None, Why | None] = (None, None)
    for value, node in zip(args, nodes, strict=False):
        for option in options(value):
            if type(option) is Tensor and option.on_device:
                return node, option.why
            if type(option) is Seq and tensor_sureness(option) and best[0] is None:
                inner = next(
                    (i for item in (option.items or (option.element,)) for i in options(item) if type(i) is Tensor),
                    None,
                )
                best = (node, inner.why if inner else None)
    if best[0] is None:
        for value, node in zip(args, nodes, strict=False):
            for option in options(value):
                if type(option) is Tensor:
                    return node, option.why
    return best


def _inside(value: Value, node: Node | None) -> tuple[Node | None, Why | None] | None:
    """The first tensor on the device in a value, or in the display that made it."""
    for option in options(value):
        if type(option) is Tensor and option.on_device:
            return node, option.why
        if type(option) is Seq and option.items is not None:
            parts = (
                node.items
                if type(node) is core.Seq
                else node.bounds
                if type(node) is core.Slice
                else (node,) * len(option.items)
            )
            if len(parts) == len(option.items):
                for item, part in zip(option.items, parts, strict=True):
                    found = _inside(item, part)
                    if found is not None:
                        return found
    return None


def _pending(result: Value, arguments: Arguments, tensors: list[Tensor], why: Why) -> Value:
    """A copy to the host that was not waited for may be read too early."""
    asked = arguments.get("non_blocking")
    if (
        type(result) is Tensor
        and result.device == "host"
        and type(asked) is Const
        and asked.value is True
        and any(t.on_device for t in tensors)
    ):
        return result.but(pending=why)
    pending = next((t.pending for t in tensors if t.pending), None)
    if pending is not None and type(result) is Tensor and result.device == "host" and result.pending is None:
        return result.but(pending=pending)
    return result


def _stale(frame: Frame, op: Op, at: At, args: list[Value], nodes: tuple[Node, ...]) -> None:
    if op.returns == "array" or not any(wait.hazard in READS for wait in op.waits):
        return  # an array shares the memory; it is not read yet
    for value, node in zip(args, nodes, strict=False):
        for option in options(value):
            if type(option) is Tensor and option.pending is not None:
                frame.sight(at, op.name, "stale-read", node, option.pending, CERTAIN)


def _landed(frame: Frame) -> bool:
    """After a synchronize, every copy that was under way has arrived; tells whether there was one."""
    found = False
    for name, value in list(frame.env.items()):
        if any(type(option) is Tensor and option.pending for option in options(value)):
            landed = tuple([o.but(pending=None) if type(o) is Tensor else o for o in options(value)])
            frame.env[name] = landed[0] if len(landed) == 1 else Union(landed)
            found = True
    return found


def read_from(value: Value) -> Why | None:
    """The device value that a host value was read from."""
    return value.read if type(value) is Host else None
