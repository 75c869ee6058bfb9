"""A test in, the mask that it asks for a true element out."""

from __future__ import annotations

import libcst as cst

from syncguard.fix.known import Known

# How a count is asked whether it is 0.
MORE = ((cst.GreaterThan, "0"), (cst.NotEqual, "0"), (cst.GreaterThanEqual, "1"))


def asked(test: cst.BaseExpression, known: Known) -> cst.BaseExpression | None:
    """The mask of `mask.any()`, `torch.any(mask)`, `mask.sum() > 0`, and `~mask` of `not mask.all()`."""
    match test:
        case cst.UnaryOperation(operator=cst.Not(), expression=inner):
            every = reduced(inner, ("all",), known)
            return inverted(every) if every is not None else None
        case cst.Comparison(
            left=left, comparisons=[cst.ComparisonTarget(operator=sign, comparator=cst.Integer(value=number))]
        ) if (type(sign), number) in MORE:
            return reduced(left, ("sum", "count_nonzero"), known)
    return reduced(test, ("any", "sum", "count_nonzero"), known)


def reduced(test: cst.BaseExpression, how: tuple[str, ...], known: Known) -> cst.BaseExpression | None:
    """The mask of which a test asks one of these things, also with `.item()` or `bool()` around."""
    while True:
        match test:
            case cst.Call(func=cst.Attribute(value=cst.Call() as inner, attr=cst.Name(value="item")), args=[]):
                test = inner
            case cst.Call(args=[cst.Arg(value=cst.Call() as inner, keyword=None, star="")]) if known.callee(test) in (
                "builtins.bool",
                "builtins.int",
            ):
                test = inner
            case _:
                break
    if not isinstance(test, cst.Call):
        return None
    of, _, name = known.callee(test).rpartition(".")
    mask: cst.BaseExpression
    if name not in how:
        return None
    if of == "torch" and len(test.args) == 1 and test.args[0].keyword is None:
        mask = test.args[0].value
    elif of == "torch.Tensor" and not test.args and isinstance(test.func, cst.Attribute):
        mask = test.func.value
    else:
        return None
    held = known.tensor(mask)
    return mask if held is not None and held.dtype == "bool" and known.pure(mask) else None


def inverted(mask: cst.BaseExpression) -> cst.BaseExpression:
    """The mask of the other elements."""
    match mask:
        case cst.UnaryOperation(operator=cst.BitInvert(), expression=inner):
            return inner.with_changes(lpar=[], rpar=[])
    return cst.UnaryOperation(cst.BitInvert(), mask)
