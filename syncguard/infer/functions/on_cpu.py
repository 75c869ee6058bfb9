"""A file in, whether it is a program that computes on the CPU out, as it says by a global name: `device = "cpu"`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from syncguard.infer.parts import part_saying
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, BIND, BRING, CALL, CONST, FUNCTION, MODULE, NAME

if TYPE_CHECKING:
    from syncguard.infer.home import Home
    from syncguard.infer.modules import Modules
    from syncguard.infer.routine import Routine
    from syncguard.pack.places import Places

CPU: Final = "cpu"
CUDA: Final = "cuda"
NAMES: Final = ("device", "dev")


def on_cpu(routine: Routine, world: Modules) -> str:
    """Why a function that has such a name, or the program itself, computes on the CPU: others may compute anywhere."""
    node, name = routine.node, _chosen(routine, world)
    asks = name in node.uses if type(node) is FUNCTION else type(node) is MODULE
    return f"`{name}` is the CPU in its file" if name and asks else ""


def _chosen(routine: Routine, world: Modules) -> str:
    """The name that stands for the CPU throughout a file that is checked, and that something is moved to; '' of a file
    that gives it another value, or names a device of another kind, as what it imports of its project may."""
    from syncguard.infer.modules import imports_of

    home = routine.home
    if home.on_cpu is None:
        home.on_cpu = ""
        names = [name for part in home.core.body if home.own for name in _named_so(part)]
        if len(names) == 1 and _holds(names[0], home, world.places):
            placed = any(_may_place(place, routine, world) for place in imports_of(home))
            home.on_cpu = names[0] if not placed else ""
    return home.on_cpu


def _may_place(place: str, asker: Routine, world: Modules) -> bool:
    """Whether a file of the project may put something on a device."""
    if not place.endswith(".py"):
        return False
    asker.uses[place, part_saying(CUDA)] = None
    return world.says(place, CUDA)


def _named_so(part: Node) -> list[str]:
    """The names that a statement gives the CPU, of the device on which all is computed, and none beside it."""
    if type(part) is not BIND or part.value is None or not _is_cpu(part.value):
        return []
    return [aim.id for aim in part.targets if type(aim) is NAME and aim.id.lower() in NAMES]


def _is_cpu(value: Node) -> bool:
    match value:
        case core.Const(value=name):
            return bool(name == CPU)
        case core.Call(fn=core.Attr(path="torch.device"), args=(core.Const(value=name),), keywords=()):
            return bool(name == CPU)
    return False


def _holds(name: str, home: Home, places: Places) -> bool:
    """Whether a name keeps what it was given, no other device is named, and something is moved to this one."""
    bound = moved = False
    for part in home.pieces:
        if type(part) is BRING:
            if any(_chooses(module, bound_to, places) for _, module, bound_to in part.names):
                return False
        elif type(part) is BIND:
            again = any(type(aim) is NAME and aim.id == name for aim in part.targets)
            if again and bound:
                return False
            bound = bound or again
        elif type(part) is CONST and isinstance(part.value, str):
            if _is_other(part.value, places):
                return False
        elif (type(part) is ATTR and part.name == "cuda") or (type(part) is NAME and part.id == "cuda"):
            return False
        elif type(part) is FUNCTION and any(param.name == name for param in part.params):
            return False  # who calls it chooses
        elif type(part) is CALL:
            given = (*part.args, *[value for key, value in part.keywords if key == "device"])
            moved = moved or any(type(one) is NAME and one.id == name for one in given)
    return bound and moved


def _chooses(module: str, name: str, places: Places) -> bool:
    """Whether an import brings in what chooses a device by itself: a trainer, or what prepares a model for several."""
    return module.partition(".")[0] in places.tables["names"]["placing_libraries"] or name.endswith("Trainer")


def _is_other(text: str, places: Places) -> bool:
    """Whether a text is, or begins as, that of a device that is not the CPU."""
    kind = text.partition(":")[0]
    return kind in ("cuda", "gpu") or kind in places.tables["names"]["other_devices"]
