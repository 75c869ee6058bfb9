"""Statements of `ast` and what surrounds them in, core out."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, Final

from msgspec.structs import replace

from syncguard.read.core import (
    Bind,
    Bring,
    Check,
    Class,
    Do,
    Function,
    If,
    Leave,
    Loop,
    Name,
    Node,
    Param,
    Run,
    Seq,
    Try,
    Update,
    With,
)  # fmt: skip
from syncguard.read.docstrings import ranks, tensors
from syncguard.read.expressions import (
    OPERATORS,
    annotation,
    at,
    dotted,
    expression,
    maybe,
    parameters,
    parts_of,
    several,
    shifted,
    truth,
)
from syncguard.read.kinds import Kinds
from syncguard.read.patterns import matched
from syncguard.read.scope import Scope, frozen
from syncguard.read.tags import DO


def block(body: list[ast.stmt], scope: Scope) -> tuple[Node, ...]:
    return tuple([STATEMENTS[type(node)](node, scope) for node in body if type(node) not in SILENT])


def assign(node: ast.Assign, scope: Scope) -> Node:
    call, target = node.value, node.targets[0]
    if type(call) is ast.Call and type(target) is ast.Name:
        fields = tuple_fields(call, scope)
        if fields is not None:
            base = expression(call.func, scope)
            return Class(target.id, scope.within(target.id).qualname, (base,), (), fields, (), at(node))
    value = expression(node.value, scope)
    if type(value) is DO and type(target) is ast.Name and (given := dotted(shifted(value))):
        scope.use(given, f"*={target.id}")
    return Bind(several(node.targets, scope), value, None, at(node))


def called(node: ast.Call) -> str:
    """The last name of what is called."""
    return node.func.id if type(node.func) is ast.Name else node.func.attr if type(node.func) is ast.Attribute else ""


def tuple_fields(node: ast.Call, scope: Scope) -> tuple[Node, ...] | None:
    """The fields that a call of namedtuple declares; None of any other call."""
    named = called(node) in ("namedtuple", "NamedTuple") and len(node.args) > 1
    return declared(node.args[1], scope) if named else None


def declared(node: ast.expr, scope: Scope) -> tuple[Node, ...] | None:
    """The fields that `namedtuple("Pair", "a b")` names; None where they are not written out."""
    texts = node.value.replace(",", " ").split() if type(node) is ast.Constant and type(node.value) is str else None
    if texts is not None:
        return tuple([Bind((Name(text, at(node)),), None, None, at(node)) for text in texts])
    fields: list[Node] = []
    for part in node.elts if isinstance(node, ast.List | ast.Tuple) else ():
        kind = part.elts[1] if type(part) is ast.Tuple and len(part.elts) == 2 else None
        text = part.elts[0] if type(part) is ast.Tuple and part.elts else part
        if type(text) is not ast.Constant or type(text.value) is not str:
            return None
        fields.append(Bind((Name(text.value, at(text)),), None, maybe(kind, scope), at(part)))
    return tuple(fields) or None


def annotated(node: ast.AnnAssign, scope: Scope) -> Node:
    return Bind(
        (expression(node.target, scope),), maybe(node.value, scope), annotation(node.annotation, scope), at(node)
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

    def lowered(node: Any, scope: Scope) -> Node:
        # What parses, and no Python compiles: a cell of a notebook that was cut out of a function.
        if (what == "return" and not scope.qualname) or (what in ("break", "continue") and not scope.calls):
            where = "function" if what == "return" else "loop"
            raise SyntaxError(f"'{what}' outside {where}", ("", node.lineno, node.col_offset + 1, ""))
        return Leave(what, maybe(getattr(node, field, None), scope), at(node))

    return lowered


def check(node: ast.Assert, scope: Scope) -> Node:
    if type(node.test) is ast.Constant and not node.test.value:  # `assert False, "not yet"`
        return Leave("raise", maybe(node.msg, scope), at(node))
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
    inner = scope.within(node)
    before, scope.bounds = scope.bounds, inner.bounds
    params = documented(parameters(node.args, scope), node.body[0])
    returns = annotation(node.returns, scope)
    scope.bounds = before
    decorators = several(node.decorator_list, scope)
    body = block(node.body, inner)
    return Function(
        node.name, inner.qualname, params, body, decorators, returns, inner.generator, frozen(inner), at(node)
    )


def documented(params: tuple[Param, ...], first: ast.stmt) -> tuple[Param, ...]:
    """The parameters with what the docstring says of them, if the body begins with one."""
    if not (
        isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    ):
        return params
    text = first.value.value
    rank = ranks(text)
    if all(param.annotation or param.name in ("self", "cls") for param in params) and "ool" not in text and not rank:
        return params
    told = tensors(text)
    if not told and not rank:
        return params
    return tuple([replace(param, told=told.get(param.name), rank=rank.get(param.name, -1)) for param in params])


def class_(node: ast.ClassDef, scope: Scope) -> Node:
    inner = scope.within(node)
    bases, fields = tuple_of(node, scope)
    keywords = tuple([(k.arg or "", expression(k.value, scope)) for k in node.keywords])
    return Class(
        node.name,
        inner.qualname,
        bases,
        keywords,
        (*fields, *block(node.body, inner)),
        several(node.decorator_list, scope),
        at(node),
    )


def tuple_of(node: ast.ClassDef, scope: Scope) -> tuple[tuple[Node, ...], tuple[Node, ...]]:
    """The bases of a class, and the fields that it has from `class Pair(namedtuple("Pair", "a b"))`."""
    base = node.bases[0] if len(node.bases) == 1 else None
    fields = tuple_fields(base, scope) if type(base) is ast.Call else None
    if type(base) is not ast.Call or fields is None:
        return several(node.bases, scope), ()
    return (expression(base.func, scope),), fields


def shared(node: ast.Global, scope: Scope) -> Node:
    scope.rebound.update(node.names)
    return Run(Seq("tuple", (), at(node)), at(node))


def delete(node: ast.Delete, scope: Scope) -> Node:
    return Run(Seq("tuple", several(node.targets, scope), at(node)), at(node))


def match(node: ast.Match, scope: Scope) -> Node:
    return matched(node, scope, block)


def alias(node: Any, scope: Scope) -> Node:
    """`type Pair = tuple[Tensor, Tensor]`, since Python 3.12."""
    return Bind((expression(node.name, scope),), annotation(node.value, scope.within(node)), None, at(node))


def unknown(node: ast.stmt, scope: Scope) -> Node:
    """A statement of a later Python: its expressions run, and what stands in it may."""
    inside = [part for part in ast.iter_child_nodes(node) if isinstance(part, ast.stmt)]
    return If(Do("unknown", several(parts_of(node), scope), at(node)), block(inside, scope), (), at(node))


SILENT: Final = {ast.Pass, ast.Nonlocal}
STATEMENTS: Final[dict[type, Callable[[Any, Scope], Node]]] = Kinds({
    ast.Assign: assign, ast.AnnAssign: annotated, ast.AugAssign: update, ast.Expr: run, ast.If: if_, ast.While: while_,
    ast.For: for_, ast.AsyncFor: for_, ast.Try: try_, ast.TryStar: try_, ast.With: with_, ast.AsyncWith: with_,
    ast.Return: leave("return"), ast.Raise: leave("raise"), ast.Break: leave("break"), ast.Continue: leave("continue"),
    ast.Assert: check, ast.Import: import_, ast.ImportFrom: import_from, ast.FunctionDef: function,
    ast.AsyncFunctionDef: function, ast.ClassDef: class_, ast.Delete: delete, ast.Match: match, ast.Global: shared,
    **{getattr(ast, later): lowered for later, lowered in {"TypeAlias": alias}.items() if hasattr(ast, later)},
}, unknown)  # fmt: skip
