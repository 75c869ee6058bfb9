"""A `match` statement in, a chain of branches out: what each pattern asks of the subject, and the names it binds."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from syncguard.read.core import Attr, Bind, Call, Const, Do, Either, If, Index, Name, Node, Slice, With
from syncguard.read.expressions import at, expression, truth
from syncguard.read.scope import Scope

Block = Callable[[list[ast.stmt], Scope], tuple[Node, ...]]
ITSELF = ("bool", "bytearray", "bytes", "dict", "float", "frozenset", "int", "list", "set", "str", "tuple")


def matched(node: ast.Match, scope: Scope, block: Block) -> Node:
    """Each case is tried where those before did not match. The names of a guarded one are bound before it is asked."""
    subject = expression(node.subject, scope)
    chain: tuple[Node, ...] = ()
    for case in reversed(node.cases):
        bound = tuple(binds(case.pattern, subject, scope))
        body = (*bound, *block(case.body, scope))
        asked = test(case.pattern, subject, scope)
        if case.guard is not None:
            guard = truth(case.guard, scope)
            asked = guard if asked is None else Either("and", (asked, guard), at(case.pattern))
        if asked is None:
            chain = body
        else:
            chain = (*(bound if case.guard is not None else ()), If(asked, body, chain, at(node)))
    return chain[0] if len(chain) == 1 else With((), chain, at(node))


def test(pattern: ast.pattern, subject: Node, scope: Scope) -> Node | None:
    """What decides whether a pattern matches; None where each subject does."""
    here = at(pattern)
    match pattern:
        case ast.MatchAs(pattern=None):
            return None
        case ast.MatchAs(pattern=ast.pattern() as inner):
            return test(inner, subject, scope)
        case ast.MatchValue(value=value):
            return Do("truth", (Do("==", (subject, expression(value, scope)), here),), here)
        case ast.MatchSingleton(value=value):
            return Do("truth", (Do("is", (subject, Const(value, here)), here),), here)
        case ast.MatchClass(cls=kind):
            return Do("truth", (Call(Name("isinstance", here), (subject, expression(kind, scope)), (), here),), here)
        case ast.MatchOr(patterns=several):
            tests = [test(option, subject, scope) for option in several]
            known = [one for one in tests if one is not None]
            return Either("or", tuple(known), here) if len(known) == len(tests) else None
    return Do("unknown", (), here)


def binds(pattern: ast.pattern, subject: Node, scope: Scope) -> Iterator[Node]:
    """The names that a pattern gives to the subject and its parts."""
    here = at(pattern)
    match pattern:
        case ast.MatchAs(pattern=inner, name=name):
            if inner is not None:
                yield from binds(inner, subject, scope)
            if name is not None:
                yield Bind((Name(name, here),), subject, None, here)
        case ast.MatchSequence(patterns=parts):
            yield from items(parts, subject, scope)
        case ast.MatchMapping(keys=keys, patterns=parts):
            for key, part in zip(keys, parts, strict=True):
                yield from binds(part, Index(subject, expression(key, scope), here), scope)
        case ast.MatchClass(cls=kind, patterns=parts, kwd_attrs=names, kwd_patterns=named):
            if len(parts) == 1 and isinstance(kind, ast.Name) and kind.id in ITSELF:
                yield from binds(parts[0], subject, scope)  # `int(n)` has the number itself in its place
            for name, part in zip(names, named, strict=True):
                path = subject.id if type(subject) is Name else subject.path if type(subject) is Attr else ""
                yield from binds(part, Attr(subject, name, path and f"{path}.{name}", here), scope)
        case ast.MatchOr(patterns=several):
            yield from binds(several[0], subject, scope)  # each binds the same names


def items(parts: list[ast.pattern], subject: Node, scope: Scope) -> Iterator[Node]:
    """The names for the items of a sequence; those behind a star are counted from the end."""
    star = next((place for place, part in enumerate(parts) if type(part) is ast.MatchStar), len(parts))
    for place, part in enumerate(parts):
        here = at(part)
        if place != star:
            number = Const(place if place < star else place - len(parts), here)
            yield from binds(part, Index(subject, number, here), scope)
        elif isinstance(part, ast.MatchStar) and part.name is not None:
            yield Bind((Name(part.name, here),), Index(subject, Slice((Const(place, here),), here), here), None, here)
