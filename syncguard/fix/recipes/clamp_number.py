"""`max(1, n)` of a tensor -> `n.clamp(min=1)`, `min(x, 5.0)` -> `x.clamp(max=5.0)`."""

from __future__ import annotations

import libcst as cst

from syncguard.fix.callees import asked
from syncguard.fix.declared import declared
from syncguard.fix.names import reads
from syncguard.fix.reads import Read, postfix, read_of
from syncguard.fix.recipe import Known, Proposal, Region
from syncguard.fix.recipes.feed_tensor import fed, given, told
from syncguard.fix.recipes.keep_tensor import stored
from syncguard.terms import Finding

BOUNDS = {"builtins.max": "min", "builtins.min": "max"}


def rewrite(node: cst.CSTNode, finding: Finding, region: Region, known: Known) -> Proposal | None:
    """One number and one 0-d tensor, in either order."""
    for call in (node, *region.around(node)):
        if isinstance(call, cst.BaseSmallStatement | cst.BaseCompoundStatement):
            return None
        if isinstance(call, cst.Call) and known.callee(call) in BOUNDS:
            break
    else:
        return None
    if len(call.args) != 2 or any(arg.star or arg.keyword for arg in call.args):
        return None
    bound = BOUNDS[known.callee(call)]
    for one, other in ((call.args[0].value, call.args[1].value), (call.args[1].value, call.args[0].value)):
        read = read_of(other, region, known) if isinstance(other, cst.Call) else None
        tensor = read.tensor if read is not None else other
        if known.number(one) and known.tensor(tensor) is not None and known.tensor(one) is None:
            text = f"{postfix(tensor, region)}.clamp({bound}={region.code(one)})"
            if read is not None and not fed(call, region, known, 4) and not measure(call, read, region, known):
                takers = given(call, region, known, 3) if read.kind != "int" else []
                if not takers:
                    return None
                return Proposal("display", f"{told(takers)} must take a 0-d tensor", (region.swap(call, text),))
            if counts(call, region) or (read is not None and declared(call, region)):
                return None
            message = "the number becomes a 0-d tensor, of the dtype that the tensor and the bound have together"
            message += "; of NaN the result is NaN, where Python's depends on the order"
            return Proposal("unsafe", message, (region.swap(call, text),))
    return None


def measure(call: cst.Call, read: Read, region: Region, known: Known) -> bool:
    """Whether a number is only stored or given back, and no integer: that is more likely a size."""
    return read.kind != "int" and bool(stored(call, region, known))


def counts(call: cst.Call, region: Region) -> bool:
    """Whether the number is asked for, or counts, through a variable: one wait for another."""
    held = region.parent(call)
    if not isinstance(held, cst.Assign) or not isinstance(held.targets[0].target, cst.Name):
        return False
    uses = reads(region, region.scope(held), held.targets[0].target.value)
    return any(region.places[use] > region.places[held] and asked(use, region) for use in uses)
