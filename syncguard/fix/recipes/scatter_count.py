"""`torch.bincount(x, minlength=n)` -> ones added up in a vector of n places."""

from __future__ import annotations

import libcst as cst

from syncguard.fix.reads import postfix
from syncguard.fix.recipe import Known, Proposal, Region
from syncguard.terms import Finding

COUNTS = ("torch.bincount", "torch.Tensor.bincount")


def rewrite(node: cst.CSTNode, finding: Finding, region: Region, known: Known) -> Proposal | None:
    """The number of places is given, and is what the caller counts on."""
    torch = known.torch()
    if not isinstance(node, cst.Call) or known.callee(node) not in COUNTS or not torch:
        return None
    values = node.args[0].value if known.callee(node) == "torch.bincount" and node.args else None
    if known.callee(node) == "torch.Tensor.bincount" and isinstance(node.func, cst.Attribute):
        values = node.func.value
    size, weights = known.argument(node, "minlength"), known.argument(node, "weights")
    if values is None or size is None or not known.pure(values):
        return None
    if weights is not None and not (isinstance(weights, cst.Name) and weights.value == "None"):
        return None
    x, n = postfix(values, region), region.code(size)
    text = f"{torch}.zeros({n}, dtype={torch}.long, device={x}.device).scatter_add_(0, {x}, {torch}.ones_like({x}))"
    held = known.tensor(values)
    if held is not None and held.dtype not in ("", "int"):
        return None
    message = f"has `{n}` places: a larger value fails where it made the result longer; `{x}` must be int64"
    return Proposal("unsafe", message, (region.swap(node, text),))
