"""`x[i]`, where i is a 0-d tensor or the number read from one -> `x.index_select(0, i.reshape(1)).squeeze(0)`."""

from __future__ import annotations

import libcst as cst

from syncguard.fix.names import definition, occurrences, reads
from syncguard.fix.reads import postfix, read_of, written
from syncguard.fix.recipe import Known, Proposal, Region, Unfit
from syncguard.fix.shapes import subscript
from syncguard.terms import Edit, Finding


def rewrite(node: cst.CSTNode, finding: Finding, region: Region, known: Known) -> Proposal | None:
    """All that becomes of the number is to pick one element of a tensor, which is not written there."""
    read = read_of(node, region, known)
    if read is None:
        direct = picked(node, region, known)
        key = subscript(node)
        edits = [direct] if direct is not None and key is not None and known.rank(key) == 0 else []
    elif read.dtype != "int" or read.into == "float":
        return None
    else:
        edits = taken(read.whole, read.tensor, region, known)
    if not edits:
        return None
    return Proposal("unsafe", "copies the element, and fails for a negative index, where it was a view", tuple(edits))


def taken(whole: cst.BaseExpression, tensor: cst.BaseExpression, region: Region, known: Known) -> list[Edit]:
    """The edits where a number that was read is used, as a key itself or through a variable."""
    held = region.parent(whole)
    if isinstance(held, cst.Index):
        edit = picked(region.parent(region.parent(held)), region, known, postfix(tensor, region))
        return [edit] if edit is not None else []
    if not isinstance(held, cst.Assign) or held.value is not whole or len(held.targets) != 1:
        return []
    target = held.targets[0].target
    if not isinstance(target, cst.Name):
        return []
    edits: list[Edit] = [region.swap(whole, region.code(tensor))]
    for use in reads(region, region.scope(held), target.value):
        try:
            sole = definition(region, use) is held
        except Unfit:
            return []
        edit = picked(region.parent(region.parent(region.parent(use))), region, known) if sole else None
        if edit is None:
            return []
        edits.append(edit)
    return edits if len(edits) > 1 else []


def picked(node: cst.CSTNode, region: Region, known: Known, atom: str = "") -> Edit | None:
    """The edit of `x[i]`, where x is a tensor and the element is read."""
    key = subscript(node) if isinstance(node, cst.Subscript) else None
    if key is None or not isinstance(node, cst.Subscript) or known.tensor(node.value) is None:
        return None
    if isinstance(region.parent(node), cst.AssignTarget | cst.AugAssign | cst.Del) or _seen(node, region):
        return None
    i = atom or postfix(key, region)
    return region.swap(node, f"{postfix(node.value, region)}.index_select(0, {i}.reshape(1)).squeeze(0)")


def _seen(node: cst.Subscript, region: Region) -> bool:
    """Whether something is written into the tensor, or its element: which was a view of it, and is a copy then."""
    held = region.parent(node)
    target = held.targets[0].target if isinstance(held, cst.Assign) else None
    names = [part.value for part in (node.value, target) if isinstance(part, cst.Name)]
    return any(written(use, region) for name in names for use in occurrences(region, region.scope(node), name))
