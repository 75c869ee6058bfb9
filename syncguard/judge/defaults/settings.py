"""A test in, whether it asks for a setting out: for what must be set somewhere, though nobody sees what it is by
default."""

from __future__ import annotations

import re
from typing import Any, Final

from syncguard.infer.branches.arms import steady
from syncguard.infer.branches.meant import answer, as_test, plainly
from syncguard.infer.branches.subjects import last_name
from syncguard.infer.branches.ungiven import private
from syncguard.infer.domain.values import Call, Host
from syncguard.infer.functions.annotations import promised
from syncguard.infer.routine import Routine
from syncguard.judge.defaults.answered import answer_of
from syncguard.judge.defaults.carried import Asked, carried, read_of
from syncguard.judge.defaults.classes import classes_of
from syncguard.judge.defaults.declared import off_at_first
from syncguard.judge.defaults.defaults import DEEPEST, Place, is_carrier, keywords_of, passed_to, sources_of
from syncguard.judge.defaults.fields import all_given, has, takes
from syncguard.judge.defaults.settled import SPELLINGS, outcome_of, told_of
from syncguard.read import core
from syncguard.read.core import Node, Param
from syncguard.read.tags import ATTR, BIND, CALL, CHOOSE, CONST, DO, EITHER, FUNCTION, IF, INDEX, LEAVE, NAME
from syncguard.read.walk import everything, walk

ASKS: Final = ("truth", "not")
VERSION: Final = "torch.__version__"
OLDER: Final = re.compile(r"torch\s*<")
FEW: Final = (0, 1)  # what a number is that asks for nothing
USUAL: Final = "default"  # the text that asks for nothing
OFF: Final = (USUAL, "disabled", "off", "no")  # those of which any other asks for something


def asks(test: Node, outcome: bool, place: Place) -> bool:
    """Whether a test comes out so only where settings say so: what is not set is no, none, nothing."""
    known, key = place.callers.asked, (id(test), outcome, place.routine, place.depth, place.only)
    if key not in known:
        known[key] = (
            test,
            _asks(*plainly(test, outcome), place),
        )  # with the node, or its identity may become another's
    return known[key][1]


def _asks(test: Node, outcome: bool, place: Place) -> bool:
    match test:
        case core.Either(what=what, operands=operands):
            each = [asks(operand, outcome, place) or _off(operand, outcome, place) for operand in operands]
            return all(each) if (what == "or") is outcome else any(each)
        case core.Do(what="is" | "is not" as what, args=(left, core.Const(value=None))):
            return (what == "is not") is outcome and _setting(left, place)
        case core.Do(what="==" | "!=" | "is" | "is not" as what, args=(left, core.Const(value=value))):
            equal, text = (what in ("==", "is")) is outcome, isinstance(value, str)
            few = value == USUAL or (value in FEW and not isinstance(value, bool))
            asked = value is not False and not few if equal else few or value is False or value in OFF
            asked = asked and (text or _item(left) is None)  # a number of several is a size
            chosen = text or (type(left) is ATTR and isinstance(value, int | float) and equal)
            return asked and value != "" and (_setting(left, place, chosen) or (text and _answered(left, place)))
        case core.Do(what="==" | "in", args=(left, right)) if outcome and _names(right):
            return not carried(right, is_carrier(place)) and _setting(left, place, text=True)
        case core.Do(what="in", args=(core.Const(value=str()), right)):
            return outcome and (carried(right, is_carrier(place)) or _takes(right))
        case core.Do(what="<" | "<=" | ">" | ">=" as what, args=(left, _)) if _is_version(left):
            return ("<" in what) is outcome
        case core.Do(what=">" | "<=" as what, args=(left, core.Const(value=value))):
            return value in FEW and (what == ">") is outcome and _item(left) is None and _setting(left, place)
        case core.Call(fn=core.Attr(of=left, name="startswith" | "endswith"), args=(core.Const(value=str()),)):
            return outcome and _setting(left, place, text=True)
        case core.Name() | core.Attr() | core.Call() | core.Index():
            if outcome:
                return _setting(test, place) or _answered(test, place) or _asked_by(test, place)
            return _outdated(test, place) or _leads_out(test, place)
    return False


def _takes(node: Node) -> bool:
    """Whether this is what a function takes: to have an argument of some name is asked of those that few have."""
    if type(node) is CALL and type(node.fn) is NAME and len(node.args) == 1:  # `set(..)`
        return _takes(node.args[0])
    if type(node) is CALL and type(node.fn) is ATTR and node.fn.name == "keys":
        return _takes(node.fn.of)
    if type(node) is not ATTR or node.name != "parameters" or type(node.of) is not CALL:
        return False
    return last_name(node.of.fn) == "signature"


def _answered(node: Node, place: Place) -> bool:
    """Whether a setting is asked by a call, `settings.exact.on()`, whose answer nobody sees."""
    if type(node) is not CALL or type(node.fn) is not ATTR or node.args or node.keywords:
        return False
    return _setting(node.fn, place) and answer_of(node, place) is None


def _asked_by(node: Node, place: Place) -> bool:
    """Whether a function of one line asks so of what it is given: `uses_replay(config)`."""
    if type(node) is not CALL or type(node.fn) is not NAME or len(node.args) != 1 or node.keywords:
        return False
    name, routine = node.fn.id, place.routine
    called = place.frame.lookup(name)
    outer = routine.qualname.rpartition(".")[0] if routine.closure else ""
    beside = [one for one in routine.home.routines if one.qualname == f"{outer}.{name}"] if outer else []
    asked = beside[0] if len(beside) == 1 else called.routine if type(called) is Call else None
    told = answer(asked.node) if asked is not None else None
    if asked is None or told is None or type(asked.node) is not FUNCTION or len(asked.node.params) != 1:
        return False
    routine.uses[asked.home.path, asked.qualname] = None
    test = as_test(told) or core.Do("truth", (told,), told.at)
    return place.depth <= DEEPEST and not asked.node.decorators and asks(test, True, place.of(asked))


def _is_version(node: Node) -> bool:
    """Whether this is the version of torch: what asks for an older one asks for what few have."""
    return type(node) in (ATTR, CALL) and any(type(part) is ATTR and part.path == VERSION for part in walk(node))


def _outdated(node: Node, place: Place) -> bool:
    """Whether a name says no where torch is older than it asks for."""
    written = sources_of(node, place).written if type(node) is NAME else ()
    told = [(one, there) for one, there in written if type(one) is DO and one.args and _is_version(one.args[0])]
    return bool(told) and len(told) == len(written) and all(asks(one, False, there) for one, there in told)


def _leads_out(node: Node, place: Place) -> bool:
    """Whether a setting says which of two ways a function goes, and this one is that of another function, whose result
    it gives back at once: `if cfg.plans: return self.plan(x)`."""
    asked, function = read_of(node) if type(node) is ATTR else None, place.routine.node
    if asked is None or type(function) is not FUNCTION or not _carried(asked, place):
        return False
    tests = [part for part in function.body if type(part) is IF and part.test.at == node.at and not part.orelse]
    last = tests[0].body[-1] if tests else None
    given = last.value if type(last) is LEAVE and last.what == "return" else None
    me = function.params[0].name if function.params and place.routine.owner is not None else ""
    calls = [part.fn for part in walk(given) if type(part) is CALL] if given is not None else []
    return any(type(fn) is NAME or (type(fn) is ATTR and fn.path == f"{me}.{fn.name}") for fn in calls)


def _requires(node: Node) -> bool:
    """Whether this asks for an older torch by a text: `RequirementCache("torch<2.6")`."""
    asked = node.args[0] if type(node) is CALL and len(node.args) == 1 else None
    return type(asked) is CONST and isinstance(asked.value, str) and bool(OLDER.match(asked.value))


def _whether(node: Node, place: Place) -> bool:
    """Whether a function is asked whether something is on that a program must turn on: `is_fsdp_enabled()`."""
    if type(node) is not CALL or node.args or node.keywords:
        return False
    name, is_ = last_name(node.fn), place.frame.world.places.is_
    return is_("names", "asks_whether", name) and not is_("names", "modes", name)


def _spreads(node: Node, place: Place) -> bool:
    """Whether a function is asked over how many devices a model is spread: `get_context_parallel_world_size()`."""
    if type(node) is not CALL or node.args:
        return False
    return place.frame.world.places.is_("names", "spreads", last_name(node.fn))


def _off(test: Node, outcome: bool, place: Place) -> bool:
    """Whether a test comes out the other way by default."""
    told = outcome_of(test, place)
    return told is not None and bool(told.by) and told.value is not outcome


def _names(node: Node) -> bool:
    """Whether this is one of several that have a name: `Mode.FAST`, `MODES.fast`, `"fast"`, or some of these."""
    match node:
        case core.Seq(items=items):
            return bool(items) and all(map(_names, items))
        case core.Const(value=value):
            return isinstance(value, str) and bool(value)
        case core.Attr(of=core.Name(id=of) | core.Attr(name=of), name=name):
            return of[:1].isupper() and (name.isupper() or (of.isupper() and len(of) > 1))
    return False


def _setting(node: Node, place: Place, text: bool = False, kept: bool = False) -> bool:
    """Whether this is a setting, or stands for some; one that is compared with a text is a choice, and what an object
    keeps may be another text."""
    if place.depth > DEEPEST:
        return False
    if type(node) is EITHER or type(node) is DO:
        return asks(node, True, place) or _off(node, True, place)
    if type(node) is CHOOSE:
        arms = [arm for arm in (node.yes, node.no) if not (_is_nothing(arm) or (text and kept and _is_text(arm)))]
        return bool(arms) and all(_setting(arm, place, text, kept) for arm in arms)
    if _requires(node) or _whether(node, place) or _spreads(node, place):
        return True
    if type(node) is CALL and type(node.fn) is ATTR and node.fn.name in SPELLINGS and not node.args:
        return _setting(node.fn.of, place, text, kept)
    asked = read_of(node)
    if asked is not None and (_carried(asked, place) or (text and _in_rest(asked.of, place))):
        return True
    if text and type(node) is INDEX and type(node.of) is CALL:
        return _comes_back(node.of, place)
    if (item := _item(node)) is not None:
        return _setting(item, place)
    written = sources_of(node, place).written
    if written:
        return all(_setting(*one, text, kept or type(node) is ATTR) for one in written)
    kept_as = node if type(node) is ATTR else _fetched(node)
    if kept_as is not None:
        given = [one for one in all_given(kept_as, place) if type(one[0]) is not CONST or one[0].value]
        if given:
            return all(_setting(*one, text, kept=True) for one in given)
        return (text and _is_way(kept_as, place)) or _left_to_heirs(kept_as, place)
    return type(node) is NAME and _chosen(node.id, place, text)


def _fetched(node: Node) -> core.Attr | None:
    """The attribute that a call asks for by its name, which is nothing where it is not there:
    `getattr(self, "exact", False)`."""
    match node:
        case core.Call(
            fn=core.Name(id="getattr"), args=(of, core.Const(value=str() as name), core.Const(value=default))
        ):
            return core.Attr(of, name, "", node.at) if not default else None
    return None


def _left_to_heirs(node: core.Attr, place: Place) -> bool:
    """Whether a class asks its object for what only those that take it in can give that: it has no constructor, and no
    method of it does, nor anything above it."""
    if type(node.of) is not NAME or node.name in place.callers.set:
        return False
    every = classes_of(node.of, place)
    return bool(every) and not any(
        one.bases or one.find("__init__") is not None or has(one, node.name) for one in every
    )


def _is_way(node: core.Attr, place: Place) -> bool:
    """Whether what an object was made with says which of several it does, and its class does not: `loss.reduction`."""
    known = any(has(info, node.name) for info in classes_of(node.of, place))
    return not known and node.name not in place.callers.set and place.frame.world.places.is_("names", "ways", node.name)


def _is_text(node: Node) -> bool:
    """Whether this is a text, or one of several: what is compared with another one is chosen otherwise."""
    if type(node) is CHOOSE:
        return _is_text(node.yes) and _is_text(node.no)
    return type(node) is CONST and isinstance(node.value, str)


def _is_nothing(node: Node) -> bool:
    return type(node) is CONST and not node.value


def _item(node: Node) -> Node | None:
    """What this is an item of, by a number, or is made by one: `cfg.gates[0]`, `cfg.schedules[0](net)`."""
    index = node.fn if type(node) is CALL else node
    if type(index) is not INDEX or (type(index.of) is not ATTR and type(index.of) is not INDEX):
        return None
    named = type(index.key) is CONST and isinstance(index.key.value, str)
    return index.of if not named else None


def _comes_back(call: core.Call, place: Place) -> bool:
    """Whether what a call gives back under the name of a parameter is what it was given: `x, how = checked(x, how)`."""
    names = {arg.id for arg in call.args if type(arg) is NAME and arg.id in place.given}
    modes = [name for name in names if place.frame.world.places.is_("names", "modes", name)]
    return bool(names) and not modes and not private(place.routine)


def _in_rest(of: Node, place: Place) -> bool:
    """Whether this holds the arguments that have no parameter of their own: `kwargs["mode"]`."""
    return type(of) is NAME and of.id in keywords_of(place.routine)


def _carried(asked: Asked, place: Place) -> bool:
    """Whether this is read from what holds settings, which the file does not turn itself."""
    if asked.name in place.callers.turned or place.frame.world.places.is_("names", "modes", asked.name):
        return False
    of = asked.of
    if not carried(of, is_carrier(place)):
        return False
    known = [info for info in classes_of(of, place) if has(info, asked.name)]
    if known and (asked.name in place.callers.set or not all(off_at_first(info, asked.name) for info in known)):
        return False
    return type(of) is not ATTR or all(takes(info, of.name) for info in classes_of(of.of, place))


def _chosen(name: str, place: Place, text: bool) -> bool:
    """Whether this is a parameter that everybody must give who calls from without, one of a few; of yes and no if an
    object keeps it: what a call is told of its data is said so as well."""
    node = place.routine.node
    if type(node) is not FUNCTION or private(place.routine) or not steady(name, place.routine):
        return False
    param = next((param for param in node.params if param.name == name), None)
    if param is None or param.default is not None or param.kind not in ("positional", "keyword"):
        return False
    if place.frame.world.places.is_("names", "modes", name):
        return False
    if text or node.name != "__init__":
        return text or _handed(param, place)
    if param.annotation is None:
        return _only_tested(name, place.routine)
    declared: Any = promised(param.annotation, place.frame, "assumed")
    return type(declared) is Host and declared.kind == "bool"


def _handed(param: Param, place: Place) -> bool:
    """Whether a method that is no step by its name is called as one of the same object, and each time given what is off
    by default; or a function, and that is no None, which may stand for data."""
    routine = place.routine
    name, places = routine.name, place.frame.world.places
    if name.endswith("__") or routine.closure or places.each_step(name) or places.is_("hot", "module_methods", name):
        return False
    calls = place.callers.named(name) if routine.home is place.callers.home else ()
    own = routine.owner is not None
    if own and not all(type(made.call.fn) is ATTR and made.call.fn.path == f"self.{name}" for made in calls):
        return False
    given = [told_of(*one) for one in passed_to(param, place)]
    off = [told for told in given if told is not None and told.by and not told.value]
    return bool(given) and len(off) == len(given) and (own or all(told.value is not None for told in off))


def _only_tested(name: str, maker: Routine) -> bool:
    """Whether a constructor keeps what it is given in an attribute of which its class asks nothing but yes or no."""
    binds = [part for part in walk(maker.node.body) if type(part) is BIND]
    kept = {
        target.path
        for bind in binds
        for target in bind.targets
        if type(target) is ATTR and type(bind.value) is NAME and bind.value.id == name
    }
    pieces = everything(maker.owner.node.body) if maker.owner is not None and kept else []
    bound = {id(target) for part in pieces if type(part) is BIND for target in part.targets}
    tested = {id(arg) for part in pieces if type(part) is DO and part.what in ASKS for arg in part.args}
    reads = [part for part in pieces if type(part) is ATTR and part.path in kept and id(part) not in bound]
    return bool(reads) and all(id(part) in tested for part in reads)
