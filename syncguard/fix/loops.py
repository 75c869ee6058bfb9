"""A node in a loop in, what the loop does to it out: how often it is reached, and whether what it reads stays."""

from __future__ import annotations

import libcst as cst

from syncguard.fix.known import Known
from syncguard.fix.names import defined, loaded, stored
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


def varying(node: cst.CSTNode, loop: cst.CSTNode, region: Region, known: Known) -> bool:
    """Whether a tensor may be on another device in each turn of a loop: it is computed by torch alone from what the
    loop goes through, and that is no tensor."""
    match node:
        case cst.Name(value=name):
            for held in [
                held for use in region.names.get(name, ()) if stored(region, use) for held in region.around(use)
            ]:
                if isinstance(held, cst.For | cst.CompFor) and any(part.value == name for part in _names(held.target)):
                    return not _rows(held.iter, known) and (held is loop or within(held, loop, region))
            made = defined(region, node)
            return made is not node and varying(made, loop, region, known)
        case cst.Call():
            if known.op(node) is None or known.callee(node).rpartition(".")[2] in MOVES:
                return False
            inner = [node.func.value] if isinstance(node.func, cst.Attribute) else []
            return any(varying(part, loop, region, known) for part in (*inner, *(arg.value for arg in node.args)))
        case cst.Attribute(value=of):
            return varying(of, loop, region, known)
    return any(varying(child, loop, region, known) for child in node.children)


def _rows(over: cst.BaseExpression, known: Known) -> bool:
    """Whether a loop goes through the rows of tensors: `x`, `enumerate(x)`, `zip(x, y)`."""
    if isinstance(over, cst.Call) and known.callee(over) in ("builtins.enumerate", "builtins.zip", "builtins.reversed"):
        return all(_rows(arg.value, known) for arg in over.args if arg.keyword is None)
    return known.tensor(over) is not None


def _names(target: cst.CSTNode) -> list[cst.Name]:
    return [node for node in inside(target) if isinstance(node, cst.Name)]


# What puts a tensor on a device that is named.
MOVES = ("to", "cuda", "cpu")


def within(node: cst.CSTNode, holder: cst.CSTNode, region: Region) -> bool:
    return any(held is holder for held in region.around(node))


def bound_in(name: str, loop: cst.CSTNode, region: Region) -> bool:
    return any(within(node, loop, region) and stored(region, node) for node in region.names.get(name, ()))
