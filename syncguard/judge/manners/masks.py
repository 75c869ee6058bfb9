"""An index from the host in, whether it is a mask, which the device would have to count, out."""

from __future__ import annotations

from typing import Final

from syncguard.infer.branches.subjects import last_name
from syncguard.judge.around.standing import Place
from syncguard.judge.manners.wanted import COMPARES
from syncguard.read.core import COMPARISONS, Node
from syncguard.read.tags import ATTR, BIND, CALL, COMP, CONST, DO, FUNCTION, INDEX, NAME, SEQ

DEEP: Final = 3  # names that are followed to what they are bound to
ASKS: Final = frozenset((*COMPARISONS, "in", "not in", "is", "is not", "not"))  # of an element, in a list of answers


def masked(place: Place) -> bool:
    """A mask of the host picks what is read, or what tensors are put into: a number is filled in without counting."""
    last = place.statement()
    if place.sighting.op == "torch.Tensor.__setitem__" and type(last) is BIND and type(last.value) is CONST:
        return False
    why = place.sighting.also
    if why is not None and why.text.rpartition(".")[2] in COMPARES:
        return True
    return any(_is_mask(part, place, DEEP) for part in place.read())


def _is_mask(node: Node | None, place: Place, deep: int) -> bool:
    if type(node) is DO:
        if node.what in ("~", "&", "|", "^"):
            return any(_is_mask(one, place, deep) for one in node.args)
        return node.what in COMPARISONS
    if type(node) is CALL:
        made = [node.args[0]] if last_name(node.fn) == "astype" and node.args else []
        kinds = [*made, *[value for key, value in node.keywords if key == "dtype"]]
        return last_name(node.fn) in place.world.places.tables["manners"]["masks"] or any(map(_is_bool, kinds))
    if type(node) is INDEX:
        return _is_mask(node.of, place, deep)
    if type(node) is COMP:
        return type(node.body[0]) is DO and node.body[0].what in ASKS
    if type(node) is SEQ:
        return bool(node.items) and all(type(one) is CONST and type(one.value) is bool for one in node.items)
    return type(node) is NAME and deep > 0 and _bound_to_masks(node.id, place, deep - 1)


def _is_bool(kind: Node) -> bool:
    return (type(kind) is NAME and kind.id == "bool") or (type(kind) is ATTR and kind.name in ("bool", "bool_"))


def _bound_to_masks(name: str, place: Place, deep: int) -> bool:
    """Whether all that a function binds this name to are masks."""
    function = place.routine.node
    if type(function) is FUNCTION and any(param.name == name for param in function.params):
        return False
    bound = [
        one.value
        for one in place.pieces()
        if type(one) is BIND and any(type(to) is NAME and to.id == name for to in one.targets)
    ]
    return bool(bound) and all(_is_mask(value, place, deep) for value in bound)
