"""What is met in a function's body: a place where it may wait, and what surrounds that: loops, gates and tests."""

from __future__ import annotations

from syncguard.infer.domain.values import Why
from syncguard.read.core import At, Comp, Loop, Node

Asked = tuple[Node, bool]  # a test, and the outcome of it that is meant


class Step:
    """A loop around a place: where it stands, why it runs once per step ('' for an ordinary loop), and the line in it
    that takes many steps, so that a turn of this one is an epoch."""

    __slots__ = ("at", "node", "reason", "steps")

    def __init__(self, node: Loop | Comp, reason: str) -> None:
        self.at, self.node, self.reason, self.steps = node.at, node, reason, 0


class Context:
    """What surrounds a place in its function: loops, the gate that makes it rare, whether it only runs on a failure, or
    never on the device, and the tests that lead to it, from without, with the outcome that each must have."""

    __slots__ = ("failing", "gate", "loops", "off", "tests")

    def __init__(
        self,
        loops: tuple[Step, ...] = (),
        gate: str = "",
        failing: bool = False,
        tests: tuple[Asked, ...] = (),
        off: bool = False,
    ) -> None:
        self.loops, self.gate, self.failing, self.tests, self.off = loops, gate, failing, tests, off

    @property
    def rare(self) -> bool:
        """Whether this is behind a gate, or around a loop that takes the steps: once in an epoch."""
        return bool(self.gate) or (bool(self.loops) and self.loops[-1].steps > 0)


class Sighting:
    """A sync as inference first sees it; `tell` makes a Sync of it."""

    __slots__ = ("also", "always", "at", "context", "hazard", "met", "op", "operand", "sure", "why")

    def __init__(
        self, at: At, op: str, hazard: str, operand: At | None, why: Why | None, sure: int, context: Context
    ) -> None:
        self.at, self.op, self.hazard, self.operand, self.why, self.sure, self.context = (
            at,
            op,
            hazard,
            operand,
            why,
            sure,
            context,
        )
        self.met: tuple[int, ...] = ()  # which waits of the row hold, by their places in it
        self.also: Why | None = None  # of an index from the host, or a device by default: why it is there
        self.always = True  # of a run for one caller: whether every such call comes here, and for nothing else
