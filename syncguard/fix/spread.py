"""A value computed from what a mask selects in, the same computed from all elements out."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import libcst as cst

from syncguard.fix.conditions import positive
from syncguard.fix.devices import keywords
from syncguard.fix.gradless import gradless, off
from syncguard.fix.known import Known
from syncguard.fix.loops import paths
from syncguard.fix.masks import Selected, selected
from syncguard.fix.names import defined, reaching
from syncguard.fix.nodes import inside
from syncguard.fix.pointwise import pointwise
from syncguard.fix.reads import postfix, read_of
from syncguard.fix.region import Region
from syncguard.fix.shapes import elementwise, subscript
from syncguard.fix.steady import since

# Elementwise functions of which the derivative is finite whatever the element is: that of sigmoid is NaN for NaN.
BOUNDED = frozenset("clone detach float double half to type relu neg abs clamp contiguous".split())
# Those of which it is finite where the element is.
SMOOTH = frozenset("square sigmoid tanh softplus sin cos logsigmoid".split())
CARRIED = BOUNDED - {"relu", "neg", "abs", "clamp"} | {"view", "reshape", "unsqueeze"}
ONES = re.compile(r"\*\(?\[1\] \* .+|\*\(1,\) \* .+")
TOTALS = ("torch.Tensor.sum", "torch.sum", "torch.Tensor.count_nonzero", "torch.count_nonzero")
COMPARED = (cst.Equal, cst.NotEqual, cst.LessThan, cst.LessThanEqual, cst.GreaterThan, cst.GreaterThanEqual)
DEPTH = 3
SIMPLE = (cst.Add, cst.Subtract, cst.Multiply, cst.Divide, cst.Power)


@dataclass(frozen=True)
class Spread:
    """A value computed from all elements: whether some are `taken` by the mask, whether it is `loose` (more than
    numbers goes into it), `curved` (its derivative may be infinite or NaN where the mask is false), and `shielded`
    (it divides by, or gives to a function, what the mask was computed from: that keeps out just such elements)."""

    value: cst.BaseExpression
    loose: bool = False
    taken: bool = False
    curved: bool = False
    shielded: bool = False


@dataclass(frozen=True)
class Reach:
    """What a mask selects from, asked of the parts of a value."""

    mask: cst.BaseExpression
    region: Region
    known: Known
    flat: bool = False  # whether the mask has one dimension at most

    def spread(self, value: cst.BaseExpression) -> Spread | None:
        """A value computed from what the mask selects as one of all elements. None: it is not computed one by one."""
        known = self.known
        match value:
            case cst.Subscript() if (key := subscript(value)) is not None and key.deep_equals(self.mask):
                return Spread(value.value, taken=True)
            case cst.BinaryOperation(left=left, operator=operator, right=right) if isinstance(operator, SIMPLE):
                one, other = self.spread(left), self.spread(right)
                if one is None or other is None:
                    return None
                straight = not (one.taken or other.taken) or smooth(operator, left, right, known)
                shielded = False
                if isinstance(operator, cst.Divide) and (sound := self.divisor(other)) is not None:
                    other, straight = sound, True
                elif isinstance(operator, cst.Divide | cst.Power) and not straight and not _square(operator, right):
                    shielded = self.shields(other if isinstance(operator, cst.Divide) else one)
                return Spread(
                    value.with_changes(left=one.value, right=other.value),
                    one.loose or other.loose,
                    one.taken or other.taken,
                    one.curved or other.curved or not straight,
                    one.shielded or other.shielded or shielded,
                )
            case cst.Call() if numbering(value, self.mask, self.region, known):
                return Spread(counted(self.mask, self.region, self.flat or known.rank(self.mask) == 1), taken=True)
            case cst.UnaryOperation(operator=cst.Minus()):
                inner = self.spread(value.expression)
                return None if inner is None else replace(inner, value=value.with_changes(expression=inner.value))
            case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(comparator=right) as other]) if isinstance(
                other.operator, COMPARED
            ):
                return self._compared(value, left, right)
            case cst.Call() if elementwise(value, known) or self.column(value):
                return self._called(value)
            case cst.Call() if pointwise(value, self.region, known):
                first, *rest = [self.spread(arg.value) for arg in value.args]
                if first is None or not first.taken or any(one is None or one.taken for one in rest):
                    return None
                args = [value.args[0].with_changes(value=first.value), *value.args[1:]]
                loose = first.loose or any(one.loose for one in rest if one is not None)
                shielded = self.shields(first)
                return Spread(value.with_changes(args=args), loose, True, curved=True, shielded=shielded)
        if isinstance(value, cst.Name) and (found := selected(value, self.region, known)) is not None:
            return Spread(found.source, taken=True) if found.mask.deep_equals(self.mask) else None
        held = known.tensor(value)
        if known.number(value) or (held is not None and held.rank == 0):
            return Spread(value)
        whole = isinstance(value, cst.Name | cst.Attribute) and not self._picked(value, 4)
        return Spread(value, loose=True) if whole else None

    def _compared(self, value: cst.Comparison, left: cst.BaseExpression, right: cst.BaseExpression) -> Spread | None:
        """`x[mask] == y[mask]`, which has no derivative."""
        one, two = self.spread(left), self.spread(right)
        if one is None or two is None:
            return None
        targets = [value.comparisons[0].with_changes(comparator=two.value)]
        made = value.with_changes(left=one.value, comparisons=targets)
        return Spread(made, one.loose or two.loose, one.taken or two.taken)

    def picks(self, value: cst.BaseExpression) -> list[Selected]:
        """What the mask selects in a value, also through variables."""
        names = [part for part in inside(value) if isinstance(part, cst.Name | cst.Subscript)]
        found = [selected(part, self.region, self.known) for part in names]
        return [one for one in found if one is not None and one.mask.deep_equals(self.mask)]

    def _picked(self, value: cst.BaseExpression, depth: int) -> bool:
        """Whether a variable was computed of what the mask selects: it has but these elements."""
        store = reaching(self.region, value.value, value) if isinstance(value, cst.Name) else None
        target = self.region.parent(store) if store is not None else None
        assign = self.region.parent(target) if isinstance(target, cst.AssignTarget) else None
        if not depth or not isinstance(assign, cst.Assign):
            return False
        return any(
            ((key := subscript(part)) is not None and key.deep_equals(self.mask))
            or (isinstance(part, cst.Name) and self._picked(part, depth - 1))
            for part in inside(assign.value)
        )

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
        last = known.callee(call).rpartition(".")[2]
        bounded = last in BOUNDED or self.column(call)
        whole_power = last == "pow" and len(call.args) == 1 and isinstance(call.args[0].value, cst.Integer)
        smoothly = bounded or whole_power or last in SMOOTH
        shielded = inner.shielded or (not smoothly and self.shields(inner))
        return replace(inner, value=whole, curved=inner.curved or not bounded, shielded=shielded)

    def shields(self, operand: Spread) -> bool:
        """Whether a gradient flows through an operand of which the mask was computed."""
        region, known = self.region, self.known
        if off(self.mask, region, known) or gradless(operand.value, region, known):
            return False
        return bool(origins(operand.value, region, known, 1) & origins(self.mask, region, known, DEPTH))


def origins(node: cst.BaseExpression, region: Region, known: Known, depth: int) -> set[str]:
    """The tensors in an expression, and in what their variables were bound to."""
    found: set[str] = set()
    for path in paths(node, region, known):
        found.add(region.code(path))
        made = defined(region, path)
        if depth and made is not path:
            found |= origins(made, region, known, depth - 1)
    return found


def _square(operator: cst.BaseBinaryOp, exponent: cst.BaseExpression) -> bool:
    """Whether it is a power with a whole exponent, which has a derivative everywhere."""
    return isinstance(operator, cst.Power) and isinstance(exponent, cst.Integer)


def numbering(call: cst.Call, mask: cst.BaseExpression, region: Region, known: Known) -> bool:
    """Whether a call counts the true elements of a mask: `torch.arange(mask.sum())`."""
    settings = keywords(call, ("device", "dtype"))
    if known.callee(call) != "torch.arange" or settings is None or len(call.args) - len(settings) != 1:
        return False
    dtype = settings.get("dtype")
    if dtype is not None and region.code(dtype).rpartition(".")[2] not in ("long", "int64"):
        return False
    size = call.args[0].value
    made = defined(region, size)
    read = read_of(made, region, known)
    total = read.tensor if read is not None and read.whole is made else made
    match total:
        case cst.Call(func=cst.Attribute(value=of), args=[]) if known.callee(total) in TOTALS:
            pass
        case cst.Call(args=[cst.Arg(value=of, keyword=None, star="")]) if known.callee(total) in TOTALS:
            pass
        case _:
            return False
    return of.deep_equals(mask) and (made is size or since(mask, made, call, region, known) == "safe")


def counted(mask: cst.BaseExpression, region: Region, flat: bool) -> cst.BaseExpression:
    """The number that each true element of a mask has, from 0."""
    m = postfix(mask, region)
    running = f"{m}.cumsum(0)" if flat else f"{m}.flatten().cumsum(0).reshape({m}.shape)"
    return cst.parse_expression(f"({running} - 1)")


def replaced(value: cst.BaseExpression, count: cst.BaseExpression, by: cst.BaseExpression) -> cst.BaseExpression | None:
    """A count, or what is only cast and shaped of it, with another in its place; None of anything else."""
    if value.deep_equals(count):
        return by
    match value:
        case cst.Call(func=cst.Attribute(value=of, attr=cst.Name(value=name)) as func) if name in CARRIED:
            inner = replaced(of, count, by)
            return None if inner is None else value.with_changes(func=func.with_changes(value=inner))
    return None


def smooth(operator: cst.BaseBinaryOp, left: cst.BaseExpression, right: cst.BaseExpression, known: Known) -> bool:
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
