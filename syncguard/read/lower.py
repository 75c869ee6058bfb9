"""Source text in, core out: one sweep of the standard `ast`, positions for free, Python's protocols as calls."""

from __future__ import annotations

import ast
import gc
import sys
import warnings
from collections.abc import Callable
from operator import attrgetter
from typing import Any

from syncguard.read.core import (
    Attr,
    Bind,
    Bring,
    Call,
    Check,
    Choose,
    Class,
    Comp,
    Const,
    Do,
    Either,
    Function,
    If,
    Index,
    Leave,
    Let,
    Loop,
    Map,
    Module,
    Name,
    Node,
    Param,
    Run,
    Seq,
    Slice,
    Try,
    Update,
    With,
)  # fmt: skip


class Unreadable(Exception):
    """The running Python cannot parse this text; `line` says where, 1 when unknown."""

    def __init__(self, reason: str, line: int = 1, column: int = 1) -> None:
        super().__init__(reason)
        self.reason, self.line, self.column = reason, line, column


def lower(text: str) -> Module:
    """Lower one file. Raises `Unreadable` with a one-line reason."""
    collecting = gc.isenabled()
    gc.disable()  # half of the parser's time is the collector walking a tree that is all alive
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the user's invalid escapes are not our news
            tree = ast.parse(text)
        scope = Scope("", None)
        return Module(block(tree.body, scope), frozen(scope))
    except SyntaxError as error:
        raise Unreadable(
            f"Python {sys.version_info[0]}.{sys.version_info[1]} cannot parse it: {error.msg}",
            error.lineno or 1,
            error.offset or 1,
        ) from None
    except ValueError as error:
        raise Unreadable(f"cannot parse it: {error}") from None
    except (RecursionError, MemoryError):
        raise Unreadable("it is nested too deeply to parse") from None
    finally:
        if collecting:
            gc.enable()


class Scope:
    """What is being lowered: the qualified name, the uses of each local name, the names called in each open loop."""

    __slots__ = ("calls", "generator", "qualname", "uses")

    def __init__(self, qualname: str, outer: Scope | None) -> None:
        self.qualname = qualname
        self.uses: dict[str, set[str]] = {}
        self.calls: list[set[str]] = []
        self.generator = False

    def use(self, name: str, how: str) -> None:
        known = self.uses.get(name)
        if known is None:
            self.uses[name] = {how}
        else:
            known.add(how)


def frozen(scope: Scope) -> dict[str, frozenset[str]]:
    return {name: frozenset(uses) for name, uses in scope.uses.items()}


at: Callable[[Any], tuple[int, int, int, int]] = attrgetter("lineno", "col_offset", "end_lineno", "end_col_offset")


def block(body: list[ast.stmt], scope: Scope) -> tuple[Node, ...]:
    return tuple([STATEMENTS[type(node)](node, scope) for node in body if type(node) not in SILENT])


def expression(node: ast.expr, scope: Scope) -> Node:
    return EXPRESSIONS[type(node)](node, scope)


def maybe(node: ast.expr | None, scope: Scope) -> Node | None:
    return None if node is None else EXPRESSIONS[type(node)](node, scope)


def several(nodes: list[ast.expr], scope: Scope) -> tuple[Node, ...]:
    return tuple([EXPRESSIONS[type(node)](node, scope) for node in nodes])


def truth(node: ast.expr, scope: Scope) -> Node:
    """A test: what Python asks `bool()` of. `and`, `or` and `not` ask it of their operands themselves."""
    if type(node) is ast.UnaryOp and type(node.op) is ast.Not:
        return Do("not", (truth(node.operand, scope),), at(node))
    if type(node) is ast.BoolOp:
        return Either(
            "and" if type(node.op) is ast.And else "or", tuple([truth(v, scope) for v in node.values]), at(node)
        )
    return Do("truth", (EXPRESSIONS[type(node)](node, scope),), at(node))


# -- expressions ----------------------------------------------------------------------------------


def constant(node: ast.Constant, scope: Scope) -> Node:
    return Const(node.value, at(node))


def name(node: ast.Name, scope: Scope) -> Node:
    return Name(node.id, at(node))


def attribute(node: ast.Attribute, scope: Scope) -> Node:
    of = EXPRESSIONS[type(node.value)](node.value, scope)
    if type(of) is Name:
        scope.use(of.id, node.attr)
        path = f"{of.id}.{node.attr}"
    elif type(of) is Attr and of.path:
        scope.use(of.path, node.attr)
        path = f"{of.path}.{node.attr}"
    else:
        path = ""
    return Attr(of, node.attr, path, at(node))


def subscript(node: ast.Subscript, scope: Scope) -> Node:
    of = EXPRESSIONS[type(node.value)](node.value, scope)
    if type(node.slice) is ast.Constant and type(node.slice.value) is str and type(of) is Name:
        scope.use(of.id, "[key]")
    return Index(of, EXPRESSIONS[type(node.slice)](node.slice, scope), at(node))


def slice_(node: ast.Slice, scope: Scope) -> Node:
    return Slice(several([part for part in (node.lower, node.upper, node.step) if part is not None], scope), at(node))


def call(node: ast.Call, scope: Scope) -> Node:
    fn = EXPRESSIONS[type(node.func)](node.func, scope)
    args = several(node.args, scope)
    keywords = tuple([(k.arg or "", EXPRESSIONS[type(k.value)](k.value, scope)) for k in node.keywords])
    if type(fn) is Attr or type(fn) is Name:
        called = fn.name if type(fn) is Attr else fn.id
        for names in scope.calls:
            names.add(called)
        path = fn.path if type(fn) is Attr else fn.id
        if path:
            for position, arg in enumerate(args):
                if type(arg) is Name or (type(arg) is Attr and arg.path):
                    scope.use(arg.id if type(arg) is Name else arg.path, f"({position}{path}")
    return Call(fn, args, keywords, at(node))


def binary(node: ast.BinOp, scope: Scope) -> Node:
    return Do(OPERATORS[type(node.op)], (expression(node.left, scope), expression(node.right, scope)), at(node))


def unary(node: ast.UnaryOp, scope: Scope) -> Node:
    if type(node.op) is ast.Not:
        return truth(node, scope)
    return Do(OPERATORS[type(node.op)], (expression(node.operand, scope),), at(node))


def compare(node: ast.Compare, scope: Scope) -> Node:
    """`a < b < c` is `(a < b) and (b < c)`: all but the last comparison are tested for truth."""
    sides = [expression(side, scope) for side in (node.left, *node.comparators)]
    pairs = [
        Do(
            OPERATORS[type(op)],
            (sides[i], sides[i + 1]),
            at(node) if len(node.ops) == 1 else (*sides[i].at[:2], *sides[i + 1].at[2:]),
        )  # type: ignore[attr-defined]
        for i, op in enumerate(node.ops)
    ]
    if len(pairs) == 1:
        return pairs[0]
    return Either("and", (*[Do("truth", (pair,), pair.at) for pair in pairs[:-1]], pairs[-1]), at(node))


def boolean(node: ast.BoolOp, scope: Scope) -> Node:
    """The value of `a or b` is one of its operands, so the last is not tested."""
    tested = [Do("truth", (expression(v, scope),), at(v)) for v in node.values[:-1]]
    return Either("and" if type(node.op) is ast.And else "or", (*tested, expression(node.values[-1], scope)), at(node))


def ternary(node: ast.IfExp, scope: Scope) -> Node:
    return Choose(truth(node.test, scope), expression(node.body, scope), expression(node.orelse, scope), at(node))


def display(kind: str) -> Callable[[Any, Scope], Node]:
    return lambda node, scope: Seq(kind, several(node.elts, scope), at(node))


def mapping(node: ast.Dict, scope: Scope) -> Node:
    return Map(tuple([maybe(key, scope) for key in node.keys]), several(node.values, scope), at(node))


def comprehension(kind: str) -> Callable[[Any, Scope], Node]:
    def lowered(node: Any, scope: Scope) -> Node:
        clauses = tuple(
            [
                (expression(c.target, scope), expression(c.iter, scope), tuple([truth(test, scope) for test in c.ifs]))
                for c in node.generators
            ]
        )
        body = (node.key, node.value) if kind == "dict" else (node.elt,)
        return Comp(kind, clauses, several(list(body), scope), at(node))

    return lowered


def lambda_(node: ast.Lambda, scope: Scope) -> Node:
    inner = Scope(f"{scope.qualname}.<lambda>".lstrip("."), scope)
    params = parameters(node.args, scope)
    body = (Leave("return", expression(node.body, inner), at(node.body)),)
    return Function("<lambda>", inner.qualname, params, body, (), None, False, frozen(inner), at(node))


def walrus(node: ast.NamedExpr, scope: Scope) -> Node:
    return Let(expression(node.target, scope), expression(node.value, scope), at(node))


def joined(node: ast.JoinedStr, scope: Scope) -> Node:
    return Do("join", several([v for v in node.values if type(v) is ast.FormattedValue], scope), at(node))


def formatted(node: ast.FormattedValue, scope: Scope) -> Node:
    parts = [expression(node.value, scope)]
    if node.format_spec is not None:
        parts.append(expression(node.format_spec, scope))
    # Python 3.11 gives a replacement field the position of its whole string, so its expression's is taken.
    return Do("format", tuple(parts), at(node.value))


def keyword_call(what: str) -> Callable[[Any, Scope], Node]:
    def lowered(node: Any, scope: Scope) -> Node:
        if what in ("yield", "yield from"):
            scope.generator = True
        return Do(what, () if node.value is None else (expression(node.value, scope),), at(node))

    return lowered


EXPRESSIONS: dict[type, Callable[[Any, Scope], Node]] = {
    ast.Constant: constant, ast.Name: name, ast.Attribute: attribute, ast.Subscript: subscript, ast.Slice: slice_,
    ast.Call: call, ast.BinOp: binary, ast.UnaryOp: unary, ast.Compare: compare, ast.BoolOp: boolean,
    ast.IfExp: ternary, ast.Tuple: display("tuple"), ast.List: display("list"), ast.Set: display("set"),
    ast.Dict: mapping, ast.ListComp: comprehension("list"), ast.SetComp: comprehension("set"),
    ast.GeneratorExp: comprehension("generator"), ast.DictComp: comprehension("dict"),
    ast.Lambda: lambda_, ast.NamedExpr: walrus, ast.JoinedStr: joined, ast.FormattedValue: formatted,
    ast.Await: keyword_call("await"), ast.Yield: keyword_call("yield"), ast.YieldFrom: keyword_call("yield from"),
    ast.Starred: keyword_call("*"),
}  # fmt: skip

OPERATORS: dict[type, str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*x", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.MatMult: "@", ast.LShift: "<<", ast.RShift: ">>", ast.BitOr: "|", ast.BitXor: "^", ast.BitAnd: "&",
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Is: "is",
    ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in", ast.Invert: "~", ast.UAdd: "pos", ast.USub: "neg",
}  # fmt: skip


# -- statements -----------------------------------------------------------------------------------


def assign(node: ast.Assign, scope: Scope) -> Node:
    return Bind(several(node.targets, scope), expression(node.value, scope), None, at(node))


def annotated(node: ast.AnnAssign, scope: Scope) -> Node:
    return Bind(
        (expression(node.target, scope),), maybe(node.value, scope), expression(node.annotation, scope), at(node)
    )


def update(node: ast.AugAssign, scope: Scope) -> Node:
    return Update(expression(node.target, scope), OPERATORS[type(node.op)], expression(node.value, scope), at(node))


def run(node: ast.Expr, scope: Scope) -> Node:
    return Run(expression(node.value, scope), at(node))


def if_(node: ast.If, scope: Scope) -> Node:
    return If(truth(node.test, scope), block(node.body, scope), block(node.orelse, scope), at(node))


def while_(node: ast.While, scope: Scope) -> Node:
    scope.calls.append(set())
    test, body = truth(node.test, scope), block(node.body, scope)
    return Loop(test, None, None, body, block(node.orelse, scope), frozenset(scope.calls.pop()), at(node))


def for_(node: Any, scope: Scope) -> Node:
    iterable = expression(node.iter, scope)
    scope.calls.append(set())
    target, body = expression(node.target, scope), block(node.body, scope)
    return Loop(None, target, iterable, body, block(node.orelse, scope), frozenset(scope.calls.pop()), at(node))


def try_(node: Any, scope: Scope) -> Node:
    handlers = tuple([(handler.name or "", block(handler.body, scope)) for handler in node.handlers])
    return Try(block(node.body, scope), handlers, block(node.orelse, scope), block(node.finalbody, scope), at(node))


def with_(node: Any, scope: Scope) -> Node:
    items = tuple([(expression(i.context_expr, scope), maybe(i.optional_vars, scope)) for i in node.items])
    return With(items, block(node.body, scope), at(node))


def leave(what: str) -> Callable[[Any, Scope], Node]:
    field = "exc" if what == "raise" else "value"
    return lambda node, scope: Leave(what, maybe(getattr(node, field, None), scope), at(node))


def check(node: ast.Assert, scope: Scope) -> Node:
    return Check(truth(node.test, scope), maybe(node.msg, scope), at(node))


def import_(node: ast.Import, scope: Scope) -> Node:
    names = [
        (a.asname, a.name, "") if a.asname else (a.name.split(".")[0], a.name.split(".")[0], "") for a in node.names
    ]
    return Bring(tuple(names), 0, at(node))


def import_from(node: ast.ImportFrom, scope: Scope) -> Node:
    names = [(a.asname or a.name, node.module or "", a.name) for a in node.names]
    return Bring(tuple(names), node.level, at(node))


def function(node: Any, scope: Scope) -> Node:
    inner = Scope(f"{scope.qualname}.{node.name}".lstrip("."), scope)
    params = parameters(node.args, scope)
    decorators = several(node.decorator_list, scope)
    returns = maybe(node.returns, scope)
    body = block(node.body, inner)
    return Function(
        node.name, inner.qualname, params, body, decorators, returns, inner.generator, frozen(inner), at(node)
    )


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
    return Param(arg.arg, kind, maybe(arg.annotation, scope), maybe(default, scope), at(arg))


def class_(node: ast.ClassDef, scope: Scope) -> Node:
    inner = Scope(f"{scope.qualname}.{node.name}".lstrip("."), scope)
    keywords = tuple([(k.arg or "", expression(k.value, scope)) for k in node.keywords])
    return Class(
        node.name,
        inner.qualname,
        several(node.bases, scope),
        keywords,
        block(node.body, inner),
        several(node.decorator_list, scope),
        at(node),
    )


def delete(node: ast.Delete, scope: Scope) -> Node:
    return Run(Seq("tuple", several(node.targets, scope), at(node)), at(node))


def match(node: ast.Match, scope: Scope) -> Node:
    """A chain of branches; a literal pattern is an equality that is tested for truth."""
    subject = expression(node.subject, scope)
    chain: tuple[Node, ...] = ()
    for case in reversed(node.cases):
        tests = [
            Do("truth", (Do("==", (subject, expression(p.value, scope)), at(p)),), at(p))
            for p in patterns(case.pattern)
            if type(p) is ast.MatchValue
        ]
        if case.guard is not None:
            tests.append(truth(case.guard, scope))
        test = Either("or", tuple(tests), at(case.pattern)) if tests else Do("unknown", (), at(case.pattern))
        chain = (If(test, block(case.body, scope), chain, at(node)),)
    return chain[0]


def patterns(pattern: ast.pattern) -> list[ast.pattern]:
    return [p for option in pattern.patterns for p in patterns(option)] if type(pattern) is ast.MatchOr else [pattern]


SILENT = {ast.Pass, ast.Global, ast.Nonlocal}
STATEMENTS: dict[type, Callable[[Any, Scope], Node]] = {
    ast.Assign: assign, ast.AnnAssign: annotated, ast.AugAssign: update, ast.Expr: run, ast.If: if_, ast.While: while_,
    ast.For: for_, ast.AsyncFor: for_, ast.Try: try_, ast.TryStar: try_, ast.With: with_, ast.AsyncWith: with_,
    ast.Return: leave("return"), ast.Raise: leave("raise"), ast.Break: leave("break"), ast.Continue: leave("continue"),
    ast.Assert: check, ast.Import: import_, ast.ImportFrom: import_from, ast.FunctionDef: function,
    ast.AsyncFunctionDef: function, ast.ClassDef: class_, ast.Delete: delete, ast.Match: match,
}  # fmt: skip
