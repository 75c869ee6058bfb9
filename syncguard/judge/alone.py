"""A function in, whether it is private, or left out of `__all__`, and nothing in its file calls it out: only what names
it elsewhere may."""

from __future__ import annotations

from syncguard.infer.branches.ungiven import lines_of, only_bound, private
from syncguard.infer.classes import ClassInfo
from syncguard.infer.domain.values import ClassOf, Named
from syncguard.infer.home import Home
from syncguard.infer.routine import Routine
from syncguard.judge.calling import by_name
from syncguard.judge.defaults import bound_once
from syncguard.places import Places
from syncguard.read.tags import CONST, FUNCTION, SEQ


def alone(routine: Routine, places: Places) -> bool:
    """Whether its file has no name for it, no decorator hands it on, and no class above it may call it."""
    node, owner = routine.node, routine.owner
    if type(node) is not FUNCTION or routine.closure or not only_bound(node):
        return False
    if not (private(routine) or (owner is None and _left_out(node.name, routine.home))):
        return False
    if lines_of(node.name, routine.home):
        return False
    return owner is None or not (by_name(owner) or _from_above(owner, node.name, places))


def _left_out(name: str, home: Home) -> bool:
    """Whether a file says what it is for others, once, and this is none of it."""
    said = bound_once(home, "__all__")
    names = [item.value if type(item) is CONST else None for item in said.items] if type(said) is SEQ else []
    return bool(names) and None not in names and name not in names


def _from_above(owner: ClassInfo, name: str, places: Places) -> bool:
    """Whether a class has this method from one above it, or from one that nobody sees."""
    if places.is_("names", "module_calls", name) or owner.find(name, above=True) is not None:
        return True
    bases = [base for info in owner.mro for base in info.bases if type(base) is not ClassOf]
    known = ("torch.nn.Module", *places.tables["names"]["bare_bases"])
    return not all(type(base) is Named and base.name in known for base in bases)
