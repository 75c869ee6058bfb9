"""`torch.arange(n).to(d)` -> `torch.arange(n, device=d)`. Never of random numbers: another device draws others."""

from __future__ import annotations

import libcst as cst

from syncguard.fix.devices import moved
from syncguard.fix.recipe import Known, Proposal, Region
from syncguard.terms import Finding

# What every device makes to the last bit; of the others the last bit may differ.
EXACT = ("torch.zeros", "torch.ones", "torch.full", "torch.eye", "torch.tril_indices", "torch.triu_indices")
ROUNDED = ("torch.linspace", "torch.logspace")
COUNTS = "torch.arange"
# Views that a copy to another device leaves as they are; of others it makes memory without holes and overlaps.
DENSE = frozenset("view reshape flatten unflatten ravel squeeze unsqueeze t transpose permute swapaxes movedim".split())


def rewrite(node: cst.CSTNode, finding: Finding, region: Region, known: Known) -> Proposal | None:
    """A constructor that stands before the move, with nothing but views of it in between."""
    to = moved(node, region, known)
    if to is None or not isinstance(node, cst.Call):
        return None
    made, device = to
    call = made
    while known.callee(call).startswith("torch.Tensor.") and isinstance(call.func, cst.Attribute):
        if call.func.attr.value not in DENSE or not isinstance(call.func.value, cst.Call):
            return None
        call = call.func.value
    name = known.callee(call)
    named = {arg.keyword.value for arg in call.args if arg.keyword is not None}
    if name not in (*EXACT, *ROUNDED, COUNTS) or named & {"device", "out", "pin_memory", "requires_grad"}:
        return None
    if any(arg.star for arg in call.args):
        return None
    plain = [arg.value for arg in call.args if arg.keyword is None or arg.keyword.value in ("start", "end", "step")]
    whole = name in EXACT or (name == COUNTS and all(known.number(arg) in ("int", "size") for arg in plain))
    edits = (region.argue(call, f"device={device}"), region.cut(node))
    if whole:
        return Proposal("safe", "builds it where it is used", edits)
    return Proposal("unsafe", "builds it where it is used: of fractions the last bit may differ", edits)
