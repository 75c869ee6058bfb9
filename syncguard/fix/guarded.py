"""A choice between a sum over what a mask selects and zero in, the sum alone out: of no element it is zero anyway."""

from __future__ import annotations

import libcst as cst

from syncguard.fix.known import Known
from syncguard.fix.names import defined
from syncguard.fix.questions import asked
from syncguard.fix.region import Region
from syncguard.fix.totals import plain, text, total

ZEROS = frozenset("torch.zeros torch.zeros_like torch.Tensor.new_zeros".split())
MADE = frozenset("torch.tensor torch.as_tensor torch.Tensor.new_tensor".split())
FULL = frozenset("torch.full torch.Tensor.new_full".split())
Side = cst.BaseExpression | str
ALONE = "adds up the same elements in another order, as a tensor: of none it is 0 in the dtype of the elements"


def guarded_total(test: cst.BaseExpression, yes: Side, no: Side, region: Region, known: Known) -> str:
    """`x[mask].mean() if mask.any() else 0.0` as a sum over all elements, by a count of at least 1; '' of another
    choice."""
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        if (mask := asked(test.expression, known)) is not None:
            yes, no = no, yes
    else:
        mask = asked(test, known)
    if mask is None or not isinstance(yes, cst.Call) or isinstance(no, str) or not zero(no, region, known):
        return ""
    found = total(yes, region, known)
    if found is None or found.by or not plain(found.picks, region, known):
        return ""
    if not found.picks or not all(one.mask.deep_equals(mask) for one in found.picks):
        return ""
    return text(found, known.torch(), region, known, least=True)


def zero(side: cst.BaseExpression, region: Region, known: Known) -> bool:
    """Whether an expression is 0: written out, made as a tensor, or something times 0."""
    made = defined(region, side)
    match made:
        case cst.Integer() | cst.Float():
            return not made.evaluated_value
        case cst.BinaryOperation(left=left, operator=cst.Multiply(), right=right):
            return any(isinstance(part, cst.Integer | cst.Float) and not part.evaluated_value for part in (left, right))
        case cst.Call() if known.callee(made) in ZEROS:
            return known.rank(made) == 0
        case cst.Call(args=[cst.Arg(value=first), *_]) if known.callee(made) in MADE:
            return zero(first, region, known)
        case cst.Call(args=[_, cst.Arg(value=value), *_]) if known.callee(made) in FULL:
            return known.rank(made) == 0 and zero(value, region, known)
    return False


def guarded(call: cst.Call, region: Region, known: Known) -> tuple[cst.IfExp, str] | None:
    """The choice between a sum and zero that a sum is in, and what it is as a whole."""
    held = region.parent(call)
    if not isinstance(held, cst.IfExp):
        return None
    made = guarded_total(held.test, held.body, held.orelse, region, known)
    return (held, made) if made else None
