"""A choice between a sum over what a mask selects and zero in, the sum alone out: of no element it is zero anyway."""

from __future__ import annotations

import libcst as cst

from syncguard.fix.known import Known
from syncguard.fix.names import defined, occurrences, reaching
from syncguard.fix.nodes import inside
from syncguard.fix.questions import asked
from syncguard.fix.region import Region
from syncguard.fix.totals import plain, stays, text, total
from syncguard.terms import Edit

ZEROS = frozenset("torch.zeros torch.zeros_like torch.Tensor.new_zeros".split())
MADE = frozenset("torch.tensor torch.as_tensor torch.Tensor.new_tensor".split())
FULL = frozenset("torch.full torch.Tensor.new_full".split())
Side = cst.BaseExpression | str
ALONE = "adds up the same elements in another order, as a tensor: of none it is 0 in the dtype of the elements"


def guarded_total(test: cst.BaseExpression, yes: Side, no: Side, region: Region, known: Known) -> str:
    """`x[mask].mean() if mask.any() else 0.0` as a sum over all elements, by a count of at least 1; '' of another
    choice."""
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        if (mask := asked(test.expression, known)) is not None:
            yes, no = no, yes
    else:
        mask = asked(test, known)
    if mask is None or not isinstance(yes, cst.Call) or isinstance(no, str) or not zero(no, region, known):
        return ""
    found = total(yes, region, known)
    if found is None or found.by or not plain(found.picks, region, known) or not stays(found, region, known):
        return ""
    if not found.picks or not all(one.mask.deep_equals(mask) for one in found.picks):
        return ""
    return text(found, known.torch(), region, known, least=True)


def zero(side: cst.BaseExpression, region: Region, known: Known) -> bool:
    """Whether an expression is 0: written out, made as a tensor, or something times 0."""
    made = defined(region, side)
    match made:
        case cst.Integer() | cst.Float():
            return not made.evaluated_value
        case cst.BinaryOperation(left=left, operator=cst.Multiply(), right=right):
            return any(isinstance(part, cst.Integer | cst.Float) and not part.evaluated_value for part in (left, right))
        case cst.Call() if known.callee(made) in ZEROS:
            return known.rank(made) == 0
        case cst.Call(args=[cst.Arg(value=first), *_]) if known.callee(made) in MADE:
            return zero(first, region, known)
        case cst.Call(args=[_, cst.Arg(value=value), *_]) if known.callee(made) in FULL:
            return known.rank(made) == 0 and zero(value, region, known)
    return False


def guarded(call: cst.Call, region: Region, known: Known) -> tuple[cst.IfExp, str] | None:
    """The choice between a sum and zero that a sum is in, and what it is as a whole."""
    held = region.parent(call)
    if not isinstance(held, cst.IfExp):
        return None
    made = guarded_total(held.test, held.body, held.orelse, region, known)
    return (held, made) if made else None


def from_zero(name: str, yes: Side, node: cst.If, region: Region, known: Known) -> tuple[Edit, ...]:
    """`loss = 0.0` and `if mask.any(): loss = x[mask].mean()`, as the sum alone."""
    store = reaching(region, name, node) if name else None
    held = region.parent(region.parent(store)) if store is not None else None
    if store is None or not isinstance(held, cst.Assign) or [one.target for one in held.targets] != [store]:
        return ()
    text = guarded_total(node.test, yes, held.value, region, known)
    if not text:
        return ()
    put = region.put(node, f"{name} = {text}")
    start, end = region.places[held][2:], region.places[node][:2]
    used = any(start <= region.places[use][:2] < end for use in occurrences(region, region.scope(node), name))
    if used or region.block(region.statement(held))[0] != region.block(node)[0]:
        return (put,)
    return put, region.remove(region.statement(held))


def more(node: cst.If, region: Region, known: Known) -> tuple[Edit, ...]:
    """`if mask.any(): loss += x[mask].mean()`, as the statement alone: of no element it adds 0."""
    value = added(node.body)
    if value is None:
        return ()
    text = guarded_total(node.test, value, cst.Integer("0"), region, known)
    line = cst.ensure_type(region.statement(value), cst.SimpleStatementLine)
    before, _, _ = region.code(line).rpartition(region.code(value))
    return (region.put(node, f"{before}{text}"),) if text else ()


def added(suite: cst.BaseSuite) -> cst.BaseExpression | None:
    """What the one statement of a block adds to a variable, or takes from it."""
    line = suite.body[0] if isinstance(suite, cst.IndentedBlock) and len(suite.body) == 1 else None
    match line.body if isinstance(line, cst.SimpleStatementLine) else ():
        case [cst.AugAssign(operator=cst.AddAssign() | cst.SubtractAssign(), value=value)]:
            return value
        case [
            cst.Assign(
                targets=[cst.AssignTarget(target=cst.Name() as name)],
                value=cst.BinaryOperation(left=left, operator=cst.Add() | cst.Subtract(), right=value),
            )
        ] if left.deep_equals(name):
            return value
    return None


def by_none(side: cst.BaseExpression, test: cst.BaseExpression, known: Known) -> bool:
    """Whether a side divides by a count of what the test asks for: of none it is not a number, nor is its gradient."""
    mask = asked(test, known)
    for part in inside(side) if mask is not None else ():
        if mask is not None and isinstance(part, cst.BinaryOperation) and isinstance(part.operator, cst.Divide):
            counted = any(isinstance(one, cst.BaseExpression) and one.deep_equals(mask) for one in inside(part.right))
            clamped = any(isinstance(one, cst.Attribute) and one.attr.value == "clamp" for one in inside(part.right))
            if counted and not clamped:
                return True
    return False
