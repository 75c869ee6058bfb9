"""The core language: what every file is lowered to, so that inference never sees Python's own tree.

`at` is `(line, column, end line, end column)` as `ast` gives it: lines from 1, columns in UTF-8 bytes from 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import msgspec

At = tuple[int, int, int, int]


class Node(msgspec.Struct, frozen=True, gc=False, eq=False):
    """A piece of core."""

    if TYPE_CHECKING:  # every piece but a Module ends in its place; msgspec would put an inherited field first

        @property
        def at(self) -> At: ...


# -- expressions ----------------------------------------------------------------------------------


class Const(Node, frozen=True, gc=False, eq=False):
    """A literal: None, a bool, number, string, bytes or Ellipsis."""

    value: Any
    at: At


class Name(Node, frozen=True, gc=False, eq=False):
    """A variable, read."""

    id: str
    at: At


class Attr(Node, frozen=True, gc=False, eq=False):
    """`of.name`, read. `path` is the dotted text when `of` is a chain of names, else ''."""

    of: Node
    name: str
    path: str
    at: At


class Index(Node, frozen=True, gc=False, eq=False):
    """`of[key]`, read."""

    of: Node
    key: Node
    at: At


class Slice(Node, frozen=True, gc=False, eq=False):
    """`lower:upper:step` inside a subscript."""

    bounds: tuple[Node, ...]
    at: At


class Call(Node, frozen=True, gc=False, eq=False):
    """A call; a starred argument is a `Do('*')`, a doubly starred one has the keyword ''."""

    fn: Node
    args: tuple[Node, ...]
    keywords: tuple[tuple[str, Node], ...]
    at: At


class Do(Node, frozen=True, gc=False, eq=False):
    """A protocol or operator as a call: `truth`, `not`, `format`, `*`, `await`, `yield`, `+`, `<`, `in`, `neg`..."""

    what: str
    args: tuple[Node, ...]
    at: At


class Either(Node, frozen=True, gc=False, eq=False):
    """`a and b`, `a or b`: every operand but the last is tested for truth."""

    what: str
    operands: tuple[Node, ...]
    at: At


class Choose(Node, frozen=True, gc=False, eq=False):
    """`yes if test else no`; the test is a truth."""

    test: Node
    yes: Node
    no: Node
    at: At


class Seq(Node, frozen=True, gc=False, eq=False):
    """A tuple, list or set display."""

    kind: str
    items: tuple[Node, ...]
    at: At


class Map(Node, frozen=True, gc=False, eq=False):
    """A dict display; `**other` has the key None."""

    keys: tuple[Node | None, ...]
    values: tuple[Node, ...]
    at: At


class Comp(Node, frozen=True, gc=False, eq=False):
    """A comprehension: its clauses are `(target, iterable, conditions)`."""

    kind: str
    clauses: tuple[tuple[Node, Node, tuple[Node, ...]], ...]
    body: tuple[Node, ...]
    at: At


class Let(Node, frozen=True, gc=False, eq=False):
    """`name := value`."""

    target: Node
    value: Node
    at: At


# -- statements -----------------------------------------------------------------------------------


class Bind(Node, frozen=True, gc=False, eq=False):
    """`targets = value`, with the annotation if there is one; value is None for a bare declaration."""

    targets: tuple[Node, ...]
    value: Node | None
    annotation: Node | None
    at: At


class Update(Node, frozen=True, gc=False, eq=False):
    """`target op= value`."""

    target: Node
    what: str
    value: Node
    at: At


class Run(Node, frozen=True, gc=False, eq=False):
    """An expression for its effect."""

    value: Node
    at: At


class If(Node, frozen=True, gc=False, eq=False):
    """A branch; the test is a truth."""

    test: Node
    body: tuple[Node, ...]
    orelse: tuple[Node, ...]
    at: At


class Loop(Node, frozen=True, gc=False, eq=False):
    """`while` (target and iterable None) or `for` (test None); `calls` names what the body calls."""

    test: Node | None
    target: Node | None
    iterable: Node | None
    body: tuple[Node, ...]
    orelse: tuple[Node, ...]
    calls: frozenset[str]
    at: At


class Try(Node, frozen=True, gc=False, eq=False):
    """`try`; a handler is `(name bound or '', body)`."""

    body: tuple[Node, ...]
    handlers: tuple[tuple[str, tuple[Node, ...]], ...]
    orelse: tuple[Node, ...]
    final: tuple[Node, ...]
    at: At


class With(Node, frozen=True, gc=False, eq=False):
    """`with`: items are `(context, target or None)`."""

    items: tuple[tuple[Node, Node | None], ...]
    body: tuple[Node, ...]
    at: At


class Leave(Node, frozen=True, gc=False, eq=False):
    """`return`, `raise`, `break` or `continue`."""

    what: str
    value: Node | None
    at: At


class Check(Node, frozen=True, gc=False, eq=False):
    """`assert test, message`; the test is a truth."""

    test: Node
    message: Node | None
    at: At


class Bring(Node, frozen=True, gc=False, eq=False):
    """An import: `(name bound, module, attribute or '')`; level counts the leading dots."""

    names: tuple[tuple[str, str, str], ...]
    level: int
    at: At


class Param(Node, frozen=True, gc=False, eq=False):
    """A parameter; kind is 'positional', 'keyword', '*' or '**'."""

    name: str
    kind: str
    annotation: Node | None
    default: Node | None
    at: At


class Function(Node, frozen=True, gc=False, eq=False):
    """A def or lambda.

    `uses` maps a local name (or `self.name`) to the attributes asked of it and, after a `(`, to what it is passed to.
    """

    name: str
    qualname: str
    params: tuple[Param, ...]
    body: tuple[Node, ...]
    decorators: tuple[Node, ...]
    returns: Node | None
    generator: bool
    uses: dict[str, frozenset[str]]
    at: At


class Class(Node, frozen=True, gc=False, eq=False):
    """A class statement."""

    name: str
    qualname: str
    bases: tuple[Node, ...]
    keywords: tuple[tuple[str, Node], ...]
    body: tuple[Node, ...]
    decorators: tuple[Node, ...]
    at: At


class Module(Node, frozen=True, gc=False, eq=False):
    """A whole file; `uses` is that of its top level."""

    body: tuple[Node, ...]
    uses: dict[str, frozenset[str]]


def walk(part: Any) -> Iterator[Node]:
    """A piece of core and all within it, but for what is defined inside."""
    if isinstance(part, tuple):
        for item in part:
            yield from walk(item)
    elif isinstance(part, Node):
        yield part
        if type(part) is not Function and type(part) is not Class:
            for name in part.__struct_fields__:
                if name != "at":
                    yield from walk(getattr(part, name))
