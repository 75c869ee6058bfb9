"""What the calls of a layer give it in, whether its own file's modules make that on the host out."""

from __future__ import annotations

from typing import Final

from syncguard.infer.domain.values import Tensor, Value
from syncguard.infer.routine import Frame
from syncguard.read.tags import FUNCTION
from syncguard.read.walk import around

TOLD: Final = ("forward", "docstring")  # what says that there is a tensor, and not where


def made_inward(seen: Value, found: Value, name: str, frame: Frame) -> bool:
    """Whether all calls give a forward what modules of the same file make on the host, and nothing else tells that it
    is given tensors: `self.layer(x, sizes)` with `sizes = torch.tensor(x.shape)`."""
    routine, home = frame.routine, frame.home
    if not home.own or routine.aside or name in routine.vague or type(seen) is not Tensor or type(found) is not Tensor:
        return False
    if found.why is None or found.why.text not in TOLD:
        return False
    origin = seen.why
    while origin is not None and origin.parent is not None:
        origin = origin.parent
    if origin is None or origin.path != home.path:
        return False
    return any(
        one.owner is not None
        and one.owner.is_module
        and type(one.node) is FUNCTION
        and one.name == "forward"
        and around(one.node.at, origin.at)
        for one in home.routines
    )
