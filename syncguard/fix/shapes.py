"""Expressions in, what their shapes have to do with one another out."""

from __future__ import annotations

import libcst as cst

from syncguard.fix.facts import equal_shapes
from syncguard.fix.known import Known
from syncguard.fix.names import defined, definition, loaded, reaching, version
from syncguard.fix.nodes import inside
from syncguard.fix.reads import postfix
from syncguard.fix.region import Region, Unfit
from syncguard.infer.domain.values import Host

# What gives a tensor of the shape of its receiver or first argument.
ELEMENTWISE = frozenset(
    "eq ne lt le gt ge isnan isinf isfinite logical_not logical_and logical_or bool clone detach float half double "
    "long int "
    "abs neg exp log sqrt sigmoid tanh relu clamp to type contiguous bitwise_not zeros_like ones_like full_like "
    "pow square reciprocal rsqrt sin cos log1p expm1 exp2 log2 log10 erf floor ceil trunc sign softplus gelu silu "
    "empty_like rand_like randn_like".split()
)

# What makes a tensor of a size that it is given first.
SIZED = frozenset(
    [f"torch.{name}" for name in "zeros ones empty full rand randn".split()]
    + [f"torch.Tensor.new_{name}" for name in "zeros ones empty full".split()]
)

# What leaves of each row of the last dimension one number.
REDUCING = frozenset(
    "sum mean any all norm amax amin argmax argmin prod std var logsumexp count_nonzero vector_norm".split()
)
# What broadcasts two tensors: its result is at least as large as either.
PAIRED = frozenset(f"torch.{name}" for name in "max min maximum minimum add sub mul div logical_and logical_or".split())


def subscript(node: cst.CSTNode) -> cst.BaseExpression | None:
    """The key of `x[key]` where it is one expression, no slice and no tuple."""
    if not isinstance(node, cst.Subscript) or len(node.slice) != 1:
        return None
    index = node.slice[0].slice
    return index.value if isinstance(index, cst.Index) and index.star is None else None


def alike(one: cst.BaseExpression, other: cst.BaseExpression, region: Region, known: Known) -> bool:
    """Whether two tensors have the same shape by construction: one is computed elementwise from the other."""
    roots = [_roots(node, region, known, 6) for node in (one, other)]
    return bool(roots[0] & roots[1])


def shaped_as(node: cst.BaseExpression, name: str, at: cst.CSTNode, region: Region, known: Known) -> bool:
    """Whether an expression has, by construction, the shape that a variable has at a place."""
    return version(region, name, at) in _roots(node, region, known, 6)


def fits(tensor: cst.BaseExpression, mask: cst.BaseExpression, region: Region, known: Known) -> bool:
    """Whether `tensor[mask]`, if it runs, takes single elements: the mask has the tensor's shape.

    A mask that is computed with what has that shape, and more, has at least as many dimensions; and as a key no more.
    """
    if 0 <= known.rank(tensor) == known.rank(mask):
        return True
    own = _roots(tensor, region, known, 6)
    wide = _roots(mask, region, known, 6, wide=True)
    if own & wide:
        return True
    for pair in equal_shapes(mask, region):
        one, other = (_roots(side, region, known, 6) for side in pair)
        if (own & one and other & wide) or (own & other and one & wide):
            return True
    return False


def behind(tensor: cst.BaseExpression, mask: cst.BaseExpression, region: Region, known: Known) -> int:
    """How many dimensions a tensor has behind those of a mask for its first ones; -1 where that is not known."""
    ranks = known.rank(tensor), known.rank(mask)
    if min(ranks) >= 0:
        return max(ranks[0] - ranks[1], 0)
    rows = {f"{root} of rows" for root in _roots(tensor, region, known, 6)}
    return 1 if rows & _roots(mask, region, known, 6) else -1


def widened(mask: cst.BaseExpression, other: cst.BaseExpression, region: Region, known: Known) -> str:
    """The mask with as many dimensions as the tensor whose first dimensions it is for."""
    m, x = postfix(mask, region), postfix(other, region)
    more = behind(other, mask, region, known)
    if more >= 0:
        return f"{m}.unsqueeze(-1)" if more == 1 else f"{m}[{', '.join(['...', *['None'] * more])}]" if more else m
    return f"{m}.reshape({m}.shape + (1,) * ({x}.ndim - {m}.ndim))"


def elementwise(call: cst.Call, known: Known) -> bool:
    """Whether a call computes each element from the same one of its tensor, and of nothing else but numbers."""
    name = known.callee(call)
    if name.rpartition(".")[2] not in ELEMENTWISE or not name.startswith("torch."):
        return False
    method = name.startswith("torch.Tensor.")
    if (not method and not call.args) or any(arg.star for arg in call.args):
        return False
    others = [arg.value for arg in (call.args if method else call.args[1:])]
    return all(_scalar(arg, known) or _setting(arg, known) for arg in others)


def picks(node: cst.CSTNode, known: Known) -> bool:
    """Whether something is computed of as many elements as the device finds: `x[mask]`, `x.nonzero()`."""
    for part in inside(node):
        if isinstance(part, cst.Call) and (known.callee(part) in SELECT or "unique" in known.callee(part)):
            return True
        key = subscript(part)
        held = known.tensor(key) if key is not None else None
        if held is not None and held.dtype == "bool":
            return True
    return False


def _setting(node: cst.BaseExpression, known: Known) -> bool:
    """Whether an argument is a dtype or a device."""
    if isinstance(node, cst.Attribute) and node.attr.value in ("dtype", "device"):
        return True
    value = known.value(node)
    return type(value) is Host and value.kind.partition(":")[0] in ("dtype", "device")


def _roots(node: cst.BaseExpression, region: Region, known: Known, depth: int, wide: bool = False) -> set[str]:
    """What an expression has the shape of, told apart by what its variables hold; `wide`, what it is at least as large
    as."""
    found = {_told(node, region)}
    if depth == 0:
        return found
    match node:
        case cst.Name():
            store = reaching(region, node.value, node)
            target = region.parent(store) if store is not None else None
            assign = region.parent(target) if isinstance(target, cst.AssignTarget) else None
            if isinstance(assign, cst.Assign):
                found |= _roots(assign.value, region, known, depth - 1, wide)
        case cst.Call() if (row := reduced(node, known)) is not None:
            found |= {f"{root} of rows" for root in _roots(row, region, known, depth - 1)}
        case cst.Comparison(comparisons=[cst.ComparisonTarget(comparator=right)]):
            found |= _both(node.left, right, region, known, depth, wide)
        case cst.BinaryOperation():
            found |= _both(node.left, node.right, region, known, depth, wide)
        case cst.UnaryOperation():
            found |= _roots(node.expression, region, known, depth - 1, wide)
        case cst.Call(args=[cst.Arg(value=left, keyword=None), cst.Arg(value=right, keyword=None)]) if (
            wide and known.callee(node) in PAIRED and known.tensor(left) is not None and known.tensor(right) is not None
        ):
            found |= _both(left, right, region, known, depth, wide)
        case cst.Call() if (of := modelled(node, region, known)) is not None:
            found |= _roots(of, region, known, depth - 1, wide)
    return found


def modelled(call: cst.Call, region: Region, known: Known) -> cst.BaseExpression | None:
    """What a call gives the shape of: `x` of `y.expand_as(x)`, `torch.zeros(x.shape)` and `x.abs()`."""
    name = known.callee(call)
    last = name.rpartition(".")[2]
    if name in SIZED and call.args and not call.args[0].star:
        return measured(call.args[0].value, region, known)
    method = name.startswith("torch.Tensor.")
    match call:
        case cst.Call(args=[cst.Arg(value=other, star="")]) if method and last in (
            "expand_as",
            "view_as",
            "reshape_as",
        ):
            return other
        case cst.Call(func=cst.Attribute(value=of)) if method and last in ELEMENTWISE:
            return of if all(_narrow(arg, known) for arg in call.args) else None
        case cst.Call(func=cst.Attribute(attr=cst.Name(value=own)), args=[first, *rest]) if own in ELEMENTWISE:
            return first.value if not method and all(_narrow(arg, known) for arg in rest) else None
    return None


def measured(size: cst.BaseExpression, region: Region, known: Known) -> cst.BaseExpression | None:
    """The tensor whose whole size is asked: `x` of `x.shape` and `x.size()`, also through a variable."""
    match defined(region, size):
        case cst.Attribute(value=of, attr=cst.Name(value="shape")) if known.tensor(of) is not None:
            return of
        case cst.Call(func=cst.Attribute(value=of, attr=cst.Name(value="size")), args=[]) if (
            known.tensor(of) is not None
        ):
            return of
    return None


def reduced(call: cst.Call, known: Known) -> cst.BaseExpression | None:
    """What a call reduces along its last dimension only, `x` of `x.norm(dim=-1)`."""
    name = known.callee(call)
    of, dim = known.argument(call, "input") or known.argument(call, "self"), known.argument(call, "dim")
    if name.rpartition(".")[2] not in REDUCING or not name.startswith("torch.") or of is None or dim is None:
        return None
    last = known.region.code(dim) == "-1" or (known.rank(of) > 0 and known.region.code(dim) == str(known.rank(of) - 1))
    return of if last and known.argument(call, "keepdim") is None else None


def _told(node: cst.BaseExpression, region: Region) -> str:
    """An expression as source, and which values of its variables are meant."""
    if isinstance(node, cst.Name):
        return version(region, node.value, node)
    return " ".join([region.code(node), *sorted(version(region, name, node) for name in loaded(region, node))])


def _both(
    left: cst.BaseExpression, right: cst.BaseExpression, region: Region, known: Known, depth: int, wide: bool
) -> set[str]:
    """Of a tensor and a number, what the tensor has the shape of; of two tensors, what both have, or `wide` either."""
    if _scalar(right, known):
        return _roots(left, region, known, depth - 1, wide)
    if _scalar(left, known):
        return _roots(right, region, known, depth - 1, wide)
    one, other = _roots(left, region, known, depth - 1, wide), _roots(right, region, known, depth - 1, wide)
    return one | other if wide else one & other


def _scalar(node: cst.BaseExpression, known: Known) -> bool:
    """Whether an operand cannot widen the shape: a number, a literal, None or a dtype."""
    if isinstance(node, cst.Integer | cst.Float | cst.SimpleString | cst.UnaryOperation) and not known.tensor(node):
        return True
    if isinstance(node, cst.Name) and node.value in ("None", "True", "False"):
        return True
    return bool(known.number(node))


def _narrow(arg: cst.Arg, known: Known) -> bool:
    """Whether an argument cannot widen the shape: such an operand, or a dtype or device."""
    named = arg.keyword is not None and arg.keyword.value in ("dtype", "device")
    return not arg.star and (named or _scalar(arg.value, known) or _setting(arg.value, known))


def owned(node: cst.BaseExpression, region: Region, known: Known) -> bool:
    """Whether a variable holds memory of its own, made here and no view: each element has its own place."""
    if not isinstance(node, cst.Name):
        return False
    try:
        made = definition(region, node).value
    except Unfit:
        return False
    if isinstance(made, cst.BinaryOperation | cst.Comparison | cst.UnaryOperation):
        return known.tensor(made) is not None
    if not isinstance(made, cst.Call) or known.tensor(made) is None:
        return False
    name = known.callee(made).rpartition(".")[2]
    return name in OWN and known.pure(made) | (name in FACTORIES)


FACTORIES = frozenset(
    "zeros ones empty full rand randn randint arange linspace zeros_like ones_like empty_like full_like rand_like "
    "randn_like new_zeros new_ones new_empty new_full".split()
)
OWN = FACTORIES | frozenset(
    "clone where exp log sqrt sigmoid tanh relu cat stack sum mean softmax log_softmax mul add sub div".split()
)
# What takes the true elements of a mask out, one row for each.
SELECT = frozenset(
    "torch.masked_select torch.Tensor.masked_select torch.nonzero torch.Tensor.nonzero torch.argwhere".split()
)
