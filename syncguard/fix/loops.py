"""A node in a loop in, what the loop does to it out: how often it is reached, and whether what it reads stays."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from syncguard.fix.known import Known
from syncguard.fix.names import loaded, stored
from syncguard.fix.region import Region

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


def unchanged(base: cst.Name | cst.Attribute, loop: Loop | Comp, region: Region, known: Known) -> bool:
    """Whether nothing in the loop binds or writes a tensor, or hands it to somebody who may."""
    root: cst.BaseExpression = base
    while isinstance(root, cst.Attribute):
        root = root.value
    if not isinstance(root, cst.Name) or bound_in(root.value, loop, region):
        return False
    for node in inside(loop, region):
        if not isinstance(node, cst.Name | cst.Attribute) or not node.deep_equals(base):
            continue
        held = region.parent(node)
        if isinstance(held, cst.Attribute) and held.value is node:
            call = region.parent(held)
            if isinstance(call, cst.Call) and held.attr.value.endswith("_"):
                return False
        if isinstance(held, cst.Subscript) and isinstance(region.parent(held), cst.AssignTarget | cst.AugAssign):
            return False
        if isinstance(held, cst.AugAssign | cst.AssignTarget):
            return False
        if isinstance(held, cst.Arg) and isinstance(call := region.parent(held), cst.Call) and not known.callee(call):
            return False
    return True


def inside(holder: cst.CSTNode, region: Region) -> Iterator[cst.CSTNode]:
    todo = [holder]
    while todo:
        node = todo.pop()
        yield node
        todo += node.children


def within(node: cst.CSTNode, holder: cst.CSTNode, region: Region) -> bool:
    return any(held is holder for held in region.around(node))


def bound_in(name: str, loop: cst.CSTNode, region: Region) -> bool:
    return any(within(node, loop, region) and stored(region, node) for node in region.names.get(name, ()))
