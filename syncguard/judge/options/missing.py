"""A test for what may be missing in, what is said of it out: a copy that is kept on the host, an entry of a table, what
is empty unless the constructor is given something."""

from __future__ import annotations

from syncguard.infer.branches.meant import binders, plainly
from syncguard.infer.branches.subjects import last_name
from syncguard.judge.around.bound import bound_to, path_of
from syncguard.judge.defaults.carried import read_of
from syncguard.judge.defaults.defaults import Place, bound_before, sources_of
from syncguard.judge.defaults.fields import all_given
from syncguard.judge.options.left_out import without
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, CALL, CHOOSE, CONST, FUNCTION, NAME
from syncguard.read.walk import walk


def missing(test: Node, outcome: bool, place: Place) -> str:
    """What is said of a wait that needs this: that nobody has kept a copy on the host, that a table has an entry which
    few have, or that a list is not empty; '' of any other."""
    match plainly(test, outcome):
        case core.Do(what="is" | "is not" as what, args=(asked, core.Const(value=None))), came:
            there = (what == "is not") is came
            held = _held(asked, place)
            return _entry(held, place) if there else _no_copy(held, place)
        case core.Name() | core.Call() as asked, True if _entry(_held(asked, place), place):
            return _entry(_held(asked, place), place)
        case core.Call(fn=core.Name(id="len"), args=(core.Attr() as kept,)), True:
            return _empty(kept, place)
    return ""


def _held(asked: Node, place: Place) -> Node:
    """What a name of the function is bound to, once, where it asks for that: `sizes = plan.sizes if plan else None`."""
    function = place.routine.node
    if type(function) is not FUNCTION or type(asked) is not NAME:
        return asked
    binds = bound_before(asked, binders(place.routine).get(asked.id, ()), function)
    first = [bind for bind in binds if not _of_itself(bind, asked.id)]
    if len(first) != 1 or any(param.name == asked.id for param in function.params):
        return asked
    value = bound_to(first[0], asked.id) or asked
    if type(value) is not CHOOSE:
        return value
    arms = [arm for arm in (value.yes, value.no) if type(arm) is not CONST or arm.value is not None]
    return arms[0] if len(arms) == 1 else value


def _of_itself(bind: Node, name: str) -> bool:
    """Whether this binds a name to nothing, or to what it makes of what that is: `x = None`, `x = x.flatten()`."""
    value = bound_to(bind, name)
    if type(value) is CONST:
        return value.value is None
    return value is not None and any(type(part) is NAME and part.id == name for part in walk(value))


def _no_copy(held: Node, place: Place) -> str:
    """That there is none of what is named as kept on the host: `plan.sizes_cpu`."""
    if type(held) is not ATTR or not place.frame.world.places.is_("names", "host_tensors", held.name):
        return ""
    return f"only where `{held.path}` is None" if held.path else ""


def _entry(held: Node, place: Place) -> str:
    """That there is an entry which most such tables lack, if these are no batches: `state.get("pending")`."""
    asked = read_of(held) if type(held) is CALL and type(held.fn) is ATTR and not held.keywords else None
    if asked is None or type(asked.default) is not CONST or asked.default.value is not None:
        return ""
    is_, table = place.frame.world.places.is_, path_of(asked.of)
    data = is_("names", "usual", asked.name) or any(
        is_("names", one, last_name(asked.of)) for one in ("batches", "data")
    )
    return f'only where `{table}` has `"{asked.name}"`' if table and not data else ""


def _empty(kept: core.Attr, place: Place) -> str:
    """That there is something in what is empty unless the constructor is given an argument."""
    names = [_needed(node, there, kept, 0) for node, there in all_given(kept, place)]
    found = {name for name in names if name}
    return f"only where `{min(found)}` is given" if len(found) == 1 and None not in names else ""


def _needed(node: Node, place: Place, kept: core.Attr, deep: int) -> str | None:
    """The argument without which an attribute is given nothing; '' where it is given nothing unless it was something
    before, and None of any other."""
    if name := without(node, place):
        return name
    if type(node) is NAME and deep < 2:
        written = sources_of(node, place).written
        return _needed(*written[0], kept, deep + 1) if len(written) == 1 else None
    if type(node) is CHOOSE:
        match plainly(node.test, True):
            case core.Do(what="is" | "is not" as what, args=(core.Attr() as asked, core.Const(value=None))), came:
                if asked.path == kept.path != "":
                    return "" if _is_empty(node.yes if (what == "is") is came else node.no) else None
    return "" if _is_empty(node) else None


def _is_empty(node: Node) -> bool:
    """Whether this is an empty list, or made of one."""
    match node:
        case core.Seq(items=()) | core.Call(args=(core.Seq(items=()), *_)):
            return True
    return False
