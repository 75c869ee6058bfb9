"""`if mask.any(): x[mask] = ...` -> the body alone: over no element it does nothing anyway."""

from __future__ import annotations

import libcst as cst

from syncguard.fix.missing import missing
from syncguard.fix.names import loaded, occurrences
from syncguard.fix.nodes import inside
from syncguard.fix.questions import asked
from syncguard.fix.recipe import Known, Proposal, Region
from syncguard.fix.shapes import picks, subscript
from syncguard.fix.unwrap import unwrap
from syncguard.terms import Finding

FILLS = (
    "torch.Tensor.masked_fill",
    "torch.Tensor.masked_fill_",
    "torch.masked_fill",
    "torch.where",
    "torch.Tensor.where",
)
SCATTERS = ("torch.Tensor.masked_scatter", "torch.Tensor.masked_scatter_", "torch.masked_scatter")
# What fails where it is given no element.
NEEDING = frozenset("max min argmax argmin amax amin aminmax mode kthvalue quantile nanquantile item".split())


def rewrite(node: cst.CSTNode, finding: Finding, region: Region, known: Known) -> Proposal | None:
    """An `if` without `else`, whose body only writes where the mask is true, or computes what only it reads."""
    branch = next((held for held in region.around(node) if isinstance(held, cst.BaseCompoundStatement)), None)
    if not isinstance(branch, cst.If) or branch.orelse is not None or isinstance(region.parent(branch), cst.If):
        return None
    test = branch.test
    if not any(held is test for held in (node, *region.around(node))):
        return None
    rest: cst.BaseExpression | None = None
    match test:
        case cst.BooleanOperation(left=rest, operator=cst.And(), right=test):
            pass
    mask = asked(test, known)
    if mask is None or not isinstance(branch.body, cst.IndentedBlock):
        return None
    masked = 0
    masks = [mask]
    picked: set[str] = set()
    for line in branch.body.body:
        only = line.body[0] if isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1 else None
        if only is None or needs(only, picked, region, known):
            return None
        if any(harmless(only, one, known) for one in masks):
            masked += 1
            continue
        if not isinstance(only, cst.Assign) or not own(only, branch, region) or not known.pure(only.value):
            return None
        target = only.targets[0].target
        if few(only.value, picked, region, known):
            picked |= {region.code(target)}
        if isinstance(only.value, cst.Subscript) and only.value.value.deep_equals(mask):
            masks.append(target)  # elements of a mask without true ones have none
    if not masked or missing(branch, region):
        return None
    text = "what the body computes for the mask is computed each time, also for no element"
    edit = unwrap(branch, region) if rest is None else region.swap(branch.test, region.code(rest))
    return Proposal("unsafe", text, (edit,))


def needs(statement: cst.BaseSmallStatement, picked: set[str], region: Region, known: Known) -> bool:
    """Whether a statement computes what cannot be computed of no element: `x[mask].max()`, `x[mask][0]`."""
    for part in inside(statement):
        key = subscript(part)
        first = key is not None and bool(known.number(key))
        reduces = isinstance(part, cst.Call) and known.callee(part).rpartition(".")[2] in NEEDING
        if (first or reduces) and few(part, picked, region, known):
            return True
    return False


def few(node: cst.CSTNode, picked: set[str], region: Region, known: Known) -> bool:
    """Whether something is computed of what was picked, here or into one of some variables."""
    return picks(node, known) or bool(loaded(region, node) & picked)


def harmless(statement: cst.BaseSmallStatement, mask: cst.BaseExpression, known: Known) -> bool:
    """Whether a statement writes only where the mask is true: `x[mask] = ...`, `x = x.masked_fill(mask, ...)`."""
    match statement:
        case (
            cst.Assign(targets=[cst.AssignTarget(target=cst.Subscript() as target)])
            | cst.AugAssign(target=cst.Subscript() as target)
        ):
            key = subscript(target)
            inner = subscript(key) if key is not None else None
            return any(_same(one, mask) for one in (key, inner)) and known.pure(statement.value)
        case cst.Assign(targets=[cst.AssignTarget(target=target)], value=cst.Call() as call):
            return fills(call, target, mask, known)
        case cst.Expr(value=cst.Call() as call) if known.callee(call).endswith("_"):
            return fills(call, None, mask, known)
    return False


def fills(call: cst.Call, target: cst.CSTNode | None, mask: cst.BaseExpression, known: Known) -> bool:
    """`x.masked_fill(mask, v)` or `torch.where(mask, v, x)`, which is x where there is no true element."""
    name = known.callee(call)
    if name in ("torch.where", "torch.Tensor.where"):
        test, other = known.argument(call, "condition"), known.argument(call, "other")
        return name == "torch.where" and _same(test, mask) and _same(other, target) and known.pure(call)
    if name not in (*FILLS, *SCATTERS):
        return False
    key, of = known.argument(call, "mask"), known.argument(call, "input") or known.argument(call, "self")
    return _same(viewed(key), mask) and (target is None or _same(of, target))


def viewed(key: cst.CSTNode | None) -> cst.CSTNode | None:
    """What a key is a view of: `mask[..., None]` and `mask.unsqueeze(1)` have the mask's true elements."""
    while True:
        match key:
            case cst.Call(
                func=cst.Attribute(value=of, attr=cst.Name(value="unsqueeze" | "view" | "reshape" | "expand"))
            ):
                key = of
            case cst.Subscript(value=of, slice=parts) if all(_whole(part.slice) for part in parts):
                key = of
            case _:
                return key


def _whole(part: cst.BaseSlice) -> bool:
    """`...`, `None` or `:`."""
    if isinstance(part, cst.Slice):
        return part.lower is None and part.upper is None and part.step is None
    return isinstance(part, cst.Index) and (
        isinstance(part.value, cst.Ellipsis) or (isinstance(part.value, cst.Name) and part.value.value == "None")
    )


def own(statement: cst.Assign, branch: cst.If, region: Region) -> bool:
    """Whether a variable is bound and read in the branch only."""
    target = statement.targets[0].target
    if len(statement.targets) != 1 or not isinstance(target, cst.Name):
        return False
    every = occurrences(region, region.scope(branch), target.value)
    return all(region.within(node, branch) for node in every)


def _same(one: cst.CSTNode | None, other: cst.CSTNode | None) -> bool:
    return one is not None and other is not None and one.deep_equals(other)
