"""What a loop adds up or collects in, the reads of the device that are made for that alone out."""

from __future__ import annotations

from collections.abc import Sequence

from syncguard.infer.domain.values import Tensor, Value
from syncguard.infer.routine import Frame
from syncguard.read import core
from syncguard.read.core import At, Node

HOST_READS = frozenset(("item", "python-number"))


def accumulated(frame: Frame, since: int, collected: Sequence[Node]) -> None:
    """A read of the device that a loop adds up is its own hazard; one that tells where to add it is not."""
    for sighting in frame.emitted[since:]:
        if sighting.hazard in HOST_READS and any(around(node.at, sighting.at) for node in collected):
            frame.routine.sightings.pop((sighting.at, sighting.hazard), None)
            frame.sight(sighting.at, sighting.op, "accumulated-read", None, sighting.why, sighting.sure)
            key = (sighting.at, "accumulated-read")
            if key in frame.routine.sightings:
                frame.routine.sightings[key].operand = sighting.operand


def around(whole: At, part: At) -> bool:
    """Whether a place encloses another."""
    return whole[:2] <= part[:2] and part[2:] <= whole[2:]


def stays(value: Value) -> bool:
    """Whether a value is a tensor on the device: a number that goes into it is not collected on the host."""
    return type(value) is Tensor and value.on_device


def alike(a: Node, b: Node) -> bool:
    """The same place, written twice."""
    match a, b:
        case core.Name(), core.Name():
            return a.id == b.id
        case core.Attr(), core.Attr():
            return bool(a.path) and a.path == b.path
        case core.Const(), core.Const():
            return bool(a.value == b.value)
        case core.Index(), core.Index():
            return alike(a.of, b.of) and alike(a.key, b.key)
    return False
