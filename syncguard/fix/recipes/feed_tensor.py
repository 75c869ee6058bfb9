"""`x / x.max().item()` -> `x / x.max().detach()`: arithmetic with a tensor takes the 0-d tensor as well as its number."""

from __future__ import annotations

import libcst as cst

from syncguard.fix.names import definition, reads
from syncguard.fix.reads import kept, read_of
from syncguard.fix.recipe import Known, Proposal, Region, Unfit
from syncguard.terms import Finding

TAKES = (cst.Add, cst.Subtract, cst.Multiply, cst.Divide, cst.Power)


def rewrite(node: cst.CSTNode, finding: Finding, region: Region, known: Known) -> Proposal | None:
    """All that becomes of the number is added to, or multiplied or compared with a tensor."""
    read = read_of(node, region, known)
    if read is None or known.tensor(read.tensor) is None or read.rank > 0 or read.dtype == "complex":
        return None
    if read.into == "int" and read.dtype != "int":
        return None
    if not fed(read.whole, region, known, 4):
        return None
    text = kept(read, region, known)
    message = "the 0-d tensor is rounded to the dtype of the tensor that it meets, where that is narrower"
    return Proposal("unsafe", message, (region.swap(read.whole, text),))


def fed(node: cst.BaseExpression, region: Region, known: Known, depth: int) -> bool:
    """Whether a value meets a tensor in arithmetic wherever it goes."""
    held = region.parent(node)
    if isinstance(held, cst.BinaryOperation) and isinstance(held.operator, TAKES):
        other = held.right if held.left is node else held.left
        if known.tensor(other) is not None:
            return True
        return bool(known.number(other)) and fed(held, region, known, depth)
    if isinstance(held, cst.Assign) and held.value is node and depth:
        target = held.targets[0].target
        if len(held.targets) != 1 or not isinstance(target, cst.Name):
            return False
        uses = reads(region, region.scope(held), target.value)
        try:
            sole = all(definition(region, use) is held for use in uses)
        except Unfit:
            return False
        return bool(uses) and sole and all(fed(use, region, known, depth - 1) for use in uses)
    return False
