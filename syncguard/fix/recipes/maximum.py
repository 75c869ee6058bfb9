"""`max(a, b)` of 0-d tensors -> `torch.maximum(a, b)`, `max(x.max() for x in xs)` -> `torch.stack([...]).max()`."""

from __future__ import annotations

from functools import reduce

import libcst as cst

from syncguard.fix.declared import declared
from syncguard.fix.nodes import inside
from syncguard.fix.reads import read_of
from syncguard.fix.recipe import Known, Proposal, Region
from syncguard.terms import Finding

NUMBERS = ("builtins.int", "builtins.float", "builtins.bool", "builtins.range")
CHOICES = {"builtins.max": ("maximum", "max"), "builtins.min": ("minimum", "min")}


def rewrite(node: cst.CSTNode, finding: Finding, region: Region, known: Known) -> Proposal | None:
    """Two or more 0-d tensors, or a comprehension that gives them, compared by Python."""
    torch = known.torch()
    for call in (node, *region.around(node)):
        if isinstance(call, cst.BaseSmallStatement | cst.BaseCompoundStatement):
            return None
        if isinstance(call, cst.Call) and known.callee(call) in CHOICES:
            break
    else:
        return None
    pairwise, over_all = CHOICES[known.callee(call)]
    if not torch or not call.args or any(arg.star or arg.keyword for arg in call.args):
        return None
    if len(call.args) == 1:
        text = listed(call.args[0].value, torch, over_all, region, known)
        message = "the tensors must be of one dtype and device; of NaN the result is NaN, whatever the order"
    else:
        text = paired([arg.value for arg in call.args], f"{torch}.{pairwise}", region, known)
        message = "a new tensor, never one of the two: of NaN it is NaN, of equal ones both get half of the gradient"
        if not one_dtype([arg.value for arg in call.args], known):
            message += "; it has their common dtype"
    if any(isinstance(part, cst.Call) and read_of(part, region, known) is not None for part in inside(call)):
        if declared(call, region):
            return None
        message += "; the number becomes a 0-d tensor"
    return (
        Proposal("unsafe", message, (region.swap(call, text),), leaves=read_after(call, region, known))
        if text
        else None
    )


def one_dtype(sides: list[cst.BaseExpression], known: Known) -> bool:
    """Whether tensors are of one dtype, as far as it is known."""
    kinds = {held.dtype if (held := known.tensor(side)) is not None else "" for side in sides}
    return len(kinds) == 1 and "" not in kinds


def read_after(node: cst.CSTNode, region: Region, known: Known) -> int:
    """How often the host reads what becomes of a choice: `int(max(a, b) + 1)`."""
    held = region.parent(node)
    while isinstance(held, cst.BinaryOperation | cst.UnaryOperation | cst.Arg):
        if isinstance(held, cst.Arg):
            return int(known.callee(region.parent(held)) in NUMBERS)
        held = region.parent(held)
    return 0


def paired(sides: list[cst.BaseExpression], name: str, region: Region, known: Known) -> str:
    """The choice of two after another; '' where a side is not sure to be a 0-d tensor or a number read from one."""
    texts: list[str] = []
    for side in sides:
        read = read_of(side, region, known) if isinstance(side, cst.Call) else None
        tensor = read.tensor if read is not None else side
        if known.tensor(tensor) is None or known.rank(tensor) != 0:
            return ""
        if read is not None and read.into and read.into != read.dtype:
            return ""
        texts.append(region.code(tensor))
    return reduce(lambda one, other: f"{name}({one}, {other})", texts)


def listed(over: cst.BaseExpression, torch: str, name: str, region: Region, known: Known) -> str:
    """The choice of all that a comprehension gives; '' where they are not sure to be 0-d tensors."""
    if not isinstance(over, cst.GeneratorExp | cst.ListComp) or over.for_in.asynchronous is not None:
        return ""
    read = read_of(over.elt, region, known) if isinstance(over.elt, cst.Call) else None
    tensor = read.tensor if read is not None else over.elt
    if known.tensor(tensor) is None or known.rank(tensor) != 0 or (read is not None and read.whole is not over.elt):
        return ""
    return f"{torch}.stack([{region.code(tensor)} {region.code(over.for_in)}]).{name}()"
