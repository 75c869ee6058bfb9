"""An expression in, whether no gradient can flow through what it gives out."""

from __future__ import annotations

import libcst as cst

from syncguard.fix.known import Known
from syncguard.fix.names import defined
from syncguard.fix.region import Region
from syncguard.fix.steady import computed, overwritten
from syncguard.fix.writes import functional
from syncguard.infer.domain.values import Const, Host, Named

OFF = frozenset("torch.no_grad torch.inference_mode torch.autograd.no_grad torch.autograd.inference_mode".split())
SWITCH = ("enable_grad", "set_grad_enabled", "inference_mode(False", "inference_mode(mode")


def gradless(node: cst.BaseExpression, region: Region, known: Known) -> bool:
    """Whether a tensor is of booleans or integers, is computed from such ones, or is made where gradients are off."""
    held = known.tensor(node)
    if held is not None and held.dtype in ("int", "bool"):
        return True
    if any("requires_grad" in line or "Parameter(" in line for line in region.lines[region.first - 1 : region.last]):
        return False  # whatever it was computed from, it may be told to take one
    if isinstance(node, cst.Name) and overwritten(node, region, known):
        return False  # what is written into a tensor may bring a gradient
    made = defined(region, node)
    if computed(made, known) and off(made, region, known):
        return True
    match made:
        case cst.Comparison():
            return known.tensor(made) is not None
        case cst.Attribute(value=of, attr=cst.Name(value=name)):
            return name == "data" and known.tensor(of) is not None
        case cst.BinaryOperation(left=left, right=right):
            return all(_part(side, region, known) for side in (left, right))
        case cst.UnaryOperation(expression=inner) | cst.Subscript(value=inner):
            return gradless(inner, region, known)
        case cst.Call(func=cst.Attribute(value=of, attr=cst.Name(value=name)), args=args) if functional(made, known):
            if name == "detach":
                return True
            parts = [arg.value for arg in args if not arg.star]
            of_tensor = known.callee(made).startswith("torch.Tensor.")
            given = [of, *parts] if of_tensor else parts
            return len(parts) == len(args) and all(_part(part, region, known) for part in given)
    return False


def _part(node: cst.BaseExpression, region: Region, known: Known) -> bool:
    """Whether an operand is a number, a setting, or a tensor without a gradient."""
    return type(known.value(node)) in (Const, Host, Named) or bool(known.number(node)) or gradless(node, region, known)


def off(node: cst.CSTNode, region: Region, known: Known) -> bool:
    """Whether a node of a function stands where no gradients are recorded: `with torch.no_grad():`, its decorator."""
    if any(word in line for line in region.lines[region.first - 1 : region.last] for word in SWITCH):
        return False
    child = node
    for held in region.around(node):
        within = isinstance(held, cst.With) and held.body is child
        if within and any(_off(item.item, known) for item in cst.ensure_type(held, cst.With).items):
            return True
        if isinstance(held, cst.FunctionDef | cst.Lambda):
            made = getattr(held, "decorators", ())
            return any(_off(one.decorator, known) for one in made) and held.body is child
        child = held
    return False


def _off(node: cst.BaseExpression, known: Known) -> bool:
    return isinstance(node, cst.Call) and not node.args and known.callee(node) in OFF
