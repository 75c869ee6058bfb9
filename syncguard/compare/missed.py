"""A wait that nobody predicted -> an example for the rule's page: the function that waits, with its line marked."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator, Sequence

from syncguard.record import Record, Wait

UNJUDGED = "SG???"
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def examples(record: Record, lines_of: dict[str, Sequence[str]]) -> Iterator[str]:
    """An example for each missed alarm whose source is at hand, by the path that the record has."""
    for wait in record.waits:
        place = wait.forward or wait.place
        if wait.static == "missed-alarm" and 0 < place.line <= len(lines := lines_of.get(place.path, ())):
            yield example(wait, lines)


def example(wait: Wait, lines: Sequence[str]) -> str:
    """Markdown for `## Caught`: the function or class around it with `# missed:` on the line, imports, and a call."""
    place = wait.forward or wait.place
    marked = [*lines]
    marked[place.line - 1] = f"{marked[place.line - 1].rstrip()}  # missed: {wait.code or UNJUDGED}"
    first, last, used = _around(lines, place.line)
    body = textwrap.dedent("\n".join(marked[first - 1 : last])).rstrip()
    imports = "\n".join(dict.fromkeys(_imports(lines, used | ({"torch"} if "torch." in wait.call else set()))))
    call = f"\n\n\n{wait.call}" if wait.call and not wait.forward else ""
    head = f"{imports}\n\n\n" if imports else ""
    return f"### {wait.op} at {place.path}:{place.line}\n```python\n{head}{body}{call}\n```\n"


def _around(lines: Sequence[str], line: int) -> tuple[int, int, frozenset[str]]:
    """First and last line of the innermost function or class around a line, or of its statement; the names in it."""
    try:
        tree = ast.parse("\n".join(lines))
    except (SyntaxError, ValueError):
        return line, line, frozenset()
    spans: list[tuple[int, int, int, ast.AST]] = []
    methods = {inner for node in ast.walk(tree) if isinstance(node, ast.ClassDef) for inner in node.body}
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno):
            function = isinstance(node, FUNCTIONS) and node not in methods  # a method is nothing without its class
            function = function or isinstance(node, ast.ClassDef)
            begin = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
            spans.append((not function, (node.end_lineno or node.lineno) - begin, begin, node))
    if not spans:
        return line, line, frozenset()
    *_, begin, node = min(spans, key=lambda span: span[:3])
    names = frozenset(inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name))
    return begin, getattr(node, "end_lineno", line), names


def _imports(lines: Sequence[str], used: frozenset[str]) -> Iterator[str]:
    try:
        tree = ast.parse("\n".join(lines))
    except (SyntaxError, ValueError):
        return
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            bound = {(alias.asname or alias.name).split(".")[0] for alias in node.names}
            if bound & used:
                yield ast.unparse(node)
