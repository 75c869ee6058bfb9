"""An expression that reads the device in, what it reads out: `float(loss.detach().item())` reads `loss`."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from syncguard.fix.gradless import gradless
from syncguard.fix.known import Known
from syncguard.fix.names import defined, stores
from syncguard.fix.region import Region
from syncguard.fix.steady import computed, shares, untouched
from syncguard.fix.writes import functional
from syncguard.infer.domain.values import Instance, Unknown

NUMBER = {"builtins.float": "float", "builtins.int": "int"}
# What changes nothing of a value that is read at once.
PASSING = ("detach", "cpu", "data")
REDUCING = ("mean", "sum", "max", "min", "norm", "amax", "amin", "std", "var", "prod", "median", "any", "all")

# Of these the ones that pick an element: of none there is no answer.
CHOOSING = ("max", "min", "amax", "amin", "median")


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
    """The tensor in place of its number: without a gradient, and its own unless it is used up `now`; `exact` in the
    precision that a Python float has, or, where no `fraction` comes of it, an integer of 64 bits."""
    text = postfix(read.tensor, region)
    if exact and fraction and read.dtype in ("int", "bool"):
        return f"{text}.double()"
    if read.dtype in ("int", "bool"):
        if exact:
            return region.code(read.tensor) if counted(read.tensor, region, known) else f"{text}.long()"
        return region.code(read.tensor) if now or fresh(read.tensor, region, known) else f"{text}.clone()"
    loose = "" if gradless(read.tensor, region, known) else ".detach()"
    if exact:
        return f"{text}{loose}.double()"
    if now or fresh(read.tensor, region, known):
        return f"{text}{loose}" if loose else region.code(read.tensor)
    return f"{text}{loose}.clone()"


def counted(node: cst.BaseExpression, region: Region, known: Known) -> bool:
    """Whether an integer has 64 bits whatever it is made of: its row says that it counts, and no other dtype is asked
    for."""
    made = defined(region, node)
    op = known.op(made) if isinstance(made, cst.Call) else None
    if op is None or not isinstance(made, cst.Call) or not functional(made, known):
        return False
    return "count" in op.returns.split() and known.argument(made, "dtype") is None


def fresh(node: cst.BaseExpression, region: Region, known: Known) -> bool:
    """Whether a tensor was made here and nothing writes into it: what is kept of it does not change later."""
    if isinstance(node, cst.Name):
        bound = [region.parent(region.parent(name)) for name in stores(region, region.scope(node), node.value)]
        made = [one for one in bound if isinstance(one, cst.Assign) and len(one.targets) == 1]
        if not made or len(made) < len(bound) or not all(fresh(one.value, region, known) for one in made):
            return False
        return untouched(node, region, known)
    if isinstance(node, cst.BinaryOperation | cst.Comparison | cst.UnaryOperation):
        return computed(node, known)
    return isinstance(node, cst.Call) and _made(node, region, known)


def _made(call: cst.Call, region: Region, known: Known) -> bool:
    """Whether a call gives a tensor of its own. What others give may be theirs, and written again: the output of a
    captured graph, a buffer; what a loss of torch gives is not."""
    called, op, last = known.value(call.func), known.op(call), known.callee(call).rpartition(".")[2]
    name = call.func.attr.value if isinstance(call.func, cst.Attribute) else ""
    if isinstance(call.func, cst.Attribute):
        if not last and name in REDUCING and type(known.value(call.func.value)) is Unknown:
            return True  # what can be read of it was reduced from a tensor
        if op is not None and shares(last, known):
            return fresh(call.func.value, region, known)
    if type(called) is Instance and called.name.startswith("torch.nn."):
        return called.name.endswith("Loss")
    return functional(call, known) and not shares(last, known) and name not in PASSING


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
