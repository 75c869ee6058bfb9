"""A loop over a tensor, of whose elements nothing but the number is wanted, in, the loop over its numbers out."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from syncguard.fix.elements import SHARED
from syncguard.fix.handed import single
from syncguard.fix.known import Known
from syncguard.fix.loops import Comp, lazy, unchanged
from syncguard.fix.names import occurrences, stored
from syncguard.fix.nodes import inside
from syncguard.fix.reads import Read, postfix, read_of
from syncguard.fix.recipe import Proposal
from syncguard.fix.region import Region
from syncguard.terms import Edit


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
            if over is None or not tier or clause.asynchronous or lazy(loop, region) or None in found:
                return None
            rows = f"{postfix(clause.iter, region)}." + ("tolist()" if over.rank == 1 else "flatten().tolist()")
            plain = isinstance(held, cst.ListComp) and held.elt is read.whole and len(found) == 1
            alone = isinstance(clause, cst.CompFor) and not clause.ifs and clause.inner_for_in is None
            if plain and alone and read.into in ("", read.dtype):
                edits = [region.swap(held, rows)]
            elif (renamed := _bound_at_once(held, read, every, region)) is not None:
                edits = [region.swap(clause.iter, rows), *renamed]
            else:
                swaps = [(one.whole, f"{one.into}({name})" if one.into else name) for one in found if one is not None]
                edits = [region.swap(clause.iter, rows), *(region.swap(whole, text) for whole, text in swaps)]
            text = f"copies `{region.code(clause.iter)}` once, before the loop"
            if not single(clause.iter, region):
                return Proposal("unsafe", f"{text}: it must be a tensor there", tuple(edits), leaves=1)
            if tier != "safe":
                return Proposal("unsafe", f"{text}: {SHARED}", tuple(edits), leaves=1)
            return Proposal("safe", text, tuple(edits), leaves=1)
    return None


def _bound_at_once(loop: cst.CSTNode, read: Read, every: list[cst.Name], region: Region) -> list[Edit] | None:
    """The edits that let a loop bind what its body begins with, `index = element.item()`; None where it does not."""
    if not isinstance(loop, cst.For) or not isinstance(loop.body, cst.IndentedBlock) or len(every) != 1 or read.into:
        return None
    first, *rest = loop.body.body
    match first:
        case cst.SimpleStatementLine(
            body=[cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value)]
        ) if value is read.whole and rest:
            pass
        case _:
            return None
    other = [node for node in region.names[name] if stored(region, node) and region.within(node, loop)]
    if len(other) > 1 or name in {node.value for node in inside(loop.iter) if isinstance(node, cst.Name)}:
        return None
    return [region.swap(loop.target, name), region.remove(first)]


def _readers(use: cst.Name, region: Region, known: Known) -> Iterator[Read]:
    """The read that a name is in."""
    for held in region.around(use):
        read = read_of(held, region, known)
        if read is not None and read.tensor is use:
            yield read
        if isinstance(held, cst.BaseSmallStatement):
            break
