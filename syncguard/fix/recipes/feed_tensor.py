"""`x / x.max().item()` -> `x / x.max().detach()`: arithmetic with a tensor takes a 0-d tensor as well."""

from __future__ import annotations

import libcst as cst

from syncguard.fix.callees import asks
from syncguard.fix.names import definition, reads
from syncguard.fix.reads import kept, read_of
from syncguard.fix.recipe import Known, Proposal, Region, Unfit
from syncguard.fix.text import asked, fitted
from syncguard.terms import Finding

HOST = ("append", "extend", "insert", "format", "write", "join", "info", "debug", "warning", "error", "set_postfix")
PLAIN = ("builtins.", "torch.", "math.", "numpy.", "logging.", "json.", "time.", "os.")
TAKERS = frozenset(
    "new_full full full_like fill_ masked_fill masked_fill_ clamp where add sub mul div pow lerp".split()
)
COMPARING = ("gt", "ge", "lt", "le", "eq", "ne", "greater", "greater_equal", "less", "less_equal", "not_equal")
ARITHMETIC = ("add", "sub", "mul", "div", "multiply", "divide", "true_divide", "pow")
TAKES = (cst.Add, cst.Subtract, cst.Multiply, cst.Divide, cst.Power)


def rewrite(node: cst.CSTNode, finding: Finding, region: Region, known: Known) -> Proposal | None:
    """All that becomes of the number is added to, or multiplied or compared with a tensor."""
    read = read_of(node, region, known)
    if read is None or known.tensor(read.tensor) is None or read.rank > 0 or read.dtype == "complex":
        return None
    if read.into == "int" and read.dtype != "int":
        return None
    text = kept(read, region, known, now=isinstance(region.parent(read.whole), cst.BinaryOperation | cst.Arg))
    if compares(read.whole, region, known):
        text = fitted(region.code(read.tensor), asked(region.parent(read.whole), read.whole))
    if not fed(read.whole, region, known, 4):
        takers = given(read.whole, region, known, 3)
        if not takers:
            return None
        who = told(takers)
        what = "a 0-d tensor" if read.rank == 0 else "a tensor of one element"
        return Proposal("display", f"{who} must take {what} in place of a number", (region.swap(read.whole, text),))
    message = "a 0-d tensor must be where the tensor is that it meets, and is rounded to its dtype if narrower"
    if read.rank != 0:
        message = f"what is read must be 0-d; {message}"
    return Proposal("unsafe", message, (region.swap(read.whole, text),))


def told(takers: list[str]) -> str:
    """Who gets a value, in words: each once, a function by its name."""
    names = dict.fromkeys(" ".join(taker.split()) for taker in takers)
    return " and ".join(name if "`" in name else f"`{name}`" for name in names)


def given(node: cst.BaseExpression, region: Region, known: Known, depth: int) -> list[str]:
    """The functions that get a value, of which nothing else becomes; none where torch or Python gets it."""
    held = region.parent(node)
    if isinstance(held, cst.BinaryOperation) and isinstance(held.operator, TAKES):
        other = held.right if held.left is node else held.left
        if known.tensor(other) is not None:
            return [f"arithmetic with `{region.code(other)}`"]
        if isinstance(other, cst.BaseString | cst.List):
            return []
        return given(held, region, known, depth) if known.number(other) else [f"arithmetic with `{region.code(other)}`"]
    if isinstance(held, cst.Comparison | cst.ComparisonTarget):
        outer = region.parent(held)
        other = held.comparisons[0].comparator if isinstance(held, cst.Comparison) else getattr(outer, "left", node)
        return [f"comparison with `{region.code(other)}`"] if known.tensor(other) is not None else []
    if isinstance(held, cst.Arg) and isinstance(call := region.parent(held), cst.Call):
        name = known.callee(call).rpartition(".")[2] if known.callee(call).startswith("torch.") else ""
        if name == "clamp" and any(known.number(arg.value) for arg in call.args if arg is not held):
            return []  # a bound that is a tensor is read as well where the other one is a number
        if name in TAKERS:
            return [region.code(call.func)]
        host = known.callee(call).startswith(PLAIN) or (
            isinstance(call.func, cst.Attribute) and call.func.attr.value in HOST
        )
        checked = region.code(call.func).rpartition(".")[2].startswith("assert")
        return [] if host or checked or asks(call, held, region, known) else [region.code(call.func)]
    if isinstance(held, cst.Assign) and held.value is node and depth and len(held.targets) == 1:
        target = held.targets[0].target
        if isinstance(target, cst.Name):
            uses = reads(region, region.scope(held), target.value)
            found = [given(use, region, known, depth - 1) for use in uses]
            return [name for names in found for name in names] if all(found) else []
    return []


def fed(node: cst.BaseExpression, region: Region, known: Known, depth: int) -> bool:
    """Whether a value meets a tensor in arithmetic wherever it goes."""
    held = region.parent(node)
    if compares(node, region, known):
        return True
    if isinstance(held, cst.Arg) and isinstance(call := region.parent(held), cst.Call):
        return _method(call, known) in ARITHMETIC and len(call.args) == 1 and held.keyword is None
    if isinstance(held, cst.BinaryOperation) and isinstance(held.operator, TAKES):
        other = held.right if held.left is node else held.left
        if known.tensor(other) is not None:
            return _there(other, known)
        return bool(known.number(other)) and fed(held, region, known, depth)
    if isinstance(held, cst.Assign) and held.value is node and depth:
        target = held.targets[0].target
        if len(held.targets) != 1 or not isinstance(target, cst.Name):
            return False
        uses = reads(region, region.scope(held), target.value)
        try:
            sole = all(definition(region, use) is held for use in uses)
        except Unfit:
            return False
        return bool(uses) and sole and all(fed(use, region, known, depth - 1) for use in uses)
    return False


def compares(node: cst.BaseExpression, region: Region, known: Known) -> bool:
    """Whether a value is compared with a tensor on the device: `x > node`, `x.gt(node)`."""
    held = region.parent(node)
    if isinstance(held, cst.Arg) and isinstance(call := region.parent(held), cst.Call):
        return _method(call, known) in COMPARING and len(call.args) == 1 and held.keyword is None
    comparison = region.parent(held) if isinstance(held, cst.ComparisonTarget) else held
    if not isinstance(comparison, cst.Comparison) or len(comparison.comparisons) != 1:
        return False
    if isinstance(comparison.comparisons[0].operator, cst.In | cst.NotIn | cst.Is | cst.IsNot):
        return False
    other = comparison.left if comparison is not held else comparison.comparisons[0].comparator
    return _there(other, known)


def _method(call: cst.Call, known: Known) -> str:
    """The method of a tensor on the device that is called."""
    if not isinstance(call.func, cst.Attribute) or not known.callee(call).startswith("torch.Tensor."):
        return ""
    return call.func.attr.value if _there(call.func.value, known) else ""


def _there(node: cst.BaseExpression, known: Known) -> bool:
    held = known.tensor(node)
    return held is not None and held.device not in ("host", "mixed")
