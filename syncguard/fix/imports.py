"""A file's text before and after its fixes in, the edits that take away the imports that these leave unused out."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import PurePath

from syncguard.terms import Edit, Site

# What sees the names of a module without their being written there.
SEEING = frozenset("eval exec globals locals vars dir".split())
TYPED = re.compile(r"#\s*type:")


def unneeded(path: str, before: str, after: str, others: Iterable[str]) -> tuple[Edit, ...]:
    """One edit for each import at the top of a module, or the part of one, whose name was used and is not any more.

    What a package offers, a name in a string or a comment on types, `import a as a`, a line with a comment, and what
    one of the `others`, the texts of other files, may take from this file stay.
    """
    if PurePath(path).stem == "__init__" or before == after:
        return ()
    was, now = _used(ast.parse(before)), ast.parse(after)
    used = _used(now)
    gone = was - used
    if not gone or used & SEEING:
        return ()
    bound = Counter(name for node in ast.walk(now) for name in _bound(node))
    lines = after.split("\n")
    texts = [node.value for node in ast.walk(now) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    silent = _docstrings(now)
    spoken = "\n".join([*(text for text in texts if text not in silent), *filter(TYPED.search, lines)])
    stem = rf"\b{re.escape(PurePath(path).stem)}\b"
    texts = [*others]
    passed_on = any(re.search(stem + r"\s+import\s+\*", text) for text in texts)  # who has it then names another file
    outside = "\n".join(text for text in texts if passed_on or re.search(stem, text))
    found: list[Edit] = []
    for statement in now.body:
        if not isinstance(statement, ast.Import | ast.ImportFrom) or not _plain(statement, lines):
            continue
        dead = [
            alias
            for alias in statement.names
            if (name := alias.asname or alias.name) in gone
            and alias.name != alias.asname
            and bound[name] == 1
            and not any(re.search(rf"\b{name}\b", text) for text in (spoken, outside))
        ]
        if len(dead) == len(statement.names):
            found.append(_line(path, statement.lineno, statement.end_lineno or statement.lineno, lines))
        elif dead:
            found += _parts(path, statement.names, dead, lines)
    return tuple(found)


def _used(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


def _bound(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            yield from (alias.asname or alias.name for alias in names)
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
            yield name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name


def _docstrings(tree: ast.Module) -> set[str]:
    """The strings that are statements of their own, without those that have examples in them, which may be run."""
    held = (node.value for node in ast.walk(tree) if isinstance(node, ast.Expr))
    texts = {value.value for value in held if isinstance(value, ast.Constant) and isinstance(value.value, str)}
    return {text for text in texts if ">>>" not in text}


def _plain(statement: ast.Import | ast.ImportFrom, lines: list[str]) -> bool:
    """Whether an import has its lines to itself, without comments and backslashes, and gives but names."""
    rows = lines[statement.lineno - 1 : statement.end_lineno]
    switches = isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
    return not switches and not any("#" in row or ";" in row or row.endswith("\\") for row in rows)


def _line(path: str, first: int, last: int, lines: list[str]) -> Edit:
    """Whole lines, with one of the empty lines around them."""
    around = ("", *lines, "")
    apart = not around[first - 1].strip() and not around[last + 1].strip() and last < len(lines)
    return Edit(Site(path, first, 1, last + 1 + apart, 1), "")


def _parts(path: str, names: list[ast.alias], dead: list[ast.alias], lines: list[str]) -> Iterator[Edit]:
    """Some names of an import, each up to the next one; the last of them with the comma before them."""
    kept = max(number for number, alias in enumerate(names) if alias not in dead)
    for alias, following in pairwise(names[: kept + 1]):
        if alias in dead:
            yield Edit(Site(path, *_start(alias, lines), *_start(following, lines)), "")
    if names[kept] is not names[-1]:
        yield Edit(Site(path, *_end(names[kept], lines), *_end(names[-1], lines)), "")


def _start(alias: ast.alias, lines: list[str]) -> tuple[int, int]:
    return alias.lineno, _column(lines[alias.lineno - 1], alias.col_offset)


def _end(alias: ast.alias, lines: list[str]) -> tuple[int, int]:
    line = alias.end_lineno or alias.lineno
    return line, _column(lines[line - 1], alias.end_col_offset or 0)


def _column(line: str, offset: int) -> int:
    """The column of a place that is told in bytes."""
    return len(line.encode()[:offset].decode()) + 1
