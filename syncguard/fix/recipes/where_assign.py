"""`x[mask] = y[mask] + 1` -> `x.copy_(torch.where(mask, y + 1, x))`: fixed shape, the same tensor."""

from __future__ import annotations

import libcst as cst

from syncguard.fix.reads import postfix
from syncguard.fix.recipe import Known, Proposal, Region
from syncguard.fix.shapes import fits, owned, subscript
from syncguard.terms import Finding

SYMBOLS = {
    cst.AddAssign: cst.Add(), cst.SubtractAssign: cst.Subtract(), cst.MultiplyAssign: cst.Multiply(),
    cst.DivideAssign: cst.Divide(),
}  # fmt: skip
SIMPLE = (cst.Add, cst.Subtract, cst.Multiply, cst.Divide, cst.Power)


def rewrite(node: cst.CSTNode, finding: Finding, region: Region, known: Known) -> Proposal | None:
    """Where x has the mask's shape by construction, a program that ran gave y that shape, and x the dtype of y."""
    statement = region.small(node)
    torch = known.torch()
    match statement:
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Subscript() as target)]):
            value = statement.value
        case cst.AugAssign(target=cst.Subscript() as target, operator=operator) if type(operator) in SYMBOLS:
            value = statement.value
        case _:
            return None
    mask = subscript(target)
    if not torch or mask is None or not known.pure(target) or not known.pure(value):
        return None
    held, written = known.tensor(mask), known.tensor(value)
    if held is None or held.dtype != "bool":
        return None
    if isinstance(statement, cst.Assign) and written is not None and written.rank == 0:
        full, loose = value, False
    else:
        found = spread(value, mask, region, known)
        if found is None or (not found[2] and isinstance(statement, cst.Assign)):
            return None
        full, loose, _ = found
    x, whole = region.code(target.value), region.module.code_for_node(full).strip()
    if isinstance(statement, cst.AugAssign):
        symbol = region.module.code_for_node(SYMBOLS[type(statement.operator)]).strip()
        atom = isinstance(full, cst.Name | cst.Attribute | cst.Call | cst.Subscript | cst.Integer | cst.Float)
        whole = f"{x} {symbol} {whole if atom else f'({whole})'}"
    same = fits(target.value, mask, region, known)
    if not same and not all(isinstance(part, cst.Name | cst.Attribute) for part in (mask, target.value)):
        return None
    m = region.code(mask) if same else widened(mask, target.value, region)
    edits = (region.swap(statement, f"{x}.copy_({torch}.where({m}, {whole}, {x}))"),)
    if same and not loose and owned(target.value, region, known):
        return Proposal("safe", "writes every element, those outside of the mask as they were", edits)
    message = f"writes every element of `{x}`, and fails where `{x}` was made by `expand`"
    if loose or not same:
        message += "; what is written must fit all of it, not only the elements in the mask"
    return Proposal("unsafe", message, edits)


def widened(mask: cst.BaseExpression, other: cst.BaseExpression, region: Region) -> str:
    """The mask with as many dimensions as the tensor whose first dimensions it is for."""
    m, x = postfix(mask, region), postfix(other, region)
    return f"{m}.reshape({m}.shape + (1,) * ({x}.ndim - {m}.ndim))"


def spread(
    value: cst.BaseExpression, mask: cst.BaseExpression, region: Region, known: Known
) -> tuple[cst.BaseExpression, bool, bool] | None:
    """A value computed from what the mask selects as one computed from all elements; whether more than numbers
    goes into it, and whether anything is selected in it at all. None: it is not computed element by element."""
    match value:
        case cst.Subscript() if (key := subscript(value)) is not None and key.deep_equals(mask):
            return value.value.with_changes(lpar=value.lpar, rpar=value.rpar), False, True
        case cst.BinaryOperation(left=left, operator=operator, right=right) if isinstance(operator, SIMPLE):
            one, other = spread(left, mask, region, known), spread(right, mask, region, known)
            if one is None or other is None:
                return None
            return value.with_changes(left=one[0], right=other[0]), one[1] or other[1], one[2] or other[2]
        case cst.UnaryOperation(operator=cst.Minus()):
            inner = spread(value.expression, mask, region, known)
            return None if inner is None else (value.with_changes(expression=inner[0]), *inner[1:])
    held = known.tensor(value)
    if known.number(value) or (held is not None and held.rank == 0):
        return value, False, False
    return (value, True, False) if isinstance(value, cst.Name | cst.Attribute) else None
