"""What an attribute is asked of and its name in, the expressions out that it is by default: what the constructor takes
and keeps, a field, a switch that methods turn, what a property returns."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec.structs import replace

from syncguard.infer.branches.arms import steady
from syncguard.infer.branches.passing import given, positional, spread
from syncguard.infer.branches.subjects import held_at, last_name
from syncguard.infer.branches.ungiven import calls_of
from syncguard.infer.classes import ClassInfo
from syncguard.infer.domain.values import Call, ClassOf, Named, Source
from syncguard.infer.expressions.attributes import decorators
from syncguard.infer.routine import Frame, Routine
from syncguard.infer.stores import CONSTRUCTORS, maker_of
from syncguard.judge.around.bound import bound_to, given_back, left_with, path_of, put_back
from syncguard.judge.around.calling import Stored
from syncguard.judge.defaults.carried import carried
from syncguard.judge.defaults.classes import classes_of
from syncguard.judge.defaults.constants import of_class, of_module
from syncguard.judge.defaults.declared import counts, declared_in, takes_fields
from syncguard.judge.defaults.defaults import (
    DEEPEST,
    NOTHING,
    Place,
    Sources,
    Written,
    is_carrier,
    is_data,
)
from syncguard.judge.defaults.taken_over import taken_over
from syncguard.judge.defaults.turned import turned_on
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, BIND, CALL, CHOOSE, CONST, FUNCTION, NAME
from syncguard.read.walk import binds, everything, targets, walk


class Assigned(msgspec.Struct, frozen=True):
    """What an assignment gives an attribute, None where that is for the run to say; whether it is the same for all,
    whether it turns a switch, and whether it puts one back; the default, no, of what a method is given to turn it."""

    written: Written | None
    literal: bool
    switch: bool
    reset: bool
    off: Written | None = None


def of_attribute(of: Node, name: str, place: Place) -> Sources:
    """What `of.name` is by default; what the file itself sets from without is no option: `config.is_decoder = True`.
    What it only turns off is one that is off."""
    if not place.callers.left_off(name):
        return NOTHING
    found = _of_attribute(of, name, place)
    if name not in place.callers.set or not found.written:
        return found
    off = ((one, place) for one in place.callers.written[name][:1])
    return replace(found, written=(*found.written, *off))


def _of_attribute(of: Node, name: str, place: Place) -> Sources:
    classes = classes_of(of, place)
    kept = None if any(has(info, name) for info in classes) else _kept(of, name, place)
    if kept is not None or not classes:
        return kept or of_module(of, name, place) or of_class(of, name, place) or _of_parser(of, name, place)
    found = [_property(info, name, place) for info in classes]
    if all(found):
        return Sources(tuple([one for one in found if one is not None]), option=False)
    fields = [_field(info, name, place) for info in classes]
    written = tuple([one[0] for one in fields if one is not None])
    if len(written) < len(fields) or any(found):
        handed = [_handed_in(info, name, place) for info in classes] if not any(found) else [None]
        if all(handed):
            told = tuple([one for one in handed if one is not None])
            return Sources(told, option=False, data=lambda: _holds_tensor(classes, name, place.frame))
        silent = not any(has(info, name) for info in classes)
        return Sources(taken_over(classes, name, place), option=False) if silent else NOTHING
    hangs = not all(one is not None and one[1] for one in fields)
    return Sources(written, hangs=hangs, data=lambda: _holds_tensor(classes, name, place.frame))


def has(info: ClassInfo, name: str) -> bool:
    """Whether a class itself says something of an attribute."""
    kept = info.find(name) is not None or any(info.world.storing(one, name) for one in info.mro)
    return kept or any(True for one in info.mro for _ in declared_in(one.node, name))


def all_given(node: Node, place: Place) -> tuple[Written, ...]:
    """All that the methods of its classes ever give an attribute; nothing where one of them does not tell."""
    found: list[Written] = []
    for info in classes_of(node.of, place) if type(node) is ATTR else ():
        place.routine.uses.update(info.elsewhere)
        for part, path, routine in all_stored(info, node.name if type(node) is ATTR else "", place):
            value = bound_to(part, path)
            if value is None:
                return ()
            found.append((value, place.of(routine)))
    return tuple(found)


def takes(info: ClassInfo, name: str) -> bool:
    """Whether an object of a class may have been handed what has this name: the class says something of it, or one
    above it does that nobody sees; none of torch does."""
    bare = info.world.places.is_
    known = all(type(base) is ClassOf or type(base) is Named for one in info.mro for base in one.bases)
    return (
        has(info, name)
        or not known
        or not all(one.startswith("torch.") or bare("names", "bare_bases", one) for one in info.external())
    )


def _holds_tensor(classes: list[ClassInfo], name: str, frame: Frame) -> bool:
    """Whether an attribute that is None by default may hold a tensor."""
    held = [value for info in classes for value in (info.attribute(name, frame.routine), info.expected(name))]
    return any(is_data(value) for value in held if value is not None)


def _kept(of: Node, name: str, place: Place) -> Sources | None:
    """An argument of a constructor that is kept with the others under one name: `self.config.mode`."""
    if type(of) is not ATTR or not place.frame.world.places.is_("names", "arguments", of.name):
        return None
    written = [_argument(info, name, place) for info in classes_of(of.of, place)]
    told = tuple([one for one in written if one is not None])
    return Sources(told) if told and len(told) == len(written) else None


def _argument(info: ClassInfo, name: str, place: Place) -> Written | None:
    """The default of a parameter of the constructor."""
    maker = maker_of(info)
    if maker is None or type(maker.node) is not FUNCTION:
        return None
    place.routine.uses.update(info.elsewhere)
    place.routine.uses[maker.home.path, maker.qualname] = None
    default = next((param.default for param in maker.node.params if param.name == name), None)
    return (default, place.of(maker.home.top or maker)) if default is not None else None


def _of_parser(of: Node, name: str, place: Place) -> Sources:
    """What a file's parser of arguments says that one is where it is not given."""
    found = place.callers.parsed.get(name, ()) if carried(of, is_carrier(place)) else ()
    written = tuple([(node, place) for node in found if node is not None])
    return Sources(written) if written and len(written) == len(found) else NOTHING


def _property(info: ClassInfo, name: str, place: Place) -> Written | None:
    """What a property returns that does nothing but test and return."""
    place.routine.uses.update(info.elsewhere)
    member = info.find(name)
    if member is None or type(member[0]) is not Call or "property" not in decorators(member[0]):
        return None
    routine = member[0].routine
    place.routine.uses[routine.home.path, routine.qualname] = None
    node = routine.node
    returned = given_back(node.body) if type(node) is FUNCTION else None
    return (returned, place.of(routine)) if returned is not None else None


def answered_by(fn: core.Attr | core.Name, place: Place) -> Written | None:
    """What a method returns, or a function, that is asked with nothing and does nothing but test and return:
    `self.mixes()`, `is_traced()`."""
    if place.depth <= DEEPEST and (asked := _function(fn, place)) is not None:
        place.routine.uses[asked.home.path, asked.qualname] = None
        told = given_back(asked.node.body) if type(asked.node) is FUNCTION else None
        return (told, place.of(asked)) if told is not None else None
    if type(fn) is not ATTR:
        return None
    classes = classes_of(fn.of, place) if place.depth <= DEEPEST else []
    member = classes[0].find(fn.name) if len(classes) == 1 else None
    routine = member[0].routine if member is not None and type(member[0]) is Call else None
    node = routine.node if routine is not None else None
    if routine is None or type(node) is not FUNCTION or len(node.params) != 1 or node.decorators or node.generator:
        return None
    returned = given_back(node.body)
    place.routine.uses.update(classes[0].elsewhere)
    place.routine.uses[routine.home.path, routine.qualname] = None
    return (returned, place.of(routine)) if returned is not None else None


def _function(fn: Node, place: Place) -> Routine | None:
    """The function of a module that takes nothing, and is as it is written or remembers what it once said."""
    called = place.frame.lookup(fn.id) if type(fn) is NAME else None
    if type(fn) is ATTR and type(fn.of) is NAME and type(place.frame.lookup(fn.of.id)) is Source:
        called = held_at(fn, place.frame)
    if type(called) is not Call:
        return None
    routine, node = called.routine, called.routine.node
    if type(node) is not FUNCTION or node.params or node.generator or routine.closure:
        return None
    is_ = place.frame.world.places.is_
    return routine if all(is_("gates", "caches", f"functools.{name}") for name in decorators(called)) else None


def _field(info: ClassInfo, name: str, place: Place) -> tuple[Written, bool] | None:
    """What an attribute is set to where an object is made, and whether that is an option whatever it hangs on: a field,
    and a switch that methods turn."""
    place.routine.uses.update(info.elsewhere)
    if turned_on(info, all_stored(info, name, place), place):
        return None
    every = [(one, [*_assigned(one, name, place)]) for one in info.mro]
    switched = any(assigned.switch for _, found in every for assigned in found)
    for one, found in every:
        fixed = [assigned for assigned in found if not (assigned.switch or (switched and assigned.reset))]
        if fixed:
            assigned = fixed[0] if len(fixed) == 1 else _left_with(one, name, fixed, place)
            if assigned is None or assigned.written is None:
                return None
            if assigned.literal and _is_none(assigned.written[0]) and sum([len(given) for _, given in every]) == 1:
                filled = _may_be_given(info, name, place)  # else by who has the object
                return (assigned.written, True) if not filled else None
            return _made(assigned, switched, one, info, place)
        declared = [*declared_in(one.node, name)]
        if declared:
            flag = switched and _flag(declared[0])
            there = place.of(one.home.top) if one.home.top is not None else place
            told = len(declared) == 1 and not counts(declared[0], one)
            return ((declared[0], there), True) if told and (flag or takes_fields(one)) else None
    alone = [assigned.off for _, found in every for assigned in found]
    return (alone[0], True) if len(alone) == 1 and alone[0] is not None else None


def _handed_in(info: ClassInfo, name: str, place: Place) -> Written | None:
    """The parameter with a default of a method that alone gives an attribute something: whoever asks for that has
    called it, `def __call__(self, scale=4.0): self._scale = scale`."""
    stored = all_stored(info, name, place)
    part, path, routine = stored[0] if len(stored) == 1 else (None, "", None)
    if part is None or routine is None or routine.name in CONSTRUCTORS or _may_be_given(info, name, place):
        return None
    param = _param(bound_to(part, path), routine.node)
    if param is None or type(param.default) is not CONST or not steady(param.name, routine):
        return None
    return core.Name(param.name, part.at), place.of(routine)


def _may_be_given(info: ClassInfo, name: str, place: Place) -> bool:
    """Whether an attribute may come from elsewhere than a method of its class: a class above it, or below it in its
    file, who has the object, or a name that is made up."""
    below = [one for one in info.home.classes if one is not info and info in one.mro]
    if any(any(declared_in(one.node, name)) for one in (*info.mro, *below)):
        return True
    stored = [routine for one in below for routine in place.frame.world.storing(one, name) if routine.owner is one]
    if stored or name in place.callers.of(info.home).set:
        return True
    return any(map(_hands_out, (info, *below)))


def _hands_out(info: ClassInfo) -> bool:
    """Whether a class has attributes of names that nobody sees: `setattr(self, key, value)`, `__getattr__`."""
    if info.hands_out is None:
        info.hands_out = any(map(_gives_any, everything(info.node.body)))
    return info.hands_out


def _gives_any(part: Node) -> bool:
    if type(part) is NAME:
        return part.id == "setattr"
    if type(part) is ATTR:
        return part.name in ("__dict__", "__setattr__") or (part.name == "update" and _is_vars(part.of))
    return type(part) is FUNCTION and part.name == "__getattr__"


def _is_vars(node: Node) -> bool:
    """Whether this is `vars(self)`."""
    return type(node) is CALL and type(node.fn) is NAME and node.fn.id == "vars"


def _left_with(info: ClassInfo, name: str, fixed: list[Assigned], place: Place) -> Assigned | None:
    """What the arms of a constructor leave an attribute with that they assign, and nothing else does."""
    maker = info.members.get("__init__")
    routine = maker.routine if type(maker) is Call else None
    node = routine.node if routine is not None else None
    if routine is None or type(node) is not FUNCTION or any(one.written is None for one in fixed):
        return None
    left = place.callers.left
    if (routine, name) not in left:
        left[routine, name] = left_with(node.body, f"{node.params[0].name}.{name}", None) if node.params else None
    value = left[routine, name]
    return Assigned((_taken(value), place.of(routine)), False, False, False) if value is not None else None


def _made(
    assigned: Assigned, switched: bool, owner: ClassInfo, info: ClassInfo, place: Place
) -> tuple[Written, bool] | None:
    """What the constructor of `owner` sets an attribute of an `info` to."""
    written = assigned.written
    if written is None:
        return None
    if type(written[0]) is CONST:
        return (written, True) if not assigned.literal or (switched and _flag(written[0])) else None
    for one in reversed(info.mro[: info.mro.index(owner)]):
        written = _handed_up(written, one, place)
    return (written, False) if not _given_otherwise(written, info, place) else None


def _given_otherwise(written: Written, info: ClassInfo, place: Place) -> bool:
    """Whether a function of the file makes such an object with something else than what the constructor takes by
    default."""
    node, there = written
    maker, home = there.routine.node, place.callers.home
    if type(node) is CHOOSE:
        return any(_given_otherwise((arm, there), info, place) for arm in (node.yes, node.no))
    param = _param(node, maker)
    if param is None or type(maker) is not FUNCTION or maker.name != "__init__" or not home.own:
        return False
    said = param.default.value if type(param.default) is CONST else None
    other = []
    for call in calls_of(info.name, home):
        nodes = given(call, param, positional(maker)[1:], False)[:1] if not spread(call) else []
        other += [call for value in nodes if type(value) is CONST and value.value != said]
    return bool(other) and not {id(call) for call in other} <= {id(part) for part in walk(home.core.body)}


def _handed_up(written: Written, info: ClassInfo, place: Place) -> Written:
    """What stands for a parameter of a constructor where a class below gives it: `super().__init__(check=True)`."""
    node, there = written
    upper, lower = there.routine.node, info.members.get("__init__")
    param = _param(node, upper)
    if type(lower) is not Call or param is None or type(upper) is not FUNCTION:
        return written
    place.routine.uses[info.home.path, lower.routine.qualname] = None
    for call in walk(lower.routine.node.body):
        if type(call) is CALL and last_name(call.fn) == "__init__":
            nodes = given(call, param, positional(upper), _upwards(call))
            named = [value for key, value in call.keywords if key == param.name]
            if named or (nodes and not any(not key for key, _ in call.keywords)):
                return (*named, *nodes)[0], place.of(lower.routine)
    return written


def _upwards(call: core.Call) -> bool:
    """Whether this is `super().__init__(x)`, and not `Base.__init__(self, x)`."""
    return type(call.fn) is ATTR and type(call.fn.of) is CALL


def _may_be_put_back(part: Node, path: str) -> bool:
    """Whether what is put back by a method may be given so: as a name, or what is written."""
    own = type(part) is BIND and any(path_of(aim) == path for aim in part.targets)
    return not own or (type(part) is BIND and (type(part.value) is NAME or type(part.value) is CONST))


def _param(node: Node | None, function: Node) -> core.Param | None:
    params = function.params if type(function) is FUNCTION else ()
    return next((param for param in params if type(node) is NAME and param.name == node.id), None)


def _assigned(info: ClassInfo, name: str, place: Place) -> Iterator[Assigned]:
    """Each assignment to an attribute, but those of a method that puts back what it was."""
    for part, path, routine in _stored(info, name, place):
        node = routine.node
        if type(node) is FUNCTION and _may_be_put_back(part, path) and put_back(node.body, path):
            continue
        turns = info.world.places.is_("names", "switches", routine.name)
        value = bound_to(part, path)
        param = _param(value, node)
        default = param.default if param is not None and routine.name[:2] != "__" else None
        off = type(default) is CONST and default.value is False  # whoever calls it says so
        switch = off or (turns and (_flag(value) or param is not None))
        made = (_taken(value), place.of(routine)) if routine.name == "__init__" and value is not None else None
        reset = type(value) is CONST and value.value is False and made is None
        told = (default, place.of(routine)) if off and default is not None else None
        yield Assigned(made, type(value) is CONST, switch, reset, told)


def all_stored(info: ClassInfo, name: str, place: Place) -> list[Stored]:
    """The statements that give an attribute a value, of a class and those above it."""
    return [kept for one in info.mro for kept in _stored(one, name, place)]


def _stored(info: ClassInfo, name: str, place: Place) -> list[Stored]:
    """The statements that give an attribute a value."""
    known = place.callers.stored
    for routine in info.world.storing(info, name):
        place.routine.uses[info.home.path, routine.qualname] = None
    if (info, name) not in known:
        known[info, name] = [*_storing(info, name)]
    return known[info, name]


def _storing(info: ClassInfo, name: str) -> Iterator[Stored]:
    for routine in info.world.storing(info, name):
        node = routine.node
        if type(node) is FUNCTION and node.params:
            path = f"{node.params[0].name}.{name}"
            for part in walk(node.body):
                if binds(part) and any(path_of(aim) == path for aim in walk(targets(part))):
                    yield part, path, routine


def _taken(value: Node) -> Node:
    """What is taken out of keyword arguments is what it is where they do not have it."""
    match value:
        case core.Call(fn=core.Attr(of=core.Name(), name="pop" | "get"), args=(core.Const(), default)):
            return default
    return value


def _flag(node: Node | None) -> bool:
    return type(node) is CONST and isinstance(node.value, bool)


def _is_none(node: Node) -> bool:
    return type(node) is CONST and node.value is None
