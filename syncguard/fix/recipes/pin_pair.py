"""A loader without `pin_memory`, a copy of pinned memory or of a batch without `non_blocking` -> with both."""

from __future__ import annotations

import libcst as cst

from syncguard.fix.names import occurrences
from syncguard.fix.reads import written
from syncguard.fix.recipe import Known, Proposal, Region
from syncguard.infer.values import Unknown
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
        what = "a batch"
    else:
        if not isinstance(node.func, cst.Attribute) or node.func.attr.value not in COPIES:
            return None
        source = node.func.value
        edit = told(node, "non_blocking", "True", region)
        what = f"`{region.code(source)}`"
        if edit is not None and batched(source, known):
            text = f"nobody waits if the loader has `pin_memory=True`, too; nothing may write into {what} before"
            return Proposal("display", text, (edit,))
        if not isinstance(source, cst.Name) or not pinned(source, known) or refilled(source, region):
            return None
    if edit is None:
        return None
    return Proposal("unsafe", f"nothing may write into {what} before its copy has arrived", (edit,))


def pinned(source: cst.BaseExpression, known: Known) -> bool:
    """Whether what is copied is known to be pinned: a tensor, or what a loader that pins gives."""
    value = known.value(source)
    held = known.tensor(source)
    batch = value.batch if type(value) is Unknown else None
    return (held is not None and held.pinned) or (batch is not None and batch.text == "pinned batch")


def batched(source: cst.BaseExpression, known: Known) -> bool:
    """Whether what is copied comes from a loader, as a batch or a part of one, and is not known to be pinned."""
    value = known.value(source)
    if type(value) is Unknown and value.batch is not None:
        return value.batch.text != "pinned batch"
    part = isinstance(source, cst.Subscript)
    while isinstance(source, cst.Subscript):
        source = source.value
    name = source.attr if isinstance(source, cst.Attribute) else source
    named = isinstance(name, cst.Name) and known.world.places.is_("names", "batches", name.value)
    return part and named and type(value) is Unknown and known.tensor(source) is None


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
