"""A value in, whether a caller has been told that it is a number, or that what it goes into holds numbers, out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import takewhile

import libcst as cst

from syncguard.fix.names import occurrences
from syncguard.fix.region import Region
from syncguard.fix.steady import root

NUMBERS = {"float", "int", "bool", "complex"}
OPEN = re.compile(r"Tensor|Any|object|Scalar|Array")
WORD = re.compile(r"\w+")
MEMBER = re.compile(r"(self\.)?(\w+)\s*:\s*([^=#]+)")


def declared(node: cst.CSTNode, region: Region) -> bool:
    """`def f() -> float: return node`, `sums["a"] = node` of a parameter `sums: dict[str, float]` or of what is given
    back as such. What a function says of its own variables binds nobody else."""
    for held in region.around(node):
        match held:
            case cst.Return():
                scope = region.scope(held)
                return isinstance(scope, cst.FunctionDef) and _numbers(scope.returns, region)
            case cst.Assign(targets=[cst.AssignTarget(target=into)]) | cst.AugAssign(target=into):
                return _variable(root(into), held, region) or _member(into, region)
            case cst.Expr(value=cst.Call(func=cst.Attribute(value=into))):
                return _variable(root(into), held, region) or _member(into, region)
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


def _member(into: cst.BaseExpression, region: Region) -> bool:
    """Whether a class says of `self.a`, or of what is in it, that it is a number: `a: float = 0.0` of its members."""
    while isinstance(into, cst.Subscript):
        into = into.value
    match into:
        case cst.Attribute(value=cst.Name(value="self"), attr=cst.Name(value=name)):
            return any(told == name and _says(text) for told, text in _members(region))
    return False


def _members(region: Region) -> Iterator[tuple[str, str]]:
    """The members of the class around a method that are annotated, and how."""
    first = region.lines[region.first - 1]
    margin = first[: len(first) - len(first.lstrip())]
    above, below = region.lines[region.first - 2 :: -1], region.lines[region.first - 1 :]
    for rows in (above, below) if margin and region.first > 1 else ():
        for row in takewhile(lambda row: row.startswith(margin) or not row.strip(), rows):
            found = MEMBER.match(row.strip())
            if found and (found[1] or not row[len(margin) :][:1].isspace()):
                yield found[2], found[3]


def _numbers(annotation: cst.Annotation | None, region: Region) -> bool:
    return annotation is not None and _says(region.module.code_for_node(annotation.annotation))


def _says(text: str) -> bool:
    return bool(NUMBERS & {*WORD.findall(text)}) and not OPEN.search(text)
