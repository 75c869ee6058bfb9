"""`if (x < 0).any(): raise ...` and `assert (x >= 0).all()` -> `torch._assert_async`: nobody waits."""

from __future__ import annotations

import ast
import re

import libcst as cst
from msgspec.structs import replace

from syncguard.fix.conditions import condition
from syncguard.fix.recipe import Known, Proposal, Region
from syncguard.fix.text import BINDING, fitted
from syncguard.infer.domain.values import Host, options
from syncguard.terms import Edit, Finding

QUOTES = {'"', "\\", "\n", "\t"}
FIELD = re.compile(r"\{[^{}]*\}")
# A value in a message, which nobody has looked at; told beside, in parentheses, it is left out.
VALUE = "\0"
# A variable that the host knows stands between two of these.
KNOWN = "\1"
TOLD = ("str", "int", "float", "bool", "size", "number")
BESIDE = re.compile(r"\s*\((?:[\w.]+\s*[=:]\s*)?\0\)")
SENTENCE = re.compile(r"(?<=[.!?])\s+")
CLAUSE = re.compile(r"[,;:] +[^,;:]*\0")
DOTS = re.compile(r"\.{4,}")
PERCENT = re.compile(r"%[-+ #0-9.]*[a-zA-Z]")


def rewrite(node: cst.CSTNode, finding: Finding, region: Region, known: Known) -> Proposal | None:
    """A branch that does nothing but raise, or an assertion; where it runs once, as in a test, Python's is better."""
    torch = known.torch() if not region.handled(node) and finding.heat != "cold" else ""
    for held in (node, *region.around(node)):
        if isinstance(held, cst.Assert):
            return asserted(held, torch, region, known) if torch else None
        if isinstance(held, cst.If):
            return raised(held, torch, region, known) if torch and region.part_of(node, held.test) else None
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
        return mixed(branch, only, torch, region, known) or behind(branch, only, torch, region, known)
    text, straight = test
    fault = reason(only, known)
    opposite = denied(branch.test, region, known) or (negated(text) if straight else text)
    return proposal(region.put(branch, call(torch, opposite, fault)))


def mixed(branch: cst.If, only: cst.Raise, torch: str, region: Region, known: Known) -> Proposal | None:
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
    check = call(torch, text if straight == negative else negated(text), reason(only, known))
    bare = inner.left if not negative or inner.left.lpar or not isinstance(inner.left, cst.BooleanOperation) else None
    left = region.code(inner.left) if bare is not None else f"({region.code(inner.left)})"
    edits = (region.swap(test, f"not {left}" if negative else left), region.after(branch, check))
    return Proposal(
        "unsafe",
        "the device's part fails later: as an assertion, at the next wait, and for good; on the CPU as a RuntimeError",
        edits,
    )


def behind(branch: cst.If, only: cst.Raise, torch: str, region: Region, known: Known) -> Proposal | None:
    """`if x is not None and bad(x).any(): raise ...`: the host asks first, as it did, and the device then."""
    match branch.test:
        case cst.BooleanOperation(left=left, operator=cst.And(), right=right):
            last = condition(right, region, known)
        case _:
            return None
    if last is None or any(known.tensor(part) is not None for part in _parts(left)):
        return None
    text, straight = last
    check = call(torch, negated(text) if straight else text, reason(only, known))
    edits = (region.swap(branch.test, region.code(left)), region.swap(only, check))
    return replace(proposal(edits[0]), edits=edits)


def reason(only: cst.Raise, known: Known) -> str:
    """What an exception says."""
    return words(only.exc.args[0].value, known) if isinstance(only.exc, cst.Call) and only.exc.args else ""


def _parts(node: cst.BaseExpression) -> list[cst.BaseExpression]:
    if isinstance(node, cst.BooleanOperation):
        return [*_parts(node.left), *_parts(node.right)]
    if isinstance(node, cst.Comparison):
        if all(isinstance(target.operator, cst.Is | cst.IsNot) for target in node.comparisons):
            return []
        return [node, node.left, *(target.comparator for target in node.comparisons)]
    return [node]


def asserted(statement: cst.Assert, torch: str, region: Region, known: Known) -> Proposal | None:
    """`assert test, "text"`."""
    test = condition(statement.test, region, known)
    if test is None:
        return None
    text, straight = test
    fault = words(statement.msg, known) if statement.msg is not None else ""
    made = proposal(region.swap(statement, call(torch, text if straight else negated(text), fault)))
    return replace(made, message=f"{made.message}; `python -O` does not take it away")


def proposal(edit: Edit) -> Proposal:
    return Proposal(
        "unsafe",
        "fails later: as an assertion on the device, at the next wait, and for good; on the CPU as a RuntimeError",
        (edit,),
    )


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


def words(node: cst.BaseExpression, known: Known) -> str:
    """A message as a literal, with dots for its values: who asserts on the device has not looked at them, only at what
    the host knows. A sentence after the first that tells of values is left out."""
    if isinstance(node, cst.SimpleString):
        return node.value if isinstance(node.evaluated_value, str) else ""
    first, *more = SENTENCE.split(BESIDE.sub("", _words(node, known)))
    text = " ".join([_cut(first), *(one for one in more if VALUE not in one)])
    text = DOTS.sub("...", text.replace(VALUE, "...")).strip()
    if not text.strip("."):
        return ""
    if KNOWN not in text:
        return f'"{text}"' if not set(text) & QUOTES else repr(text)
    parts = text.split(KNOWN)
    if set(text) & QUOTES:
        return repr("".join("..." if n % 2 else part for n, part in enumerate(parts)))
    return 'f"' + "".join(f"{{{part}}}" if n % 2 else _escaped(part) for n, part in enumerate(parts)) + '"'


def _cut(sentence: str) -> str:
    """A sentence without the clause behind its first that tells of a value, and what follows: `bad, got {x}`."""
    for found in CLAUSE.finditer(sentence):
        before = sentence[: found.start()]
        if all(before.count(one) == before.count(other) for one, other in ("()", "[]", "{}")):
            return before + (sentence[-1] if sentence[-1] in ".!" else "") if " " in before else sentence
    return sentence


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _words(node: cst.BaseExpression, known: Known) -> str:
    match node:
        case cst.SimpleString():
            return node.evaluated_value if isinstance(node.evaluated_value, str) else ""
        case cst.ConcatenatedString(left=left, right=right):
            return _words(left, known) + _words(right, known)
        case cst.FormattedString(parts=parts):
            return "".join(_part(part, node, known) for part in parts)
        case cst.BinaryOperation(left=left, operator=cst.Add(), right=right):
            return _words(left, known) + _words(right, known) if _words(left, known) else ""
        case cst.Call(func=cst.Attribute(value=cst.BaseString() as of, attr=cst.Name(value="format"))):
            return FIELD.sub(VALUE, _words(of, known))
        case cst.BinaryOperation(left=cst.BaseString() as of, operator=cst.Modulo()):
            return PERCENT.sub(VALUE, _words(of, known))
    return ""


def _part(part: cst.BaseFormattedStringContent, string: cst.FormattedString, known: Known) -> str:
    match part:
        case cst.FormattedStringText(value=value):
            text = value.replace("{{", "{").replace("}}", "}")
            if "r" in string.prefix.lower() or "\\" not in text:
                return text
            return str(ast.literal_eval(f"{string.quote}{text}{string.quote}"))
        case cst.FormattedStringExpression(
            expression=cst.Name(value=name) as shown, conversion=None, equal=None, format_spec=None
        ) if all(type(value) is Host and value.kind in TOLD for value in options(known.value(shown))):
            return f"{KNOWN}{name}{KNOWN}"
    return VALUE
