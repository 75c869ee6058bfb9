"""`torch.tensor(rows, device=d)` -> a pinned tensor and a copy that nobody waits for, where the device is CUDA's."""

from __future__ import annotations

import builtins

import libcst as cst

from syncguard.fix.devices import cuda, keywords, sent, sure
from syncguard.fix.known import dotted
from syncguard.fix.names import defined, loaded
from syncguard.fix.nodes import inside
from syncguard.fix.plain import plain
from syncguard.fix.recipe import Known, Proposal, Region
from syncguard.fix.width import limit
from syncguard.terms import Edit, Finding, Tier

MAKERS = ("torch.tensor", "torch.as_tensor")


def rewrite(node: cst.CSTNode, finding: Finding, region: Region, known: Known) -> Proposal | None:
    """Only what `torch.tensor` copies: nobody else can write into the pinned memory before it has been sent.

    What is copied once, as in a constructor or a test, may wait. On other devices neither pinning nor copies without
    waiting are to be relied on, so both ask for CUDA. What torch makes of an array or a tensor it refuses to pin.
    """
    if finding.heat == "cold":
        return None
    found = sent(node, region, known)
    made, where = found if found is not None else (node, None)
    torch = known.torch()
    if not torch or not isinstance(node, cst.Call) or not isinstance(made, cst.Call) or not made.args:
        return None
    if known.callee(made) not in MAKERS or made.args[0].keyword is not None:
        return None
    if known.callee(made) != "torch.tensor" and not isinstance(made.args[0].value, cst.List | cst.ListComp | cst.Tuple):
        return None  # of an array it may be a view
    settings = keywords(made, ("dtype", "device") if where is None else ("dtype",))
    if settings is None or len(made.args) != len(settings) + 1 or not plain(made.args[0].value, region, known):
        return None
    where = where if where is not None else settings.get("device")
    if where is None or (found is not None and len(node.args) > 1):
        return None
    if isinstance(where, cst.Attribute) and not dotted(where):
        return None  # it would be computed three times
    end = region.lines[region.places[node][2] - 1]
    there = cuda(where, region, known)
    if "#" in end and len(end) + 2 * len(there) > limit(region.lines):
        return None  # a line with a comment is not broken
    # On the host whatever the default device is, and if the data should be a tensor that lies elsewhere.
    edits: list[Edit] = []
    if known.callee(made) != "torch.tensor":
        edits.append(region.swap(made.func, f"{torch}.tensor"))
    if found is None:
        edits += [region.swap(where, '"cpu"'), region.argue(node, f"pin_memory={there}")]
        edits.append(region.behind(node, f".to({region.code(where)}, non_blocking={there})"))
    else:
        edits += [region.argue(made, f'device="cpu", pin_memory={there}')]
        edits.append(region.argue(node, f"non_blocking={there}"))
    text = "copies through pinned memory without waiting"
    if not sure(defined(region, where), known):
        text += f": `{region.code(where)}` must name a device"
    if standing(made.args[0].value, region):
        text += "; what is the same in each call need not be copied again: a buffer, or a tensor kept for each device"
    tier: Tier = "safe" if sure(defined(region, where), known) else "display" if " in " in there else "unsafe"
    return Proposal(tier, text, tuple(edits), resort=True)


def standing(data: cst.BaseExpression, region: Region) -> bool:
    """Whether data is made of what an object holds, of numbers and of nothing that a call is given."""
    targets = [clause.target for clause in inside(data) if isinstance(clause, cst.CompFor)]
    own = {name.value for target in targets for name in inside(target) if isinstance(name, cst.Name)}
    return loaded(region, data) - own - {*dir(builtins)} == {"self"}
