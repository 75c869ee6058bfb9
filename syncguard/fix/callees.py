"""A call of a function of this file and one of its arguments in, whether the function needs that as a number out."""

from __future__ import annotations

import libcst as cst

from syncguard.fix.known import Known
from syncguard.fix.locate import Unanchored, parsed
from syncguard.fix.names import reads
from syncguard.fix.region import Region
from syncguard.read import core

# What makes a number of what it is given, or waits until it is there.
COUNTERS = frozenset(
    "range int float bool len min max round print str full new_full arange randint zeros ones empty rand randn "
    "new_zeros new_ones new_empty view reshape expand repeat narrow linspace roll chunk".split()
)


def asks(call: cst.Call, arg: cst.Arg, region: Region, known: Known) -> bool:
    """Whether a function of this file that may be the one that is called tests, counts with, or prints the argument."""
    name = call.func.attr.value if isinstance(call.func, cst.Attribute) else getattr(call.func, "value", "")
    made = [one.node for one in known.home.routines if type(one.node) is core.Function]
    return any(_needs(node, call, arg, region) for node in made if node.name == name)


def _needs(node: core.Function, call: cst.Call, arg: cst.Arg, region: Region) -> bool:
    try:
        other = parsed(region.path, region.lines, node.at[0], node.at[2])
    except Unanchored:
        return True
    found = next((held for held in other.places if isinstance(held, cst.FunctionDef)), None)
    if found is None:
        return True
    params = [*found.params.params, *found.params.kwonly_params]
    bound = isinstance(call.func, cst.Attribute) and bool(params) and params[0].name.value in ("self", "cls")
    here = [*call.args].index(arg) + bound
    names = [param.name.value for param in params]
    name = arg.keyword.value if arg.keyword is not None else names[here] if here < len(names) else ""
    return name not in names or _told(name, found, other, 3)


def _told(name: str, function: cst.FunctionDef, region: Region, depth: int) -> bool:
    """Whether a variable, or one that is computed from it, is asked for a number."""
    for use in reads(region, function, name):
        if asked(use, region):
            return True
        small = next((held for held in region.around(use) if isinstance(held, cst.Assign)), None)
        target = small.targets[0].target if small is not None else None
        if (
            depth
            and isinstance(target, cst.Name)
            and target.value != name
            and _told(target.value, function, region, depth - 1)
        ):
            return True
    return False


def asked(use: cst.CSTNode, region: Region) -> bool:
    """Whether a use wants a number: a test, a key, the bound of a slice, an argument of a counter."""
    child = use
    for held in region.around(use):
        match held:
            case cst.If() | cst.While() | cst.IfExp() | cst.Assert() if child is held.test:
                return True
            case cst.BooleanOperation() | cst.Index() | cst.Slice() | cst.FormattedStringExpression():
                return True
            case cst.Arg():
                call = region.parent(held)
                if isinstance(call, cst.Call) and _called(call) in COUNTERS:
                    return True
            case cst.BaseSmallStatement() | cst.BaseStatement():
                return False
        child = held
    return False


def _called(call: cst.Call) -> str:
    return call.func.attr.value if isinstance(call.func, cst.Attribute) else getattr(call.func, "value", "")
