"""`x[mask].sum()` and `.mean()` -> sums over all elements, those outside as 0; the mean by the mask's count."""

from __future__ import annotations

import libcst as cst

from syncguard.fix.masks import Selected, selected, unused
from syncguard.fix.reads import postfix
from syncguard.fix.recipe import Known, Proposal, Region
from syncguard.fix.recipes.where_assign import widened
from syncguard.fix.shapes import fits
from syncguard.terms import Edit, Finding

REDUCTIONS = {"torch.Tensor.sum": "sum", "torch.Tensor.mean": "mean", "torch.sum": "sum", "torch.mean": "mean"}


def rewrite(node: cst.CSTNode, finding: Finding, region: Region, known: Known) -> Proposal | None:
    """Everything that is done with the selected elements is to sum or average all of them."""
    torch = known.torch()
    calls = [call for call in region.calls if torch and known.callee(call) in REDUCTIONS]
    edits: list[Edit] = []
    values: list[cst.CSTNode] = []
    by: list[cst.CSTNode] = []
    averaged = False
    for call in calls:
        kind = REDUCTIONS[known.callee(call)]
        value = reduced(call, kind, known)
        found = selected(value, region, known) if value is not None else None
        if value is None or found is None or not plain(found, region, known):
            continue
        if any(part is held for part in (value, *found.by) for held in (node, *region.around(node))):
            edits.append(region.swap(call, text(found, kind, torch, region, known)))
            values.append(value)
            averaged = averaged or kind == "mean"
            by += found.by
    if not edits:
        return None
    gone = unused(tuple(by), values, region)
    if len(gone) < len(set(by)):
        return None  # the elements are needed for something else, too
    message = "adds up the same elements in another order, all of them in the dtype of the sum"
    if averaged:
        message += ": in float16 it can be infinite where a mean is not"
    return Proposal("unsafe", message, (*edits, *gone))


def reduced(call: cst.Call, kind: str, known: Known) -> cst.BaseExpression | None:
    """What a call reduces to one number without any settings."""
    if isinstance(call.func, cst.Attribute) and known.callee(call).startswith("torch.Tensor."):
        return call.func.value if not call.args else None
    return call.args[0].value if len(call.args) == 1 and call.args[0].keyword is None else None


def plain(found: Selected, region: Region, known: Known) -> bool:
    """Whether the text stays readable: shapes that must be asked for are those of variables."""
    variables = isinstance(found.source, cst.Name | cst.Attribute) and isinstance(found.mask, cst.Name | cst.Attribute)
    return variables or fits(found.source, found.mask, region, known)


def text(found: Selected, kind: str, torch: str, region: Region, known: Known) -> str:
    """The reduction over all elements."""
    x, mask = region.code(found.source), region.code(found.mask)
    same = fits(found.source, found.mask, region, known)
    m = mask if same else widened(found.mask, found.source, region)
    total = f"{torch}.where({m}, {x}, 0).sum()"
    if kind == "sum":
        return total
    count = postfix(found.mask, region) if same else f"{m}.expand_as({x})"
    return f"{total} / {count}.sum()"
