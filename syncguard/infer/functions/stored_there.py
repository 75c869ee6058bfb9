"""A routine in, the parameters out of which it puts parts on the device, in their place, and which parts: `b.mask =
b.mask.cuda()`, the one that its caller names: `b[key] = b[key].cuda()`, or all of them: `for key, value in b.items():
b[key] = value.to(device)`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from syncguard.infer.branches.subjects import last_name
from syncguard.infer.functions.brought import moving, to_device
from syncguard.infer.routine import Routine
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, BIND, CALL, CONST, DO, FUNCTION, IF, INDEX, LOOP, NAME, RUN, SEQ, TRY, WITH
from syncguard.read.walk import bound_in, walk

if TYPE_CHECKING:
    from syncguard.infer.project import World

Parts = tuple[str, ...]  # by what stands behind the name: `.mask`, `["mask`, `[key]`; none of all that it holds
KINDS: Final = ("isinstance", "is_tensor", "hasattr")  # what is asked of each part
NOTHING: Final[dict[str, Parts]] = {}


class Seen:
    """A function that is looked through: of which names parts are followed, and what the turns of its loops name."""

    def __init__(self, routine: Routine, world: World, names: set[str]) -> None:
        self.routine, self.world, self.names = routine, world, names
        self.turns: dict[str, Parts] = {}  # by the target of a loop: the names that it takes
        self.keys = set(names)  # what may be the name of a part
        self.whole: dict[str, str] = {}  # the same of a loop through all that something holds
        self.found: dict[str, Parts] = {}


def stored_there(routine: Routine, world: World) -> dict[str, Parts]:
    """The parameters whose parts a function moves to the device, for all who have the same object."""
    written, node = routine.written, routine.node
    if written.stored is None:
        written.stored = NOTHING
        if type(node) is FUNCTION and node.params:
            written.stored = stored(node.body, Seen(routine, world, {param.name for param in node.params}))
    return written.stored


def stored(block: tuple[Node, ...], seen: Seen) -> dict[str, Parts]:
    """What is moved so by a block, come what may; what is bound anew on the way is something else from there on."""
    for part in block:
        if type(part) is LOOP:
            _turning(part, seen)
            stored(part.body, seen)
        elif type(part) is TRY or type(part) is WITH or (type(part) is IF and _asks_kind(part.test)):
            stored(part.body, seen)
        else:
            _store(part, seen)
            bound = {one.id for one in bound_in(part) if type(one) is NAME}
            seen.names -= bound
            seen.keys -= bound
    return seen.found


def _turning(loop: core.Loop, seen: Seen) -> None:
    """Note what the turns of a loop name: parts, as they are written, or all that something holds."""
    over, targets = loop.iterable, [one.id for one in walk(loop.target) if type(one) is NAME] if loop.target else []
    names = [one.value for one in over.items if type(one) is CONST] if type(over) is SEQ else []
    for target in targets:
        if names and all(type(name) is str for name in names):
            seen.turns[target] = tuple(names)
        elif over is not None:
            held = [part.id for part in walk(over) if type(part) is NAME and part.id in seen.names]
            if held:
                seen.whole[target] = held[0]


def _asks_kind(test: Node) -> bool:
    """Whether a test asks what kind of thing a part is."""
    inner = test.args[0] if type(test) is DO and test.what == "truth" else test
    return type(inner) is CALL and last_name(inner.fn) in KINDS


def _store(part: Node, seen: Seen) -> None:
    """Note a statement that puts a part on the device, where it was."""
    if type(part) is BIND and len(part.targets) == 1:
        aim, value = part.targets[0], part.value
        if type(aim) is SEQ and type(value) is SEQ and len(aim.items) == len(value.items):
            for one, other in zip(aim.items, value.items):
                _keep(one, other, True, seen)
        elif value is not None:
            _keep(aim, value, True, seen)
    elif type(part) is RUN and type(part.value) is CALL and last_name(part.value.fn) == "setattr":
        args = part.value.args
        if len(args) == 3:
            _keep(core.Index(args[0], args[1], part.at), args[2], False, seen)


def _keep(aim: Node, value: Node, item: bool, seen: Seen) -> None:
    """The same of what it puts where; under a key as an `item`, or as an attribute of that name."""
    of = aim.of if type(aim) is ATTR or type(aim) is INDEX else None
    if type(of) is not NAME or of.id not in seen.names:
        return
    turning = seen.turns.keys() | {name for name, held in seen.whole.items() if held == of.id}
    read = {one.id for one in walk(value) if type(one) is NAME}
    if not _moved(value, seen) or read.isdisjoint({of.id, *turning}):
        return
    names = (f".{aim.name}",) if type(aim) is ATTR else _named(aim.key, item, seen) if type(aim) is INDEX else None
    if names is not None:
        known = seen.found.get(of.id)
        seen.found[of.id] = (*(known or ()), *names) if names and known != () else ()


def _named(key: Node, item: bool, seen: Seen) -> Parts | None:
    """The parts that a key stands for, none for all; None where it is made up otherwise."""
    if type(key) is CONST:
        return _under((str(key.value),), item) if type(key.value) is str else None
    name = next((one.id for one in walk(key) if type(one) is NAME), "")
    if name in seen.turns:
        return _under(seen.turns[name], item)
    if name in seen.whole:
        return ()
    return (f"[{name}]",) if type(key) is NAME and name in seen.keys and item else None


def _under(names: Parts, item: bool) -> Parts:
    return tuple([f'["{name}' if item else f".{name}" for name in names])


def _moved(value: Node, seen: Seen) -> bool:
    """Whether something is moved to the device, here or by another function of the file."""
    calls = [part for part in walk(value) if type(part) is CALL]
    moves = seen.world.places.tables["manners"]["moves"]
    return any(
        (type(call.fn) is ATTR and call.fn.name in moves and to_device(call, seen.routine, seen.world))
        or (type(call.fn) is NAME and call.fn.id in moving(seen.routine.home, seen.world))
        for call in calls
    )
