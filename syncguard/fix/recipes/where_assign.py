"""`x[mask] = y[mask] + 1` -> `x.copy_(torch.where(mask, y + 1, x))`: fixed shape, the same tensor."""

from __future__ import annotations

from dataclasses import dataclass, replace

import libcst as cst

from syncguard.fix.pointwise import pointwise
from syncguard.fix.reads import postfix
from syncguard.fix.recipe import Known, Proposal, Region
from syncguard.fix.shapes import elementwise, fits, owned, subscript
from syncguard.terms import Finding

SYMBOLS = {
    cst.AddAssign: cst.Add(), cst.SubtractAssign: cst.Subtract(), cst.MultiplyAssign: cst.Multiply(),
    cst.DivideAssign: cst.Divide(),
}  # fmt: skip
# Elementwise functions of which the derivative is finite whatever the element is: that of sigmoid is NaN for NaN.
BOUNDED = frozenset("clone detach float double half to type relu neg abs clamp contiguous".split())
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
    if not torch or mask is None or not known.pure(target) or not _pure(value, region, known):
        return None
    held, written = known.tensor(mask), known.tensor(value)
    if held is None or held.dtype != "bool":
        return None
    if isinstance(statement, cst.Assign) and written is not None and written.rank == 0:
        found = Spread(value)
    else:
        spreading = spread(value, mask, region, known)
        if spreading is None or (not spreading.taken and isinstance(statement, cst.Assign)):
            return None
        found = spreading
    x, whole = region.code(target.value), region.code(found.value)
    curved = found.curved
    if isinstance(statement, cst.AugAssign):
        plain = SYMBOLS[type(statement.operator)]
        symbol = region.code(plain)
        atom = isinstance(found.value, cst.Name | cst.Attribute | cst.Call | cst.Subscript | cst.Integer | cst.Float)
        whole = f"{x} {symbol} {whole if atom else f'({whole})'}"
        curved = curved or not _straight(plain, target.value, found.value, known)
    same = fits(target.value, mask, region, known)
    if not same and not all(isinstance(part, cst.Name | cst.Attribute) for part in (mask, target.value)):
        return None
    m = region.code(mask) if same else widened(mask, target.value, region)
    edits = (region.swap(statement, f"{x}.copy_({torch}.where({m}, {whole}, {x}))"),)
    if same and not found.loose and not curved and owned(target.value, region, known):
        return Proposal("safe", "writes every element, those outside of the mask as they were", edits)
    message = f"writes every element of `{x}`, and fails where `{x}` was made by `expand`"
    if found.loose or not same:
        message += "; what is written must fit all of it, not only the elements in the mask"
    if curved:
        message += "; infinity or NaN outside of the mask reaches the gradient as NaN"
    return Proposal("unsafe", message, edits)


def widened(mask: cst.BaseExpression, other: cst.BaseExpression, region: Region) -> str:
    """The mask with as many dimensions as the tensor whose first dimensions it is for."""
    m, x = postfix(mask, region), postfix(other, region)
    return f"{m}.reshape({m}.shape + (1,) * ({x}.ndim - {m}.ndim))"


def _pure(value: cst.BaseExpression, region: Region, known: Known) -> bool:
    if isinstance(value, cst.Call) and pointwise(value, region, known):
        return all(known.pure(arg.value) for arg in value.args)
    return known.pure(value)


@dataclass(frozen=True)
class Spread:
    """A value computed from all elements: whether some are `taken` by the mask, whether it is `loose` (more than
    numbers goes into it), and `curved` (its derivative may be infinite or NaN where the mask is false)."""

    value: cst.BaseExpression
    loose: bool = False
    taken: bool = False
    curved: bool = False


def spread(value: cst.BaseExpression, mask: cst.BaseExpression, region: Region, known: Known) -> Spread | None:
    """A value computed from what the mask selects as one of all elements. None: it is not computed one by one."""
    match value:
        case cst.Subscript() if (key := subscript(value)) is not None and key.deep_equals(mask):
            return Spread(value.value.with_changes(lpar=value.lpar, rpar=value.rpar), taken=True)
        case cst.BinaryOperation(left=left, operator=operator, right=right) if isinstance(operator, SIMPLE):
            one, other = spread(left, mask, region, known), spread(right, mask, region, known)
            if one is None or other is None:
                return None
            straight = not (one.taken or other.taken) or _straight(operator, left, right, known)
            return Spread(
                value.with_changes(left=one.value, right=other.value),
                one.loose or other.loose,
                one.taken or other.taken,
                one.curved or other.curved or not straight,
            )
        case cst.UnaryOperation(operator=cst.Minus()):
            inner = spread(value.expression, mask, region, known)
            return None if inner is None else replace(inner, value=value.with_changes(expression=inner.value))
        case cst.Call() if elementwise(value, known):
            return _called(value, mask, region, known)
        case cst.Call() if pointwise(value, region, known):
            first, *rest = [spread(arg.value, mask, region, known) for arg in value.args]
            if first is None or not first.taken or any(one is None or one.taken for one in rest):
                return None
            args = [value.args[0].with_changes(value=first.value), *value.args[1:]]
            loose = first.loose or any(one.loose for one in rest if one is not None)
            return Spread(value.with_changes(args=args), loose, True, curved=True)
    held = known.tensor(value)
    if known.number(value) or (held is not None and held.rank == 0):
        return Spread(value)
    return Spread(value, loose=True) if isinstance(value, cst.Name | cst.Attribute) else None


def _called(call: cst.Call, mask: cst.BaseExpression, region: Region, known: Known) -> Spread | None:
    """An elementwise function of what the mask selects."""
    method = known.callee(call).startswith("torch.Tensor.")
    source = call.func.value if method and isinstance(call.func, cst.Attribute) else call.args[0].value
    inner = spread(source, mask, region, known)
    if inner is None or not inner.taken:
        return None
    whole: cst.BaseExpression
    if isinstance(call.func, cst.Attribute) and method:
        atom = isinstance(inner.value, cst.Name | cst.Attribute | cst.Call | cst.Subscript) or bool(inner.value.lpar)
        of = inner.value if atom else inner.value.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
        whole = call.with_changes(func=call.func.with_changes(value=of))
    else:
        whole = call.with_changes(args=[call.args[0].with_changes(value=inner.value), *call.args[1:]])
    bounded = known.callee(call).rpartition(".")[2] in BOUNDED
    return replace(inner, value=whole, curved=inner.curved or not bounded)


def _straight(operator: cst.BaseBinaryOp, left: cst.BaseExpression, right: cst.BaseExpression, known: Known) -> bool:
    """Whether the derivative of an operation is a finite number whatever the elements are."""
    if isinstance(operator, cst.Add | cst.Subtract):
        return True
    if isinstance(operator, cst.Multiply):
        return _finite(left, known) or _finite(right, known)
    return isinstance(operator, cst.Divide) and _finite(right, known, zero=False)


def _finite(node: cst.BaseExpression, known: Known, zero: bool = True) -> bool:
    """Whether a factor is an integer or written out; as a divisor it must be written out, and no 0."""
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus):
        node = node.expression
    if isinstance(node, cst.Integer | cst.Float):
        return abs(node.evaluated_value) < 1e30 and (zero or abs(node.evaluated_value) > 1e-30)
    return zero and known.number(node) in ("int", "size", "bool")
