"""Code as text in, the same code for another place out: as far in as that is, in parentheses where it needs them."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Iterator

import libcst as cst

OPENING, CLOSING = "([{", ")]}"
# How tightly an operator binds; the number is that of its operands, too, but those that need one more.
BINDING: dict[type[cst.CSTNode], int] = {
    cst.Or: 2, cst.And: 3, cst.Not: 4, cst.BitOr: 6, cst.BitXor: 7, cst.BitAnd: 8, cst.LeftShift: 9, cst.RightShift: 9,
    cst.Add: 10, cst.Subtract: 10, cst.Multiply: 11, cst.MatrixMultiply: 11, cst.Divide: 11, cst.FloorDivide: 11,
    cst.Modulo: 11, cst.Power: 13,
}  # fmt: skip
NAMED, CHOICE, COMPARED, UNARY, AWAITED, ATOM = 0, 1, 5, 12, 14, 15
# How tightly what stands there must bind: a receiver, an operand, a sequence that is gone through, a part of a list.
PLACES: tuple[tuple[tuple[type[cst.CSTNode], ...], int], ...] = (
    ((cst.Attribute, cst.Subscript, cst.Call, cst.Await), ATOM),
    ((cst.Comparison, cst.ComparisonTarget), COMPARED + 1),
    ((cst.StarredElement, cst.StarredDictElement), BINDING[cst.BitOr]),
    ((cst.CompFor, cst.CompIf), CHOICE + 1),
    ((cst.Lambda, cst.Arg, cst.Element, cst.DictElement, cst.Index, cst.Slice, cst.FormattedStringExpression), CHOICE),
    ((cst.NamedExpr, cst.Param, cst.Assert, cst.Decorator, cst.BaseComp), CHOICE),
)


def indented(text: str, indent: str) -> str:
    """Lines after the first as much further in, but those of a string."""
    if "\n" not in text:
        return text
    kept = quoted(text)
    lines = text.split("\n")
    return "\n".join(f"{indent}{line}" if n and line and n not in kept else line for n, line in enumerate(lines))


def dedented(text: str, indent: str) -> str:
    """Lines after the first as much further out, but those of a string."""
    if "\n" not in text or not indent:
        return text
    kept = quoted(text)
    lines = text.split("\n")
    return "\n".join(line.removeprefix(indent) if n and n not in kept else line for n, line in enumerate(lines))


def whole(text: str) -> str:
    """An expression that can stand anywhere: in parentheses if it goes on over a line that nothing holds open."""
    if "\n" not in text:
        return text
    depth = 0
    for token in _tokens(text):
        if token.type == tokenize.OP:
            depth += (token.string in OPENING) - (token.string in CLOSING)
        if token.type == tokenize.NL and depth == 1 and token.start[0] <= text.count("\n"):
            return f"({text})"
    return text


def quoted(text: str) -> set[int]:
    """The lines, counted from 0, that begin inside a string."""
    found: set[int] = set()
    begun: list[int] = []
    for token in _tokens(text):
        name = tokenize.tok_name[token.type]
        if name in ("FSTRING_START", "TSTRING_START"):
            begun.append(token.start[0])
        elif name in ("FSTRING_END", "TSTRING_END"):
            found |= {*range(begun.pop(), token.end[0])}
        elif token.type == tokenize.STRING:
            found |= {*range(token.start[0], token.end[0])}
    return found


def binding(node: cst.BaseExpression) -> int:
    """How tightly an expression binds: an operand must bind at least as its operator asks."""
    if node.lpar:
        return ATOM
    match node:
        case cst.BinaryOperation(operator=operator) | cst.BooleanOperation(operator=operator):
            return BINDING[type(operator)]
        case cst.UnaryOperation(operator=operator):
            return BINDING.get(type(operator), UNARY)
        case cst.Comparison():
            return COMPARED
        case cst.Await():
            return AWAITED
        case cst.IfExp() | cst.Lambda():
            return CHOICE
        case cst.NamedExpr() | cst.Yield() | cst.GeneratorExp() | cst.StarredElement() | cst.Tuple():
            return NAMED
        case cst.Integer() | cst.Float() | cst.Imaginary():
            return ATOM - 1  # `1.real` is no attribute
    return ATOM


def asked(holder: cst.CSTNode, node: cst.CSTNode) -> int:
    """How tightly an expression must bind where another stands."""
    match holder:
        case cst.BinaryOperation(operator=cst.Power(), left=left):
            return AWAITED if left is node else UNARY
        case cst.BinaryOperation(operator=operator, right=right) | cst.BooleanOperation(operator=operator, right=right):
            return BINDING[type(operator)] + (right is node)
        case cst.UnaryOperation(operator=operator):
            return BINDING.get(type(operator), UNARY)
        case cst.IfExp(orelse=orelse):
            return CHOICE if orelse is node else CHOICE + 1
    return next((least for kinds, least in PLACES if isinstance(holder, kinds)), NAMED)


def fitted(text: str, least: int) -> str:
    """An expression as text, in parentheses where it binds less tightly than is asked."""
    if least == NAMED or text.isidentifier():
        return text
    try:
        node = cst.parse_expression(text)
    except cst.ParserSyntaxError:
        return text  # no expression: the whole is parsed later
    return text if binding(node) >= least else f"({text})"


def _tokens(text: str) -> Iterator[tokenize.TokenInfo]:
    """The tokens of a part of a program, held open by a parenthesis."""
    try:
        yield from tokenize.generate_tokens(io.StringIO(f"({text}\n)").readline)
    except (tokenize.TokenError, SyntaxError):
        return


def formattable(part: cst.FormattedStringExpression, text: str) -> bool:
    """Whether a value in an f-string can be this text, of every Python, and the string says the same."""
    return part.equal is None and not any(sign in text for sign in "\"'\\\n#")
