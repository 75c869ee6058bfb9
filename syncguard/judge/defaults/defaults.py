"""A name or an attribute in, the expressions out that it is unless somebody sets it: those of parameters, of what a
constructor takes, of fields, of constants of a file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec
from msgspec.structs import replace

from syncguard.infer.branches.above import asked_above
from syncguard.infer.branches.arms import steady
from syncguard.infer.branches.meant import binders
from syncguard.infer.branches.passing import given, positional, unpacks
from syncguard.infer.branches.ungiven import private
from syncguard.infer.domain.contents import holds_tensor
from syncguard.infer.domain.values import NONE, UNKNOWN, Const, Host, Later, Seq, Table, Value, options
from syncguard.infer.functions.annotations import promised
from syncguard.infer.home import Home
from syncguard.infer.modules import looks_for
from syncguard.infer.parts import NAMED
from syncguard.infer.routine import Frame, Routine
from syncguard.judge.around.bound import bound_to, left_with, path_of, put_back
from syncguard.judge.around.calling import Callers
from syncguard.judge.defaults.configured import off_until_set
from syncguard.read import core
from syncguard.read.core import At, Node, Param
from syncguard.read.tags import ATTR, BIND, CONST, DO, FUNCTION, NAME, SEQ
from syncguard.read.walk import around, bound_in, loops_around

DEEPEST: Final = 6  # expressions that are followed from one to the next
MOST: Final = 20  # calls that are asked what they pass
NOWHERE: Final = (0, 0, 0, 0)  # where a number of a library is written


class Place(msgspec.Struct, frozen=True):
    """Where an expression stands: the function, who calls it, the parameters that have yet what they were given, and
    the calls that come there, if not all do."""

    frame: Frame
    callers: Callers
    given: frozenset[str] = frozenset()
    depth: int = 0
    only: frozenset[At] = frozenset()

    @property
    def routine(self) -> Routine:
        return self.frame.routine

    def of(self, routine: Routine) -> Place:
        """A place in another function."""
        callers = self.callers.of(routine.home)
        return Place(Frame(self.frame.world, routine, {}), callers, frozenset(), self.depth + 1)


Written = tuple[Node, Place]  # an expression, and where it stands


class Sources(msgspec.Struct, frozen=True):
    """What something is by default, as it is written in several places, and what counts where that does not tell;
    whether it is an option itself, or stands for what is written; whether it is none unless that hangs on one; and
    whether it may be a tensor, if it is None: data are no option."""

    written: tuple[Written, ...] = ()
    otherwise: Written | None = None
    option: bool = True
    hangs: bool = False
    data: Callable[[], bool] = lambda: False


NOTHING: Final = Sources()


def sources_of(node: Node, place: Place) -> Sources:
    """What has a name is by default; no sources where nothing tells."""
    from syncguard.judge.defaults.fields import of_attribute
    from syncguard.judge.defaults.grouped import of_group

    if place.depth > DEEPEST:
        return NOTHING
    if (given := of_group(node, place)) is not None:
        return Sources((given,), option=False)
    match node:
        case core.Name(id=name):
            return _of_name(node, name, place)
        case (
            core.Attr(of=of, name=name)
            | core.Call(fn=core.Name(id="getattr"), args=(of, core.Const(value=str() as name), *_))
        ):
            path, routine = path_of(node), place.routine
            steadily = steady(path, routine) or (type(routine.node) is FUNCTION and put_back(routine.node.body, path))
            return of_attribute(of, name, place) if steadily else _of_assigned(node, name, place)
    return NOTHING


def _of_assigned(node: Node, name: str, place: Place) -> Sources:
    """What the function itself has given an attribute, once, above, and come what may: `self.scale = scale`."""
    function, path = place.routine.node, path_of(node)
    if type(function) is not FUNCTION or name in place.callers.set:
        return NOTHING
    every = [aim for aim in bound_in(function.body) if type(aim) is ATTR and aim.path == path != ""]
    aims = bound_before(node, tuple(every), function)
    if len(aims) != 1:
        return NOTHING
    bind = next((part for part in function.body if type(part) is BIND and part.targets[0] is aims[0]), None)
    if type(bind) is not BIND or bind.value is None or type(bind.value) is CONST or bind.at[2:] > node.at[:2]:
        return NOTHING
    return Sources(((bind.value, replace(place, depth=place.depth + 1)),), option=False)


def _of_name(node: Node, name: str, place: Place) -> Sources:
    routine = place.routine
    function = routine.node
    if type(function) is not FUNCTION:
        return _of_constant(name, place)
    param = next((param for param in function.params if param.name == name), None)
    every = binders(routine).get(name, ())
    binds = bound_before(node, every, function)
    kept = param is not None and (steady(name, routine) or not binds or _put_back(binds, param))
    if param is not None and (name in place.given or kept):
        return _of_parameter(param, place)
    if not binds:
        outer = outer_of(routine)
        return _of_name(node, name, place.of(outer)) if outer is not None else _of_constant(name, place)
    there = replace(place, depth=place.depth + 1)
    made = bound_to(binds[0], name) if len(binds) == 1 and param is None else None
    if made is None:
        made = _left_with(node, name, binds, param, function)
        there = replace(there, given=place.given | {name}) if param is not None else there
    if made is None or (type(made) is SEQ and made.kind != "tuple" and not made.items):
        return NOTHING  # an empty list is there to be filled
    return Sources(((made, there),), option=False)


def _put_back(binds: tuple[Node, ...], param: Param) -> bool:
    """Whether all that a function itself does to a parameter is to make it what it is by default."""
    default = param.default.value if type(param.default) is CONST else UNKNOWN
    values = [bound_to(bind, param.name) for bind in binds]
    return all(type(one) is CONST and type(one.value) is type(default) and one.value == default for one in values)


def _left_with(
    node: Node, name: str, binds: tuple[Node, ...], param: Param | None, function: core.Function
) -> Node | None:
    """What the statements above a place leave a name with: `x = y`, or `if x is None: x = y`."""
    above = tuple([part for part in function.body if part.at[2:] <= node.at[:2]])
    if not all(any(around(part.at, bind.at) for part in above) for bind in binds):
        return None
    return left_with(above, name, core.Name(name, function.at) if param is not None else None)


def bound_before(node: Node, binds: tuple[Node, ...], function: core.Function) -> tuple[Node, ...]:
    """The statements that may have bound a name where it stands: those behind it have not, nor has one that binds what
    comes of it, `x = f(x)`, unless a loop leads back."""
    told = binds[1:] or function.params
    later = [bind for bind in binds if bind.at[:2] > node.at[:2] or _comes_of(bind, node)] if told else []
    loops = loops_around(function.body, node.at) if later else []
    if any(around(loop.at, bind.at) for bind in later for loop in loops):
        return binds
    late = {id(one) for one in later}
    return tuple([bind for bind in binds if id(bind) not in late])


def _comes_of(bind: Node, node: Node) -> bool:
    """Whether a statement binds what is made of this."""
    return type(bind) is BIND and bind.value is not None and around(bind.value.at, node.at)


def _names(node: Node, name: str) -> bool:
    return type(node) is NAME and node.id == name


def outer_of(routine: Routine) -> Routine | None:
    """The function that another one is defined in."""
    outer = routine.qualname.rpartition(".")[0] if routine.closure else ""
    found = [one for one in routine.home.routines if one.qualname == outer] if outer else []
    return found[0] if len(found) == 1 else None


def _of_parameter(param: Param, place: Place) -> Sources:
    """What a parameter is where it is left out; of a private function, and where some calls alone count, what those who
    call it give."""
    routine = place.routine
    default = _default(param, place)
    alone = (private(routine) or place.only) and not asked_above(routine)
    passed = tuple(passed_to(param, place)) if alone else ()
    if default is None and routine.name == "__init__" and routine.owner is not None and place.callers.home.own:
        passed = _made_of(param, routine.owner.name, place)
    return Sources(passed or ((default,) if default else ()), default, data=lambda: may_be_data(param, place.frame))


def _made_of(param: Param, name: str, place: Place) -> tuple[Written, ...]:
    """The options that each call in the file that makes an object of a class gives its constructor, which must be given
    it; nothing where one of them gives anything else."""
    from syncguard.judge.defaults.settled import told_of

    node, calls = place.routine.node, place.callers.making(name)
    if type(node) is not FUNCTION or len(calls) > MOST:
        return ()
    places, found = positional(node)[1:], []
    for made in calls:
        nodes = given(made.call, param, places, False) if not unpacks(made.call) else []
        written = (nodes[0], place.of(made.caller)) if len(nodes) == 1 else None
        told = told_of(*written) if written is not None and written[1].depth <= DEEPEST else None
        if written is None or told is None or not told.by:
            return ()
        found.append(written)
    return tuple(found)


def _default(param: Param, place: Place) -> Written | None:
    """The default of a parameter, which is looked up around all functions of its file."""
    there = place.of(place.routine.home.top or place.routine)
    return (param.default, there) if param.default is not None else None


def passed_to(param: Param, place: Place) -> list[Written]:
    """What each call in the file gives a parameter; nothing where one of them does not tell."""
    routine, node = place.routine, place.routine.node
    if type(node) is not FUNCTION:
        return []
    places, default, found = positional(node), _default(param, place), []
    calls = place.callers.named(node.name)
    for made in calls if len(calls) <= MOST else ():
        call, caller = made.call, made.caller
        if place.only and call.at not in place.only:
            continue
        nodes = given(call, param, places, bound(call, routine))
        if unpacks(call):
            nodes = _in_their_place(nodes, call)
            if not nodes:
                return []
        if not (nodes or default):
            return []
        hands_on = caller.name == routine.name and bool(nodes) and _names(nodes[0], param.name)  # to the class above
        if caller is not routine and not hands_on:  # either hands on what it was given
            found.append((nodes[0], place.of(caller)) if nodes else default)
    return [one for one in found if one is not None]


def _in_their_place(nodes: list[Node], call: core.Call) -> list[Node]:
    """Those of these that stand before all that a call takes out of a list: `run(model, deep, *args)`."""
    stars = [index for index, arg in enumerate(call.args) if type(arg) is DO and arg.what == "*"]
    sure = call.args[: stars[0]] if stars else call.args
    return [node for node in nodes if any(node is arg for arg in sure)]


def bound(call: core.Call, routine: Routine) -> bool:
    """Whether the receiver of a call takes the first place of the method that it calls."""
    owner, node = routine.owner, routine.node
    if owner is None or type(call.fn) is not ATTR or type(node) is not FUNCTION:
        return False
    static = any(_names(decorator, "staticmethod") for decorator in node.decorators)
    return not static and not _names(call.fn.of, owner.name)


def is_carrier(place: Place) -> Callable[[str], bool]:
    """Whether a name is one of those that settings are kept under, and no rest of a function's arguments."""
    rest, is_ = keywords_of(place.routine), place.frame.world.places.is_
    return lambda name: (
        name not in rest and (is_("names", "settings", name.lower()) or is_("names", "bundles", name.lower()))
    )


def keywords_of(routine: Routine) -> list[str]:
    """The parameters of a function that hold arguments by name: `**kwargs`, and one that is called so."""
    params = routine.node.params if type(routine.node) is FUNCTION else ()
    return [param.name for param in params if param.kind == "**" or param.name.endswith("kwargs")]


def may_be_data(param: Param, frame: Frame) -> bool:
    """Whether a parameter is declared to be data, was seen to be given a tensor, or is named as data are, if it is not
    declared to be a setting."""
    declared = promised(param.annotation, frame, "assumed") if param.annotation is not None else UNKNOWN
    seen = frame.routine.seen.get(param.name)
    if any(is_data(value) for value in (declared, seen) if value is not None):
        return True
    return frame.world.places.is_("names", "data", param.name) and not _is_setting(declared)


def _is_setting(declared: Value) -> bool:
    """Whether what is declared is a number, a text, a flag, or several of them."""
    of = (option.element if type(option) is Seq else option for option in options(declared) if option is not NONE)
    return any(type(one) is Host or type(one) is Const for option in of for one in options(option))


def is_data(value: Value) -> bool:
    """Whether this may be a tensor, or hold some: a list of tables is one of batches."""
    of = (option.element if type(option) is Seq else option for option in options(value))
    return holds_tensor(value) or any(type(one) is Table for option in of for one in options(option))


def _of_constant(name: str, place: Place) -> Sources:
    """What a file binds a name to, once and for all: of its own, or of one that it imports."""
    home, frame = place.routine.home, place.frame
    held = home.env.get(name)
    if type(held) is Later and bound_once(home, name) is None:
        other = frame.world.interface(held.place)
        looks_for(NAMED + held.name, held.place, frame.routine)
        if other is None:
            return NOTHING
        home, name = other, held.name
        held = home.env.get(name)
    found = bound_once(home, name) or off_until_set(name, home, frame.world.places)
    if home.top is None:
        return NOTHING
    if found is None:
        number = of_number(held, place) if held is not None and name not in binders(home.top) else None
        return number or NOTHING
    return Sources(((found, place.of(home.top)),))


def of_number(held: Value, place: Place) -> Sources | None:
    """What a library has a name for is no option: `math.inf`."""
    number = held.value if type(held) is Const else None
    return Sources(((core.Const(number, NOWHERE), place),), option=False) if isinstance(number, float) else None


def bound_once(home: Home, name: str) -> Node | None:
    """What the top level of a file binds a name to, if nothing else in the file is ever bound to it."""
    binds = binders(home.top).get(name, ()) if home.top is not None else ()
    bind = binds[0] if len(binds) == 1 else None
    plain = type(bind) is BIND and any(bind is part for part in home.core.body)
    return bind.value if plain and type(bind) is BIND and _names(bind.targets[0], name) else None
