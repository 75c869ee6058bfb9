"""A routine in, when it is run out: before those that build on what it tells."""

from __future__ import annotations

from syncguard.infer.branches.ungiven import private
from syncguard.infer.routine import Routine
from syncguard.read import core
from syncguard.read.tags import FUNCTION


def order(routine: Routine) -> tuple[bool, bool, int]:
    """Constructors first, for what they assign; then from the end of the file: callers stand below what they call. A
    private function that declares nothing of what it is given is run when it is called, for what that is."""
    node = routine.node
    if type(node) is not FUNCTION:
        return True, False, 0
    told = routine.closure or not private(routine) or all(map(_declared, node.params))
    return routine.name != "__init__", not told, -node.at[0]


def _declared(param: core.Param) -> bool:
    return param.annotation is not None or param.default is not None or param.name in ("self", "cls")
