"""A value in, whether what it goes into is declared to be a number, or to hold numbers, out."""

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
    """`def f() -> float: return node`, `x: float = node`, `sums: dict[str, float] = {}` and `sums["a"] = node`."""
    for held in region.around(node):
        match held:
            case cst.Return():
                scope = region.scope(held)
                return isinstance(scope, cst.FunctionDef) and _numbers(scope.returns, region)
            case cst.AnnAssign(annotation=annotation):
                return _numbers(annotation, region)
            case cst.Assign(targets=[cst.AssignTarget(target=into)]) | cst.AugAssign(target=into):
                return _variable(root(into), held, region)
            case cst.Expr(value=cst.Call(func=cst.Attribute(value=into))):
                return _variable(root(into), held, region)
            case cst.BaseSmallStatement() | cst.BaseStatement() | cst.Lambda():
                return False
    return False


def _variable(name: str, node: cst.CSTNode, region: Region) -> bool:
    """Whether a variable is declared so anywhere in its function."""
    found = [region.parent(one) for one in occurrences(region, region.scope(node), name)] if name else []
    notes = [held.annotation for held in found if isinstance(held, cst.AnnAssign | cst.Param)]
    return any(_numbers(note, region) for note in notes)


def _numbers(annotation: cst.Annotation | None, region: Region) -> bool:
    if annotation is None:
        return False
    text = region.module.code_for_node(annotation.annotation)
    return bool(NUMBERS & {*WORD.findall(text)}) and not OPEN.search(text)
