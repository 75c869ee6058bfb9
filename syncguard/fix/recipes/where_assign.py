"""`x[mask] = y[mask] + 1` -> `x.copy_(torch.where(mask, y + 1, x))`: fixed shape, the same tensor."""

from __future__ import annotations

import re
from dataclasses import dataclass

import libcst as cst

from syncguard.fix.conditions import bare
from syncguard.fix.masks import unused
from syncguard.fix.names import loaded
from syncguard.fix.pointwise import pointwise
from syncguard.fix.recipe import Known, Proposal, Region
from syncguard.fix.shapes import fits, owned, subscript, widened
from syncguard.fix.spread import Reach, Spread, smooth
from syncguard.fix.steady import related, root
from syncguard.fix.width import flat
from syncguard.terms import Edit, Finding

SYMBOLS = {
    cst.AddAssign: cst.Add(), cst.SubtractAssign: cst.Subtract(), cst.MultiplyAssign: cst.Multiply(),
    cst.DivideAssign: cst.Divide(),
}  # fmt: skip
COPY = re.compile(r"\bcopy_\b\s*(=[^=]|[\"'])|def copy_\(")


def rewrite(node: cst.CSTNode, finding: Finding, region: Region, known: Known) -> Proposal | None:
    """Where x has the mask's shape by construction, a program that ran gave y that shape, and x the dtype of y."""
    statement = region.small(node)
    torch = known.torch()
    write = written(statement, region, known) if torch else None
    if write is None:
        return None
    pair = complement(write, region, known)
    first, last = pair if pair is not None else (write, None)
    target, mask, found = first.target, first.mask, first.found
    same = fits(target, mask, region, known)
    narrow = same or known.rank(target) == 1  # a mask of it has no more dimensions
    if not same and not all(isinstance(part, cst.Name | cst.Attribute) for part in (mask, target)):
        return None
    x = region.code(target)
    m = region.code(mask) if narrow else widened(mask, target, region, known)
    other = x if last is None else flat(last.whole)
    put = region.swap(first.statement, assigned(x, f"{torch}.where({m}, {flat(first.whole)}, {other})", region))
    edits = (put, *dead(first, last, region, known))
    if last is not None:
        edits += (region.remove(region.statement(last.statement)),)
    loose = found.loose or (last is not None and last.found.loose)
    curved = first.curved or (last is not None and last.curved)
    if same and not loose and not curved and owned(target, region, known):
        what = "every element" if last is None else "every element at once"
        return Proposal("safe", f"writes {what}, those outside of the mask as they were", edits)
    message = f"writes every element of `{x}`, and fails where `{x}` was made by `expand`"
    if loose or not same:
        message += "; what is written must fit all of it, not only the elements in the mask"
    if curved:
        message += "; infinity or NaN outside of the mask reaches the gradient as NaN"
    return Proposal("unsafe", message, edits)


@dataclass(frozen=True, eq=False)
class Write:
    """`target[mask] = value`: the value computed from all elements, as text, and whether its derivative may be NaN."""

    statement: cst.BaseSmallStatement
    target: cst.BaseExpression
    mask: cst.BaseExpression
    found: Spread
    whole: str
    curved: bool


def written(statement: cst.CSTNode, region: Region, known: Known) -> Write | None:
    """What a statement writes where a mask is true. None: it does not, or what it writes is not computed one by one."""
    match statement:
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Subscript() as target)], value=value):
            pass
        case cst.AugAssign(target=cst.Subscript() as target, operator=operator, value=value) if (
            type(operator) in SYMBOLS
        ):
            pass
        case _:
            return None
    mask = subscript(target)
    if mask is None or not known.pure(target) or not _pure(value, region, known):
        return None
    held, given = known.tensor(mask), known.tensor(value)
    if held is None or held.dtype != "bool":
        return None
    if isinstance(statement, cst.Assign) and given is not None and given.rank == 0:
        found = Spread(value)
    else:
        spreading = Reach(mask, region, known, known.rank(target.value) == 1).spread(value)
        if spreading is None or spreading.shielded or (not spreading.taken and isinstance(statement, cst.Assign)):
            return None
        found = spreading
    whole, curved = bare(region.code(found.value)), found.curved
    if isinstance(statement, cst.AugAssign):
        plain = SYMBOLS[type(statement.operator)]
        atom = isinstance(found.value, cst.Name | cst.Attribute | cst.Call | cst.Subscript | cst.Integer | cst.Float)
        whole = f"{region.code(target.value)} {region.code(plain)} {whole if atom else f'({whole})'}"
        curved = curved or not smooth(plain, target.value, found.value, known)
    return Write(statement, target.value, mask, found, whole, curved)


def complement(write: Write, region: Region, known: Known) -> tuple[Write, Write] | None:
    """A write where a mask is true and the next where it is not, in the order in which they stand.

    The second must not read what the first has written: of the tensor only its own elements.
    """
    line = region.parent(write.statement)
    if not isinstance(line, cst.SimpleStatementLine) or len(line.body) != 1:
        return None
    block, here = region.block(line)
    for step in (1, -1):
        near = block[here + step] if 0 <= here + step < len(block) else None
        if not isinstance(near, cst.SimpleStatementLine) or len(near.body) != 1:
            continue
        other = written(near.body[0], region, known)
        if other is None or not other.target.deep_equals(write.target):
            continue
        first, last = (write, other) if step == 1 else (other, write)
        both = isinstance(first.statement, cst.Assign) and isinstance(last.statement, cst.Assign)
        if both and first.found.taken and last.found.taken and opposite(first.mask, last.mask):
            name = root(write.target)
            used = {
                other for part in (first.found.value, last.found.value, first.mask) for other in loaded(region, part)
            }
            if name and not any(related(name, other, region, known) for other in used):
                return first, last
    return None


def dead(first: Write, last: Write | None, region: Region, known: Known) -> list[Edit]:
    """The edits that take away what was selected only to be written."""
    both = [one for one in (first, last) if one is not None]
    values = [one.statement.value for one in both if isinstance(one.statement, cst.Assign | cst.AugAssign)]
    by = [
        node
        for one, value in zip(both, values)
        for pick in Reach(one.mask, region, known).picks(value)
        for node in pick.by
    ]
    return unused(tuple(by), list(values), region)


def opposite(one: cst.BaseExpression, other: cst.BaseExpression) -> bool:
    """Whether of two masks one is `~` of the other, which is a variable."""
    for mask, inverse in ((one, other), (other, one)):
        match inverse:
            case cst.UnaryOperation(operator=cst.BitInvert(), expression=cst.Name() as inner):
                if inner.deep_equals(mask):
                    return True
    return False


def assigned(x: str, value: str, region: Region) -> str:
    """The statement that writes a tensor in place; where the file gives `copy_` another meaning, without it."""
    return f"{x}[...] = {value}" if any(COPY.search(line) for line in region.lines) else f"{x}.copy_({value})"


def _pure(value: cst.BaseExpression, region: Region, known: Known) -> bool:
    if isinstance(value, cst.Call) and pointwise(value, region, known):
        return all(known.pure(arg.value) for arg in value.args)
    return known.pure(value)
