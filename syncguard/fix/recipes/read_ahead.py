"""Reads that stand apart in a block -> all of them at once, where the first stands."""

from __future__ import annotations

import libcst as cst

from syncguard.fix.called import guards, jumps, timed
from syncguard.fix.labels import named
from syncguard.fix.loops import from_to, paths, questioned
from syncguard.fix.names import between, loaded, own, stored
from syncguard.fix.nodes import inside
from syncguard.fix.reads import CHOOSING, REDUCING, Read, postfix, read_of
from syncguard.fix.recipe import Known, Proposal, Region, Unfit
from syncguard.fix.recipes.read_together import beside, distinct, every, scalar, undisturbed
from syncguard.fix.steady import since
from syncguard.infer.domain.values import Named
from syncguard.terms import Finding


def rewrite(node: cst.CSTNode, finding: Finding, region: Region, known: Known) -> Proposal | None:
    """What can be computed at the first read already: nothing in between binds or writes what it is computed from."""
    read, torch = read_of(node, region, known), known.torch()
    if read is None or not torch or region.handled(node):
        return None
    block, here = region.block(region.statement(node))
    rows = [reads_of(statement, region, known) for statement in block]
    for start in range(here + 1):
        if not rows[start]:
            continue
        found = [*rows[start]]
        tiers = {"safe"}
        for row in rows[start + 1 :]:
            told = [ahead(one, block[start], found[0], region, known) for one in row]
            if row and all(told):
                found += row
                tiers |= {*told}
        if any(one.whole is read.whole for one in found):
            break
    else:
        return None
    kinds = {one.dtype for one in found}
    if len({region.statement(one.whole) for one in found}) < 2 or kinds not in ({"float"}, {"int"}, {"bool"}):
        return None
    different = distinct(found)
    names = dict(zip((region.code(one.tensor) for one in different), named(different, region)))
    made = ", ".join(scalar(one, region) for one in different)
    if len(different) == 1:
        made = f"{postfix(different[0].tensor, region)}.item()"
        text = "reads the number once"
    else:
        made = f"{torch}.stack(({made})).tolist()"
        text = f"reads {len(different)} numbers at once, where the first was read"
    edits = [region.before(block[start], f"{', '.join(names.values())} = {made}")]
    for one in found:
        name = names[region.code(one.tensor)]
        edits.append(region.swap(one.whole, f"{one.into}({name})" if one.into else name))
    if tiers == {"safe"} and beside(found, region, known):
        return Proposal("safe", text, tuple(edits), leaves=1)
    return Proposal("unsafe", f"{text}: nothing in between may change or guard them", tuple(edits), leaves=1)


def reads_of(statement: cst.CSTNode, region: Region, known: Known) -> list[Read]:
    """The reads that a simple statement surely makes; none where they need one another, or something else is done."""
    try:
        found = every(statement, region, known)
        if found:
            undisturbed(statement, found, region, known)
    except Unfit:
        return []
    return found if all(known.pure(one.tensor) for one in found) else []


def ahead(read: Read, start: cst.CSTNode, first: Read, region: Region, known: Known) -> str:
    """Whether a read can be made before a statement above it: "safe", "unsafe", or ''."""
    names = loaded(region, read.tensor)
    if between(region, start, read.tensor, names) or names & bound(start, region):
        return ""
    parts = [part for part in inside(read.tensor) if isinstance(part, cst.Name) and part.value in names]
    free = {part.value for part in parts if type(known.value(part)) is not Named}
    if not all(own(region, region.scope(read.tensor), name) for name in free):
        return ""
    if any(not still(part, known) for part in inside(read.tensor)):
        return ""
    passed = from_to(start, read.whole, region)
    sure = needless(read, first)
    if any(timed(node, region, known) or (jumps(node, known) and not sure) for node in passed):
        return ""
    if any(questioned(path, from_to(start, read.whole, region), region) for path in paths(read.tensor, region, known)):
        return ""
    bases = [part for part in inside(read.tensor) if isinstance(part, cst.Name) and known.tensor(part) is not None]
    tiers = {since(base, first.tensor, read.whole, region, known) for base in bases}
    if not sure and any(guards(node, known) for node in passed):
        tiers.add("unsafe")
    return "" if "" in tiers or not bases else "unsafe" if "unsafe" in tiers else "safe"


def needless(read: Read, first: Read) -> bool:
    """Whether a read can fail only where the first has: both reduce all of the same expression, and it needs no element
    where the first needs none."""
    match read.tensor, first.tensor:
        case (
            cst.Call(func=cst.Attribute(value=of, attr=cst.Name(value=name)), args=[]),
            cst.Call(func=cst.Attribute(value=same, attr=cst.Name(value=other)), args=[]),
        ) if of.deep_equals(same):
            return {name, other} <= {*REDUCING} and (name not in CHOOSING or other in CHOOSING)
    return False


def still(part: cst.CSTNode, known: Known) -> bool:
    """Whether nothing but a tensor or a module is asked for its part: what another object has may change."""
    if isinstance(part, cst.Attribute | cst.Subscript):
        return known.tensor(part.value) is not None or type(known.value(part.value)) is Named
    return True


def bound(statement: cst.CSTNode, region: Region) -> set[str]:
    return {node.value for node in inside(statement) if isinstance(node, cst.Name) and stored(region, node)}
