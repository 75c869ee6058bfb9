"""An expression that reads the device in, what it reads out: `float(loss.detach().item())` reads `loss`."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from syncguard.fix.known import Known
from syncguard.fix.names import occurrences, stores
from syncguard.fix.region import Region
from syncguard.fix.steady import shares, views
from syncguard.infer.domain.values import Instance, Unknown

NUMBER = {"builtins.float": "float", "builtins.int": "int"}
# What changes nothing of a value that is read at once.
PASSING = ("detach", "cpu", "data")
REDUCING = ("mean", "sum", "max", "min", "norm", "amax", "amin", "std", "var", "prod", "median", "any", "all")


@dataclass(frozen=True, eq=False)
class Read:
    """A host read: the whole expression, the tensor, what it is made into ('' for what it is), dtype class and rank."""

    whole: cst.BaseExpression
    tensor: cst.BaseExpression
    into: str
    dtype: str
    rank: int

    @property
    def kind(self) -> str:
        """The Python number that it gives: float, int, bool or '' where that is not known."""
        return self.into or {"float": "float", "int": "int", "bool": "bool"}.get(self.dtype, "")


def read_of(node: cst.CSTNode, region: Region, known: Known) -> Read | None:
    """The read that a node is, or is the inner part of: `.item()`, `float()`, `int()` and these around each other."""
    if not isinstance(node, cst.Call):
        return None
    whole: cst.BaseExpression = node
    into = ""
    tensor = _item(node)
    if tensor is None:
        number = NUMBER.get(known.callee(node), "")
        inner = node.args[0].value if len(node.args) == 1 and not node.args[0].star else None
        if not number or inner is None or node.args[0].keyword is not None:
            return None
        into = number
        tensor = _item(inner) or (inner if known.tensor(inner) is not None else None)
        if tensor is None:
            return None
    while (outer := _wrapped(whole, region, known)) is not None:
        whole, into = outer
    tensor = passed(tensor)
    held = known.tensor(tensor)
    return Read(whole, tensor, into, held.dtype if held is not None else "", known.rank(tensor))


def passed(tensor: cst.BaseExpression) -> cst.BaseExpression:
    """A tensor without the `.detach()` and `.cpu()` behind it."""
    while True:
        match tensor:
            case cst.Call(func=cst.Attribute(value=of, attr=cst.Name(value=name)), args=[]) if name in PASSING:
                tensor = of
            case cst.Attribute(value=of, attr=cst.Name(value="data")):
                tensor = of
            case _:
                return tensor


def kept(
    read: Read, region: Region, known: Known, exact: bool = False, fraction: bool = True, now: bool = False
) -> str:
    """The tensor in place of its number: detached, and its own unless it is used up `now`; `exact` in the precision
    that a Python float has, or, where no `fraction` comes of it, an integer."""
    text = postfix(read.tensor, region)
    if exact and fraction and read.dtype in ("int", "bool"):
        return f"{text}.double()"
    if read.dtype in ("int", "bool"):
        return region.code(read.tensor) if exact or now or fresh(read.tensor, region, known) else f"{text}.clone()"
    if exact:
        return f"{text}.detach().double()"
    return f"{text}.detach()" if now or fresh(read.tensor, region, known) else f"{text}.detach().clone()"


def fresh(node: cst.BaseExpression, region: Region, known: Known) -> bool:
    """Whether a tensor was made here and nothing writes into it: what is kept of it does not change later."""
    if isinstance(node, cst.Name):
        scope = region.scope(node)
        bound = stores(region, scope, node.value)
        parents = [region.parent(name) for name in bound]
        made = [region.parent(parent) for parent in parents]
        if not bound or not all(isinstance(one, cst.Assign) and fresh(one.value, region, known) for one in made):
            return False
        names = {node.value, *views(node.value, region, known)}
        return not any(written(use, region) for name in names for use in occurrences(region, scope, name))
    if isinstance(node, cst.BinaryOperation | cst.Comparison | cst.UnaryOperation):
        return True
    if not isinstance(node, cst.Call):
        return False
    called = known.value(node.func)
    module = type(called) is Instance and called.name.startswith("torch.nn.")
    # What others give may be theirs, and written again: the output of a captured graph, a buffer.
    name = node.func.attr.value if isinstance(node.func, cst.Attribute) else ""
    op, last = known.op(node), known.callee(node).rpartition(".")[2]
    if not last and name in REDUCING and type(known.value(node.func.value)) is Unknown:  # type: ignore[attr-defined]
        return True  # what can be read of it was reduced from a tensor
    if (op is None and not module) or (name.endswith("_") and not name.endswith("__")):
        return False
    if shares(last, known):
        return isinstance(node.func, cst.Attribute) and fresh(node.func.value, region, known)
    return name not in PASSING


def written(use: cst.Name, region: Region) -> bool:
    """`x += 1`, `x.add_(1)`, `x[0] = 1`."""
    held = region.parent(use)
    if isinstance(held, cst.Subscript) and held.value is use:
        return isinstance(region.parent(held), cst.AssignTarget | cst.AugAssign)
    if isinstance(held, cst.Attribute) and held.value is use:
        return held.attr.value.endswith("_") and isinstance(region.parent(held), cst.Call)
    return isinstance(held, cst.AugAssign) and held.target is use


def postfix(node: cst.BaseExpression, region: Region) -> str:
    """An expression as text to which `.name` can be added."""
    text = region.code(node)
    atom = isinstance(node, cst.Name | cst.Attribute | cst.Call | cst.Subscript) or bool(node.lpar)
    return text if atom else f"({text})"


def _item(node: cst.BaseExpression) -> cst.BaseExpression | None:
    """The receiver of `.item()`, where it is or was computed from a tensor."""
    match node:
        case cst.Call(func=cst.Attribute(value=of, attr=cst.Name(value="item")), args=[]):
            return of
    return None


def _wrapped(node: cst.BaseExpression, region: Region, known: Known) -> tuple[cst.BaseExpression, str] | None:
    """The `float(...)` or `int(...)` around a number."""
    arg = region.parent(node)
    call = region.parent(arg)
    if isinstance(arg, cst.Arg) and isinstance(call, cst.Call) and len(call.args) == 1:
        number = NUMBER.get(known.callee(call), "")
        if number and arg.keyword is None and not arg.star:
            return call, number
    return None
