"""A node in a loop in, what the loop does to it out: how often it is reached, and whether what it reads stays."""

from __future__ import annotations

import libcst as cst

from syncguard.fix.known import Known
from syncguard.fix.names import loaded, stored
from syncguard.fix.region import Region, inside
from syncguard.fix.steady import steady

Loop = cst.For | cst.While
Comp = cst.ListComp | cst.SetComp | cst.DictComp | cst.GeneratorExp


def around(node: cst.CSTNode, region: Region) -> Loop | Comp | None:
    """The outermost loop or comprehension around a node in its function."""
    found: Loop | Comp | None = None
    child = node
    for held in region.around(node):
        if isinstance(held, cst.FunctionDef | cst.Lambda | cst.ClassDef):
            break
        if (isinstance(held, Loop) and held.body is child) or isinstance(held, Comp):
            found = held
        child = held
    return found


def skipped(node: cst.CSTNode, loop: Loop | Comp, region: Region) -> bool:
    """Whether an iteration may pass a node by: read before the loop, it would be read for nothing."""
    for held in region.around(node):
        if held is loop:
            return False
        if isinstance(held, cst.If | cst.IfExp | cst.BooleanOperation | cst.Lambda | cst.Try):
            return True
    return False


def changing(keys: list[cst.BaseExpression], loop: Loop | Comp, region: Region) -> bool:
    """Whether a key is bound in the loop: another element each time."""
    bound = {node.value for node in region.places if isinstance(node, cst.Name) and within(node, loop, region)}
    names = {name for key in keys for name in loaded(region, key)}
    return bool(names & bound) and any(bound_in(name, loop, region) for name in names)


def unchanged(base: cst.BaseExpression, loop: Loop | Comp, region: Region, known: Known) -> str:
    """Whether what is in a tensor before a loop is there in all of its turns, as `steady` says."""
    return steady(base, inside(loop), region, known)


def within(node: cst.CSTNode, holder: cst.CSTNode, region: Region) -> bool:
    return any(held is holder for held in region.around(node))


def bound_in(name: str, loop: cst.CSTNode, region: Region) -> bool:
    return any(within(node, loop, region) and stored(region, node) for node in region.names.get(name, ()))
