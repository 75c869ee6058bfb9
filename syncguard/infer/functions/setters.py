"""A call of a method that sets attributes by the names that it is given, `def keep(self, name, x): setattr(self, name,
x)`, in; these names and what is kept under each out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from syncguard.infer.branches.passing import positional
from syncguard.infer.domain.contents import taken_along
from syncguard.infer.domain.lattice import join_all
from syncguard.infer.domain.values import NONE, UNKNOWN, Const, Instance, Unknown, Value, options
from syncguard.infer.routine import Routine
from syncguard.read import core
from syncguard.read.core import Function, Node, Param
from syncguard.read.tags import FUNCTION, LEAVE, LOOP, NAME, SEQ
from syncguard.read.walk import bound_in, walk

if TYPE_CHECKING:
    from syncguard.infer.expressions.resolve import Names

SETS: Final = ("(0setattr", "(1setattr", "(2setattr")
NOTHING: Final[dict[str, Value]] = {}


def kept_as(routine: Routine, args: list[Value], keywords: dict[str, Value], world: Names) -> dict[str, Value]:
    """What a call of such a method keeps; what it moves on its way, or a module moves later, is on the device."""
    node, owner = routine.node, routine.owner
    if type(node) is not FUNCTION or owner is None:
        return NOTHING
    if keywords and (held := keeps_rest(routine)):
        named = {param.name for param in node.params}
        kept = {name: value for name, value in keywords.items() if name not in named}
    elif sets_by_name(routine):
        given = {**dict(zip([param.name for param in positional(node)[1:]], args, strict=False)), **keywords}
        name = next((given.get(param.name) for param in sets(node, node.params, SETS[1])), None)
        under = sets(node, node.params, SETS[2])
        held = under[0].name if len(under) == 1 else ""
        if type(name) is not Const or type(name.value) is not str or held not in given:
            return NOTHING
        kept = {name.value: given[held]}
    else:
        return NOTHING
    moves = {f"{move}()" for move in world.places.tables["manners"]["moves"]}
    if owner.is_module or not moves.isdisjoint(node.uses.get(held, ())):
        return {name: taken_along(value) for name, value in kept.items()}
    return kept


def kept_above(
    routine: Routine, receiver: Value | None, args: list[Value], keywords: dict[str, Value]
) -> dict[str, Value]:
    """The objects that a method of another file's class keeps for one of this file, each under a name of its own: that
    class declares what any heir may give it, `def set_head(self, head: Head): self.head = head`."""
    info, node = receiver.info if type(receiver) is Instance else None, routine.node
    if info is None or not info.home.own or routine.home.own or type(node) is not FUNCTION:
        return NOTHING
    if not (names := keeps_each(routine)):
        return NOTHING
    given = dict(zip([param.name for param in positional(node)[1:]], args, strict=False)) if args else {}
    given.update(keywords)
    found = {name: _objects(given[param]) for param, name in names.items() if param in given}
    return {name: value for name, value in found.items() if value is not UNKNOWN}


def _objects(value: Value) -> Value:
    """The instances of classes of the project that this may be, if it is one for all that is known."""
    kinds = [option for option in options(value) if type(option) is not Unknown and option is not NONE]
    if not all(type(kind) is Instance and kind.info is not None for kind in kinds):
        return UNKNOWN
    return join_all(kinds) if kinds else UNKNOWN


def keeps_each(routine: Routine) -> dict[str, str]:
    """The parameters that a method keeps as they are, whatever else it does, and the attribute that has each."""
    node, written = routine.node, routine.written
    if written.keeps_each is None:
        owned = type(node) is FUNCTION and bool(node.params) and routine.owner is not None
        written.keeps_each = dict(_each_kept(node)) if owned and type(node) is FUNCTION else {}
    return written.keeps_each


def _each_kept(node: Function) -> Iterator[tuple[str, str]]:
    me, bound = node.params[0].name, {one.id for one in bound_in(node.body) if type(one) is NAME}
    names = {param.name for param in node.params[1:]} - bound
    for part in node.body:
        match part:
            case core.Bind(targets=(core.Attr(of=core.Name(id=of), name=name),), value=core.Name(id=given)):
                if of == me and given in names:
                    yield given, name


def keeps_rest(routine: Routine) -> str:
    """What a method that keeps all its keywords, each under its name, calls one of them: `for name, value in
    kwargs.items(): setattr(self, name, value)`, or all: `self.__dict__.update(kwargs)`."""
    node, written = routine.node, routine.written
    if written.keeps is None:
        last = node.params[-1] if type(node) is FUNCTION and len(node.params) > 1 else None
        rest = last is not None and last.kind == "**" and routine.owner is not None
        written.keeps = _kept(node, last.name) if rest and last is not None and type(node) is FUNCTION else ""
    return written.keeps


def _kept(node: Function, rest: str) -> str:
    me = node.params[0].name
    for part in walk(node.body):
        if type(part) is LOOP and _asks(part.iterable, rest, "items") and type(part.target) is SEQ:
            name, value = [item.id if type(item) is NAME else "" for item in part.target.items][:2]
            if all(place in node.uses.get(one, ()) for place, one in zip(SETS, (me, name, value), strict=True)):
                return value if _as_given((name, value, rest), part.body) else ""
        match part:
            case core.Call(fn=core.Attr(of=core.Attr(path=path), name="update"), args=(core.Name(id=given),)):
                if path == f"{me}.__dict__" and given == rest and _as_given((rest,), node.body):
                    return rest
    return ""


def _as_given(names: tuple[str, ...], body: tuple[Node, ...]) -> bool:
    """Whether a block gives none of these names something else, nor passes over some of what they stand for."""
    if any(type(one) is NAME and one.id in names for one in bound_in(body)):
        return False
    return not any(type(part) is LEAVE and part.what == "continue" for part in walk(body))


def _asks(node: Node | None, name: str, method: str) -> bool:
    match node:
        case core.Call(fn=core.Attr(of=core.Name(id=of), name=asked), args=()):
            return of == name and asked == method
    return False


def sets_by_name(routine: Routine) -> bool:
    """Whether a method sets an attribute of its object under a name that it is given."""
    node = routine.node
    if type(node) is not FUNCTION or routine.owner is None:
        return False
    return bool(sets(node, node.params[:1], SETS[0])) and bool(sets(node, node.params[1:], SETS[1]))


def sets(node: Function, params: tuple[Param, ...], place: str) -> list[Param]:
    """The parameters that a function gives to `setattr` in this place."""
    return [param for param in params if place in node.uses.get(param.name, ())]
