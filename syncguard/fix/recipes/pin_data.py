"""`torch.tensor(rows, device=d)` -> a pinned tensor and a copy that nobody waits for, where the device is CUDA's."""

from __future__ import annotations

import libcst as cst

from syncguard.fix.devices import cuda, keywords, sent, sure
from syncguard.fix.names import defined
from syncguard.fix.recipe import Known, Proposal, Region
from syncguard.terms import Edit, Finding

MAKERS = ("torch.tensor", "torch.as_tensor")


def rewrite(node: cst.CSTNode, finding: Finding, region: Region, known: Known) -> Proposal | None:
    """Only what `torch.tensor` copies: nobody else can write into the pinned memory before it has been sent.

    On other devices neither pinning nor copies without waiting are to be relied on, so both ask for CUDA.
    """
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
    if settings is None or len(made.args) != len(settings) + 1 or known.tensor(made.args[0].value) is not None:
        return None
    where = where if where is not None else settings.get("device")
    if where is None or (found is not None and len(node.args) > 1):
        return None
    # On the host whatever the default device is, and if the data should be a tensor that lies elsewhere.
    there = cuda(where, region, known)
    edits: list[Edit] = []
    if known.callee(made) != "torch.tensor":
        edits.append(region.swap(made.func, f"{torch}.tensor"))
    if found is None:
        edits += [region.swap(where, '"cpu"'), region.argue(node, f"pin_memory={there}")]
        edits.append(region.behind(node, f".to({region.code(where)}, non_blocking={there})"))
    else:
        edits += [region.argue(made, f'device="cpu", pin_memory={there}')]
        edits.append(region.argue(node, f"non_blocking={there}"))
    if sure(defined(region, where), known):
        return Proposal("safe", "copies through pinned memory without waiting", tuple(edits))
    text = f"copies through pinned memory without waiting: `{region.code(where)}` must name a device"
    return Proposal("unsafe", text, tuple(edits))
