"""A file's text before and after its fixes in, the edits that take away the imports that these leave unused out."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import PurePath

from syncguard.terms import Edit, Site


def unneeded(path: str, before: str, after: str, others: Iterable[str]) -> tuple[Edit, ...]:
    """One edit for each import at the top of a module, or the part of one, whose name was used and is not any more.

    What a package offers, a name in a string, a line with a comment, and what one of the `others`, the texts of other
    files, may take from this file stay.
    """
    if PurePath(path).stem == "__init__" or before == after:
        return ()
    was, now = _used(ast.parse(before)), ast.parse(after)
    gone = was - _used(now)
    if not gone:
        return ()
    bound = Counter(name for node in ast.walk(now) for name in _bound(node))
    texts = [node.value for node in ast.walk(now) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    spoken = "\n".join(text for text in texts if text not in _docstrings(now))
    stem = re.compile(rf"\b{re.escape(PurePath(path).stem)}\b")
    outside = "\n".join(text for text in others if stem.search(text))
    lines = after.split("\n")
    found: list[Edit] = []
    for statement in now.body:
        if not isinstance(statement, ast.Import | ast.ImportFrom) or not _plain(statement, lines):
            continue
        dead = [
            alias
            for alias in statement.names
            if (name := alias.asname or alias.name) in gone
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
    """The strings that are statements of their own."""
    held = (node.value for node in ast.walk(tree) if isinstance(node, ast.Expr))
    return {value.value for value in held if isinstance(value, ast.Constant) and isinstance(value.value, str)}


def _plain(statement: ast.Import | ast.ImportFrom, lines: list[str]) -> bool:
    """Whether an import has its lines to itself, without comments and backslashes."""
    rows = lines[statement.lineno - 1 : statement.end_lineno]
    return not any("#" in row or ";" in row or row.endswith("\\") for row in rows)


def _line(path: str, first: int, last: int, lines: list[str]) -> Edit:
    """Whole lines, with one of the empty lines around them."""
    around = ("", *lines, "")
    apart = not around[first - 1].strip() and not around[last + 1].strip() and last < len(lines)
    return Edit(Site(path, first, 1, last + 1 + apart, 1), "")


def _parts(path: str, names: list[ast.alias], dead: list[ast.alias], lines: list[str]) -> Iterator[Edit]:
    """Some names of an import, with their commas; those that have a line to themselves with it."""
    for number, alias in enumerate(names):
        if alias not in dead:
            continue
        line, end = alias.lineno, alias.end_lineno or alias.lineno
        start, stop = alias.col_offset, alias.end_col_offset or 0
        behind = lines[end - 1][stop:]
        if not lines[line - 1][:start].strip() and behind.strip() in ("", ","):
            yield Edit(Site(path, line, 1, end + 1, 1), "")
        elif any(other not in dead for other in names[:number]) and all(one in dead for one in names[number:]):
            last = names[number - 1] if names[number - 1] not in dead else None
            if last is not None:  # the rest goes at once, with the comma before it
                stop = names[-1].end_col_offset or 0
                site = (last.end_lineno or 0, (last.end_col_offset or 0) + 1, names[-1].end_lineno or 0, stop + 1)
                yield Edit(Site(path, *site), "")
        else:
            space = len(behind) - len(behind.lstrip(", "))
            yield Edit(Site(path, line, start + 1, end, stop + space + 1), "")
