"""A test in, the argument out that a call must leave out, or give, for it to come out so."""

from __future__ import annotations

from syncguard.infer.branches.meant import binders, plainly
from syncguard.infer.branches.ungiven import private
from syncguard.infer.domain.values import NONE, UNKNOWN, Seq, options
from syncguard.infer.functions.annotations import promised
from syncguard.judge.defaults import Place, bound_before, is_data, may_be_data
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import CONST, FUNCTION


def left_out(test: Node, outcome: bool, place: Place) -> str:
    """What is said of a wait that needs an argument of data to be left out, or one to be given that is not among those
    that most calls give; '' of any other."""
    match plainly(test, outcome):
        case core.Do(what="is" | "is not" as what, args=(core.Name(id=name) as asked, core.Const(value=None))), came:
            given = (what == "is not") is came
        case _:
            return ""
    routine, node, places = place.routine, place.routine.node, place.frame.world.places
    params = node.params if type(node) is FUNCTION and not private(routine) else ()
    param = next((param for param in params if param.name == name), None)
    if param is None or type(param.default) is not CONST or param.default.value is not None:
        return ""
    if type(node) is not FUNCTION or bound_before(asked, binders(routine).get(name, ()), node):
        return ""
    usual = given and places.is_("names", "data", name) and not _listed(param, place)
    if usual or not may_be_data(param, place.frame):
        return ""
    return f"only where `{name}` is {'given' if given else 'not given'}"


def _listed(param: core.Param, place: Place) -> bool:
    """Whether a parameter is declared to be a list or the like, that is no batch: most data are tensors."""
    declared = promised(param.annotation, place.frame, "assumed") if param.annotation is not None else UNKNOWN
    kinds = [option for option in options(declared) if option is not NONE]
    return bool(kinds) and all(type(one) is Seq and not is_data(one) for one in kinds)
