"""An expression in, whether Python made it for sure, out: a list, a tuple or a number, and no array and no tensor."""

from __future__ import annotations

import libcst as cst

from syncguard.fix.known import NUMBERS, Known
from syncguard.fix.names import stored, stores, variable
from syncguard.fix.nodes import inside
from syncguard.fix.region import Region
from syncguard.infer.domain.values import Const, Host, Seq, Value, options

# What these give is a list, a tuple or a number whatever they are given.
MAKERS = frozenset(f"builtins.{name}" for name in "list tuple sorted range int float bool complex len".split())
# The methods that do.
METHODS = ("tolist", "item")
# Annotations that an array is as good as.
OPEN = ("Iterable", "Collection", "Any", "object")


def plain(node: cst.BaseExpression, region: Region, known: Known, taken: frozenset[str] = frozenset()) -> bool:
    """Whether it is so however the program is called, if its parameters are what they are declared to be. `taken` are
    variables of which it is being found out: what is made of them alone changes nothing.
    """

    def each(*nodes: cst.BaseExpression) -> bool:
        return all(plain(one, region, known, taken) for one in nodes)

    match node:
        case cst.List() | cst.Tuple() | cst.ListComp() | cst.BaseNumber() | cst.UnaryOperation(operator=cst.Not()):
            return True
        case cst.Name(value=name):
            return name in ("True", "False") or name in taken or _variable(node, region, known, taken | {name})
        case cst.UnaryOperation(expression=inner) | cst.GeneratorExp(elt=inner):
            return each(inner)
        case cst.BinaryOperation(left=one, right=other) | cst.BooleanOperation(left=one, right=other):
            return each(one, other)
        case cst.IfExp(body=one, orelse=other):
            return each(one, other)
        case cst.Subscript(value=of, slice=[cst.SubscriptElement(slice=key)]):
            return each(of) and (isinstance(key, cst.Slice) or bool(known.number(node)))
        case cst.Attribute(value=of, attr=cst.Name(value="shape")):
            return known.tensor(of) is not None
        case cst.Call():
            return _made(node, region, known, taken)
    return False


def _made(call: cst.Call, region: Region, known: Known, taken: frozenset[str]) -> bool:
    """Whether a call gives such data: by its name, or by what it is given."""
    callee = known.callee(call)
    if callee in MAKERS or (isinstance(call.func, cst.Attribute) and call.func.attr.value in METHODS):
        return True
    if callee.startswith("torch."):
        return _python(known.value(call))
    return bool(known.number(call)) and all(plain(arg.value, region, known, taken) for arg in call.args)


def _variable(node: cst.Name, region: Region, known: Known, taken: frozenset[str]) -> bool:
    """Whether all that a variable is bound to is such data; of a variable of the file, what it holds."""
    every = [one for one in region.names[node.value] if variable(region, one) and stored(region, one)]
    bound = stores(region, region.scope(node), node.value) or every
    if not bound:
        return node.value not in known.home.core.rebound and _python(known.value(node))
    return all(_binds(one, node, region, known, taken) for one in bound)


def _binds(store: cst.Name, node: cst.Name, region: Region, known: Known, taken: frozenset[str]) -> bool:
    """Whether one place binds a variable to such data, or it is a parameter that is declared to be it."""
    held = region.parent(store)
    if isinstance(held, cst.AssignTarget):
        held = region.parent(held)
    match held:
        case cst.Assign(value=value) | cst.AugAssign(value=value) | cst.NamedExpr(value=value):
            return plain(value, region, known, taken)
        case cst.AnnAssign(value=cst.BaseExpression() as value):
            return plain(value, region, known, taken)
        case cst.For(iter=cst.Call() as rows) | cst.CompFor(iter=cst.Call() as rows):
            return known.callee(rows) == "builtins.range"
        case cst.Param(annotation=cst.Annotation(annotation=kind), star=""):
            told = any(isinstance(part, cst.Name) and part.value in OPEN for part in inside(kind))
            return not told and _python(known.value(node))
    return False


def _python(value: Value) -> bool:
    """Whether inference takes a value to be such data; None is an error either way."""
    kinds = [option for option in options(value) if not (type(option) is Const and option.value is None)]
    return bool(kinds) and all(
        (type(kind) is Seq and kind.kind in ("list", "tuple"))
        or (type(kind) is Const and isinstance(kind.value, (int, float, complex)))
        or (type(kind) is Host and kind.kind in NUMBERS)
        for kind in kinds
    )
