"""`self.table.to(device)` in each call -> the attribute keeps the copy: a sketch."""

from __future__ import annotations

import libcst as cst

from syncguard.fix.devices import device
from syncguard.fix.recipe import Known, Proposal, Region
from syncguard.terms import Finding

MAKING = ("__init__", "__new__", "_apply", "to", "cuda", "cpu", "reset_parameters")


def rewrite(node: cst.CSTNode, finding: Finding, region: Region, known: Known) -> Proposal | None:
    """Only shown: the other readers of the attribute get the copy, and a registered buffer moves with its module."""
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
    name = region.code(kept)
    edits = (region.before(region.statement(node), f"{name} = {region.code(node)}"), region.swap(node, name))
    text = (
        f"copies once: from the first call on `{name}` lives on the device; a registered buffer moves with its module"
    )
    return Proposal("display", text, edits, leaves=1)
