"""`torch.linalg.inv(a)` -> `torch.linalg.inv_ex(a).inverse`: the form that does not report errors to the host."""

from __future__ import annotations

import libcst as cst

from syncguard.fix.recipe import Known, Proposal, Region
from syncguard.terms import Finding

FORMS = {
    "torch.linalg.inv": ("inv_ex", "inverse"), "torch.inverse": ("inv_ex", "inverse"),
    "torch.Tensor.inverse": ("inv_ex", "inverse"), "torch.linalg.cholesky": ("cholesky_ex", "L"),
    "torch.linalg.solve": ("solve_ex", "result"), "torch.linalg.ldl_factor": ("ldl_factor_ex", ""),
}  # fmt: skip


def rewrite(node: cst.CSTNode, finding: Finding, region: Region, known: Known) -> Proposal | None:
    """A call without `out`, whose error nothing here waits for."""
    if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute) or region.handled(node):
        return None
    name = known.callee(node)
    form, part = FORMS.get(name, ("", ""))
    torch = known.torch()
    if not part or not torch or any(arg.star or (arg.keyword and arg.keyword.value == "out") for arg in node.args):
        return None
    made = f"{torch}.linalg.{form}"
    message = "a matrix that has no result gives meaningless numbers in place of an error"
    if name.startswith("torch.Tensor."):
        edits = (region.swap(node, f"{made}({region.code(node.func.value)}).{part}"),)
        return Proposal("unsafe", message, edits) if not node.args else None
    return Proposal("unsafe", message, (region.swap(node.func, made), region.behind(node, f".{part}")))
