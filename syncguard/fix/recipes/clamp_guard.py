"""`if n > 0: ... / n` -> division by `n.clamp(min=1)`; `if c < 1: ... * c` -> the product with `c.clamp(max=1.0)`."""

from __future__ import annotations

import libcst as cst

from syncguard.fix.conditions import less_than_one, positive
from syncguard.fix.reads import postfix, read_of
from syncguard.fix.recipe import Known, Proposal, Region
from syncguard.fix.unwrap import unwrap
from syncguard.terms import Edit, Finding

SCALES = ("mul", "mul_", "multiply", "multiply_")


def rewrite(node: cst.CSTNode, finding: Finding, region: Region, known: Known) -> Proposal | None:
    """An `if` without `else`, in whose body the tested tensor only divides, or only multiplies."""
    branch = next((held for held in region.around(node) if isinstance(held, cst.BaseCompoundStatement)), None)
    if not isinstance(branch, cst.If) or isinstance(region.parent(branch), cst.If):
        return None
    if not any(held is branch.test for held in (node, *region.around(node))):
        return None
    count, factor = positive(branch.test, region, known), less_than_one(branch.test, region, known)
    tensor = count if count is not None else factor
    if tensor is None:
        return None
    uses = [
        use for use in region.places
        if isinstance(use, type(tensor)) and use.deep_equals(tensor)
        and region.within(use, branch.body)
    ]  # fmt: skip
    if not uses:
        return None
    name = postfix(tensor, region)
    more = False
    if count is not None:
        held = known.tensor(count)
        if held is None or held.dtype == "float" or not all(_divides(use, region, known) for use in uses):
            return None
        text, message = (
            f"{name}.clamp(min=1)",
            f"the body runs with 1 in place of `{region.code(tensor)}` where that is 0",
        )
    else:
        if not all(_scales(use, region) for use in uses):
            return None
        more = not _only_scales(branch.body, region)
        text = f"{name}.clamp(max=1.0)"
        message = (
            f"the body runs each time, with a factor of at most 1; a `{region.code(tensor)}` that is NaN reaches all"
        )
    if more:
        message += "; what else the body does is done each time, too"
    edits: list[Edit] = [region.swap(_read(use, region, known), text) for use in uses]
    return Proposal("display" if more else "unsafe", message, (unwrap(branch, region, *edits),))


def _divides(use: cst.CSTNode, region: Region, known: Known) -> bool:
    whole = _read(use, region, known)
    held = region.parent(whole)
    return isinstance(held, cst.BinaryOperation) and held.right is whole and isinstance(held.operator, cst.Divide)


def _read(use: cst.CSTNode, region: Region, known: Known) -> cst.CSTNode:
    """A use with the `.item()` around it."""
    call = region.parent(region.parent(use))
    read = read_of(call, region, known) if isinstance(call, cst.Call) else None
    return read.whole if read is not None and read.tensor is use else use


def _scales(use: cst.CSTNode, region: Region) -> bool:
    """Whether a use is a factor: `x * c`, `x *= c`, `x.mul_(c)`, `x.mul_(c.to(x.device))`."""
    held = region.parent(use)
    if isinstance(held, cst.Attribute) and held.attr.value in ("to", "type_as") and held.value is use:
        use, held = region.parent(held), region.parent(region.parent(held))
    if isinstance(held, cst.BinaryOperation):
        return isinstance(held.operator, cst.Multiply)
    if isinstance(held, cst.AugAssign):
        return isinstance(held.operator, cst.MultiplyAssign) and held.value is use
    call = region.parent(held)
    return (
        isinstance(held, cst.Arg) and isinstance(call, cst.Call) and isinstance(call.func, cst.Attribute)
        and call.func.attr.value in SCALES and len(call.args) == 1
    )  # fmt: skip


def _only_scales(suite: cst.BaseSuite, region: Region) -> bool:
    """Whether a body does nothing but scale, also for each of several tensors."""
    if not isinstance(suite, cst.IndentedBlock):
        return False
    for statement in suite.body:
        if isinstance(statement, cst.For | cst.If) and statement.orelse is None:
            if not _only_scales(statement.body, region):
                return False
        elif isinstance(statement, cst.SimpleStatementLine):
            if not all(_scaling(part) for part in statement.body):
                return False
        else:
            return False
    return True


def _scaling(part: cst.BaseSmallStatement) -> bool:
    match part:
        case cst.Expr(value=cst.Call(func=cst.Attribute(attr=cst.Name(value=name)))) if name in ("mul_", "multiply_"):
            return True
        case cst.AugAssign(operator=cst.MultiplyAssign()):
            return True
        case cst.Assign(
            targets=[cst.AssignTarget(target=target)], value=cst.BinaryOperation(left=left, operator=cst.Multiply())
        ):
            return left.deep_equals(target)
    return False
