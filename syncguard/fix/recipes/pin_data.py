"""`torch.tensor(rows, device=d)` -> a pinned tensor and a copy that nobody waits for, where there is CUDA."""

from __future__ import annotations

import libcst as cst

from syncguard.fix.devices import keywords, sure
from syncguard.fix.recipe import Known, Proposal, Region
from syncguard.terms import Finding

MAKERS = ("torch.tensor", "torch.as_tensor")


def rewrite(node: cst.CSTNode, finding: Finding, region: Region, known: Known) -> Proposal | None:
    """Only what `torch.tensor` copies: nobody else can write into the pinned memory before it has been sent.

    On other devices neither pinning nor copies without waiting are to be relied on, so both ask for CUDA.
    """
    torch = known.torch()
    if not torch or not isinstance(node, cst.Call) or known.callee(node) not in MAKERS or not node.args:
        return None
    if known.callee(node) != "torch.tensor" and not isinstance(node.args[0].value, cst.List | cst.ListComp | cst.Tuple):
        return None  # of an array it may be a view
    settings = keywords(node, ("dtype", "device"))
    if settings is None or "device" not in settings or len(node.args) != len(settings) + 1 or node.args[0].keyword:
        return None
    if known.tensor(node.args[0].value) is not None:
        return None
    # On the host whatever the default device is, and if the data should be a tensor that lies elsewhere.
    there = f"{torch}.cuda.is_available()"
    where = region.code(settings["device"])
    move = f".to({where}, non_blocking={there})"
    edits = (
        *([region.swap(node.func, f"{torch}.tensor")] if known.callee(node) != "torch.tensor" else []),
        region.swap(settings["device"], '"cpu"'),
        region.argue(node, f"pin_memory={there}"),
        region.behind(node, move),
    )
    if sure(settings["device"], known):
        return Proposal("safe", "copies through pinned memory without waiting", edits)
    return Proposal("unsafe", f"copies through pinned memory without waiting: `{where}` must name a device", edits)
