"""`if not mask.any(): return a` above `return b` -> `return torch.where(mask.any(), b, a)`; likewise if/else."""

from __future__ import annotations

import libcst as cst

from syncguard.fix.conditions import bare, condition
from syncguard.fix.recipe import Known, Proposal, Region
from syncguard.fix.shapes import picks
from syncguard.terms import Edit, Finding


def rewrite(node: cst.CSTNode, finding: Finding, region: Region, known: Known) -> Proposal | None:
    """Between the two returns stand only assignments, and both results are 0-d tensors."""
    branch = next((held for held in region.around(node) if isinstance(held, cst.BaseCompoundStatement)), None)
    torch = known.torch()
    if not isinstance(branch, cst.If) or not torch or isinstance(region.parent(branch), cst.If):
        return None
    early = returned(branch.body)
    block, here = region.block(branch)
    rest: tuple[cst.CSTNode, ...] = ()
    if isinstance(branch.orelse, cst.Else):
        late = returned(branch.orelse.body)
        if here + 1 != len(block):
            return None
    elif branch.orelse is None:
        rest = block[here + 1 : -1]
        late = _return(block[-1]) if here + 1 < len(block) else None
    else:
        return None
    if early is None or late is None or early.value is None or late.value is None:
        return None
    if not all(_assigns(statement) for statement in rest):
        return None
    ranks = [known.rank(side.value) for side in (early, late) if side.value is not None]
    test = condition(branch.test, region, known)
    if test is None or ranks != [0, 0]:
        return None
    text, straight = test
    yes, no = (early.value, late.value) if straight else (late.value, early.value)
    if any(picks(part, known) for part in (*rest, early.value, late.value)):
        return None  # what the test guards may be empty
    chosen = f"{torch}.where({bare(text)}, {region.code(yes)}, {region.code(no)})"
    edits: list[Edit]
    if branch.orelse is None:
        edits = [region.remove(branch), region.swap(late.value, chosen)]
    else:
        edits = [region.put(branch, f"return {chosen}")]
    message = "computes both results: what fails or is infinite for an empty input shows, and both must have one dtype"
    return Proposal("unsafe", message, tuple(edits))


def returned(suite: cst.BaseSuite) -> cst.Return | None:
    """The one return that a block is."""
    return _return(suite.body[0]) if isinstance(suite, cst.IndentedBlock) and len(suite.body) == 1 else None


def _return(statement: cst.CSTNode) -> cst.Return | None:
    if isinstance(statement, cst.SimpleStatementLine) and len(statement.body) == 1:
        only = statement.body[0]
        return only if isinstance(only, cst.Return) else None
    return None


def _assigns(statement: cst.CSTNode) -> bool:
    """Whether a statement only computes: an assignment to variables."""
    if not isinstance(statement, cst.SimpleStatementLine):
        return False
    return all(
        isinstance(part, cst.Assign) and all(isinstance(target.target, cst.Name | cst.Tuple) for target in part.targets)
        for part in statement.body
    )
