"""A value in, whether a caller has been told that it is a number, or that what it goes into holds numbers, out."""

from __future__ import annotations

import re

import libcst as cst

from syncguard.fix.names import occurrences
from syncguard.fix.region import Region
from syncguard.fix.steady import root

NUMBERS = {"float", "int", "bool", "complex"}
OPEN = re.compile(r"Tensor|Any|object|Scalar|Array")
WORD = re.compile(r"\w+")


def declared(node: cst.CSTNode, region: Region) -> bool:
    """`def f() -> float: return node`, `sums["a"] = node` of a parameter `sums: dict[str, float]` or of what is given
    back as such. What a function says of its own variables binds nobody else."""
    for held in region.around(node):
        match held:
            case cst.Return():
                scope = region.scope(held)
                return isinstance(scope, cst.FunctionDef) and _numbers(scope.returns, region)
            case cst.Assign(targets=[cst.AssignTarget(target=into)]) | cst.AugAssign(target=into):
                return _variable(root(into), held, region)
            case cst.Expr(value=cst.Call(func=cst.Attribute(value=into))):
                return _variable(root(into), held, region)
            case cst.BaseSmallStatement() | cst.BaseStatement() | cst.Lambda():
                return False
    return False


def _variable(name: str, node: cst.CSTNode, region: Region) -> bool:
    """Whether a variable is a parameter that is declared so, or is given back by a function that is."""
    scope = region.scope(node)
    found = [region.parent(one) for one in occurrences(region, scope, name)] if name else []
    if any(isinstance(held, cst.Param) and _numbers(held.annotation, region) for held in found):
        return True
    given = any(isinstance(held, cst.Return) for held in found)
    return given and isinstance(scope, cst.FunctionDef) and _numbers(scope.returns, region)


def _numbers(annotation: cst.Annotation | None, region: Region) -> bool:
    if annotation is None:
        return False
    text = region.module.code_for_node(annotation.annotation)
    return bool(NUMBERS & {*WORD.findall(text)}) and not OPEN.search(text)
