"""`torch.arange(counts.sum())` below `y = x.repeat_interleave(counts)` -> `y.shape[0]`, which the host knows."""

from __future__ import annotations

from typing import Literal

import libcst as cst

from syncguard.fix.loops import from_to, paths, questioned
from syncguard.fix.masks import unused
from syncguard.fix.names import between, defined, loaded, occurrences, target
from syncguard.fix.nodes import zero
from syncguard.fix.reads import read_of
from syncguard.fix.recipe import Known, Proposal, Region, Unfit
from syncguard.fix.steady import root, since
from syncguard.terms import Edit, Finding

REPEATS = ("torch.repeat_interleave", "torch.Tensor.repeat_interleave")
SUMS = ("torch.sum", "torch.Tensor.sum")
# What puts the same elements in another order or shape.
REORDERED = frozenset(
    "view reshape flatten ravel contiguous t transpose permute clone detach long int squeeze unsqueeze".split()
)


def rewrite(node: cst.CSTNode, finding: Finding, region: Region, known: Known) -> Proposal | None:
    """The repeated tensor is bound above, in a block around, and nothing was bound again since."""
    read = read_of(node, region, known) if isinstance(node, cst.Call) else None
    parts = [node, *_inner(node), *([read.tensor] if read is not None else ())]
    for size in (part for part in parts if isinstance(part, cst.BaseExpression)):
        made = defined(region, size)
        if not isinstance(made, cst.Call) or known.callee(made) not in SUMS:
            continue
        if len(made.args) > (known.callee(made) == SUMS[0]):
            continue  # along a dimension
        counts = made.args[0].value if made.args else made.func.value if isinstance(made.func, cst.Attribute) else None
        if counts is None or known.tensor(size) is None:
            continue
        for repeated in [call for call in region.calls if known.callee(call) in REPEATS]:
            name = sized(repeated, counts, node, region, known)
            whole = read.whole if read is not None and read.tensor is size else size
            stay = stays(repeated, counts, node, region, known) if name else ""
            if stay:
                text = f"`{name}` was repeated as often as is counted here"
                text += "" if stay == "safe" else ", if nothing has changed the counts since"
                gone = unused((region.parent(made),), [whole], region) if known.pure(made) else []
                return Proposal(stay, text, (region.swap(whole, f"{name}.shape[0]"), *gone))
            if found := below(repeated, counts, node, region, known):
                edits = (*found[1], region.swap(whole, f"{found[0]}.shape[0]"))
                text = f"repeats `{found[0]}` before its size is asked for, whatever the answer is"
                return Proposal("unsafe", text, edits)
    return None


def stays(
    repeated: cst.Call, counts: cst.BaseExpression, node: cst.CSTNode, region: Region, known: Known
) -> Literal["safe", "unsafe", ""]:
    """Whether the counts are, where they are added up, what they were where they repeated, as `steady` says."""
    repeats = known.argument(repeated, "repeats")
    found = [since(one, repeated, node, region, known) for one in (repeats, counts) if one is not None and root(one)]
    return "" if "" in found else "unsafe" if "unsafe" in found else "safe"


def below(
    repeated: cst.Call, counts: cst.BaseExpression, node: cst.CSTNode, region: Region, known: Known
) -> tuple[str, tuple[Edit, ...]] | None:
    """The variable of a repeat that stands below in the same block, and the edits that put it above; None where what it
    is made of is not there yet."""
    assign = region.parent(repeated)
    if not isinstance(assign, cst.Assign) or assign.value is not repeated or not known.pure(repeated):
        return None
    repeats, dim = known.argument(repeated, "repeats"), known.argument(repeated, "dim")
    if repeats is None or not elements(repeats, region) & elements(counts, region):
        return None
    if dim is not None and not zero(dim):
        return None
    name, made = target(assign), region.statement(assign)
    block, there = region.block(made)
    here = next((n for n, one in enumerate(block) if one in (node, *region.around(node))), there)
    names = {name} | loaded(region, repeated)
    if here >= there or between(region, node, assign.targets[0], names) or isinstance(block[here], cst.For | cst.While):
        return None
    if any(questioned(path, from_to(block[here], made, region), region) for path in paths(repeated, region, known)):
        return None
    own = assign.targets[0].target
    if any(region.places[use] < region.places[own] for use in occurrences(region, region.scope(node), name)):
        return None
    return name, (region.before(block[here], region.code(assign)), region.remove(made))


def sized(repeated: cst.Call, counts: cst.BaseExpression, node: cst.CSTNode, region: Region, known: Known) -> str:
    """The variable that holds what was repeated by just these counts; '' where that is not sure."""
    assign = region.parent(repeated)
    repeats, dim = known.argument(repeated, "repeats"), known.argument(repeated, "dim")
    if not isinstance(assign, cst.Assign) or assign.value is not repeated or repeats is None:
        return ""
    if dim is not None and not zero(dim):
        return ""
    if not elements(repeats, region) & elements(counts, region):
        return ""
    try:
        name = target(assign)
        around = region.parent(region.statement(assign)) in [*region.around(node)]
    except Unfit:
        return ""
    after = region.places[assign][2:] <= region.places[node][:2]
    return name if around and after and not between(region, assign, node, {name}) else ""


def elements(node: cst.BaseExpression, region: Region) -> set[str]:
    """The expressions that have the same elements, perhaps in another order."""
    found = {region.code(node)}
    while True:
        made = defined(region, node)
        match made:
            case cst.Call(func=cst.Attribute(value=of, attr=cst.Name(value=name))) if name in REORDERED:
                node = of
            case cst.Attribute(value=of, attr=cst.Name(value="T" | "mT")):
                node = of
            case _:
                return found
        found.add(region.code(node))


def _inner(node: cst.CSTNode) -> list[cst.CSTNode]:
    """The arguments of a call, one level deep: the finding may stand on the call that wants a size."""
    if isinstance(node, cst.Call):
        return [arg.value for arg in node.args]
    return []
