"""What callers pass for a dtype in, what the parameter holds out."""

from __future__ import annotations

from syncguard.infer.branches.passing import none_if_left
from syncguard.infer.domain.values import NONE, Host, Value
from syncguard.infer.routine import Routine
from syncguard.read.core import Param


def dtype_given(param: Param, seen: Value | None, routine: Routine) -> Value:
    """A dtype; where one call is run, None if that leaves it out. The text `y.type()` names a place, too."""
    if type(seen) is Host and seen.kind.startswith("type:"):
        return seen
    left_out = seen is None and none_if_left(param)
    return NONE if routine.aside and (left_out or seen is NONE) else Host("dtype")
