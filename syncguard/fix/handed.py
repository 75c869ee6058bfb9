"""A variable in, whether it is a tensor whoever calls its function, and not a list of some, out."""

from __future__ import annotations

import re

import libcst as cst

from syncguard.fix.names import reaching, reads, stores
from syncguard.fix.region import Region
from syncguard.fix.steady import given_to

# What a row of tensors can be asked for as well as a tensor.
SHARED = frozenset({*dir(list), *dir(tuple), *dir(dict), *dir(set)})
ASKED = re.compile(r"\bis_tensor\(|\bisinstance\([^()]*Tensor")
# What is only done with numbers and tensors.
SIGNS = (cst.Subtract, cst.Divide, cst.Power, cst.MatrixMultiply, cst.LessThan, cst.LessThanEqual, cst.GreaterThan,
         cst.GreaterThanEqual)  # fmt: skip


def single(base: cst.BaseExpression, region: Region, depth: int = 4) -> bool:
    """Whether a variable is one tensor for sure: of a parameter that is not declared, who calls the function in this
    file says little, and `x[i].item()` can be asked of a list."""
    if not isinstance(base, cst.Name):
        return True
    scope = region.scope(base)
    store = reaching(region, base.value, base)
    bound = [store] if store is not None else stores(region, scope, base.value)
    return depth > 0 and all(_told(one, scope, region, depth - 1) for one in bound)


def _told(store: cst.Name, scope: cst.CSTNode, region: Region, depth: int) -> bool:
    held = region.parent(store)
    while isinstance(held, cst.Element | cst.Tuple):
        held = region.parent(held)
    match held:
        case cst.Param():
            declared = held.annotation is not None or _documented(store.value, scope, region)
            return declared or any(
                _tensors(use, region) or _asked(use, region) for use in reads(region, scope, store.value)
            )
        case cst.AssignTarget():
            value = given_to(store, cst.ensure_type(region.parent(held), cst.Assign), region)
            while isinstance(value, cst.Subscript):
                value = value.value
            return not isinstance(value, cst.Name) or value.value == "self" or single(value, region, depth)
        case cst.For(iter=cst.Name() as rows) | cst.CompFor(iter=cst.Name() as rows) if rows.value != store.value:
            return single(rows, region, depth) or any(
                _tensors(use, region) for use in reads(region, scope, store.value)
            )
    return True


def _documented(name: str, scope: cst.CSTNode, region: Region) -> bool:
    """Whether the text of a function says of a parameter that it is a tensor."""
    text = scope.get_docstring() if isinstance(scope, cst.FunctionDef) else None
    return bool(text) and bool(re.search(rf"\b{name}\b[^\n]*[Tt]ensor", text or ""))


def _asked(use: cst.Name, region: Region) -> bool:
    """Whether a use asks for a tensor: `torch.is_tensor(x)`, `isinstance(x, torch.Tensor)`."""
    call = region.parent(region.parent(use))
    return isinstance(call, cst.Call) and bool(ASKED.search(region.code(call)))


def _tensors(use: cst.Name, region: Region) -> bool:
    """Whether a use is one that only a tensor bears: `x.shape`, `x - 1`, `x > 0`."""
    held = region.parent(use)
    match held:
        case cst.Attribute(attr=cst.Name(value=name)):
            return held.value is use and name not in SHARED
        case cst.BinaryOperation(operator=sign):
            return isinstance(sign, SIGNS)
        case cst.UnaryOperation(operator=sign):
            return not isinstance(sign, cst.Not)
        case cst.Comparison(comparisons=[cst.ComparisonTarget(operator=sign)]):
            return isinstance(sign, SIGNS)
    return False
