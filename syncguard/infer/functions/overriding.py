"""A parameter of a method that overrides one of a library in, what that is given in its place out."""

from __future__ import annotations

from typing import Final

from syncguard.infer.domain.values import UNKNOWN, Tensor, Value
from syncguard.infer.routine import Frame
from syncguard.read.core import Param
from syncguard.terms import Wait

NUMBERS: Final = ("tensor-as-size", "python-number")  # hazards of what is a number as a rule


def overriding(frame: Frame, param: Param, position: int, place: str) -> Value:
    """What overrides a method of a library is given what that is given: a `log_prob` gets a tensor, and so does the
    constructor of a distribution by the same name."""
    owner, name = frame.routine.owner, frame.routine.name
    for base in owner.libraries() if owner is not None and position else ():
        made = name == "__init__"
        op = frame.world.op(base if made else f"{base}.{name}")
        if op is None:
            continue
        asked = param.name if made and param.name in op.args else ""
        if not made and position < len(op.args):
            asked = op.args[position]
        checked = made and frame.world.is_subclass(base, frame.world.distribution.name)
        if any(_asks(wait, asked) or (checked and _checks(wait, asked, op.args)) for wait in op.waits):
            return Tensor(device=place, sure=False, why=frame.why(f"overrides:{base}.{name}", param.at))
    return UNKNOWN


def _asks(wait: Wait, name: str) -> bool:
    """Whether a wait is for a tensor under this name, where not a number is asked for that few give as a tensor."""
    return wait.hazard not in NUMBERS and any(
        condition == "tensor" and name in names.split("|") for condition, names in wait.when
    )


def _checks(wait: Wait, name: str, names: tuple[str, ...]) -> bool:
    """Whether a wait is for whatever tensor is given, and this name is not one that tells how."""
    told = {part for _, named in wait.when for part in named.split("|")}
    return wait.on == "argument" and name in names and name not in told
