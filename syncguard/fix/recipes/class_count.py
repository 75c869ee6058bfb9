"""`one_hot(t)` -> `one_hot(t, num_classes)`, the size of what t was taken from or is multiplied with."""

from __future__ import annotations

import libcst as cst

from syncguard.fix.names import defined
from syncguard.fix.recipe import Known, Proposal, Region
from syncguard.terms import Finding

PLACES = ("torch.argmax", "torch.Tensor.argmax", "torch.argmin", "torch.Tensor.argmin")


def rewrite(node: cst.CSTNode, finding: Finding, region: Region, known: Known) -> Proposal | None:
    """The places of the largest scores, or an operand beside scores."""
    if not isinstance(node, cst.Call) or not node.args:
        return None
    size = largest(node, region, known) or beside(node, region, known)
    if not size:
        return None
    given = next((arg for arg in node.args if arg.keyword is not None and arg.keyword.value == "num_classes"), None)
    edit = region.swap(given.value, size) if given is not None else region.argue(node, f"num_classes={size}")
    return Proposal("unsafe", f"has `{size}` columns, also for the classes that do not occur", (edit,))


def largest(node: cst.Call, region: Region, known: Known) -> str:
    """The size of the dimension along which `argmax` chose."""
    made = defined(region, node.args[0].value)
    if not isinstance(made, cst.Call) or known.callee(made) not in PLACES:
        return ""
    source = known.argument(made, "input") or known.argument(made, "self")
    dim = known.argument(made, "dim")
    if not isinstance(source, cst.Name | cst.Attribute) or not isinstance(dim, cst.Integer | cst.UnaryOperation):
        return ""
    return f"{region.code(source)}.size({region.code(dim)})"


def beside(node: cst.Call, region: Region, known: Known) -> str:
    """The last dimension of the tensor that it is added to or multiplied with, also after `.float()`."""
    held = region.parent(node)
    whole: cst.CSTNode = node
    while isinstance(held, cst.Attribute) and isinstance(call := region.parent(held), cst.Call):
        if held.attr.value not in ("float", "to", "type_as", "double", "half", "bool"):
            return ""
        whole, held = call, region.parent(call)
    if not isinstance(held, cst.BinaryOperation):
        return ""
    other = held.right if held.left is whole else held.left
    is_scores = (
        isinstance(other, cst.Name | cst.Attribute) and known.tensor(other) is not None and known.rank(other) != 0
    )
    return f"{region.code(other)}.shape[-1]" if is_scores else ""
