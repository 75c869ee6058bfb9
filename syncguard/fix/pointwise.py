"""A call in, whether it is of a function of this file that computes each element from the same one of its tensor."""

from __future__ import annotations

import libcst as cst

from syncguard.fix.known import Known
from syncguard.fix.locate import Unanchored, parsed
from syncguard.fix.nodes import children
from syncguard.fix.region import Region
from syncguard.fix.shapes import elementwise
from syncguard.read import core

ARITHMETIC = (cst.Add, cst.Subtract, cst.Multiply, cst.Divide, cst.Power)


def pointwise(call: cst.Call, region: Region, known: Known) -> bool:
    """Whether the body is arithmetic and elementwise functions of the first argument, behind checks of numbers."""
    if not isinstance(call.func, cst.Name) or not call.args or any(arg.keyword or arg.star for arg in call.args):
        return False
    made = [one.node for one in known.home.routines if type(one.node) is core.Function]
    found = [node for node in made if node.name == call.func.value and node.at[1] == 0]
    if len(found) != 1 or known.home.env.get(call.func.value) is None or region.first <= found[0].at[0] <= region.last:
        return False
    try:
        other = parsed(region.path, region.lines, found[0].at[0], found[0].at[2])
    except Unanchored:
        return False
    function = other.module.body[0]
    if not isinstance(function, cst.FunctionDef) or function.decorators or function.asynchronous is not None:
        return False
    params = [param.name.value for param in function.params.params]
    if len(params) < len(call.args) or not isinstance(function.body, cst.IndentedBlock):
        return False
    return _body(function.body, params[0], params[1 : len(call.args)], Known(other, known.world, known.home))


def _body(block: cst.IndentedBlock, first: str, numbers: list[str], known: Known) -> bool:
    """Whether nothing happens but checks and arithmetic, and the last statement gives the result."""
    *rest, last = block.body
    names = [*numbers]
    for statement in rest:
        match statement:
            case cst.SimpleStatementLine(
                body=[cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value)]
            ) if name != first and _each(value, first, names, known):
                names.append(name)
            case _:
                if not _checks(statement, first):
                    return False
    match last:
        case cst.SimpleStatementLine(body=[cst.Return(value=cst.BaseExpression() as value)]):
            return _each(value, first, names, known)
    return False


def _checks(statement: cst.CSTNode, first: str) -> bool:
    """A docstring, or an `if` on the other arguments that raises."""
    match statement:
        case cst.SimpleStatementLine(body=[cst.Expr(value=cst.SimpleString())]):
            return True
        case cst.If(orelse=None, body=cst.IndentedBlock(body=[cst.SimpleStatementLine(body=[cst.Raise()])])):
            return not any(isinstance(node, cst.Name) and node.value == first for node in _nodes(statement.test))
    return False


def _each(value: cst.BaseExpression, first: str, numbers: list[str], known: Known) -> bool:
    match value:
        case cst.Name(value=name):
            return name == first or name in numbers
        case cst.Integer() | cst.Float():
            return True
        case cst.UnaryOperation(operator=cst.Minus(), expression=inner):
            return _each(inner, first, numbers, known)
        case cst.BinaryOperation(left=left, operator=operator, right=right) if isinstance(operator, ARITHMETIC):
            return _each(left, first, numbers, known) and _each(right, first, numbers, known)
        case cst.Call() if elementwise(value, known):
            method = known.callee(value).startswith("torch.Tensor.")
            of = value.func.value if method and isinstance(value.func, cst.Attribute) else value.args[0].value
            return _each(of, first, numbers, known)
    return False


def _nodes(node: cst.CSTNode) -> list[cst.CSTNode]:
    return [node, *(inner for child in children(node) for inner in _nodes(child))]
