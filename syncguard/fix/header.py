"""Import statements that a fix needs in, the edits that add those which a file lacks out."""

from __future__ import annotations

import ast

from syncguard.read.source import Source
from syncguard.terms import Edit, Site


def edits(source: Source, needs: tuple[str, ...]) -> tuple[Edit, ...]:
    """One edit below the last import at the top of the file, or below its docstring."""
    if not needs:
        return ()
    body = ast.parse(source.text).body
    there = {ast.dump(node) for node in body if isinstance(node, ast.Import | ast.ImportFrom)}
    missing = [need for need in dict.fromkeys(needs) if ast.dump(ast.parse(need).body[0]) not in there]
    if not missing:
        return ()
    line = 1
    for node in body:
        if not isinstance(node, ast.Import | ast.ImportFrom) and not _docstring(node, body):
            break
        line = (node.end_lineno or 0) + 1
    return (Edit(Site(source.path, line, 1, line, 1), "".join(f"{need}\n" for need in missing)),)


def _docstring(node: ast.stmt, body: list[ast.stmt]) -> bool:
    return node is body[0] and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
