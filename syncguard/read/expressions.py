"""An expression of `ast` and what surrounds it in, core out: Python's protocols and operators become calls."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any, Final

from syncguard.read.core import (
    COMPARISONS,
    Choose,
    Comp,
    Const,
    Do,
    Either,
    Function,
    Leave,
    Let,
    Map,
    Node,
    Param,
    Slice,
    united,
)  # fmt: skip
from syncguard.read.kinds import Kinds
from syncguard.read.scope import Scope, frozen
from syncguard.read.tags import ATTR, CALL, CONST, DO, INDEX, NAME, SEQ


def at(node: ast.AST) -> Any:  # an `At`; compiled code would take that apart, and put it together again
    """Where a node stands. What it is asked for four times over lies in its dictionary."""
    told = node.__dict__
    return told["lineno"], told["col_offset"], told["end_lineno"], told["end_col_offset"]


def expression(node: ast.expr, scope: Scope) -> Node:
    return EXPRESSIONS[type(node)](node, scope)


def annotation(node: ast.expr | None, scope: Scope) -> Node | None:
    """A type, in which a type parameter stands for what bounds it."""
    if node is None or not scope.bounds:
        return maybe(node, scope)
    scope.types = scope.bounds
    lowered = expression(node, scope)
    scope.types = None
    return lowered


def maybe(node: ast.expr | None, scope: Scope) -> Node | None:
    return None if node is None else EXPRESSIONS[type(node)](node, scope)


def several(nodes: list[ast.expr], scope: Scope) -> tuple[Node, ...]:
    return tuple([EXPRESSIONS[type(node)](node, scope) for node in nodes])


def truth(node: ast.expr, scope: Scope) -> Node:
    """A test: what Python asks `bool()` of. `and`, `or` and `not` ask it of their operands themselves."""
    if type(node) is ast.UnaryOp and type(node.op) is ast.Not:
        return DO("not", (truth(node.operand, scope),), at(node))
    if type(node) is ast.BoolOp:
        return Either(
            "and" if type(node.op) is ast.And else "or", tuple([truth(v, scope) for v in node.values]), at(node)
        )
    return DO("truth", (EXPRESSIONS[type(node)](node, scope),), at(node))


def constant(node: ast.Constant, scope: Scope) -> Node:
    return CONST(node.value, at(node))


def name(node: ast.Name, scope: Scope) -> Node:
    types = scope.types
    if types is None or node.id not in types:
        return NAME(node.id, at(node))
    bound = types[node.id]
    scope.types = None  # a bound may name its parameter: `T: Ordered[T]`
    found = united(several(bound.elts if type(bound) is ast.Tuple else [bound], scope))  # `T: (Tensor, float)` is one
    scope.types = types
    return found


def attribute(node: ast.Attribute, scope: Scope) -> Node:
    of = EXPRESSIONS[type(node.value)](node.value, scope)
    if type(of) is NAME:
        scope.use(of.id, node.attr)
        path = f"{of.id}.{node.attr}"
    elif type(of) is ATTR and of.path:
        scope.use(of.path, node.attr)
        path = f"{of.path}.{node.attr}"
    else:
        path = ""
        if type(of) is DO and (given := dotted(shifted(of))):
            scope.use(given, f"*.{node.attr}")
    return ATTR(of, node.attr, path, at(node))


def subscript(node: ast.Subscript, scope: Scope) -> Node:
    of = EXPRESSIONS[type(node.value)](node.value, scope)
    key = node.slice
    if type(of) is NAME:
        if type(key) is ast.Constant and type(key.value) is str:
            scope.use(of.id, "[key]")
        elif type(key) is ast.Tuple and any(map(ranges, key.elts)):
            scope.use(of.id, "[,]")
    index = EXPRESSIONS[type(key)](key, scope)
    if type(of) is NAME and type(index) is DO and index.what in COMPARISONS and dotted(index.args[0]) == of.id:
        scope.use(of.id, "[?]")
    return INDEX(of, index, at(node))


def ranges(part: ast.expr) -> bool:
    """Whether a part of a subscript takes a range, which in a tuple only an array or a tensor knows."""
    return type(part) is ast.Slice or (type(part) is ast.Constant and part.value is ...)


def slice_(node: ast.Slice, scope: Scope) -> Node:
    return Slice(several([part for part in (node.lower, node.upper, node.step) if part is not None], scope), at(node))


def call(node: ast.Call, scope: Scope) -> Node:
    fn = EXPRESSIONS[type(node.func)](node.func, scope)
    args = several(node.args, scope)
    keywords = tuple([(k.arg or "", EXPRESSIONS[type(k.value)](k.value, scope)) for k in node.keywords])
    called, path = (fn.name, fn.path) if type(fn) is ATTR else (fn.id, fn.id) if type(fn) is NAME else ("", "")
    if called:
        for names in scope.calls:
            names.add(called)
    if type(fn) is ATTR and "." in path:
        scope.use(path.rpartition(".")[0], f"{called}()")
    if path:
        for position, arg in enumerate(args):
            if type(arg) is DO and arg.what == "*":
                break  # what comes next may have any place
            for mark, given in passed(arg):
                scope.use(given, f"{mark}{position}{path}")
        for name, value in keywords:
            if name and (by_name := dotted(value)):
                scope.use(by_name, f"({name}={path}")
    if path in NAMERS and len(args) > 1:
        for given in spelling(args[1]):
            scope.use(given, "[name]")
    return CALL(fn, args, keywords, at(node))


def passed(arg: Node) -> list[tuple[str, str]]:
    """What an argument passes: `(` a name itself, `[` those of a display, `*` one that numbers are computed with, and
    `#` one of which an item is."""
    if type(arg) is SEQ:
        return [("[", given) for part in arg.items if (given := dotted(part))]
    mark = "("
    if type(arg) is DO and (inner := shifted(arg)) is not arg:
        mark, arg = "*", inner
    if type(arg) is INDEX and type(arg.key) is CONST and type(arg.key.value) is int:
        mark, arg = "#", arg.of
    given = dotted(arg)
    return [(mark, given)] if given else []


NAMERS: Final = ("getattr", "hasattr", "setattr")  # what is given the name of an attribute second


def spelling(node: Node) -> Iterator[str]:
    """The names whose values a text is made up of: `f"head_{task}"`, `"head_" + task`."""
    if type(node) is DO and node.what in ("join", "format", "+", "%"):
        for part in node.args:
            yield from spelling(part)
    elif given := dotted(node):
        yield given


def shifted(node: Node) -> Node:
    """What numbers make another value of: `x` of `2 - x * 2`."""
    while (inner := changed(node)) is not None:
        node = inner
    return node


def changed(node: Node) -> Node | None:
    """What a number makes another value of: `x` of `x * 2` and of `-x`."""
    if type(node) is not DO:
        return None
    match node:
        case Do(what="neg", args=(of,)):
            return of
        case Do(what="+" | "-" | "*x" | "/" | "**", args=(of, Const()) | (Const(), of)):
            return of
    return None


def dotted(node: Node) -> str:
    return node.id if type(node) is NAME else node.path if type(node) is ATTR else ""


def binary(node: ast.BinOp, scope: Scope) -> Node:
    return DO(OPERATORS[type(node.op)], (expression(node.left, scope), expression(node.right, scope)), at(node))


def unary(node: ast.UnaryOp, scope: Scope) -> Node:
    if type(node.op) is ast.Not:
        return truth(node, scope)
    return DO(OPERATORS[type(node.op)], (expression(node.operand, scope),), at(node))


def compare(node: ast.Compare, scope: Scope) -> Node:
    """`a < b < c` is `(a < b) and (b < c)`: all but the last comparison are tested for truth."""
    sides = [expression(side, scope) for side in (node.left, *node.comparators)]
    pairs = [
        DO(
            OPERATORS[type(op)],
            (sides[i], sides[i + 1]),
            at(node) if len(node.ops) == 1 else (*sides[i].at[:2], *sides[i + 1].at[2:]),
        )
        for i, op in enumerate(node.ops)
    ]
    if len(pairs) == 1:
        return pairs[0]
    return Either("and", (*[DO("truth", (pair,), pair.at) for pair in pairs[:-1]], pairs[-1]), at(node))


def boolean(node: ast.BoolOp, scope: Scope) -> Node:
    """The value of `a or b` is one of its operands, so the last is not tested."""
    tested = [DO("truth", (expression(v, scope),), at(v)) for v in node.values[:-1]]
    return Either("and" if type(node.op) is ast.And else "or", (*tested, expression(node.values[-1], scope)), at(node))


def ternary(node: ast.IfExp, scope: Scope) -> Node:
    return Choose(truth(node.test, scope), expression(node.body, scope), expression(node.orelse, scope), at(node))


def display(kind: str) -> Callable[[Any, Scope], Node]:
    return lambda node, scope: SEQ(kind, several(node.elts, scope), at(node))


def mapping(node: ast.Dict, scope: Scope) -> Node:
    return Map(tuple([maybe(key, scope) for key in node.keys]), several(node.values, scope), at(node))


def comprehension(kind: str) -> Callable[[Any, Scope], Node]:
    def lowered(node: Any, scope: Scope) -> Node:
        own = {part.id for c in node.generators for part in ast.walk(c.target) if type(part) is ast.Name}
        outside = taken(own, scope)
        clauses = tuple(
            [
                (expression(c.target, scope), expression(c.iter, scope), tuple([truth(test, scope) for test in c.ifs]))
                for c in node.generators
            ]
        )
        body = [node.elt] if kind != "dict" else [node.key, node.value]
        if body[-1] is None:  # `{**part for part in parts}`, since Python 3.15
            parts: tuple[Node, ...] = (DO("*", (expression(node.key, scope),), at(node.key)),)
        else:
            parts = several(body, scope)
        inside = taken(own, scope)
        scope.uses.update(outside)
        uses = {name: frozenset(inside.get(name, ())) for name in (*own, *inside)}
        return Comp(kind, clauses, parts, uses, at(node))

    return lowered


def taken(names: set[str], scope: Scope) -> dict[str, set[str]]:
    """The uses of these names, and of what is asked of them, taken out of a scope."""
    found = [path for path in scope.uses if path.partition(".")[0] in names]
    return {path: scope.uses.pop(path) for path in found}


def lambda_(node: ast.Lambda, scope: Scope) -> Node:
    inner = scope.within("<lambda>")
    params = parameters(node.args, scope)
    body = (Leave("return", expression(node.body, inner), at(node.body)),)
    return Function("<lambda>", inner.qualname, params, body, (), None, False, frozen(inner), at(node))


def walrus(node: ast.NamedExpr, scope: Scope) -> Node:
    return Let(expression(node.target, scope), expression(node.value, scope), at(node))


def joined(node: ast.JoinedStr, scope: Scope) -> Node:
    # Of its texts only the first and the last are kept: it may name a device, `f"cuda:{rank}"`, or an attribute.
    last = len(node.values) - 1
    kept = [v for i, v in enumerate(node.values) if i in (0, last) or type(v) is ast.FormattedValue]
    return DO("join", several(kept, scope), at(node))


def formatted(node: ast.FormattedValue, scope: Scope) -> Node:
    parts = [expression(node.value, scope)]
    if node.format_spec is not None:
        parts.append(expression(node.format_spec, scope))
    # Python 3.11 gives a replacement field the position of its whole string, so its expression's is taken.
    return DO("format", tuple(parts), at(node.value))


def unknown(node: ast.AST, scope: Scope) -> Node:
    """What this page has no name for, a template string or the syntax of a later Python: its parts run."""
    return DO("unknown", several(parts_of(node), scope), at(node))


def parts_of(node: ast.AST) -> list[ast.expr]:
    """The expressions that stand right inside, but for those of a pattern or a handler."""
    return [part for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)]


def keyword_call(what: str) -> Callable[[Any, Scope], Node]:
    def lowered(node: Any, scope: Scope) -> Node:
        if what in ("yield", "yield from"):
            scope.generator = True
        return Do(what, () if node.value is None else (expression(node.value, scope),), at(node))

    return lowered


def parameters(args: ast.arguments, scope: Scope) -> tuple[Param, ...]:
    positional = [*args.posonlyargs, *args.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(args.defaults)) + list(args.defaults)
    found = [parameter(arg, "positional", default, scope) for arg, default in zip(positional, defaults, strict=True)]
    if args.vararg:
        found.append(parameter(args.vararg, "*", None, scope))
    found += [
        parameter(arg, "keyword", default, scope)
        for arg, default in zip(args.kwonlyargs, args.kw_defaults, strict=True)
    ]
    if args.kwarg:
        found.append(parameter(args.kwarg, "**", None, scope))
    return tuple(found)


def parameter(arg: ast.arg, kind: str, default: ast.expr | None, scope: Scope) -> Param:
    return Param(arg.arg, kind, annotation(arg.annotation, scope), _written(maybe(default, scope)), at(arg))


def _written(default: Node | None) -> Node | None:
    """A default that is written down, `-1` as one number."""
    match default:
        case Do(what="neg", args=(Const(value=int() | float() as value),)):
            return Const(-value, default.at)
    return default


EXPRESSIONS: Final[dict[type, Callable[[Any, Scope], Node]]] = Kinds({
    ast.Constant: constant, ast.Name: name, ast.Attribute: attribute, ast.Subscript: subscript, ast.Slice: slice_,
    ast.Call: call, ast.BinOp: binary, ast.UnaryOp: unary, ast.Compare: compare, ast.BoolOp: boolean,
    ast.IfExp: ternary, ast.Tuple: display("tuple"), ast.List: display("list"), ast.Set: display("set"),
    ast.Dict: mapping, ast.ListComp: comprehension("list"), ast.SetComp: comprehension("set"),
    ast.GeneratorExp: comprehension("generator"), ast.DictComp: comprehension("dict"),
    ast.Lambda: lambda_, ast.NamedExpr: walrus, ast.JoinedStr: joined, ast.FormattedValue: formatted,
    ast.Await: keyword_call("await"), ast.Yield: keyword_call("yield"), ast.YieldFrom: keyword_call("yield from"),
    ast.Starred: keyword_call("*"),
}, unknown)  # fmt: skip

OPERATORS: Final[dict[type, str]] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*x", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.MatMult: "@", ast.LShift: "<<", ast.RShift: ">>", ast.BitOr: "|", ast.BitXor: "^", ast.BitAnd: "&",
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Is: "is",
    ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in", ast.Invert: "~", ast.UAdd: "pos", ast.USub: "neg",
}  # fmt: skip
