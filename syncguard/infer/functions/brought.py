"""A routine in, the parameters out that it, or a function of its file that it hands them to, brings to the device, come
what may: those are hardly there when it is called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from syncguard.infer.branches.meant import binders
from syncguard.infer.branches.subjects import ME, last_name
from syncguard.infer.domain.contents import changed
from syncguard.infer.domain.values import Call, Instance, Table, Tensor, Union, Value
from syncguard.infer.functions.refined import fed
from syncguard.infer.operations.targets import device_of, named
from syncguard.infer.routine import UNUSED, Frame, Routine
from syncguard.pack.places import Places
from syncguard.read import core
from syncguard.read.core import At, Node
from syncguard.read.tags import (
    ATTR,
    BIND,
    CALL,
    CHOOSE,
    COMP,
    CONST,
    EITHER,
    FUNCTION,
    INDEX,
    LEAVE,
    LOOP,
    NAME,
    RUN,
    SEQ,
    TRY,
    WITH,
)
from syncguard.read.walk import bound_in, walk

if TYPE_CHECKING:
    from syncguard.infer.home import Home
    from syncguard.infer.project import World

Roots = dict[str, str]  # names, and the parameter that each holds, or a part of


class Seen:
    """A routine that is looked through, and where it first brings which name, and the parameter that one is of."""

    __slots__ = ("names", "routine", "world")

    def __init__(self, routine: Routine, world: World, names: dict[str, At]) -> None:
        self.routine, self.world, self.names = routine, world, names


NOTHING: Final[dict[str, At]] = {}
HOST: Final = "cpu"
FETCHES: Final = (HOST, "numpy", "tolist", "item")
RECEIVERS: Final = (*ME, "mcs")
ITEMS: Final = ("items", "values", "get", "pop")


def before(held: Value, name: str, routine: Routine, world: World) -> Value:
    """What a parameter that is brought holds: it may well be on the host, unless a caller computed it on the device."""
    return held if fed(routine.seen.get(name)) else _unsure(held, world)


def _unsure(held: Value, world: World) -> Value:
    """The same, where it may be in either place; what is put elsewhere with all that it holds is not there."""
    of_library = type(held) is Instance and world.op(f"{held.name}.to") is not None
    match held:
        case Instance(info=None, name=name, device="assumed") if of_library and not world.is_module_class(name):
            return Instance(None, name, "host", held.settings)
        case Instance(info=info, device="assumed") if info is not None and not info.is_module:
            return Instance(info, held.name, "host", held.settings)
        case Union():
            return Union(tuple([_unsure(option, world) for option in held.options]), held.wide)
        case Table():
            items = {key: _unsure(item, world) for key, item in held.items.items()}
            return Table(items, _unsure(held.element, world), held.keys)
    return changed(held, _either_place)


def _either_place(tensor: Tensor) -> Tensor:
    return tensor.but(device="mixed") if tensor.device == "assumed" else tensor


def brought_below(node: Node | None, frame: Frame) -> bool:
    """Whether this is, or is computed by methods from, what the function is given and brings to the device later."""
    names = brought(frame.routine, frame.world)
    moved = names.get(_base(node, frame.world)) if names and node is not None else None
    return moved is not None and node is not None and node.at < moved


def brought(routine: Routine, world: World) -> dict[str, At]:
    """The parameters of a routine that it brings to the device, and the names of what it takes of them and brings; but
    for a module's: what those are given is there."""
    written = routine.written
    if written.brought is None:
        written.brought = NOTHING  # of one that calls itself, while it is looked at
        node, owner = routine.node, routine.owner
        of_module = owner is not None and owner.is_module
        if type(node) is FUNCTION and node.params and not of_module and _moves(routine, world):
            seen = Seen(routine, world, {})
            given = node.params[1:] if owner is not None and node.params[0].name in RECEIVERS else node.params
            _follow(node.body, {param.name: param.name for param in given}, seen)
            written.brought = seen.names
    return written.brought


def places_anew(routine: Routine, world: World) -> bool:
    """Whether a function puts something on the device, or fetches it, as far as names tell."""
    written, node = routine.written, routine.node
    if written.moves is None:
        asked = [f"{name}()" for name in (*world.places.tables["manners"]["moves"], HOST)]
        uses = node.uses.values() if type(node) is FUNCTION else ()
        written.moves = any(not used.isdisjoint(asked) for used in uses)
    return written.moves or (routine.home.own and _moves(routine, world))


def _moves(routine: Routine, world: World) -> bool:
    """Whether a function moves something, or calls a function of its file that does, as far as names tell; of another
    file's only what it moves by name counts."""
    names, home, node = world.places.tables["manners"]["moves"], routine.home, routine.node
    if home.own:
        return routine.name in moving(home, world)
    uses = [node.uses.get(param.name, UNUSED) for param in node.params] if type(node) is FUNCTION else []
    return bool([name for name in names for asked in uses if f"{name}()" in asked])


def moving(home: Home, world: World) -> frozenset[str]:
    """The functions of a file, by name, in which something is moved, or which call one of those."""
    if home.moving is None:
        home.moving = _moving(home, world.places.tables["manners"]["moves"])
    return home.moving


def _moving(home: Home, moves: tuple[str, ...]) -> frozenset[str]:
    called: dict[str, set[str]] = {part.name: set() for part in home.pieces if type(part) is FUNCTION}
    around: list[core.Function] = []
    for part in home.pieces:  # each before its parts
        if type(part) is FUNCTION:
            around.append(part)
        elif type(part) is CALL and around:
            while around and around[-1].at[2:] < part.at[2:]:
                around.pop()
            fn = part.fn
            name = fn.name if type(fn) is ATTR else fn.id if type(fn) is NAME else ""
            if around and (name in moves or name in called):
                called[around[-1].name].add(name)
    found = {name for name, names in called.items() if not names.isdisjoint(moves)}
    while more := [name for name, names in called.items() if name not in found and not found.isdisjoint(names)]:
        found.update(more)
    return frozenset(found)


def _follow(block: tuple[Node, ...], roots: Roots, seen: Seen) -> None:
    """Note what a block brings, whatever way is taken; `roots` is kept up to date along it."""
    for part in block:
        if type(part) is LOOP and part.iterable is not None and part.target is not None:
            _asked(part.iterable, roots, seen)
            inside = dict(roots)
            _bound(part.target, _first(part.iterable, roots, seen.world), inside)
            _follow(part.body, inside, seen)
        elif type(part) is WITH or type(part) is TRY:
            _follow(part.body, roots, seen)
            continue
        elif type(part) is BIND and part.value is not None:
            _asked(part.value, roots, seen)
            root = _root(part.value, roots, seen.world)
            for target in part.targets:
                _bound(target, root, roots)
            continue
        elif type(part) is RUN:
            _asked(part.value, roots, seen)
        elif type(part) is LEAVE:
            if part.what == "return" and part.value is not None:
                _asked(part.value, roots, seen)
            return
        for bound in bound_in(part):
            if type(bound) is NAME:
                roots.pop(bound.id, None)


def _bound(target: Node, root: str, roots: Roots) -> None:
    """Note what a target stands for from here on; of what is unpacked, each name stands for a part."""
    if type(target) is NAME:
        roots.pop(target.id, None)
        if root:
            roots[target.id] = root
    elif type(target) is SEQ:
        for item in target.items:
            _bound(item, root, roots)


def _first(iterable: Node, roots: Roots, world: World) -> str:
    """The parameter whose parts a loop takes: `enumerate(batches)`, `batch.items()`."""
    if type(iterable) is CALL and type(iterable.fn) is NAME and len(iterable.args) == 1:
        return _root(iterable.args[0], roots, world)
    return _root(iterable, roots, world)


def _root(node: Node, roots: Roots, world: World) -> str:
    """The parameter that this is, is an item of or is computed from; '' of all else."""
    return roots.get(_base(node, world), "")


def _base(node: Node, world: World) -> str:
    """The name that this is, is an item of or is computed from, by methods of tensors and of tables alone; '' of what
    is fetched, and of all else: an object may hold things here and there."""
    while True:
        if type(node) is NAME:
            return node.id
        if type(node) is CALL:
            if type(node.fn) is not ATTR or node.fn.name in FETCHES or _names_host(node):
                return ""
            if node.fn.name not in ITEMS and world.op(f"torch.Tensor.{node.fn.name}") is None:
                return ""
            node = node.fn.of
        elif type(node) is INDEX or (type(node) is ATTR and node.name in world.views):
            node = node.of
        elif type(node) is CHOOSE:
            yes, no = _base(node.yes, world), _base(node.no, world)
            return yes if yes == no else ""
        else:
            return ""


def _names_host(call: core.Call) -> bool:
    """Whether a call names the host: `x.to("cpu")`."""
    for arg in (*call.args, *[value for _, value in call.keywords]):
        if type(arg) is CONST and isinstance(arg.value, str) and named(arg.value) == "host":
            return True
    return False


def _asked(value: Node, roots: Roots, seen: Seen) -> None:
    """Note what an expression brings, whatever it chooses."""
    pieces = walk(value)
    perhaps = {id(inner) for part in pieces if type(part) is CHOOSE or type(part) is EITHER for inner in walk(part)}
    for part in pieces:
        if type(part) is COMP:
            inside = dict(roots)
            for target, iterable, conditions in part.clauses:
                if conditions:
                    return
                _bound(target, _first(iterable, roots, seen.world), inside)
            roots = inside
    for part in pieces:
        if type(part) is not CALL or id(part) in perhaps:
            continue
        if type(part.fn) is ATTR and part.fn.name in seen.world.places.tables["manners"]["moves"]:
            base = _base(part.fn.of, seen.world)
            if base in roots and to_device(part, seen.routine, seen.world):
                _note((base, roots[base]), part.at, seen)
        elif part.args:
            _handed(part, roots, seen)


def _note(names: tuple[str, str], at: At, seen: Seen) -> None:
    for name in names:
        seen.names.setdefault(name, at)


def _handed(call: core.Call, roots: Roots, seen: Seen) -> None:
    """Note what a function of the file is handed that it brings."""
    given = [_base(arg, seen.world) for arg in call.args]
    if roots.keys().isdisjoint(given):
        return
    callee, bound = _callee(call.fn, seen.routine)
    if callee is None or type(callee.node) is not FUNCTION:
        return
    taken = brought(callee, seen.world)
    params = callee.node.params[bound:]
    for base, param in zip(given, params):
        if base in roots and param.kind == "positional" and param.name in taken:
            _note((base, roots[base]), call.at, seen)


def _callee(fn: Node, routine: Routine) -> tuple[Routine | None, int]:
    """The function of the same file that is called, and how many of its parameters are given already."""
    value: Value | None = None
    bound = 0
    if type(fn) is NAME:
        value = routine.home.env.get(fn.id)
    elif type(fn) is ATTR and type(fn.of) is NAME and fn.of.id == "self" and routine.owner is not None:
        member = routine.owner.find(fn.name)
        value, bound = (member[0], 1) if member is not None else (None, 0)
    if type(value) is not Call or value.given is not None or value.routine.home is not routine.home:
        return None, 0
    node = value.routine.node
    return (None, 0) if type(node) is FUNCTION and node.decorators else (value.routine, bound)


def to_device(call: core.Call, routine: Routine, world: World) -> bool:
    """Whether a move is one to the device, as whoever runs the program names it: not to where something else is."""
    asked = [value for key, value in call.keywords if key == "device"]
    aim = asked[0] if asked else call.args[0] if call.args else None
    if type(call.fn) is ATTR and call.fn.name != "to":
        return True  # `x.cuda(rank)`
    return aim is not None and _is_device(aim, routine, world.places, 0)


def _is_device(aim: Node, routine: Routine, places: Places, depth: int) -> bool:
    if type(aim) is CONST:
        return isinstance(aim.value, str) and named(aim.value) == "device"
    if type(aim) is CALL:
        name = last_name(aim.fn)
        if name == "device" and len(aim.args) == 1:
            return _is_device(aim.args[0], routine, places, depth + 1)
        return places.is_("names", "device_getters", name)
    if type(aim) is ATTR:
        return aim.name == "device" and places.is_("names", "settings", last_name(aim.of))
    if type(aim) is not NAME or depth > 2:
        return False
    node = routine.node
    bound = binders(routine).get(aim.id, ())
    if type(node) is FUNCTION and aim.id in [param.name for param in node.params]:
        return not bound and places.is_("names", "devices", aim.id)
    if bound:
        for part in bound:
            if type(part) is not BIND or part.value is None or not _is_device(part.value, routine, places, depth + 1):
                return False
        return True
    known = routine.home.env.get(aim.id)
    return known is not None and device_of(known) in ("device", "assumed")
