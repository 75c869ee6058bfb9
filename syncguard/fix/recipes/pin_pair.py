"""A loader without `pin_memory`, a copy of pinned memory without `non_blocking` -> with both: nobody waits for it."""

from __future__ import annotations

import libcst as cst

from syncguard.fix.names import occurrences, reads
from syncguard.fix.reads import written
from syncguard.fix.recipe import Known, Proposal, Region
from syncguard.fix.steady import root
from syncguard.infer.domain.values import Unknown
from syncguard.terms import Edit, Finding

LOADER = "torch.utils.data.DataLoader"
COPIES = ("to", "cuda")
WRITES = ("copy_", "fill_", "zero_", "set_", "random_", "normal_", "uniform_")


def rewrite(node: cst.CSTNode, finding: Finding, region: Region, known: Known) -> Proposal | None:
    """What is left out of the two; memory that something here writes into is left alone."""
    torch = known.torch()
    if not torch or not isinstance(node, cst.Call) or any(arg.star for arg in node.args):
        return None
    if known.callee(node).rpartition(".")[2] == LOADER.rpartition(".")[2]:
        edit = told(node, "pin_memory", f"{torch}.cuda.is_available()", region)
        what, other = "a batch", ""
    else:
        if not isinstance(node.func, cst.Attribute) or node.func.attr.value not in COPIES:
            return None
        source = node.func.value
        if finding.code == "SG301":
            return handed(node, source, region, known)
        name = root(source)
        uses = reads(region, region.scope(node), name)[:1] if name and known.pure(source) else []
        if not uses or any(refilled(use, region) for use in uses):
            return None
        edit = told(node, "non_blocking", "True", region)
        what, other = f"`{name}`", ""
        if isinstance(known.value(source), Unknown):
            other = f", and `{node.func.attr.value}` of what is no tensor must take `non_blocking`"
    if edit is None:
        return None
    return Proposal("unsafe", f"nothing may write into {what} before its copy has arrived{other}", (edit,))


def handed(call: cst.Call, source: cst.BaseExpression, region: Region, known: Known) -> Proposal | None:
    """A part of a batch whose loader is not seen: a sketch, for what is not pinned there waits as before."""
    name = root(source)
    if not name or not isinstance(known.value(source), Unknown) or not known.pure(source):
        return None
    if any(refilled(use, region) for use in reads(region, region.scope(call), name)[:1]):
        return None
    edit = told(call, "non_blocking", "True", region)
    text = f"without a wait only if the loader pins `{name}`; nothing may write into that before the copy has arrived"
    return Proposal("display", text, (edit,)) if edit is not None else None


def told(call: cst.Call, name: str, value: str, region: Region) -> Edit | None:
    """The edit that gives a call this setting; None where it has it, or may have."""
    for arg in call.args:
        if arg.keyword is not None and arg.keyword.value == name:
            off = isinstance(arg.value, cst.Name) and arg.value.value == "False"
            return region.swap(arg.value, value) if off else None
    return region.argue(call, f"{name}={value}")


def refilled(source: cst.Name, region: Region) -> bool:
    """Whether anything here writes into the memory that a variable holds."""
    every = occurrences(region, region.scope(source), source.value)
    return any(written(use, region) or _filled(use, region) for use in every)


def _filled(use: cst.Name, region: Region) -> bool:
    held = region.parent(use)
    while isinstance(held, cst.Subscript | cst.Attribute):
        if isinstance(held, cst.Attribute) and held.attr.value in WRITES:
            return True
        held = region.parent(held)
    return isinstance(held, cst.AssignTarget) and held.target is not use
