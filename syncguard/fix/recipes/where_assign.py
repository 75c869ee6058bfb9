"""`x[mask] = y[mask] + 1` -> `x.copy_(torch.where(mask, y + 1, x))`: fixed shape, the same tensor."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import libcst as cst

from syncguard.fix.conditions import positive
from syncguard.fix.names import defined, loaded
from syncguard.fix.pointwise import pointwise
from syncguard.fix.reads import postfix
from syncguard.fix.recipe import Known, Proposal, Region
from syncguard.fix.shapes import elementwise, fits, owned, subscript
from syncguard.fix.steady import related, root, since
from syncguard.terms import Finding

SYMBOLS = {
    cst.AddAssign: cst.Add(), cst.SubtractAssign: cst.Subtract(), cst.MultiplyAssign: cst.Multiply(),
    cst.DivideAssign: cst.Divide(),
}  # fmt: skip
# Elementwise functions of which the derivative is finite whatever the element is: that of sigmoid is NaN for NaN.
BOUNDED = frozenset("clone detach float double half to type relu neg abs clamp contiguous".split())
CARRIED = BOUNDED - {"relu", "neg", "abs", "clamp"} | {"view", "reshape", "unsqueeze"}
ONES = re.compile(r"\*\(?\[1\] \* .+|\*\(1,\) \* .+")
COPY = re.compile(r"\bcopy_\b\s*(=[^=]|[\"'])|def copy_\(")
SIMPLE = (cst.Add, cst.Subtract, cst.Multiply, cst.Divide, cst.Power)


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
    if not same and not all(isinstance(part, cst.Name | cst.Attribute) for part in (mask, target)):
        return None
    x = region.code(target)
    m = region.code(mask) if same else widened(mask, target, region)
    other = x if last is None else last.whole
    put = region.swap(first.statement, assigned(x, f"{torch}.where({m}, {first.whole}, {other})", region))
    edits = (put,) if last is None else (put, region.remove(region.statement(last.statement)))
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
        spreading = Reach(mask, region, known).spread(value)
        if spreading is None or (not spreading.taken and isinstance(statement, cst.Assign)):
            return None
        found = spreading
    whole, curved = region.code(found.value), found.curved
    if isinstance(statement, cst.AugAssign):
        plain = SYMBOLS[type(statement.operator)]
        atom = isinstance(found.value, cst.Name | cst.Attribute | cst.Call | cst.Subscript | cst.Integer | cst.Float)
        whole = f"{region.code(target.value)} {region.code(plain)} {whole if atom else f'({whole})'}"
        curved = curved or not _straight(plain, target.value, found.value, known)
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


def widened(mask: cst.BaseExpression, other: cst.BaseExpression, region: Region) -> str:
    """The mask with as many dimensions as the tensor whose first dimensions it is for."""
    m, x = postfix(mask, region), postfix(other, region)
    return f"{m}.reshape({m}.shape + (1,) * ({x}.ndim - {m}.ndim))"


def _pure(value: cst.BaseExpression, region: Region, known: Known) -> bool:
    if isinstance(value, cst.Call) and pointwise(value, region, known):
        return all(known.pure(arg.value) for arg in value.args)
    return known.pure(value)


@dataclass(frozen=True)
class Spread:
    """A value computed from all elements: whether some are `taken` by the mask, whether it is `loose` (more than
    numbers goes into it), and `curved` (its derivative may be infinite or NaN where the mask is false)."""

    value: cst.BaseExpression
    loose: bool = False
    taken: bool = False
    curved: bool = False


@dataclass(frozen=True)
class Reach:
    """What a mask selects from, asked of the parts of a value."""

    mask: cst.BaseExpression
    region: Region
    known: Known

    def spread(self, value: cst.BaseExpression) -> Spread | None:
        """A value computed from what the mask selects as one of all elements. None: it is not computed one by one."""
        known = self.known
        match value:
            case cst.Subscript() if (key := subscript(value)) is not None and key.deep_equals(self.mask):
                return Spread(value.value.with_changes(lpar=value.lpar, rpar=value.rpar), taken=True)
            case cst.BinaryOperation(left=left, operator=operator, right=right) if isinstance(operator, SIMPLE):
                one, other = self.spread(left), self.spread(right)
                if one is None or other is None:
                    return None
                straight = not (one.taken or other.taken) or _straight(operator, left, right, known)
                if isinstance(operator, cst.Divide) and (sound := self.divisor(other)) is not None:
                    other, straight = sound, True
                return Spread(
                    value.with_changes(left=one.value, right=other.value),
                    one.loose or other.loose,
                    one.taken or other.taken,
                    one.curved or other.curved or not straight,
                )
            case cst.UnaryOperation(operator=cst.Minus()):
                inner = self.spread(value.expression)
                return None if inner is None else replace(inner, value=value.with_changes(expression=inner.value))
            case cst.Call() if elementwise(value, known) or self.column(value):
                return self._called(value)
            case cst.Call() if pointwise(value, self.region, known):
                first, *rest = [self.spread(arg.value) for arg in value.args]
                if first is None or not first.taken or any(one is None or one.taken for one in rest):
                    return None
                args = [value.args[0].with_changes(value=first.value), *value.args[1:]]
                loose = first.loose or any(one.loose for one in rest if one is not None)
                return Spread(value.with_changes(args=args), loose, True, curved=True)
        held = known.tensor(value)
        if known.number(value) or (held is not None and held.rank == 0):
            return Spread(value)
        return Spread(value, loose=True) if isinstance(value, cst.Name | cst.Attribute) else None

    def column(self, call: cst.Call) -> bool:
        """Whether a call puts dimensions behind the one that the mask selects in: `x[mask].unsqueeze(-1)`,
        `n[mask].view(-1, 1)`, `n[mask].view(-1, *([1] * k))`."""
        if self.known.rank(self.mask) != 1 or not isinstance(call.func, cst.Attribute):
            return False
        of = self.known.callee(call)
        parts = [self.region.code(arg).rstrip(", ") for arg in call.args]
        if of == "torch.Tensor.unsqueeze":
            return parts == ["-1"]
        ones = all(part == "1" or ONES.fullmatch(part) for part in parts[1:])
        single = self.known.rank(call.func.value) == 1
        return of in ("torch.Tensor.view", "torch.Tensor.reshape") and parts[:1] == ["-1"] and ones and single

    def divisor(self, found: Spread) -> Spread | None:
        """A divisor that the mask says is positive, where it is an integer at least 1; None: it may be 0."""
        test = defined(self.region, self.mask)
        count = positive(test, self.region, self.known)
        held = self.known.tensor(count) if count is not None else None
        if count is None or held is None or held.dtype != "int":
            return None
        if test is not self.mask and not since(count, test, self.mask, self.region, self.known):
            return None
        clamped = cst.parse_expression(f"{self.region.code(count)}.clamp(min=1)")
        value = replaced(found.value, count, clamped)
        return None if value is None else replace(found, value=value)

    def _called(self, call: cst.Call) -> Spread | None:
        """An elementwise function of what the mask selects."""
        known = self.known
        method = known.callee(call).startswith("torch.Tensor.")
        source = call.func.value if method and isinstance(call.func, cst.Attribute) else call.args[0].value
        inner = self.spread(source)
        if inner is None or not inner.taken:
            return None
        whole: cst.BaseExpression
        if isinstance(call.func, cst.Attribute) and method:
            of = inner.value
            if not of.lpar and not isinstance(of, cst.Name | cst.Attribute | cst.Call | cst.Subscript):
                of = of.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
            whole = call.with_changes(func=call.func.with_changes(value=of))
        else:
            whole = call.with_changes(args=[call.args[0].with_changes(value=inner.value), *call.args[1:]])
        bounded = known.callee(call).rpartition(".")[2] in BOUNDED or self.column(call)
        return replace(inner, value=whole, curved=inner.curved or not bounded)


def replaced(value: cst.BaseExpression, count: cst.BaseExpression, by: cst.BaseExpression) -> cst.BaseExpression | None:
    """A count, or what is only cast and shaped of it, with another in its place; None of anything else."""
    if value.deep_equals(count):
        return by
    match value:
        case cst.Call(func=cst.Attribute(value=of, attr=cst.Name(value=name)) as func) if name in CARRIED:
            inner = replaced(of, count, by)
            return None if inner is None else value.with_changes(func=func.with_changes(value=inner))
    return None


def _straight(operator: cst.BaseBinaryOp, left: cst.BaseExpression, right: cst.BaseExpression, known: Known) -> bool:
    """Whether the derivative of an operation is a finite number whatever the elements are."""
    if isinstance(operator, cst.Add | cst.Subtract):
        return True
    if isinstance(operator, cst.Multiply):
        return _finite(left, known) or _finite(right, known)
    return isinstance(operator, cst.Divide) and _finite(right, known, zero=False)


def _finite(node: cst.BaseExpression, known: Known, zero: bool = True) -> bool:
    """Whether a factor is an integer or written out; as a divisor it must be written out, and no 0."""
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus):
        node = node.expression
    if isinstance(node, cst.Integer | cst.Float):
        return abs(node.evaluated_value) < 1e30 and (zero or abs(node.evaluated_value) > 1e-30)
    return zero and known.number(node) in ("int", "size", "bool")
