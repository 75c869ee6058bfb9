"""The same of each row in a loop, one number each, in; the same of all rows before the loop out."""

from __future__ import annotations

import libcst as cst

from syncguard.fix.elements import listed
from syncguard.fix.handed import single
from syncguard.fix.known import Known
from syncguard.fix.loops import around, changing, questioned, skipped, unchanged
from syncguard.fix.names import spare
from syncguard.fix.nodes import inside
from syncguard.fix.reads import Read, read_of
from syncguard.fix.recipe import Proposal
from syncguard.fix.region import Region
from syncguard.fix.shapes import subscript as subscript_key
from syncguard.infer.domain.values import Seq, Tensor


def rows(node: cst.CSTNode, region: Region, known: Known) -> Proposal | None:
    """A row added up, or its largest, in each turn of a loop that does not change the rows."""
    picked = next((found for inner in inside(node) if (found := row(inner, region, known))), None)
    if picked is None:
        return None
    _, subscript, how = picked
    key = subscript.slice[0].slice
    base, loop = subscript.value, around(subscript, region)
    if loop is None or not isinstance(base, cst.Name | cst.Attribute) or not isinstance(key, cst.Index):
        return None
    if skipped(subscript, loop, region) or known.rank(base) == 1 or not changing([key.value], loop, region):
        return None
    tier = unchanged(base, loop, region, known)
    if not tier or questioned(base, inside(loop), region):
        return None
    root = base.value if isinstance(base, cst.Name) else base.attr.value
    name = spare(region, region.statement(loop), f"{root}_{how}")
    made = f"{name} = {region.code(base)}.flatten(1).{ROWS[how]}(1).tolist()"
    edits = [region.before(region.statement(loop), made)]
    for other in inside(loop):
        same = row(other, region, known)
        if same is not None and same[2] == how and same[1].deep_equals(subscript):
            text = f"{name}[{region.code(key.value)}]"
            edits.append(region.swap(same[0].whole, f"{same[0].into}({text})" if same[0].into else text))
    held = known.tensor(base)
    exact = how not in ("sum", "max", "min") or (how == "sum" and held is not None and held.dtype in ("int", "bool"))
    text = f"computes it for all rows of `{region.code(base)}` once, before the loop"
    if exact and known.rank(base) > 1 and tier == "safe" and single(base, region):
        return Proposal("safe", text, tuple(dict.fromkeys(edits)), leaves=1)
    text += ": there must be more than one dimension, and fractions are added up in another order"
    return Proposal("unsafe", text, tuple(dict.fromkeys(edits)), leaves=1)


ROWS = {"sum": "sum", "max": "amax", "min": "amin", "any": "any", "all": "all"}


def row(node: cst.CSTNode, region: Region, known: Known) -> tuple[Read, cst.Subscript, str] | None:
    """The read of `x[i].sum()`: the read, the row, and how it becomes one number."""
    read = read_of(node, region, known) if isinstance(node, cst.Call) else None
    match read.tensor if read is not None else None:
        case cst.Call(func=cst.Attribute(value=cst.Subscript() as of, attr=cst.Name(value=how)), args=[]) as call:
            key = subscript_key(of)
            if how in ROWS and known.callee(call) == f"torch.Tensor.{how}" and read is not None:
                return (read, of, how) if key is not None and known.number(key) in ("int", "size") else None
    return None


def shapes(node: cst.CSTNode, region: Region, known: Known) -> Proposal | None:
    """`torch.Size(xs[i])` of a list of tensors: its numbers are read one by one, those of all tensors at once."""
    torch = known.torch()
    match node:
        case cst.Call(args=[cst.Arg(value=cst.Subscript(value=cst.Name() as many) as one, star="")]) if (
            torch and known.callee(node) == "torch.Size"
        ):
            pass
        case _:
            return None
    key, loop = subscript_key(one), around(node, region)
    held = known.value(many)
    if key is None or loop is None or type(held) is not Seq or type(held.element) is not Tensor:
        return None
    if not changing([key], loop, region) or not unchanged(many, loop, region, known):
        return None
    if questioned(many, inside(loop), region, False):
        return None
    name = listed(many.value, region.statement(loop), region)
    edits = [region.before(region.statement(loop), f"{name} = {torch}.stack({many.value}).tolist()")]
    for other in inside(loop):
        if isinstance(other, cst.Call) and known.callee(other) == "torch.Size" and len(other.args) == 1:
            given = other.args[0].value
            if isinstance(given, cst.Subscript) and given.value.deep_equals(many) and (at := subscript_key(given)):
                edits.append(region.swap(given, f"{name}[{region.code(at)}]"))
    text = f"reads all of `{many.value}` at once, before the loop: they must be of one length, and at least one"
    return Proposal("unsafe", text, tuple(edits), leaves=1)
