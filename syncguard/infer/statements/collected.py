"""What a loop adds up or collects in, the reads of the device that are made for that alone out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from syncguard.infer.branches.subjects import alike, last_name
from syncguard.infer.domain.values import Tensor, Value
from syncguard.infer.routine import Frame
from syncguard.read import core
from syncguard.read.core import At, Node
from syncguard.read.tags import ATTR, CALL, CONST, DO, LOOP, SEQ
from syncguard.read.walk import parts, walk

NUMERIC: Final = frozenset(("float", "int", "round", "abs", "min", "max", "str"))
HOST_READS: Final = frozenset(("item", "python-number"))


def accumulated(frame: Frame, since: int, total: Node, collected: Sequence[Node]) -> None:
    """A read of the device that a loop adds up is its own hazard; one that tells where to add it is not, nor is one
    whose total is shown, or tells what comes next, in every turn."""
    places = _summed(collected)
    reads = [sighting for sighting in frame.emitted[since:] if sighting.hazard in HOST_READS and sighting.at in places]
    loop = frame.context.loops[-1].node
    if reads and not _shown(loop, total) and not _asked(loop, total):
        for sighting in reads:
            frame.routine.sightings.pop((sighting.at, sighting.hazard), None)
            frame.sight(sighting.at, sighting.op, "accumulated-read", None, sighting.why, sighting.sure)
            key = (sighting.at, "accumulated-read")
            if key in frame.routine.sightings:
                frame.routine.sightings[key].operand = sighting.operand


def _summed(collected: Sequence[Node]) -> list[At]:
    """Where what is collected stands, and what it is made of as a sum, a pair or a rounded number is: `x.item() / n`.
    A number that tells how often something is to be repeated, or which, is not collected."""
    found, todo = list[At](), [*collected]
    while todo:
        part = todo.pop()
        if type(part) is DO and any(type(arg) is SEQ or _is_text(arg) for arg in part.args):
            continue
        found.append(part.at)
        match part:
            case core.Do(args=args):
                todo += args
            case core.Call(fn=core.Name(id=name), args=args) if name in NUMERIC:
                todo += args
            case core.Call(fn=core.Attr(path=path), args=args) if path.startswith("math."):
                todo += args
            case core.Seq(items=items) | core.Map(values=items):
                todo += items
            case core.Choose(yes=yes, no=no):
                todo += (yes, no)
            case core.Let(value=value):
                todo.append(value)
    return found


def _is_text(node: Node) -> bool:
    return type(node) is CONST and isinstance(node.value, str)


def _shown(node: core.Loop | core.Comp, total: Node) -> bool:
    """Whether each turn of a loop hands on what it has added up so far: `bar.set_postfix(loss=total / n)`."""
    held = [total]
    todo = [*node.body] if type(node) is LOOP else []
    while todo:
        part = todo.pop(0)
        match part:
            case core.With(body=body) | core.Try(body=body):
                todo[:0] = body
            case core.Bind(targets=targets, value=value) if not alike(targets[0], total) and _names(value, held):
                held.append(targets[0])
            case core.Run(value=core.Call() as call) if not _collects(call) and _names(call, held):
                return True
    return False


def _asked(node: core.Loop | core.Comp, total: Node) -> bool:
    """Whether the turns of a loop need the number that they have added up so far: `while seen < limit`, `x[start:]`.
    What comes to pass once in many turns does not."""
    if type(node) is not LOOP:
        return False
    todo: list[Node] = [*node.body]
    tests = [node.test]
    while todo:
        part = todo.pop()
        match part:
            case core.If(test=test):
                if any(type(one) is DO and one.what == "%" for one in walk(test)):
                    continue
                tests.append(test)
            case core.Loop(test=test, iterable=iterable):
                tests += [test, iterable]
            case core.Check(test=test) | core.Choose(test=test):
                tests.append(test)
            case core.Index(key=key) if not alike(part, total):
                tests.append(key)
            case core.Call(fn=core.Attr(name="index"), args=args):
                tests += args
        todo.extend(parts(part))
    return any(test is not None and _names(test, [total]) for test in tests)


def _names(part: object, held: Sequence[Node]) -> bool:
    """Whether this speaks of one of these, and not only of how many they are."""
    parts = [*walk(part)]
    counted = [arg for call in parts if type(call) is CALL and last_name(call.fn) == "len" for arg in call.args]
    spoken = (one for one in parts if not any(one is arg for arg in counted))
    return any(alike(one, other) for one in spoken for other in held)


def _collects(call: core.Call) -> bool:
    return type(call.fn) is ATTR and call.fn.name == "append"


def stays(value: Value) -> bool:
    """Whether a value is a tensor on the device: a number that goes into it is not collected on the host."""
    return type(value) is Tensor and value.on_device
