"""`self.table.to(device)` in each call -> a copy for each device, made when it is first asked for: a sketch."""

from __future__ import annotations

import libcst as cst

from syncguard.fix.devices import device
from syncguard.fix.recipe import Known, Proposal, Region
from syncguard.terms import Finding

MAKING = ("__init__", "__new__", "_apply", "to", "cuda", "cpu", "reset_parameters")


def rewrite(node: cst.CSTNode, finding: Finding, region: Region, known: Known) -> Proposal | None:
    """Only shown: the constructor must begin it, and nobody may change the attribute afterwards."""
    match node:
        case cst.Call(
            func=cst.Attribute(value=cst.Attribute(value=cst.Name(value="self")) as kept, attr=cst.Name(value="to")),
            args=[cst.Arg(keyword=None, star="", value=where)],
        ) if device(where, known) or known.tensor(where) is None:
            pass
        case _:
            return None
    scope = region.scope(node)
    if not isinstance(scope, cst.FunctionDef) or scope.name.value in MAKING or known.tensor(kept) is None:
        return None
    name, there = region.code(kept), region.code(where)
    copies = f"self._{kept.attr.value.lstrip('_')}_on"
    lines = (
        f"if {there} not in {copies}:  # begun in the constructor: {copies} = {{}}",
        f"{region.step}{copies}[{there}] = {region.code(node)}",
    )
    edits = (region.before(region.statement(node), *lines), region.swap(node, f"{copies}[{there}]"))
    text = f"copies once for each device, if nobody changes `{name}` later; a registered buffer moves with its module"
    return Proposal("display", text, edits, leaves=1)
