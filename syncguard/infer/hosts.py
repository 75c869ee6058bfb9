"""A routine in, why its tensors are on the host out: it is a dataset's, a collate function's, another compiler's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from syncguard.infer.routine import Routine
from syncguard.infer.values import ClassOf, Named
from syncguard.places import matches
from syncguard.read import core

if TYPE_CHECKING:
    from syncguard.infer.classes import ClassInfo
    from syncguard.infer.resolve import Names


def host_reason(routine: Routine, world: Names) -> str:
    """Why a routine's tensors are on the host; '' where nothing says so."""
    owner, places = routine.owner, world.places
    if owner is not None and not owner.is_module:
        for name in owner.external():
            if any(
                world.is_subclass(name, base) or matches((base,), name) for base in places.tables["host"]["classes"]
            ):
                return f"`{owner.name}` is a {name.rpartition('.')[2]}"
        if any(places.is_("host", "class_names", info.name) for info in owner.mro) or _of_items(owner, world):
            return f"`{owner.name}` prepares data on the host"
    name = routine.qualname.rpartition(".")[2]
    moves = owner is not None and (owner.is_module or any(owner.find(move) for move in world.movers))
    if places.is_("host", "functions", name) and not moves:
        return f"`{name}` prepares data on the host"
    compiler = _compiler(routine, world)
    return f"`{name}` is compiled by `{compiler}`" if compiler else ""


def _of_items(owner: ClassInfo, world: Names) -> bool:
    """Whether a class is called a dataset, and a loader could take items from it for all that is known."""
    places = world.places
    if not any(places.is_("host", "item_classes", info.name) for info in owner.mro):
        return False
    if any(owner.find(method) for method in places.tables["host"]["item_methods"]):
        return True
    bases = [base for info in owner.mro for base in info.bases if type(base) is not ClassOf]
    return not all(type(base) is Named and places.is_("names", "bare_bases", base.name) for base in bases)


def _compiler(routine: Routine, world: Names) -> str:
    """The decorator of another library that turns a function into a kernel: no line of it runs as Python."""
    for decorator in routine.node.decorators if type(routine.node) is core.Function else ():
        named = decorator.fn if type(decorator) is core.Call else decorator
        root, _, rest = (named.path if type(named) is core.Attr else getattr(named, "id", "")).partition(".")
        library = routine.home.env.get(root)
        name = f"{library.name}.{rest}".rstrip(".") if type(library) is Named else ""
        if name and world.places.is_("host", "kernels", name):
            return name
    return ""
