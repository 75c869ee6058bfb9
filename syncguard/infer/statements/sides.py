"""An `if` and a frame in, what is known of either arm out; and, when both have run, what is known where they meet."""

from __future__ import annotations

from typing import Final

from syncguard.infer.branches.arms import remember
from syncguard.infer.branches.fallbacks import excused
from syncguard.infer.branches.gates import gated
from syncguard.infer.branches.guards import aimed, off_device
from syncguard.infer.branches.left_out import only_if_given
from syncguard.infer.branches.narrow import narrowed
from syncguard.infer.branches.refuted import refuted
from syncguard.infer.branches.undeclared import BY_KIND, undeclared
from syncguard.infer.branches.ungiven import UNMET
from syncguard.infer.domain.lattice import as_given, tensor_of
from syncguard.infer.domain.reasons import because_of
from syncguard.infer.domain.values import NONE, UNKNOWN, Const, Host, Tensor, Unknown, Value, Why, options
from syncguard.infer.expressions.calls import DECLARED
from syncguard.infer.routine import Env, Frame
from syncguard.infer.sightings import Asked
from syncguard.infer.statements.arrivals import arrive
from syncguard.infer.statements.paths import Dead, alive_in, follow, forget, joined, stayed
from syncguard.read import core
from syncguard.read.core import Node

SAID: Final = (*DECLARED, "forward", "use", "both")


class Side:
    """One arm of an `if`: the test comes out as `outcome`, tells the variables in `told` and may keep the arm `off` the
    device; `gate` is why it runs seldom by the test, `excuse` by what stands in it. `refuted` where it cannot run."""

    def __init__(self, outcome: bool, body: tuple[Node, ...], told: Env, off: bool, gate: str, excuse: str) -> None:
        self.outcome = outcome
        self.body = body
        self.told = told
        self.off = off
        self.gate = gate
        self.excuse = excuse
        self.refuted = False
        self.taken = False  # whether it was run
        self.copies = False  # whether it copies to the host
        self.left: Env = Dead()  # its variables at the end
        self.passed: tuple[Asked, ...] = ()  # the tests in it that lead to its end

    @property
    def beyond(self) -> str:
        """Why what follows the `if` runs seldom, where the other arm leaves: what stands in this one tells nothing."""
        return self.gate or (self.excuse if self.excuse in BY_KIND else "")

    @property
    def never(self) -> bool:
        """Whether it does not run on the device, or for anybody."""
        return self.off or self.gate == UNMET


def sides_of(node: core.If, frame: Frame) -> tuple[Side, Side]:
    """Both arms of an `if`, none of them run."""
    asked, frame.asked = frame.asked, {}
    sides = [_side(node, outcome, frame) for outcome in (True, False)]
    frame.asked = asked
    for side in sides:
        side.refuted = refuted(node.test, side.outcome, frame)
    return sides[0], sides[1]


def _side(node: core.If, outcome: bool, frame: Frame) -> Side:
    body = node.body if outcome else node.orelse
    off = off_device(node.test, outcome, frame) and not aimed(node.test, body, frame)
    gate = gated(node.test, outcome, frame)
    excuse = excused(node, outcome, frame) or undeclared(node.test, outcome, frame)
    return Side(outcome, body, narrowed(node.test, outcome, frame), off, gate, excuse)


def meet(node: core.If, yes: Side, no: Side, before: Env, frame: Frame) -> None:
    """The variables after both arms: of one that is never taken they tell nothing, where the other goes on."""
    then, otherwise = _end(yes, no), _end(no, yes)
    if alive_in(then) and alive_in(otherwise):
        for side, arm, other in ((yes, then, otherwise), (no, otherwise, then)):
            forget(side.told, arm, before)
            follow(arm, other, before, frame)
        arrive(node, then, otherwise)
    frame.env = joined(then, otherwise)
    if alive_in(then) and alive_in(otherwise):
        frame.env.update(converted(yes, no, before, frame.env))
        frame.env.update(given(yes, no, before, frame.env))
    for outcome, arm, other in ((True, then, otherwise), (False, otherwise, then)):
        staying = stayed(arm, other, before) if alive_in(then) and alive_in(otherwise) else {}
        if staying and only_if_given(node.test, outcome, frame):
            frame.env = {**frame.env, **staying}
    if alive_in(then) and alive_in(otherwise):
        remember(node, then, otherwise, frame)


def converted(yes: Side, no: Side, before: Env, after: Env) -> Env:
    """What is a tensor behind a test whether it is one, and was so before as far as we see: where that is tells where
    it is, for what else it is made of on the host is given by nobody."""
    found: Env = {}
    for side in (yes, no):
        for name, told in side.told.items():
            was, now = before.get(name), after.get(name)
            if type(told) is Tensor and type(was) is Tensor and type(now) is Tensor and now.device == "mixed":
                arm = side.left.get(name)
                if type(arm) is Tensor and was.device == told.device and arm.device != "mixed" and arm.on_device:
                    found[name] = now.but(device=arm.device, why=arm.why)
    return found


def given(yes: Side, no: Side, before: Env, after: Env) -> Env:
    """What is on the device behind either outcome of a test whether it is a tensor, or there: it is so as it was given,
    not as what is made of nothing, there or on the host."""
    found: Env = {}
    for side, other in ((yes, no), (no, yes)):
        for name, told in side.told.items():
            if told is NONE and name in after and name in before:
                found[name] = as_given(after[name], other.left.get(name, UNKNOWN))
            made = tensor_of(after.get(name, UNKNOWN)) if _lacks(told) else None
            if made is None or made.device == "mixed" or not made.on_device:
                continue
            was, there = tensor_of(before.get(name, UNKNOWN)), tensor_of(other.left.get(name, UNKNOWN))
            why = there.why if there is not None and there.on_device else None
            if was is not None and why is not None and not (told is NONE and _said(why)):
                found[name] = because_of(after[name], why)
    return found


def _lacks(told: Value) -> bool:
    """Whether this is nothing that a tensor may be had from: None, a number, or what nobody knows."""
    return type(told) is Unknown or all(type(option) in (Const, Host) for option in options(told))


def _said(why: Why) -> bool:
    """Whether a tensor is only declared, or used as one: what else it is made of shows as much."""
    return why.text.partition(":")[0] in SAID


def _end(side: Side, other: Side) -> Env:
    return Dead() if side.never and alive_in(other.left) and not other.never else side.left
