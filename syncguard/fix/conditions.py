"""A test on a tensor in, the same test as a tensor out: `n.item() > 0` asks what `n > 0` holds."""

from __future__ import annotations

import libcst as cst

from syncguard.fix.known import Known
from syncguard.fix.layout import brackets
from syncguard.fix.names import defined
from syncguard.fix.reads import postfix, read_of
from syncguard.fix.region import Region
from syncguard.fix.text import BINDING, asked, fitted

COUNTING = ("count_nonzero", "bincount", "histc")


def condition(test: cst.BaseExpression, region: Region, known: Known) -> tuple[str, bool] | None:
    """A test of one 0-d tensor as text, and whether it is asked straight or with a `not`; None where it is no such."""
    straight = True
    while isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        test, straight = test.expression, not straight
    if isinstance(test, cst.Call) and (read := read_of(test, region, known)) is not None:
        test = read.tensor
    if isinstance(test, cst.BooleanOperation):
        sides = [condition(side, region, known) for side in (test.left, test.right)]
        texts = [inner[0] if inner[1] else f"~({inner[0]})" for inner in sides if inner is not None]
        operator = cst.BitAnd if isinstance(test.operator, cst.And) else cst.BitOr
        texts = [fitted(text, BINDING[operator] + 1) for text in texts]
        return (f" {'&' if operator is cst.BitAnd else '|'} ".join(texts), straight) if len(texts) == 2 else None
    if isinstance(test, cst.Comparison):
        text = compared(test, region, known)
        return (text, straight) if text else None
    if isinstance(test, cst.Call) and (text := alike(test, region, known)):
        return text, straight
    held = known.tensor(test)
    if held is None or not known.pure(test):
        return None
    if held.dtype == "bool":
        return region.code(test), straight
    return (f"({postfix(test, region)} != 0)", straight) if held.rank == 0 else None


def bare(text: str) -> str:
    """A test without the parentheses around it."""
    whole = text.startswith("(") and brackets(text)[:1] == [(0, len(text) - 1, True)]
    return text[1:-1] if whole else text


def alike(test: cst.Call, region: Region, known: Known) -> str:
    """`torch.equal(a, b)` and `torch.allclose(a, b)` as tensors; '' for other calls."""
    name = known.callee(test)
    if name not in ("torch.equal", "torch.allclose") or len(test.args) < 2 or any(arg.star for arg in test.args):
        return ""
    if any(arg.keyword for arg in test.args[:2]) or not all(known.pure(arg.value) for arg in test.args):
        return ""
    if name == "torch.equal":
        return f"({postfix(test.args[0].value, region)} == {postfix(test.args[1].value, region)}).all()"
    given = ", ".join(region.code(arg).rstrip(", ") for arg in test.args)
    return f"{known.torch()}.isclose({given}).all()"


def compared(test: cst.Comparison, region: Region, known: Known) -> str:
    """A comparison of a tensor and numbers, or of two tensors; '' where it is another."""
    if len(test.comparisons) != 1 or isinstance(test.comparisons[0].operator, cst.In | cst.NotIn | cst.Is | cst.IsNot):
        return ""
    sides = [test.left, test.comparisons[0].comparator]
    texts, tensors = [], 0
    for side in sides:
        read = read_of(side, region, known) if isinstance(side, cst.Call) else None
        inner = read.tensor if read is not None else side
        if known.tensor(inner) is not None:
            tensors += 1
            if not known.pure(inner):
                return ""
        elif not known.number(inner):
            return ""
        texts.append(fitted(region.code(inner), asked(test, side)))
    operator = region.code(test.comparisons[0].operator)
    return f"{texts[0]} {operator} {texts[1]}" if tensors else ""


def positive(test: cst.BaseExpression, region: Region, known: Known) -> cst.BaseExpression | None:
    """The tensor n of `n > 0` or `n.item() > 0`, and of `n != 0` where n counts."""
    match test:
        case cst.Comparison(
            left=left,
            comparisons=[cst.ComparisonTarget(operator=cst.GreaterThan() | cst.NotEqual() as sign, comparator=zero)],
        ) if isinstance(zero, cst.Integer | cst.Float) and zero.evaluated_value == 0:
            found = _tensor(left, region, known)
            return found if found is None or isinstance(sign, cst.GreaterThan) or counts(found, region, known) else None
    return None


def counts(node: cst.BaseExpression, region: Region, known: Known) -> bool:
    """Whether a tensor counts something, and is never negative: a sum of a mask, a histogram."""
    made = defined(region, node)
    if not isinstance(made, cst.Call):
        return False
    name = known.callee(made).rpartition(".")[2]
    of = known.argument(made, "input") if name == "sum" else None
    held = known.tensor(of) if of is not None else None
    return name in COUNTING or (held is not None and held.dtype == "bool")


def less_than_one(test: cst.BaseExpression, region: Region, known: Known) -> cst.BaseExpression | None:
    """The tensor c of `c < 1`."""
    match test:
        case cst.Comparison(
            left=left, comparisons=[cst.ComparisonTarget(operator=cst.LessThan() | cst.LessThanEqual(), comparator=one)]
        ) if isinstance(one, cst.Integer | cst.Float) and one.evaluated_value == 1:
            return _tensor(left, region, known)
    return None


def _tensor(node: cst.BaseExpression, region: Region, known: Known) -> cst.BaseExpression | None:
    read = read_of(node, region, known) if isinstance(node, cst.Call) else None
    node = read.tensor if read is not None else node
    return node if known.tensor(node) is not None and isinstance(node, cst.Name | cst.Attribute) else None
