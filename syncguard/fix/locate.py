"""A file's text and a finding's place in, the region around it out."""

from __future__ import annotations

import ast
from collections.abc import Sequence

import libcst as cst

from syncguard.fix.region import Region
from syncguard.terms import Site


class Unanchored(Exception):
    """A finding that has no place in the tree: an error of ours, never a silent drop."""


class Unparsed(Unanchored):
    """Lines that libcst cannot parse though Python can (a form feed before a statement): nothing there is rewritten."""


class Locator:
    """The regions of one file, each parsed once, when it is first asked for."""

    def __init__(self, path: str, text: str) -> None:
        self.path, self.text = path, text
        self.lines = tuple(text.split("\n"))
        self._tree: ast.Module | None = None
        self._regions: dict[tuple[int, int], Region] = {}

    def region(self, site: Site) -> Region:
        """The region that a site is in. Unanchored: there is none. Unparsed: it is not for libcst."""
        first, last = self.span(site.line)
        if (first, last) not in self._regions:
            self._regions[first, last] = parsed(self.path, self.lines, first, last)
        return self._regions[first, last]

    def span(self, line: int) -> tuple[int, int]:
        """The lines of the statement around a line, inside the classes around that."""
        if self._tree is None:
            self._tree = ast.parse(self.text)
        body: Sequence[ast.stmt] = self._tree.body
        found: tuple[int, int] | None = None
        while True:
            inside = [node for node in body if _first(node) <= line <= (node.end_lineno or 0)]
            if not inside:
                break
            node = inside[0]
            first, last = _first(node), max(item.end_lineno or 0 for item in inside)
            shared = found is not None and first == found[0]
            if found is not None and (shared or not self.lines[first - 1][: node.col_offset].isspace()):
                break  # the class's own line
            found = first, last
            if not isinstance(node, ast.ClassDef) or len(inside) > 1 or line < node.lineno:
                break
            body = node.body
        if found is None:
            raise Unanchored(f"{self.path}:{line}: no statement is here")
        return found


def parsed(path: str, lines: tuple[str, ...], first: int, last: int) -> Region:
    """Some lines of a file as a region."""
    body = lines[first - 1 : last]
    header = ["if 1:"] if body[0].startswith((" ", "\t")) else []  # a form feed is no indentation
    try:
        module = cst.parse_module("\n".join([*header, *body, ""]))
    except cst.ParserSyntaxError as fault:
        raise Unparsed(f"{path}:{first}: libcst cannot parse what Python can: {fault.message}") from None
    return Region(path, lines, first, last, module, len(header))


def _first(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min(node.lineno, *(item.lineno for item in decorators), node.lineno)
