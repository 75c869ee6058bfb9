"""Syntax that came after Python 3.11 is read where the running Python has it, and what nobody knows yet is survived."""

from __future__ import annotations

import ast
import sys
from functools import partial

import checked
import pytest

from syncguard.read import core
from syncguard.read.expressions import expression
from syncguard.read.scope import Scope
from syncguard.read.statements import block

HEAD = "import torch\nfrom typing import TypeVar\nfrom torch import Tensor\n\n\n"


codes = partial(checked.codes, head=HEAD)


def since(*version: int) -> pytest.MarkDecorator:
    return pytest.mark.skipif(sys.version_info < version, reason=f"needs Python {version[0]}.{version[1]}")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param("def f[T: Tensor](x: T): return x.item()", ["SG201"], marks=since(3, 12)),
        pytest.param("def f[T: (Tensor, float)](x: T): return x.item()", ["SG201"], marks=since(3, 12)),
        pytest.param("def f[T](x: T): return int(x)", [], marks=since(3, 12)),
        pytest.param("def f[T: Ordered[T]](x: T): return int(x)", [], marks=since(3, 12)),
        pytest.param(
            "type Batch = dict[str, Tensor]\ndef f(x: Batch): return int(x['a'])", ["SG203"], marks=since(3, 12)
        ),
        pytest.param(
            "type Pair[T: Tensor] = tuple[T, T]\ndef f(x: Pair): return int(x[0])", ["SG203"], marks=since(3, 12)
        ),
        pytest.param(
            "class Box[T: Tensor]:\n    def first(self, x: T) -> T: return int(x)", ["SG203"], marks=since(3, 12)
        ),
        pytest.param('def f(x: Tensor): return t"{x.item()} {x:.3f} {x!r}"', ["SG201"], marks=since(3, 14)),
        pytest.param("def f(x: Tensor):\n    try: ...\n    except A, B: x.item()", ["SG201"], marks=since(3, 14)),
        pytest.param("lazy import math\ndef f(x: Tensor): return math.exp(x)", ["SG203"], marks=since(3, 15)),
        pytest.param(
            "def f(x: Tensor):\n    for y in [*row for row in [[x]]]: y.item()", ["SG201"], marks=since(3, 15)
        ),
        pytest.param("def f(x: Tensor): return {**p for p in [{'a': x}]}['a'].item()", ["SG201"], marks=since(3, 15)),
        ("T = TypeVar('T', bound=Tensor)\ndef f(x: T): return int(x)", ["SG203"]),
        ("T = TypeVar('T', bound='Tensor')\ndef f(x: T): return int(x)", ["SG203"]),
        ("T = TypeVar('T', float, Tensor)\ndef f(x: T): return x.item()", ["SG201"]),
        ("T = TypeVar('T', float, int)\ndef f(x: T): return int(x)", []),
        ("T = TypeVar('T')\ndef f(x: T): return int(x)", []),
    ],
)
def test_newer_syntax_is_read(text: str, found: list[str]) -> None:
    assert codes(text) == found


@pytest.mark.parametrize(
    ("case", "found"),
    [
        ("Tensor() as t if t.sum() > 0: t.item()", ["SG204", "SG201"]),
        ("Tensor(): x.item()", ["SG201"]),
        ("float(v): int(v)", []),
        ("Tensor() | None: ...", []),
        ("y: y.item()", ["SG201"]),
        ("1: ...", ["SG204"]),
        ("None: ...", []),
        ("_: ...", []),
    ],
)
def test_a_pattern_asks_and_binds(case: str, found: list[str]) -> None:
    assert codes(f"def f(x: Tensor | None):\n    match x:\n        case {case}") == found


@pytest.mark.parametrize(
    ("case", "found"),
    [
        ("(y, _): y.item()", ["SG201"]),
        ("[y, int(n)]: range(n)", []),
        ("[_, n] if n > 0: ...", []),
        ("[y, *_] if y > 0: ...", ["SG204"]),
        ("[*_, n]: range(n)", []),
        ("[*every]: every[0].item()", ["SG201"]),
    ],
)
def test_the_items_of_a_sequence_are_told_apart(case: str, found: list[str]) -> None:
    assert codes(f"def f(pair: tuple[Tensor, int]):\n    match pair:\n        case {case}") == found


@pytest.mark.parametrize(
    ("case", "found"),
    [
        ("Batch(x=x): x.item()", ["SG201"]),
        ("Batch(n=n) if n > 3: range(n)", []),
        ("Batch(x=[y, *_]): y.item()", ["SG201"]),
    ],
)
def test_attributes_are_bound_by_their_names(case: str, found: list[str]) -> None:
    head = "class Batch:\n    x: Tensor\n    n: int\n\n"
    assert codes(f"{head}def f(batch: Batch):\n    match batch:\n        case {case}") == found


def test_keys_are_bound_by_their_names() -> None:
    text = "def f(d: dict[str, Tensor]):\n    match d:\n        case {'loss': loss, **rest}: loss.item()"
    assert codes(text) == ["SG201"]


class Strange(ast.expr):
    """An expression that no Python has."""

    _fields = ("held",)


class Stranger(ast.stmt):
    """A statement that no Python has."""

    _fields = ("test", "body")


PLACE = {"lineno": 1, "col_offset": 0, "end_lineno": 1, "end_col_offset": 9}


def test_an_expression_of_a_later_python_runs_its_parts() -> None:
    found = expression(Strange(held=ast.parse("x.item()", mode="eval").body, **PLACE), Scope("", None))
    assert isinstance(found, core.Do)
    assert found.what == "unknown"
    assert [type(part) for part in found.args] == [core.Call]


def test_what_stands_in_a_statement_of_a_later_python_may_run() -> None:
    strange = Stranger(test=ast.parse("x", mode="eval").body, body=ast.parse("y = x.item()").body, **PLACE)
    (found,) = block([strange], Scope("", None))
    assert isinstance(found, core.If)
    assert [type(part) for part in found.body] == [core.Bind]
