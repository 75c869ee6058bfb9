"""A call of a method that sets an attribute by the name that it is given, `def keep(self, name, x): setattr(self, name,
x)`, in; that name and what is kept under it out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from syncguard.infer.branches.passing import positional
from syncguard.infer.domain.contents import changed
from syncguard.infer.domain.values import Const, Value
from syncguard.infer.routine import Routine
from syncguard.read.core import Function, Param
from syncguard.read.tags import FUNCTION

if TYPE_CHECKING:
    from syncguard.infer.expressions.resolve import Names

SETS: Final = ("(0setattr", "(1setattr", "(2setattr")


def kept_as(routine: Routine, args: list[Value], keywords: dict[str, Value], world: Names) -> tuple[str, Value] | None:
    """What a call of such a method keeps; what it moves on its way, or a module moves later, is on the device."""
    node, owner = routine.node, routine.owner
    if type(node) is not FUNCTION or owner is None or not sets_by_name(routine):
        return None
    given = {**dict(zip([param.name for param in positional(node)[1:]], args, strict=False)), **keywords}
    name = next((given.get(param.name) for param in sets(node, node.params, SETS[1])), None)
    held = sets(node, node.params, SETS[2])
    value = given.get(held[0].name) if len(held) == 1 else None
    if type(name) is not Const or type(name.value) is not str or value is None:
        return None
    moves = {f"{move}()" for move in world.places.tables["manners"]["moves"]}
    if owner.is_module or not moves.isdisjoint(node.uses.get(held[0].name, ())):
        value = changed(value, lambda tensor: tensor.but(device="assumed") if tensor.device == "host" else tensor)
    return name.value, value


def sets_by_name(routine: Routine) -> bool:
    """Whether a method sets an attribute of its object under a name that it is given."""
    node = routine.node
    if type(node) is not FUNCTION or routine.owner is None:
        return False
    return bool(sets(node, node.params[:1], SETS[0])) and bool(sets(node, node.params[1:], SETS[1]))


def sets(node: Function, params: tuple[Param, ...], place: str) -> list[Param]:
    """The parameters that a function gives to `setattr` in this place."""
    return [param for param in params if place in node.uses.get(param.name, ())]
