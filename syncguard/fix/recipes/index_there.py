"""`x[torch.arange(n), i]`, `x[range(n), i]` -> `x[torch.arange(n, device=x.device), i]`."""

from __future__ import annotations

import libcst as cst

from syncguard.fix.recipe import Known, Proposal, Region
from syncguard.fix.recipes.build_on_device import COUNTS, EXACT
from syncguard.terms import Edit, Finding

RANGE = "builtins.range"


def rewrite(node: cst.CSTNode, finding: Finding, region: Region, known: Known) -> Proposal | None:
    """Numbers that are counted in the subscript itself, of a tensor that is a variable."""
    if not isinstance(node, cst.Subscript) or known.tensor(node.value) is None:
        return None
    if not isinstance(node.value, cst.Name | cst.Attribute) or not known.pure(node.value):
        return None
    device = f"device={region.code(node.value)}.device"
    parts = [part.slice.value for part in node.slice if isinstance(part.slice, cst.Index) and part.slice.star is None]
    edits = [edit for part in parts if (edit := _there(part, device, region, known)) is not None]
    if not edits:
        return None
    # A number that is written through indices is sent, too, whatever these are.
    return Proposal("safe", "counts on the device", tuple(edits), leaves=int(_numbered(node, region, known)))


def _numbered(node: cst.Subscript, region: Region, known: Known) -> bool:
    """Whether a number is written there."""
    assign = region.parent(region.parent(node))
    written = isinstance(region.parent(node), cst.AssignTarget) and isinstance(assign, cst.Assign)
    return written and bool(known.number(cst.ensure_type(assign, cst.Assign).value))


def _there(part: cst.BaseExpression, device: str, region: Region, known: Known) -> Edit | None:
    if not isinstance(part, cst.Call) or any(arg.star or arg.keyword is not None for arg in part.args):
        return None
    whole = all(known.number(arg.value) in ("int", "size") for arg in part.args)
    name = known.callee(part)
    if name == RANGE or (isinstance(part.func, cst.Name) and part.func.value == "range" and known.plain("range")):
        torch = known.torch()
        given = ", ".join(region.code(arg.value) for arg in part.args)
        return region.swap(part, f"{torch}.arange({given}, {device})") if torch and whole else None
    if name in EXACT or (name == COUNTS and whole):
        return region.argue(part, device)
    return None
