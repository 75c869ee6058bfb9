"""The core language: what every file is lowered to, so that inference never sees Python's own tree.

`at` is `(line, column, end line, end column)` as `ast` gives it: lines from 1, columns in UTF-8 bytes from 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, Union

import msgspec

At = tuple[int, int, int, int]
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")


class Node(msgspec.Struct, frozen=True, gc=False, eq=False, array_like=True, tag=True):
    """A piece of core. It is kept on disk as it stands here."""

    if TYPE_CHECKING:  # every piece but a Module ends in its place; msgspec would put an inherited field first

        @property
        def at(self) -> At: ...


if TYPE_CHECKING:
    Piece: TypeAlias = Node


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

    of: Piece
    name: str
    path: str
    at: At


class Index(Node, frozen=True, gc=False, eq=False):
    """`of[key]`, read."""

    of: Piece
    key: Piece
    at: At


class Slice(Node, frozen=True, gc=False, eq=False):
    """`lower:upper:step` inside a subscript."""

    bounds: tuple[Piece, ...]
    at: At


class Call(Node, frozen=True, gc=False, eq=False):
    """A call; a starred argument is a `Do('*')`, a doubly starred one has the keyword ''."""

    fn: Piece
    args: tuple[Piece, ...]
    keywords: tuple[tuple[str, Piece], ...]
    at: At


class Do(Node, frozen=True, gc=False, eq=False):
    """A protocol or operator as a call: `truth`, `not`, `format`, `*`, `await`, `yield`, `+`, `<`, `in`, `neg`..."""

    what: str
    args: tuple[Piece, ...]
    at: At


class Either(Node, frozen=True, gc=False, eq=False):
    """`a and b`, `a or b`: every operand but the last is tested for truth."""

    what: str
    operands: tuple[Piece, ...]
    at: At


class Choose(Node, frozen=True, gc=False, eq=False):
    """`yes if test else no`; the test is a truth."""

    test: Piece
    yes: Piece
    no: Piece
    at: At


class Seq(Node, frozen=True, gc=False, eq=False):
    """A tuple, list or set display."""

    kind: str
    items: tuple[Piece, ...]
    at: At


class Map(Node, frozen=True, gc=False, eq=False):
    """A dict display; `**other` has the key None."""

    keys: tuple[Piece | None, ...]
    values: tuple[Piece, ...]
    at: At


class Comp(Node, frozen=True, gc=False, eq=False):
    """A comprehension: its clauses are `(target, iterable, conditions)`; `uses` are those of its own variables."""

    kind: str
    clauses: tuple[tuple[Piece, Piece, tuple[Piece, ...]], ...]
    body: tuple[Piece, ...]
    uses: dict[str, frozenset[str]]
    at: At


class Let(Node, frozen=True, gc=False, eq=False):
    """`name := value`."""

    target: Piece
    value: Piece
    at: At


# -- statements -----------------------------------------------------------------------------------


class Bind(Node, frozen=True, gc=False, eq=False):
    """`targets = value`, with the annotation if there is one; value is None for a bare declaration."""

    targets: tuple[Piece, ...]
    value: Piece | None
    annotation: Piece | None
    at: At


class Update(Node, frozen=True, gc=False, eq=False):
    """`target op= value`."""

    target: Piece
    what: str
    value: Piece
    at: At


class Run(Node, frozen=True, gc=False, eq=False):
    """An expression for its effect."""

    value: Piece
    at: At


class If(Node, frozen=True, gc=False, eq=False):
    """A branch; the test is a truth."""

    test: Piece
    body: tuple[Piece, ...]
    orelse: tuple[Piece, ...]
    at: At


class Loop(Node, frozen=True, gc=False, eq=False):
    """`while` (target and iterable None) or `for` (test None); `calls` names what the body calls."""

    test: Piece | None
    target: Piece | None
    iterable: Piece | None
    body: tuple[Piece, ...]
    orelse: tuple[Piece, ...]
    calls: frozenset[str]
    at: At


class Try(Node, frozen=True, gc=False, eq=False):
    """`try`; a handler is `(name bound or '', body)`."""

    body: tuple[Piece, ...]
    handlers: tuple[tuple[str, tuple[Piece, ...]], ...]
    orelse: tuple[Piece, ...]
    final: tuple[Piece, ...]
    at: At


class With(Node, frozen=True, gc=False, eq=False):
    """`with`: items are `(context, target or None)`."""

    items: tuple[tuple[Piece, Piece | None], ...]
    body: tuple[Piece, ...]
    at: At


class Leave(Node, frozen=True, gc=False, eq=False):
    """`return`, `raise`, `break` or `continue`."""

    what: str
    value: Piece | None
    at: At


class Check(Node, frozen=True, gc=False, eq=False):
    """`assert test, message`; the test is a truth."""

    test: Piece
    message: Piece | None
    at: At


class Bring(Node, frozen=True, gc=False, eq=False):
    """An import: `(name bound, module, attribute or '')`; level counts the leading dots."""

    names: tuple[tuple[str, str, str], ...]
    level: int
    at: At


class Param(Node, frozen=True, gc=False, eq=False):
    """A parameter; kind is 'positional', 'keyword', '*' or '**'.

    `told` is the dtype class of what the docstring says is a tensor: 'bool', 'int', 'float', '' unknown; None: nothing.
    `rank` is the number of its dimensions that the docstring says, -1 unknown.
    """

    name: str
    kind: str
    annotation: Piece | None
    default: Piece | None
    at: At
    told: str | None = None
    rank: int = -1


class Function(Node, frozen=True, gc=False, eq=False):
    """A def or lambda.

    `uses` maps a local name (or `self.name`) to the attributes asked of it, with `()` if they are called, and, after a
    `(`, to what it is passed to, by its place or its `name=`, after a `[` in a display, after a `*` with numbers, after
    a `#` an item of it; after `*.` to the attributes asked of what numbers make of it, and after `*=` to the name that
    this is given. It is asked for a `[key]`, for ranges `[,]`, and for where it is greater than something `[?]`; an
    attribute has its `[name]` of it.
    """

    name: str
    qualname: str
    params: tuple[Param, ...]
    body: tuple[Piece, ...]
    decorators: tuple[Piece, ...]
    returns: Piece | None
    generator: bool
    uses: dict[str, frozenset[str]]
    at: At


class Class(Node, frozen=True, gc=False, eq=False):
    """A class statement."""

    name: str
    qualname: str
    bases: tuple[Piece, ...]
    keywords: tuple[tuple[str, Piece], ...]
    body: tuple[Piece, ...]
    decorators: tuple[Piece, ...]
    at: At


class Module(Node, frozen=True, gc=False, eq=False):
    """A whole file; `uses` is that of its top level, `rebound` the names that functions declare `global`."""

    body: tuple[Piece, ...]
    uses: dict[str, frozenset[str]]
    rebound: frozenset[str] = frozenset()

    @property
    def at(self) -> At:
        """Its beginning: what functions bind for a file they may have bound before anything there is asked."""
        return (1, 0, 1, 0)


def united(types: Sequence[Node]) -> Node:
    """`A | B | C`, of the types."""
    found = types[0]
    for one in types[1:]:
        found = Do("|", (found, one), (*found.at[:2], *one.at[2:]))
    return found


if not TYPE_CHECKING:  # what a reader of the disk may find in a Node's place
    Piece = Union[tuple(kind for kind in Node.__subclasses__() if kind is not Module)]  # noqa: UP007
