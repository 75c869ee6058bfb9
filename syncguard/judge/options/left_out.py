"""A test in, the argument out that a call must leave out, or give, or give as no tensor, for it to come out so."""

from __future__ import annotations

from typing import Final

from syncguard.infer.branches.above import asked_above
from syncguard.infer.branches.instances import kinds_of
from syncguard.infer.branches.meant import answer, binders, plainly
from syncguard.infer.branches.passing import given, none_if_left, positional, unpacks
from syncguard.infer.branches.subjects import dotted
from syncguard.infer.branches.ungiven import lacks, private
from syncguard.infer.domain.values import NONE, UNKNOWN, Call, Named, Seq, Tensor, Value, options
from syncguard.infer.functions.annotations import promised
from syncguard.infer.project import World
from syncguard.infer.routine import Frame, Routine
from syncguard.infer.sightings import Sighting
from syncguard.judge.around.calling import Callers, call_at
from syncguard.judge.defaults.defaults import DEEPEST, Place, bound_before, is_data, may_be_data, sources_of
from syncguard.judge.options.leading import tests_around
from syncguard.read import core
from syncguard.read.core import Node, Param
from syncguard.read.tags import BIND, CALL, CHOOSE, CONST, FUNCTION, IF, NAME, SEQ
from syncguard.read.walk import around, walk
from syncguard.terms import Fact

KINDS: Final = {
    "int": "an int",
    "float": "a float",
    "str": "a text",
    "list": "a list",
    "tuple": "a tuple",
    "dict": "a dict",
}
WRAPS: Final = ("torch.as_tensor", "torch.asarray")


def left_out(test: Node, outcome: bool, place: Place) -> str:
    """What is said of a wait that needs an argument of data to be left out, or one to be given that is not among those
    that most calls give, or one to be no tensor that may be one; '' of any other. To call otherwise is to avoid it."""
    match plainly(test, outcome):
        case core.Do(what="is" | "is not" as what, args=(core.Name() as asked, core.Const(value=None))), came:
            return _nothing(asked, (what == "is not") is came, place)
        case core.Do(what="is" | "is not" as what, args=(core.Attr() as kept, core.Const(value=None))), came:
            return _never_kept(kept, place) if (what == "is not") is came else ""
        case core.Call() as call, False:
            return _no_tensor(_asked_for(call, place.frame), place)
        case core.Call(fn=core.Name(id="isinstance"), args=(core.Name() as asked, kinds)), True:
            return _of_python(asked, kinds, place)
        case core.Name() as asked, came:
            return _flagged(asked, came, place)
    return ""


def as_number(sighting: Sighting, routine: Routine, callers: Callers, world: World) -> tuple[Fact, ...]:
    """The same of what is wrapped as a tensor, if it is an argument that may be one: `torch.as_tensor(step, ..)`. A
    tensor is there already."""
    if sighting.op not in WRAPS or sighting.hazard != "host-data":
        return ()
    call = call_at(sighting.at, routine)
    first = call.args[0] if call is not None and call.args else None
    if type(first) is not NAME:
        return ()
    place = Place(Frame(world, routine, {}), callers)
    text = _no_tensor(first, place) or _handed_on(first, place)
    return (Fact(text, sighting.at[0]),) if text else ()


def _handed_on(asked: core.Name, place: Place) -> str:
    """The same of an argument of a private function, where every call of it hands on such a one of its own."""
    routine, node = place.routine, place.routine.node
    if type(node) is not FUNCTION or not private(routine) or node.decorators or asked_above(routine):
        return ""
    param = next((one for one in node.params if one.name == asked.id), None)
    if param is None or bound_before(asked, binders(routine).get(asked.id, ()), node):
        return ""
    told: list[str] = []
    for made in place.callers.named(routine.name):
        values = given(made.call, param, positional(node), routine.owner is not None)
        value = values[0] if len(values) == 1 else None
        there = Place(Frame(place.frame.world, made.caller, {}), place.callers)
        told.append(_no_tensor(value, there) if type(value) is NAME else "")
    return told[0] if len(set(told)) == 1 else ""


def _nothing(asked: core.Name, given: bool, place: Place) -> str:
    """The same of a test whether an argument is there."""
    param = _still(asked, place)
    if param is None:
        return ""
    if param.default is None and param.kind in ("positional", "keyword"):
        may_be = given and (_may_be_none(param, place.frame) or _left_above(param.name, place))
        few = may_be and not _usual(param, place.frame)
        return f"only where `{asked.id}` is {'not None' if given else 'None'}" if few or not given else ""
    if not none_if_left(param) or (given and _usual(param, place.frame)) or not may_be_data(param, place.frame):
        return ""
    return f"only where `{asked.id}` is {'given' if given else 'not given'}"


def _never_kept(asked: core.Attr, place: Place) -> str:
    """The same of an attribute that is nothing unless the constructor is given an argument: `self.weight = weight`."""
    written = sources_of(asked, place).written
    names = [without(*one) for one in written]
    found = [name for name in dict.fromkeys(names) if name]
    return f"only where {' or '.join([f'`{name}`' for name in found])} is given" if found and all(names) else ""


def without(node: Node, place: Place) -> str:
    """The argument of a constructor, few of whose callers give it, without which an expression in it is None."""
    if type(node) is CHOOSE:
        for outcome, other in ((True, node.no), (False, node.yes)):
            name = _given_by(node.test, outcome, place)
            if name and (without(other, place) == name or (type(other) is CONST and other.value is None)):
                return name
    if type(node) is not NAME or place.routine.name != "__init__":
        return ""
    sources = sources_of(node, place)
    if not sources.option:  # it stands for what was made of it
        return next((without(*one) for one in sources.written), "")
    param = _param(node.id, place.routine)
    few = param is not None and none_if_left(param) and not _usual(param, place.frame)
    return node.id if few else ""


def _given_by(test: Node, outcome: bool, place: Place) -> str:
    """The argument that a constructor must be given for a test to come out so."""
    asked = {part.id: part for part in walk(test) if type(part) is NAME}
    return next((name for name, node in asked.items() if lacks(test, outcome, name) and without(node, place)), "")


def _still(asked: core.Name, place: Place) -> Param | None:
    """The parameter that is there where it is asked for, or is not, as the call has it."""
    routine, node = place.routine, place.routine.node
    param = _param(asked.id, routine) or _passed_on(asked.id, place)
    if type(node) is not FUNCTION or bound_before(asked, _changing(asked.id, routine), node):
        return None
    return param


def _passed_on(name: str, place: Place) -> Param | None:
    """The parameter of this name of a private function, where every call of it in the file hands on such a one of its
    own, which others may leave out."""
    routine = place.routine
    if not private(routine) or not _left_above(name, place):
        return None
    params = routine.node.params if type(routine.node) is FUNCTION else ()
    return next((one for one in params if one.name == name and none_if_left(one)), None)


def _left_above(name: str, place: Place) -> bool:
    """Whether every call of a function in its file hands on such a parameter of its own, which others may leave out."""
    routine, node = place.routine, place.routine.node
    if type(node) is not FUNCTION or node.decorators or place.depth > DEEPEST or asked_above(routine):
        return False
    param = next((one for one in node.params if one.name == name), None)
    calls = place.callers.named(routine.name) if param is not None else ()
    handing = False
    for made in calls:
        values = given(made.call, param, positional(node), routine.owner is not None) if param is not None else []
        if not values and param is not None and none_if_left(param) and not unpacks(made.call):
            continue  # it leaves it out
        handing = True
        value = values[0] if len(values) == 1 else None
        own = _still(value, place.of(made.caller)) if type(value) is NAME and made.caller is not routine else None
        if own is None or not none_if_left(own):
            return False
    return handing


def _may_be_none(param: Param, frame: Frame) -> bool:
    """Whether a parameter is declared to be something, or None."""
    declared = promised(param.annotation, frame, "assumed") if param.annotation is not None else UNKNOWN
    return any(option is NONE for option in options(declared))


def _usual(param: Param, frame: Frame) -> bool:
    """Whether most calls give an argument, by its name."""
    return frame.world.places.is_("names", "usual", param.name) and not _listed(param, frame)


def _flagged(asked: core.Name, outcome: bool, place: Place) -> str:
    """The same of a flag that is set where one of some arguments is given: `if x is not None: deep = True`."""
    routine = place.routine
    binds = binders(routine).get(asked.id, ())
    flags = [part for part in binds if type(part) is BIND and type(part.value) is CONST]
    if not flags or len(flags) < len(binds) or _param(asked.id, routine) is not None:
        return ""
    names: list[str] = []
    for bind in flags:
        value = bind.value.value if type(bind.value) is CONST else None
        if type(value) is not bool:
            return ""
        if value is outcome:
            names.append(_given_before(bind, place))
    if not names or "" in names:
        return ""
    return f"only where {' or '.join([f'`{name}`' for name in dict.fromkeys(names)])} is given"


def _given_before(bind: core.Bind, place: Place) -> str:
    """The argument that the innermost test around a statement asks to be given, though few give it."""
    node = place.routine.node
    tests = [*dict(tests_around(node.body, bind.at)).values()] if type(node) is FUNCTION else []
    if not tests:
        return ""
    match plainly(*tests[-1]):
        case core.Name() as asked, True:
            param = _still(asked, place)
        case core.Do(what="is" | "is not" as what, args=(core.Name() as asked, core.Const(value=None))), outcome:
            param = _still(asked, place) if (what == "is not") is outcome else None
        case _:
            return ""
    return param.name if param is not None and none_if_left(param) and not _usual(param, place.frame) else ""


def _no_tensor(asked: core.Name | None, place: Place) -> str:
    """The same of a test whether an argument is a tensor: it may be one, or a number."""
    routine, node = place.routine, place.routine.node
    if asked is None or type(node) is not FUNCTION:
        return ""
    binds = bound_before(asked, binders(routine).get(asked.id, ()), node)
    first = binds[0] if len(binds) == 1 else None
    if type(first) is BIND and type(first.value) is NAME:  # `timesteps = timestep`
        asked, binds = first.value, bound_before(first, binders(routine).get(first.value.id, ()), node)
    param = _param(asked.id, routine) if not binds else None
    if param is None:
        return ""
    declared = promised(param.annotation, place.frame, "assumed") if param.annotation is not None else UNKNOWN
    alone = len({type(one) is Tensor for one in _kinds(declared)}) == 1  # else it may be a tensor or not
    return "" if alone else f"only where `{asked.id}` is no tensor"


def _of_python(asked: core.Name, kinds: Node, place: Place) -> str:
    """The same of a test whether an argument is of one of Python's own types, that is none unless it is given."""
    param = _still(asked, place)
    named = kinds.items if type(kinds) is SEQ else (kinds,)
    words = [KINDS.get(kind.id, "") if type(kind) is NAME else "" for kind in named]
    if param is None or not none_if_left(param) or not all(words):
        return ""
    return f"only where `{asked.id}` is {' or '.join(words)}"


def _asked_for(call: core.Call, frame: Frame) -> core.Name | None:
    """The name that a call asks of whether it is a tensor, itself or by a function that only asks so."""
    asked = _asks_type(call, frame)
    called = frame.lookup(call.fn.id) if type(call.fn) is NAME and asked is None and len(call.args) == 1 else None
    routine = called.routine if type(called) is Call else None
    told = answer(routine.node) if routine is not None else None
    if routine is None or type(told) is not CALL or type(routine.node) is not FUNCTION or call.keywords:
        return asked
    within = _asks_type(told, Frame(frame.world, routine, {}))
    first = call.args[0]
    alone = within is not None and [param.name for param in routine.node.params] == [within.id]
    return first if alone and type(first) is NAME else None


def _asks_type(call: core.Call, frame: Frame) -> core.Name | None:
    """The same of `torch.is_tensor(x)`, `isinstance(x, torch.Tensor)`, of what may be something else as well."""
    match call:
        case core.Call(fn=core.Name(id="isinstance"), args=(core.Name() as asked, kinds)):
            named = kinds_of(kinds, frame)
            return asked if any(type(one) is Named and frame.world.is_tensor_type(one.name) for one in named) else None
        case core.Call(fn=core.Attr() as fn, args=(core.Name() as asked,)):
            return asked if frame.world.is_type_test(dotted(fn, frame)) else None
    return None


def _param(name: str, routine: Routine) -> Param | None:
    """The parameter of this name of a function that others may call."""
    node = routine.node
    params = node.params if type(node) is FUNCTION and not private(routine) else ()
    return next((param for param in params if param.name == name), None)


def _changing(name: str, routine: Routine) -> tuple[Node, ...]:
    """What may bind a name to something where it was nothing: `if x is not None: x = x == 1` leaves that as it was."""
    kept = [part for part in walk(routine.node.body) if type(part) is IF and lacks(part.test, True, name)]
    arms = [part.at for held in kept for part in held.body]
    binds = binders(routine).get(name, ())
    return tuple([bind for bind in binds if not any(around(at, bind.at) for at in arms)])


def _listed(param: Param, frame: Frame) -> bool:
    """Whether a parameter is declared to be a list that is no batch: most data are tensors."""
    kinds = _kinds(promised(param.annotation, frame, "assumed")) if param.annotation is not None else []
    return bool(kinds) and all(type(one) is Seq and not is_data(one) for one in kinds)


def _kinds(declared: Value) -> list[Value]:
    return [option for option in options(declared) if option is not NONE and option is not UNKNOWN]
