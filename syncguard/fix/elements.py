"""Reads of elements in a loop in, one copy of the whole tensor before the loop out."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from syncguard.fix.known import Known
from syncguard.fix.loops import Comp, around, changing, skipped, unchanged
from syncguard.fix.names import occurrences
from syncguard.fix.reads import Read, postfix, read_of
from syncguard.fix.recipe import Proposal
from syncguard.fix.region import Region, inside
from syncguard.fix.shapes import subscript as subscript_key
from syncguard.infer.values import Unknown
from syncguard.terms import Edit

# -- x[i].item() in a loop ------------------------------------------------------------------------


def elements(node: cst.CSTNode, region: Region, known: Known) -> Proposal | None:
    """One element of a tensor that the loop does not change, at a place that the loop does."""
    picked = next((found for inner in inside(node) if (found := element(inner, region, known))), None)
    if picked is None:
        return None
    subscript, base, keys = picked
    held = known.tensor(base)
    loop = around(subscript, region)
    if (
        loop is None
        or (held is None and type(known.value(base)) is not Unknown)
        or not isinstance(base, cst.Name | cst.Attribute)
        or skipped(subscript, loop, region)
    ):
        return None
    tier = unchanged(base, loop, region, known)
    if not tier or not changing(keys, loop, region):
        return None
    root = base.value if isinstance(base, cst.Name) else base.attr.value
    name = region.fresh(f"{root}_list")
    if held is not None and held.rank == len(keys):
        rows = "tolist()"
    else:  # it was read, so what is left of each element is one number
        rows = "flatten().tolist()" if len(keys) == 1 else f"reshape({region.code(base)}.shape[:{len(keys)}]).tolist()"
    edits = [region.before(region.statement(loop), f"{name} = {region.code(base)}.{rows}")]
    for other in inside(loop):
        same = element(other, region, known)
        if same is not None and same[1].deep_equals(base) and len(same[2]) == len(keys):
            inner = same[0] if same[0] is not other and _number(other, known) else other
            edits.append(region.swap(inner, name + "".join(f"[{region.code(key)}]" for key in same[2])))
    unique = {edit.site: edit for edit in edits}
    covering = [e for e in unique.values() if not any(_covers(o, e) for o in unique.values())]
    text = f"copies `{region.code(base)}` once, before the loop"
    if held is None:
        return Proposal("unsafe", f"{text}: it must be a tensor there", tuple(covering), leaves=1)
    if tier != "safe":
        return Proposal("unsafe", f"{text}: {SHARED}", tuple(covering), leaves=1)
    return Proposal("safe", text, tuple(covering), leaves=1)


def element(
    node: cst.CSTNode, region: Region, known: Known
) -> tuple[cst.Subscript, cst.BaseExpression, list[cst.BaseExpression]] | None:
    """A tensor's element that is read by a node or is the bound of a slice: the subscript, the tensor and the keys."""
    read = read_of(node, region, known)
    target = read.tensor if read is not None else node
    if read is None and not _bound(node, region):
        return None
    keys: list[cst.BaseExpression] = []
    base = target
    while isinstance(base, cst.Subscript):
        here = []
        for part in base.slice:
            if not isinstance(part.slice, cst.Index) or known.number(part.slice.value) not in ("int", "size"):
                return None
            here.append(part.slice.value)
        keys = here + keys
        base = base.value
    if not keys or not isinstance(target, cst.Subscript) or not isinstance(base, cst.BaseExpression):
        return None
    return target, base, keys


# -- x[i].sum().item() in a loop ------------------------------------------------------------------


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
    if not tier:
        return None
    root = base.value if isinstance(base, cst.Name) else base.attr.value
    name = region.fresh(f"{root}_{how}")
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
    if exact and known.rank(base) > 1 and tier == "safe":
        return Proposal("safe", text, tuple(dict.fromkeys(edits)), leaves=1)
    text += ": there must be more than one dimension, and fractions are added up in another order"
    return Proposal("unsafe", text, tuple(dict.fromkeys(edits)), leaves=1)


SHARED = "nothing that the loop writes or calls may change it"
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


# -- for v in x: v.item() -------------------------------------------------------------------------


def iterated(node: cst.CSTNode, region: Region, known: Known) -> Proposal | None:
    """The variable of a loop over a tensor, of which nothing but the number is wanted."""
    read = read_of(node, region, known)
    if read is None or not isinstance(read.tensor, cst.Name):
        return None
    name = read.tensor.value
    for held in region.around(node):
        if not isinstance(held, cst.For | cst.CompFor | Comp):
            continue
        clause = held.for_in if isinstance(held, Comp) else held
        if isinstance(clause.target, cst.Name) and clause.target.value == name:
            over = known.tensor(clause.iter)
            scope = held if isinstance(held, Comp) else region.scope(node)
            every = [use for use in occurrences(region, scope, name) if use is not clause.target]
            found = [next((r for r in _readers(use, region, known)), None) for use in every]
            loop = (
                held
                if isinstance(held, cst.For | Comp)
                else next(one for one in region.around(held) if isinstance(one, Comp))
            )
            tier = unchanged(clause.iter, loop, region, known)
            if over is None or not tier or clause.asynchronous or any(one is None for one in found):
                return None
            rows = f"{postfix(clause.iter, region)}." + ("tolist()" if over.rank == 1 else "flatten().tolist()")
            plain = isinstance(held, cst.ListComp) and held.elt is read.whole and len(found) == 1
            single = isinstance(clause, cst.CompFor) and not clause.ifs and clause.inner_for_in is None
            if plain and single and read.into in ("", read.dtype):
                edits = [region.swap(held, rows)]
            else:
                swaps = [(one.whole, f"{one.into}({name})" if one.into else name) for one in found if one is not None]
                edits = [region.swap(clause.iter, rows), *(region.swap(whole, text) for whole, text in swaps)]
            text = f"copies `{region.code(clause.iter)}` once, before the loop"
            if tier != "safe":
                return Proposal("unsafe", f"{text}: {SHARED}", tuple(edits), leaves=1)
            return Proposal("safe", text, tuple(edits), leaves=1)
    return None


def _readers(use: cst.Name, region: Region, known: Known) -> Iterator[Read]:
    """The read that a name is in."""
    for held in region.around(use):
        read = read_of(held, region, known)
        if read is not None and read.tensor is use:
            yield read
        if isinstance(held, cst.BaseSmallStatement):
            break


# -- places --------------------------------------------------------------------------------------


def _bound(node: cst.CSTNode, region: Region) -> bool:
    """Whether a node bounds a slice, alone or in a sum."""
    held = region.parent(node)
    while isinstance(held, cst.BinaryOperation):
        held = region.parent(held)
    return isinstance(held, cst.Slice)


def _number(node: cst.CSTNode, known: Known) -> bool:
    """Whether a node makes a number of one kind of what it reads: `int(x[i])` stays, and reads the list."""
    return isinstance(node, cst.Call) and known.callee(node) in ("builtins.int", "builtins.float")


def _covers(one: Edit, other: Edit) -> bool:
    a, b = one.site, other.site
    start, end = (a.line, a.column), (a.end_line, a.end_column)
    return one is not other and start <= (b.line, b.column) and (b.end_line, b.end_column) <= end and start != end
