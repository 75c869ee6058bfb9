"""A function in, the names by which alone it can be called out, of which its file has none: who has them elsewhere may
call it."""

from __future__ import annotations

from syncguard.infer.branches.subjects import last_name
from syncguard.infer.branches.ungiven import handed_about, lines_of, private
from syncguard.infer.classes import ClassInfo
from syncguard.infer.domain.values import Call, ClassOf, Named
from syncguard.infer.heirs import ABSTRACT, heirs, unwritten
from syncguard.infer.home import Home
from syncguard.infer.routine import Routine
from syncguard.judge.around.calling import by_name, may_pick, plain
from syncguard.judge.defaults.defaults import bound_once
from syncguard.judge.defaults.kin import BINDS
from syncguard.pack.places import Places
from syncguard.read.tags import CONST, FUNCTION, SEQ


def alone(routine: Routine, places: Places) -> bool:
    """Whether a function that is private, or left out of `__all__`, is called by nothing in its file: it has no name
    for it, no decorator hands it on, and no class above it may call it."""
    node, owner = routine.node, routine.owner
    if type(node) is not FUNCTION or routine.closure or not plain(node.decorators, places):
        return False
    hidden = private(routine) or (owner is None and _left_out(node.name, routine.home))
    return hidden and _unasked(node.name, routine, places)


def asked_by(routine: Routine, places: Places) -> tuple[str, ...]:
    """The names of which somebody must have each to call a function, and its file has none: its own, and its class's.
    A method that Python names has no other than that."""
    node, owner = routine.node, routine.owner
    if type(node) is not FUNCTION or routine.closure or not plain(node.decorators, places):
        return ()
    own = not node.name.startswith("__") and _unasked(node.name, routine, places)
    if owner is None or owner.qualname != owner.name:
        return (node.name,) if own else ()
    return (*((node.name,) if own else ()), *of_class(owner))


def of_class(owner: ClassInfo) -> tuple[str, ...]:
    """The name of a class, of which somebody must have it to make an object, if its file makes none: what it says of
    itself, `super(Net, self)`, does not."""
    if owner.qualname != owner.name or owner.node.decorators:
        return ()
    first, _, last, _ = owner.node.at
    named = [line for line in lines_of(owner.name, owner.home) if not first <= line <= last]
    return (owner.name,) if not named else ()


def called_by_name(routine: Routine, places: Places) -> bool:
    """Whether nobody calls a function but by its name: neither Python, nor what a decorator hands it to, nor a class of
    another library, nor one that makes up the names of its methods; nor who has it from the function around it."""
    node, owner = routine.node, routine.owner
    if type(node) is not FUNCTION or node.name.startswith(("__", "<")):
        return False
    if not plain(node.decorators, places, BINDS):
        return False
    if routine.closure:
        return node.name not in handed_about(routine.home)
    if owner is None:
        return True
    if by_name(owner) or places.is_("names", "module_calls", node.name) or not seen_above(owner, places):
        return False
    if may_pick(owner, node.name):
        return False
    return not owner.is_module or owner.world.op(f"torch.nn.Module.{node.name}") is None


def abstract(routine: Routine) -> str:
    """The name of the class of a method of which there can be no instance: a method of it is still to be written, and
    no other class of its file descends from it; with that, `Net.read`, where none of its own is left for those below
    it, and nothing of another library may write it."""
    owner = routine.owner
    if owner is None or owner.qualname != owner.name:
        return ""
    bases = tuple(owner.external())
    if "abc.ABC" not in bases or heirs(owner):
        return ""
    names = dict.fromkeys([name for info in owner.mro for name in info.members])
    found = [member[0] for name in names if (member := owner.find(name)) is not None]
    missing = [one for one in found if type(one) is Call and unwritten(one.routine) and _declared(one.routine)]
    left = [one.routine for one in missing if one.routine.owner is owner]
    if not missing:
        return ""
    plain = all(name == "torch.nn.Module" or owner.world.places.is_("names", "bare_bases", name) for name in bases)
    return f"{owner.name}.{missing[0].routine.name}" if plain and not left else owner.name


def _unasked(name: str, routine: Routine, places: Places) -> bool:
    """Whether nothing in its file has a name of a function, and no class above it may call it by that."""
    owner = routine.owner
    if lines_of(name, routine.home):
        return False
    return owner is None or not (by_name(owner) or _from_above(owner, name, places))


def _declared(routine: Routine) -> bool:
    """Whether a method is declared to be abstract."""
    node = routine.node
    return type(node) is FUNCTION and any(last_name(one) in ABSTRACT for one in node.decorators)


def _left_out(name: str, home: Home) -> bool:
    """Whether a file says what it is for others, once, and this is none of it."""
    said = bound_once(home, "__all__")
    names = [item.value if type(item) is CONST else None for item in said.items] if type(said) is SEQ else []
    return bool(names) and None not in names and name not in names


def _from_above(owner: ClassInfo, name: str, places: Places) -> bool:
    """Whether a class has this method from one above it, or from one that nobody sees."""
    if places.is_("names", "module_calls", name) or owner.find(name, above=True) is not None:
        return True
    if owner.is_module and owner.world.op(f"torch.nn.Module.{name}") is not None:
        return True
    return not seen_above(owner, places)


def seen_above(owner: ClassInfo, places: Places) -> bool:
    """Whether all that a class descends from is of the project, or a module."""
    bases = [base for info in owner.mro for base in info.bases if type(base) is not ClassOf]
    known = ("torch.nn.Module", *places.tables["names"]["bare_bases"])
    return all(type(base) is Named and base.name in known for base in bases)
