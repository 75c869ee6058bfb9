"""`torch.bincount(x, minlength=n)` -> ones added up in a vector of n places."""

from __future__ import annotations

import libcst as cst

from syncguard.fix.names import defined
from syncguard.fix.nodes import inside
from syncguard.fix.reads import postfix
from syncguard.fix.recipe import Known, Proposal, Region, Unfit
from syncguard.terms import Edit, Finding

COUNTS = ("torch.bincount", "torch.Tensor.bincount")
# What stands in one of these may not be computed, or not when its statement begins.
LATER = (cst.IfExp, cst.BooleanOperation, cst.Comparison, cst.Lambda, cst.BaseComp, cst.Await, cst.Yield, cst.NamedExpr)


def rewrite(node: cst.CSTNode, finding: Finding, region: Region, known: Known) -> Proposal | None:
    """The number of places is given, and is what the caller counts on."""
    torch = known.torch()
    if not isinstance(node, cst.Call) or known.callee(node) not in COUNTS or not torch:
        return None
    values = node.args[0].value if known.callee(node) == "torch.bincount" and node.args else None
    if known.callee(node) == "torch.Tensor.bincount" and isinstance(node.func, cst.Attribute):
        values = node.func.value
    size, weights = known.argument(node, "minlength"), known.argument(node, "weights")
    if values is None or size is None or not known.pure(values) or not sized(defined(region, size), values):
        return None
    if weights is not None and not (isinstance(weights, cst.Name) and weights.value == "None"):
        return None
    above, x = named(values, node, region, known)
    n = region.code(size)
    text = f"{torch}.zeros({n}, dtype={torch}.long, device={x}.device).scatter_add_(0, {x}, {torch}.ones_like({x}))"
    held = known.tensor(values)
    if held is not None and held.dtype not in ("", "int"):
        return None
    message = f"has `{n}` places: a larger value fails where it made the result longer; `{x}` must be int64"
    return Proposal("unsafe", message, (*above, region.swap(node, text)))


def sized(size: cst.BaseExpression, values: cst.BaseExpression) -> bool:
    """Whether a number of places is said to be that of the values, and not only a least one: `n or 0`, `x.numel()`."""
    match size:
        case cst.BooleanOperation() | cst.IfExp() | cst.Integer(value="0"):
            return False
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="numel"))):
            return False
        case cst.Call(func=cst.Name(value="len"), args=[cst.Arg(value=of)]):
            return not of.deep_equals(values)
    return True


def named(values: cst.BaseExpression, node: cst.Call, region: Region, known: Known) -> tuple[tuple[Edit, ...], str]:
    """What is counted as a variable, and the line above that binds it; written out where no line can be put there."""
    whole = postfix(values, region)
    try:
        statement = region.statement(node)
    except Unfit:
        return (), whole
    if isinstance(values, cst.Name) or "\n" in whole or not isinstance(statement, cst.SimpleStatementLine):
        return (), whole
    apart = [part for part in inside(statement) if part is not node and not region.within(part, node)]
    apart = [part for part in apart if not region.within(node, part)]
    around = [*region.around(node)]
    late = any(isinstance(held, LATER) for held in around[: around.index(statement)])
    if late or any(isinstance(part, (cst.Call, *LATER[-3:])) and not known.pure(part) for part in apart):
        return (), whole
    name = region.fresh("counted")
    return (region.before(statement, f"{name} = {region.code(values)}"),), name
