"""A place in, which tensors have one shape there out, because a test on the way says so: `if a.shape == b.shape:`."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from syncguard.fix.region import Region

Pair = tuple[cst.BaseExpression, cst.BaseExpression]


def equal_shapes(node: cst.CSTNode, region: Region) -> Iterator[Pair]:
    """The pairs of tensors that have one shape at a node because somebody has asked: in the `if` around it, or in an
    assertion above it. What is meant are the values that their variables hold there."""
    child: cst.CSTNode = node
    for held in region.around(node):
        if isinstance(held, cst.If) and held.body is child:
            yield from _equal(held.test)
        if isinstance(held, cst.IndentedBlock | cst.Module):
            for statement in held.body:
                if region.places[statement] < region.places[child]:
                    yield from _stated(statement)
        if isinstance(held, cst.FunctionDef | cst.Lambda):
            break
        child = held


def _stated(statement: cst.CSTNode) -> Iterator[Pair]:
    """What holds below a statement: `assert a.shape == b.shape`, `if a.shape != b.shape: raise ...`."""
    match statement:
        case cst.SimpleStatementLine(body=[cst.Assert(test=test)]):
            yield from _equal(test)
        case cst.If(test=test, orelse=None, body=cst.IndentedBlock(body=[*_, cst.SimpleStatementLine(body=[last])])):
            if isinstance(last, cst.Raise | cst.Return | cst.Continue):
                yield from _different(test)


def _equal(test: cst.BaseExpression) -> Iterator[Pair]:
    """What is true where a test is: of `a and b` both are."""
    match test:
        case cst.BooleanOperation(left=left, operator=cst.And(), right=right):
            yield from _equal(left)
            yield from _equal(right)
        case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(operator=cst.Equal(), comparator=right)]):
            yield from _shapes(left, right)


def _different(test: cst.BaseExpression) -> Iterator[Pair]:
    """What is true where a test is not: of `a or b` neither is."""
    match test:
        case cst.BooleanOperation(left=left, operator=cst.Or(), right=right):
            yield from _different(left)
            yield from _different(right)
        case cst.UnaryOperation(operator=cst.Not(), expression=inner):
            yield from _equal(inner)
        case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(operator=cst.NotEqual(), comparator=right)]):
            yield from _shapes(left, right)


def _shapes(left: cst.BaseExpression, right: cst.BaseExpression) -> Iterator[Pair]:
    one, other = _of(left), _of(right)
    if one is not None and other is not None:
        yield one, other


def _of(node: cst.BaseExpression) -> cst.BaseExpression | None:
    """The tensor whose shape an expression is."""
    match node:
        case cst.Attribute(value=of, attr=cst.Name(value="shape")):
            return of
        case cst.Call(func=cst.Attribute(value=of, attr=cst.Name(value="size")), args=[]):
            return of
    return None
