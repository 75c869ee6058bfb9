"""`value = loss.item()` above `if step % n == 0: print(value)` -> read inside the `if`: only where it is wanted."""

from __future__ import annotations

from itertools import pairwise

import libcst as cst

from syncguard.fix.called import timed
from syncguard.fix.loops import Comp, from_to
from syncguard.fix.names import between, loaded, occurrences, reaching, stored, target
from syncguard.fix.nodes import inside
from syncguard.fix.recipe import Known, Proposal, Region
from syncguard.fix.steady import root, since
from syncguard.fix.text import indented
from syncguard.infer.domain.values import Const, Host
from syncguard.terms import Finding

ASKING = ("get_", "is_", "has_")
# What a test may be made of to be asked twice.
PLAIN = (
    cst.Name, cst.Attribute, cst.Integer, cst.Float, cst.BaseString, cst.Comparison, cst.BooleanOperation,
    cst.UnaryOperation, cst.BinaryOperation,
)  # fmt: skip


def rewrite(node: cst.CSTNode, finding: Finding, region: Region, known: Known) -> Proposal | None:
    """A variable that is read in the bodies of later tests only."""
    statement = region.small(node)
    if not isinstance(statement, cst.Assign) or not region.part_of(node, statement.value):
        return None
    name = target(statement)
    gates = _gates(name, statement, region)
    if not gates or any(timed(node, region, known) for node in from_to(statement, gates[0].body, region)):
        return None
    if len(gates) == 1 and (tier := movable(statement, gates[0], region, known)):
        block = gates[0].body
        assert isinstance(block, cst.IndentedBlock)
        edits = (region.remove(region.statement(statement)), region.before(block.body[0], region.code(statement)))
        text = f"reads `{name}` where it is used"
        if tier == "safe":
            return Proposal("safe", text, edits, leaves=1)
        return Proposal("unsafe", f"{text}: nothing in between may change what is read", edits, leaves=1)
    return asked(name, statement, gates, region, known)


def movable(statement: cst.Assign, gate: cst.If, region: Region, known: Known) -> str:
    """Whether a value is the same when it is computed in a gate below: "safe", "unsafe" or ''."""
    if not known.pure(statement.value):
        return ""
    first = gate.body.body[0]
    names = loaded(region, statement.value)
    if between(region, statement, first, names) or any(isinstance(part, Comp) for part in inside(statement.value)):
        return ""
    paths = [_path(part, region) for part in inside(statement.value) if isinstance(part, cst.Name)]
    tiers = {
        since(path, statement, first, region, known)
        for path in paths
        if root(path) in names and not known.number(path) and _data(path, known)
    }
    return "" if "" in tiers else "unsafe" if "unsafe" in tiers else "safe"


def _path(name: cst.Name, region: Region) -> cst.BaseExpression:
    """A variable with the attributes that are read of it, but for the method that is called last."""
    path: cst.BaseExpression = name
    while isinstance(held := region.parent(path), cst.Attribute) and held.value is path:
        call = region.parent(held)
        if isinstance(call, cst.Call) and call.func is held:
            break
        path = held
    return path


def _data(path: cst.BaseExpression, known: Known) -> bool:
    """Whether an expression may be a tensor, or something else that changes: no module, function, dtype or device."""
    return known.tensor(path) is not None or not (known.callee(path) or isinstance(known.value(path), Host | Const))


def asked(name: str, statement: cst.Assign, gates: list[cst.If], region: Region, known: Known) -> Proposal | None:
    """The same tests before it is read: of variables and numbers, which nothing in between binds."""
    if not all(_asks(part, known) for part in inside(statement.value)):
        return None
    tests: list[str] = []
    for gate in gates:
        parts = [part for part in inside(gate.test) if isinstance(part, cst.BaseExpression)]
        if not all(isinstance(part, PLAIN) for part in parts) or any(known.tensor(part) is not None for part in parts):
            return None
        if between(region, statement, gate.test, loaded(region, gate.test)):
            return None
        text = region.code(gate.test)
        if text not in tests:
            tests.append(text)
    line = region.statement(statement)
    if any(isinstance(part, cst.Comment) for part in inside(line)):
        return None
    if len(gates) == 1 and follows(line, gates[0], region):
        block = gates[0].body
        assert isinstance(block, cst.IndentedBlock)
        edits = (region.remove(line), region.before(block.body[0], region.code(statement)))
        text = f"computes `{name}` where it is used: nothing in it may change the answer of `{tests[0]}`"
        return Proposal("unsafe", text, edits, leaves=1)
    joined = tests[0] if len(tests) == 1 else " or ".join(f"({one})" if " " in one else one for one in tests)
    edit = region.put(line, f"if {joined}:", f"{region.step}{indented(region.code(statement), region.step)}")
    text = f"computes `{name}` only where it is used: nothing in between may change the answer of `{joined}`"
    return Proposal("unsafe", text, (edit,), leaves=1)


def follows(line: cst.CSTNode, gate: cst.If, region: Region) -> bool:
    """Whether a test is the next statement of the same block."""
    block = region.parent(line)
    body = block.body if isinstance(block, cst.IndentedBlock) else ()
    return any(part is line and next_ is gate for part, next_ in pairwise(body))


def _asks(part: cst.CSTNode, known: Known) -> bool:
    """Whether a part of an expression only computes or asks: a call of which nothing is known does if it is given
    nothing and is named so."""
    if not isinstance(part, cst.Call):
        return not isinstance(part, cst.NamedExpr | cst.Await | cst.Yield)
    method = part.func.attr.value if isinstance(part.func, cst.Attribute) else ""
    return known.computes(part) or (not part.args and method.startswith(ASKING))


def _gates(name: str, statement: cst.Assign, region: Region) -> list[cst.If]:
    """The outermost tests below a statement in its block whose bodies hold every use of a variable; none where one
    stands elsewhere, or may see another value."""
    bound = statement.targets[0].target
    scope = region.scope(statement)
    block = region.parent(region.statement(statement))
    found: list[cst.If] = []
    if isinstance(scope, cst.Module):
        return []  # other functions may read it
    for use in occurrences(region, scope, name):
        if use is bound:
            continue
        if stored(region, use) or region.scope(use) is not scope or reaching(region, name, use) is not bound:
            return []
        gate = _gate(use, block, region)
        if gate is None:
            return []
        if gate not in found:
            found.append(gate)
    return found


def _gate(use: cst.CSTNode, block: cst.CSTNode, region: Region) -> cst.If | None:
    """The test in a block whose body holds a use, once each time."""
    child: cst.CSTNode = use
    found = None
    for held in region.around(use):
        if held is block:
            return found
        if isinstance(held, cst.For | cst.While | cst.Lambda | cst.FunctionDef | Comp):
            found = None
        elif isinstance(held, cst.If):
            plain = not isinstance(region.parent(held), cst.If) and isinstance(held.body, cst.IndentedBlock)
            found = held if held.body is child and plain else None
        elif isinstance(held, cst.BaseCompoundStatement):
            found = None
        child = held
    return None
