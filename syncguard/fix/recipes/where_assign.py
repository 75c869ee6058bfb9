"""`x[mask] = y[mask]`, or a 0-d y -> `x.copy_(torch.where(mask, y, x))`: fixed shape, the same tensor."""

from __future__ import annotations

import libcst as cst

from syncguard.fix.recipe import Known, Proposal, Region
from syncguard.fix.shapes import alike, owned, subscript
from syncguard.terms import Finding


def rewrite(node: cst.CSTNode, finding: Finding, region: Region, known: Known) -> Proposal | None:
    """Where x has the mask's shape by construction, a program that ran gave y that shape, and x the dtype of y."""
    assign = region.small(node)
    torch = known.torch()
    if not torch or not isinstance(assign, cst.Assign) or len(assign.targets) != 1:
        return None
    target, value = assign.targets[0].target, assign.value
    mask = subscript(target)
    if mask is None or not isinstance(target, cst.Subscript) or not known.pure(target) or not known.pure(value):
        return None
    held, written = known.tensor(mask), known.tensor(value)
    if held is None or held.dtype != "bool" or not alike(target.value, mask, region, known):
        return None
    if written is None or written.rank != 0:
        taken = subscript(value)
        if taken is None or not isinstance(value, cst.Subscript) or not taken.deep_equals(mask):
            return None
        value = value.value
    x, m, y = region.code(target.value), region.code(mask), region.code(value)
    edits = (region.swap(assign, f"{x}.copy_({torch}.where({m}, {y}, {x}))"),)
    if owned(target.value, region, known):
        return Proposal("safe", "writes every element, those outside of the mask as they were", edits)
    return Proposal("unsafe", f"writes every element of `{x}`, and fails where `{x}` was made by `expand`", edits)
