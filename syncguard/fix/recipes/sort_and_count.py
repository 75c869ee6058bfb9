"""`torch.unique(x).numel()` -> sort, and count where neighbours differ: the number of values, on the device."""

from __future__ import annotations

from itertools import takewhile

import libcst as cst

from syncguard.fix.masks import selected, unused
from syncguard.fix.names import occurrences, reads
from syncguard.fix.nodes import zero
from syncguard.fix.reads import postfix
from syncguard.fix.recipe import Known, Proposal, Region
from syncguard.fix.recipes.read_together import SKIPPED
from syncguard.terms import Edit, Finding

UNIQUE = ("torch.unique", "torch.Tensor.unique")


def rewrite(node: cst.CSTNode, finding: Finding, region: Region, known: Known) -> Proposal | None:
    """Of the different values nothing but their number is used."""
    if not isinstance(node, cst.Call) or known.callee(node) not in UNIQUE:
        return None
    plain = (
        node.func.value
        if known.callee(node).startswith("torch.Tensor.") and isinstance(node.func, cst.Attribute)
        else None
    )
    values = plain if plain is not None else node.args[0].value if node.args else None
    if values is None or any(not _harmless(arg) for arg in (node.args if plain is not None else node.args[1:])):
        return None
    assign = region.parent(node)
    statement = region.statement(node)
    if isinstance(assign, cst.Assign) and assign.value is node:
        target = assign.targets[0].target
        if len(assign.targets) != 1 or not isinstance(target, cst.Name):
            return None
        uses = [use for use in occurrences(region, region.scope(node), target.value) if use is not target]
        counts = [counted(use, region) for use in uses]
        name = region.fresh(f"{target.value}_count")
    elif any(isinstance(held, SKIPPED) for held in takewhile(lambda held: held is not statement, region.around(node))):
        return None  # above the statement it would be computed once, and always
    else:
        counts, name = [counted(node, region)], region.fresh("values_count", "count_of_values")
    if not counts or any(count is None for count in counts) or not isinstance(statement, cst.SimpleStatementLine):
        return None
    ordered = region.fresh(f"{name.removesuffix('_count')}_sorted")
    torch = known.torch()
    taken = selected(values, region, known) if torch else None
    if taken is not None:
        mask, source = region.code(taken.mask), region.code(taken.source)
        some = f"{torch}.where({mask}, {source}, {postfix(taken.source, region)}.min()).max()"
        filled = f"{torch}.where({mask}, {source}, {some})"
        number = f"(({ordered}[1:] != {ordered}[:-1]).sum() + 1) * {postfix(taken.mask, region)}.any()"
    else:
        filled = region.code(values) if known.tensor(values) is not None else ""
        number = f"({ordered}[1:] != {ordered}[:-1]).sum() + min({ordered}.numel(), 1)"
    if not filled:
        return None
    filled = filled if taken is not None else postfix(values, region)
    lines = (f"{ordered} = {filled}.flatten().sort().values", f"{name} = {number}")
    edits: list[Edit] = [region.swap(count, name) for count in counts if count is not None]
    gone: list[cst.CSTNode] = [values]
    if isinstance(assign, cst.Assign) and assign.value is node:
        edits.append(region.put(statement, *lines))
    else:
        edits.append(region.before(statement, *lines))
    if taken is not None:
        edits += unused(taken.by, gone, region)
    message = "the number of different values becomes a 0-d tensor in place of a Python number"
    takers = [one for count in counts if count is not None for one in _takers(count, region, known)]
    if takers:
        return Proposal("display", f"{message}, which `{takers[0]}` must take", tuple(edits))
    return Proposal("unsafe", message, tuple(edits))


def _takers(count: cst.BaseExpression, region: Region, known: Known) -> list[str]:
    """The functions of which nothing is known that are given a count, itself or through a variable."""
    held = region.parent(count)
    uses: list[cst.CSTNode] = [count]
    if isinstance(held, cst.Assign) and isinstance(held.targets[0].target, cst.Name):
        uses += reads(region, region.scope(held), held.targets[0].target.value)
    calls = [region.parent(region.parent(use)) for use in uses if isinstance(region.parent(use), cst.Arg)]
    return [region.code(call.func) for call in calls if isinstance(call, cst.Call) and not known.callee(call)]


def counted(use: cst.CSTNode, region: Region) -> cst.BaseExpression | None:
    """`use.numel()`, `len(use)`, `use.shape[0]`, `use.size(0)` around a use."""
    held = region.parent(use)
    match held:
        case cst.Attribute(attr=cst.Name(value="numel" | "size")):
            call = region.parent(held)
            return (
                call
                if isinstance(call, cst.Call) and call.func is held and all(zero(arg.value) for arg in call.args)
                else None
            )
        case cst.Attribute(attr=cst.Name(value="shape")):
            item = region.parent(held)
            match item:
                case cst.Subscript(slice=[cst.SubscriptElement(slice=cst.Index(value=index))]) if zero(index):
                    return item
        case cst.Arg():
            call = region.parent(held)
            if isinstance(call, cst.Call) and isinstance(call.func, cst.Name) and call.func.value == "len":
                return call
    return None


def _harmless(arg: cst.Arg) -> bool:
    return arg.keyword is not None and arg.keyword.value == "sorted"
