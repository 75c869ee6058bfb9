"""`if (x < 0).any(): raise ...` and `assert (x >= 0).all()` -> `torch._assert_async`: nobody waits."""

from __future__ import annotations

import libcst as cst

from syncguard.fix.conditions import condition
from syncguard.fix.recipe import Known, Proposal, Region
from syncguard.fix.text import BINDING, fitted
from syncguard.terms import Edit, Finding


def rewrite(node: cst.CSTNode, finding: Finding, region: Region, known: Known) -> Proposal | None:
    """A branch that does nothing but raise, or an assertion."""
    torch = known.torch() if not region.handled(node) else ""
    for held in (node, *region.around(node)):
        if isinstance(held, cst.Assert):
            return asserted(held, torch, region, known) if torch else None
        if isinstance(held, cst.If):
            return raised(held, torch, region, known) if torch and _in(node, held.test, region) else None
        if isinstance(held, cst.BaseStatement | cst.BaseSmallStatement):
            return None
    return None


def raised(branch: cst.If, torch: str, region: Region, known: Known) -> Proposal | None:
    """`if test: raise Error("text")`."""
    block = branch.body
    if branch.orelse is not None or isinstance(region.parent(branch), cst.If):
        return None
    if not isinstance(block, cst.IndentedBlock) or len(block.body) != 1:
        return None
    line = block.body[0]
    only = line.body[0] if isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1 else None
    if not isinstance(only, cst.Raise) or only.exc is None:
        return None
    test = condition(branch.test, region, known)
    if test is None:
        return mixed(branch, torch, region, known)
    text, straight = test
    fault = words(only.exc.args[0].value) if isinstance(only.exc, cst.Call) and only.exc.args else ""
    opposite = denied(branch.test, region, known) or (negated(text) if straight else text)
    return proposal(region.put(branch, call(torch, opposite, fault)))


def mixed(branch: cst.If, torch: str, region: Region, known: Known) -> Proposal | None:
    """`if not (n > 0 and mask.all()): raise ...`: the host asks for what it knows, the device for the rest."""
    test = branch.test
    negative = isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not)
    inner = test.expression if isinstance(test, cst.UnaryOperation) and negative else test
    wanted = cst.And if negative else cst.Or
    if not isinstance(inner, cst.BooleanOperation) or not isinstance(inner.operator, wanted):
        return None
    last = condition(inner.right, region, known)
    if last is None or any(known.tensor(part) is not None for part in _parts(inner.left)):
        return None
    text, straight = last
    check = call(torch, text if straight == negative else negated(text), "")
    bare = inner.left if not negative or inner.left.lpar or not isinstance(inner.left, cst.BooleanOperation) else None
    left = region.code(inner.left) if bare is not None else f"({region.code(inner.left)})"
    edits = (region.swap(test, f"not {left}" if negative else left), region.after(branch, check))
    return Proposal("unsafe", "the device's part fails later: as an assertion, at the next wait, and for good", edits)


def _parts(node: cst.BaseExpression) -> list[cst.BaseExpression]:
    if isinstance(node, cst.BooleanOperation):
        return [*_parts(node.left), *_parts(node.right)]
    if isinstance(node, cst.Comparison):
        return [node, node.left, *(target.comparator for target in node.comparisons)]
    return [node]


def asserted(statement: cst.Assert, torch: str, region: Region, known: Known) -> Proposal | None:
    """`assert test, "text"`."""
    test = condition(statement.test, region, known)
    if test is None:
        return None
    text, straight = test
    fault = words(statement.msg) if statement.msg is not None else ""
    return proposal(region.swap(statement, call(torch, text if straight else negated(text), fault)))


def proposal(edit: Edit) -> Proposal:
    return Proposal("unsafe", "fails later: as an assertion on the device, at the next wait, and for good", (edit,))


def call(torch: str, text: str, fault: str) -> str:
    return f"{torch}._assert_async({text}, {fault})" if fault else f"{torch}._assert_async({text})"


def denied(test: cst.BaseExpression, region: Region, known: Known) -> str:
    """The opposite of `a or b`, side by side; '' of another test."""
    if not isinstance(test, cst.BooleanOperation):
        return ""
    texts = []
    for side in (test.left, test.right):
        inner = denied(side, region, known)
        found = condition(side, region, known)
        if not inner and found is not None:
            inner = negated(found[0]) if found[1] else found[0]
        texts.append(fitted(inner, BINDING[cst.BitAnd] + 1))
    return f" {'&' if isinstance(test.operator, cst.Or) else '|'} ".join(texts) if all(texts) else ""


def negated(text: str) -> str:
    """The opposite of a 0-d bool tensor."""
    simple = cst.parse_expression(text)
    atom = isinstance(simple, cst.Name | cst.Attribute | cst.Call | cst.Subscript) or simple.lpar
    return f"~{text}" if atom else f"~({text})"


def words(node: cst.BaseExpression) -> str:
    """A message as a literal; of an f-string what stands before the first value."""
    if isinstance(node, cst.SimpleString):
        return node.value if isinstance(node.evaluated_value, str) else ""
    if isinstance(node, cst.ConcatenatedString):
        return words(node.left)
    if isinstance(node, cst.FormattedString) and node.parts and isinstance(node.parts[0], cst.FormattedStringText):
        text = node.parts[0].value.rstrip()
        return f'"{text}"' if text and '"' not in text and "\\" not in text and "\n" not in text else ""
    return ""


def _in(node: cst.CSTNode, holder: cst.CSTNode, region: Region) -> bool:
    return any(held is holder for held in (node, *region.around(node)))
