"""An expression in, the mask that selects it out: `x[mask]`, `x[mask.nonzero()[:, 0]]`, `x.masked_select(mask)`."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from syncguard.fix.known import Known
from syncguard.fix.names import between, defined, loaded, reads
from syncguard.fix.reads import postfix
from syncguard.fix.region import Region, Unfit
from syncguard.fix.shapes import subscript
from syncguard.fix.steady import root, since
from syncguard.terms import Edit

NONZERO = ("torch.nonzero", "torch.Tensor.nonzero", "torch.where", "torch.argwhere")
FLAT = ("flatten", "ravel", "view", "reshape", "squeeze")


@dataclass(frozen=True, eq=False)
class Selected:
    """The elements of `source` at which `mask` is true; `by` are the assignments through which it was found. A mask is
    for the first dimensions as a key, and for the `last` ones in `masked_select`."""

    source: cst.BaseExpression
    mask: cst.BaseExpression
    by: tuple[cst.CSTNode, ...] = ()
    last: bool = False


def selected(node: cst.BaseExpression, region: Region, known: Known) -> Selected | None:
    """What an expression selects, also through variables that nothing has changed since."""
    by: list[cst.CSTNode] = []
    made = follow(node, by, region)
    last = isinstance(made, cst.Call) and known.callee(made) in ("torch.masked_select", "torch.Tensor.masked_select")
    if isinstance(made, cst.Call) and last:
        source, mask = known.argument(made, "input"), known.argument(made, "mask")
    else:
        key = subscript(made)
        if key is None or not isinstance(made, cst.Subscript):
            return None
        source, mask = made.value, masked(key, by, region, known)
    if source is None or mask is None:
        return None
    found = Selected(source, mask, tuple(by), last)
    return found if steady(found, node, region, known) else None


def masked(key: cst.BaseExpression, by: list[cst.CSTNode], region: Region, known: Known) -> cst.BaseExpression | None:
    """The mask that a key is, or whose true places it lists."""
    held = known.tensor(key)
    if held is not None and held.dtype == "bool":
        return key
    made = follow(key, by, region)
    while True:
        match made:
            case cst.Call(func=cst.Attribute(value=of, attr=cst.Name(value=name))) if name in FLAT:
                made = follow(of, by, region)
            case cst.Subscript(value=of, slice=[cst.SubscriptElement(slice=cst.Index(value=cst.Integer(value="0")))]):
                made = of
            case _:
                break
    if not isinstance(made, cst.Call) or known.callee(made) not in NONZERO:
        return None
    args = [arg for arg in made.args if arg.keyword is None or arg.keyword.value in ("input", "condition")]
    inner = args[0].value if args else made.func.value if isinstance(made.func, cst.Attribute) else None
    held = known.tensor(inner) if inner is not None else None
    # Of more dimensions the places would be pairs, and no key of their own.
    return inner if held is not None and held.dtype == "bool" and held.rank in (1, -1) and len(args) <= 1 else None


def follow(node: cst.BaseExpression, by: list[cst.CSTNode], region: Region) -> cst.BaseExpression:
    """What a variable holds; the place where it got it is noted."""
    made = defined(region, node)
    if made is not node:
        by.append(region.parent(made))
    return made


def steady(found: Selected, use: cst.CSTNode, region: Region, known: Known) -> bool:
    """Whether source and mask are, where a selection is used, what they were where it was made."""
    if not found.by:
        return True
    first = min(found.by, key=lambda node: region.places[node])
    names = loaded(region, found.source) | loaded(region, found.mask)
    if between(region, first, use, names):
        return False
    return all(since(part, first, use, region, known) for part in (found.source, found.mask) if root(part))


def unused(by: tuple[cst.CSTNode, ...], gone: list[cst.CSTNode], region: Region) -> list[Edit]:
    """Edits that take away assignments of which every read is gone with some nodes."""
    edits: list[Edit] = []
    dead: list[cst.CSTNode] = list(gone)
    for assign in dict.fromkeys(by):
        if not isinstance(assign, cst.Assign) or not isinstance(assign.targets[0].target, cst.Name):
            continue
        left = [
            read
            for read in reads(region, region.scope(assign), assign.targets[0].target.value)
            if not any(held in dead for held in (read, *region.around(read)))
        ]
        if not left and len(assign.targets) == 1:
            try:
                statement = region.statement(assign)
            except Unfit:
                continue
            edits.append(region.remove(statement))
            dead.append(assign)
    return edits


def inverse(mask: cst.BaseExpression, region: Region) -> str:
    """The mask of the other elements."""
    if isinstance(mask, cst.UnaryOperation) and isinstance(mask.operator, cst.BitInvert):
        return region.code(mask.expression)
    return f"~{postfix(mask, region)}"
