"""`repeat_interleave(x, counts)` -> the same with `output_size=`, where another shape holds the sum of the counts."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from syncguard.fix.names import between, defined, definition, reads, stores, target
from syncguard.fix.recipe import Known, Proposal, Region, Unfit
from syncguard.fix.shapes import SELECT, subscript
from syncguard.fix.steady import since
from syncguard.terms import Edit, Finding


def rewrite(node: cst.CSTNode, finding: Finding, region: Region, known: Known) -> Proposal | None:
    """Proven by what was selected with the mask that is counted, or by an `index_add` that takes one row per index."""
    if not isinstance(node, cst.Call) or (node.args and node.args[-1].star):
        return None
    counts = known.argument(node, "repeats") or known.argument(node, "input")
    if counts is None:
        return None
    for size, stay in selected(node, counts, region, known):
        text = f"`{size}` is the number of true elements that are counted"
        if stay == "safe":
            return Proposal("safe", text, (_given(node, size, region),))
        return Proposal("unsafe", f"{text}: nothing in between may change the mask", (_given(node, size, region),))
    if size := next(added(node, region, known), ""):
        return Proposal("safe", f"`index_add` takes `{size}` indices, or fails", (_given(node, size, region),))
    if size := next(paired(node, region, known), ""):
        text = f"the counts must add up to `{size}`, beside which the result stands: nobody checks it then"
        return Proposal("unsafe", text, (_given(node, size, region),))
    return None


def selected(node: cst.Call, counts: cst.BaseExpression, region: Region, known: Known) -> Iterator[tuple[str, str]]:
    """The counts are `mask.sum(dim)` of two dimensions, and `kept = y[mask]` was taken above; and whether the mask has
    stayed what it was."""
    mask = counted(counts, region, known)
    if mask is None:
        return
    every = reads(region, region.scope(node), mask.value)
    for read in [other for one in every for other in (one, *listed(one, region, known))]:
        taken = region.parent(read)
        while isinstance(taken, cst.Index | cst.SubscriptElement | cst.Arg | cst.Attribute):
            taken = region.parent(taken)
        assign = region.parent(taken)
        if not isinstance(assign, cst.Assign) or assign.value is not taken:
            continue
        if not (subscript(taken) is read or (isinstance(taken, cst.Call) and known.callee(taken) in SELECT)):
            continue
        if region.parent(region.statement(assign)) not in [*region.around(node)]:
            continue
        name = target(assign)
        early = min((assign, region.statement(every[0])), key=lambda one: region.places[one])
        bound = between(region, early, node, {mask.value}) or between(region, assign, node, {name})
        stay = since(mask, early, node, region, known)
        if region.places[taken] < region.places[node] and not bound and stay:
            yield f"{name}.shape[0]", stay


def listed(read: cst.Name, region: Region, known: Known) -> list[cst.Name]:
    """Where `index = torch.where(mask)` is read: as a key it selects what the mask does."""
    call = region.parent(region.parent(read))
    assign = region.parent(call)
    if not isinstance(call, cst.Call) or known.callee(call) != "torch.where" or len(call.args) != 1:
        return []
    if not isinstance(assign, cst.Assign) or assign.value is not call:
        return []
    uses = reads(region, region.scope(assign), target(assign))
    return [use for use in uses if definition(region, use) is assign]


def counted(counts: cst.BaseExpression, region: Region, known: Known) -> cst.Name | None:
    """The mask whose true elements are counted along one dimension."""
    counts = defined(region, counts)
    if not isinstance(counts, cst.Call) or known.callee(counts) not in ("torch.Tensor.sum", "torch.sum"):
        return None
    mask, dim = known.argument(counts, "input") or known.argument(counts, "self"), known.argument(counts, "dim")
    if not isinstance(mask, cst.Name) or dim is None or not isinstance(dim, cst.Integer | cst.UnaryOperation):
        return None
    held = known.tensor(mask)
    return mask if held is not None and held.dtype == "bool" and len(counts.args) == 1 else None


def added(node: cst.Call, region: Region, known: Known) -> Iterator[str]:
    """The result is the index of an `index_add` in the same block, and nothing else is in between."""
    for use in uses(node, region):
        call = region.parent(region.parent(use))
        if not isinstance(call, cst.Call) or known.callee(call) not in ADDS:
            continue
        source, dim, index = (known.argument(call, name) for name in ("source", "dim", "index"))
        if index is not use or not isinstance(source, cst.Name) or not isinstance(dim, cst.Integer):
            continue
        if not between(region, node, call, {source.value}) and not _bound_after(node, source, region):
            yield f"{source.value}.size({dim.value})"


def paired(node: cst.Call, region: Region, known: Known) -> Iterator[str]:
    """The result is an operand beside a tensor that has a name."""
    dim = known.argument(node, "dim")
    if not isinstance(dim, cst.Integer | cst.Name):
        return
    for use in uses(node, region, always=False):
        pair = region.parent(use)
        if isinstance(pair, cst.BinaryOperation):
            other = pair.right if pair.left is use else pair.left
            if isinstance(other, cst.Name) and known.tensor(other) and not _bound_after(node, other, region):
                yield f"{other.value}.size({region.code(dim)})"


def uses(node: cst.Call, region: Region, always: bool = True) -> Iterator[cst.CSTNode]:
    """The call itself, and where the variable that holds it is read before it is bound again; `always` in its block."""
    assign = region.parent(node)
    yield node
    if isinstance(assign, cst.Assign) and assign.value is node:
        name = target(assign)
        block = region.parent(region.statement(assign))
        for read in reads(region, region.scope(node), name):
            if region.places[read] < region.places[assign][2:] or between(region, assign, read, {name}):
                continue
            try:
                alone = region.parent(region.statement(read)) is block
            except Unfit:
                alone = False
            if alone or not always:
                yield read


ADDS = tuple(f"torch.{owner}index_add{tail}" for owner in ("", "Tensor.") for tail in ("", "_"))


def _bound_after(node: cst.Call, name: cst.Name, region: Region) -> bool:
    """Whether a variable gets the value that is read only below a node, or perhaps there."""
    if between(region, node, name, {name.value}):
        return True
    if _parameter(name, region):
        return False
    here = [*region.around(node)]
    above = [one for one in stores(region, region.scope(name), name.value) if region.places[one] < region.places[node]]
    return not any(region.parent(_statement(one, region)) in here for one in above)


def _statement(node: cst.CSTNode, region: Region) -> cst.CSTNode:
    try:
        return region.statement(node)
    except Unfit:
        return node


def _parameter(name: cst.Name, region: Region) -> bool:
    scope = region.scope(name)
    if not isinstance(scope, cst.FunctionDef):
        return False
    params = (*scope.params.params, *scope.params.kwonly_params, *scope.params.posonly_params)
    return any(param.name.value == name.value for param in params)


def _given(node: cst.Call, size: str, region: Region) -> Edit:
    for arg in node.args:
        if arg.keyword is not None and arg.keyword.value == "output_size":
            return region.swap(arg.value, size)
    return region.argue(node, f"output_size={size}")
