"""A function that takes whatever it is given by name, `**rest`, in, whether one of its names stands for each of that in
turn out; and, of a call, whether it gives nothing so but numbers."""

from __future__ import annotations

from typing import Final

from syncguard.infer.branches.meant import binders
from syncguard.infer.project import World
from syncguard.infer.routine import Routine
from syncguard.judge.around.calling import Made
from syncguard.judge.options.filled import is_count
from syncguard.judge.options.listed import only_read
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, CALL, FUNCTION, LOOP, NAME, SEQ
from syncguard.read.walk import around

ALL: Final = "**"
LOOKS: Final = ("items", "values", "keys", "get")


def rest_of(node: Node) -> str:
    """What a function calls all that it is given by a name which it has no parameter for; '' where it takes none."""
    params = node.params if type(node) is FUNCTION else ()
    return next((param.name for param in params if param.kind == ALL), "")


def each_of_rest(item: core.Name, routine: Routine) -> str:
    """The same, where a name stands for each of that in turn, as it was given: `for key, value in rest.items()`."""
    rest, bound = rest_of(routine.node), binders(routine)
    if not rest or rest in bound:
        return ""
    before = [part for part in bound.get(item.id, ()) if type(part) is LOOP or not around(part.at, item.at)]
    loops = [part for part in before if part.at < item.at]
    loop = loops[0] if len(loops) == 1 else None
    turns = type(loop) is LOOP and around(loop.at, item.at) and _goes_through(loop, rest, item.id)
    return rest if turns and only_read(rest, routine, (), LOOKS) else ""


def _goes_through(loop: core.Loop, rest: str, item: str) -> bool:
    """Whether a loop gives a name each value of a dict."""
    over, target = loop.iterable, loop.target
    if type(over) is not CALL or type(over.fn) is not ATTR or type(over.fn.of) is not NAME or over.fn.of.id != rest:
        return False
    if over.fn.name == "items" and type(target) is SEQ and len(target.items) > 1:
        target = target.items[1]
    elif over.fn.name != "values":
        return False
    return type(target) is NAME and target.id == item


def gives_numbers(made: Made, node: core.Function, world: World) -> bool:
    """Whether all that a call gives a function by a name which it has no parameter for are numbers."""
    names = {param.name for param in node.params if param.kind != ALL}
    return all(is_count(value, made, world) for name, value in made.call.keywords if name not in names)
