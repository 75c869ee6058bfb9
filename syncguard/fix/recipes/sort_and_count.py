"""`torch.unique(x).numel()` -> sort, and count where neighbours differ: the number of values, on the device."""

from __future__ import annotations

from itertools import takewhile

import libcst as cst

from syncguard.fix.declared import declared
from syncguard.fix.masks import Selected, selected, unused
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
    values = counted_of(node, known)
    if values is None:
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
    taken = selected(values, region, known) if known.torch() else None
    if taken is None and known.tensor(values) is None:
        return None
    lines = counting(values, taken, name, region, known)
    edits: list[Edit] = [region.swap(count, name) for count in counts if count is not None]
    gone: list[cst.CSTNode] = [values]
    if isinstance(assign, cst.Assign) and assign.value is node:
        edits.append(region.put(statement, *lines))
    else:
        edits.append(region.before(statement, *lines))
    if taken is not None:
        edits += unused(taken.by, gone, region)
    message = "the number of different values becomes a 0-d tensor in place of a Python number"
    if any(needed(count, region, known) for count in counts if count is not None):
        return None
    takers = [one for count in counts if count is not None for one in _takers(count, region, known)]
    if takers:
        return Proposal("display", f"{message}, which `{takers[0]}` must take", tuple(edits))
    return Proposal("unsafe", message, tuple(edits))


def counted_of(call: cst.Call, known: Known) -> cst.BaseExpression | None:
    """The tensor whose different values a call gives; None where it gives more than these, or of one dimension."""
    method = known.callee(call).startswith("torch.Tensor.") and isinstance(call.func, cst.Attribute)
    rest = call.args if method else call.args[1:]
    if not (method or call.args) or not all(map(_harmless, rest)):
        return None
    return call.func.value if method and isinstance(call.func, cst.Attribute) else call.args[0].value


def counting(
    values: cst.BaseExpression, taken: Selected | None, name: str, region: Region, known: Known
) -> tuple[str, str]:
    """The lines that sort a tensor and count where neighbours differ. Of what a mask has `taken`, the other elements
    stand for one of those that it took, so that the shape is fixed.
    """
    ordered, torch = region.fresh(f"{name.removesuffix('_count')}_sorted"), known.torch()
    differ = f"({ordered}[1:] != {ordered}[:-1]).sum()"
    if taken is None:
        filled, number = postfix(values, region), f"{differ} + min({ordered}.numel(), 1)"
    else:
        mask, source = region.code(taken.mask), region.code(taken.source)
        some = f"{torch}.where({mask}, {source}, {postfix(taken.source, region)}.min()).max()"
        filled = f"{torch}.where({mask}, {source}, {some})"
        number = f"({differ} + 1) * {postfix(taken.mask, region)}.any()"
    return f"{ordered} = {filled}.flatten().sort().values", f"{name} = {number}"


def needed(count: cst.BaseExpression, region: Region, known: Known) -> bool:
    """Whether a count is said to be a number, or is given to a function of Python, which would read it again."""
    called = [known.callee(call) for call in _calls(count, region)]
    return any(name.startswith("builtins.") for name in called) or any(
        declared(use, region) for use in _uses(count, region)
    )


def _takers(count: cst.BaseExpression, region: Region, known: Known) -> list[str]:
    """The functions of which nothing is known that are given a count, itself or through a variable."""
    return [region.code(call.func) for call in _calls(count, region) if not known.callee(call)]


def _calls(count: cst.BaseExpression, region: Region) -> list[cst.Call]:
    """The calls that are given a count."""
    args = [region.parent(use) for use in _uses(count, region)]
    calls = [region.parent(arg) for arg in args if isinstance(arg, cst.Arg)]
    return [call for call in calls if isinstance(call, cst.Call)]


def _uses(count: cst.BaseExpression, region: Region) -> list[cst.CSTNode]:
    """A count, and where a variable that holds it is read."""
    held = region.parent(count)
    uses: list[cst.CSTNode] = [count]
    if isinstance(held, cst.Assign) and isinstance(held.targets[0].target, cst.Name):
        uses += reads(region, region.scope(held), held.targets[0].target.value)
    return uses


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
