"""A notebook's JSON -> one Python text and where each cell begins in it; and findings back into their cells."""

from __future__ import annotations

import ast
import json
import re
import warnings
from bisect import bisect_right
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from syncguard.terms import Edit, Fact, Finding, Site

if TYPE_CHECKING:
    from syncguard.read.source import Source

# The cell magics whose body is Python that runs here; any other hands the cell to something else.
PYTHON_MAGICS = ("%%time", "%%timeit", "%%capture", "%%prun", "%%python3", "%%pypy")
CELL = ":cell "  # what stands between a notebook's path and the number of a cell
MAGIC = re.compile(r"^(\s*)(?:[%!?].*|[\w.]+\?{1,2}\s*)$")
TIMED = re.compile(r"^(\s*)(%(?:time|timeit|prun)(?:\s+-\w+(?:\s+\d+)?)*\s+)(?=\S)(.*)$")  # what runs a line of Python
ASSIGNED = re.compile(r"^(\s*[\w.,\s\[\]]+=\s*)[%!].*$")


class NotANotebook(Exception):
    """A notebook that cannot be read, and why."""


class NotPython(Exception):
    """A notebook in another language."""


def joined(text: str) -> tuple[str, tuple[tuple[int, int], ...]]:
    """The code cells as one text, magics blanked, and the number and first line of each cell."""
    parts: list[str] = []
    cells: list[tuple[int, int]] = []
    line = 1
    for number, code in _code_cells(text):
        plain = _python(code)
        parts.append(plain + "\n")
        cells.append((number, line))
        line += plain.count("\n") + 1
    return "".join(parts), tuple(cells)


def in_cells(source: Source, finding: Finding) -> Finding:
    """The finding with its places as `book.ipynb:cell N` and lines within the cell; that of no notebook as it is."""
    if not source.cells:
        return finding
    fix = finding.fix
    if fix is not None:
        fix = replace(fix, edits=tuple(Edit(site_in(source, edit.site), edit.text) for edit in fix.edits))
    because, hot, opted = (facts_in(source, facts) for facts in (finding.because, finding.hot_path, finding.options))
    return replace(finding, site=site_in(source, finding.site), because=because, hot_path=hot, options=opted, fix=fix)


def cell_path(path: str, cell: int) -> str:
    """The path of a cell: `book.ipynb:cell 3`."""
    return f"{path}{CELL}{cell}"


def parts_of(path: str) -> tuple[str, int]:
    """A finding's path -> its file, and the number of the cell where it is a notebook's; else 0."""
    file, cell, number = path.rpartition(CELL)
    return (file, int(number)) if cell and file.endswith(".ipynb") and number.isdigit() else (path, 0)


def order(finding: Finding) -> tuple[str, int, Site, str]:
    """By what findings are sorted: their file, cell, place and code; the second cell stands before the tenth."""
    return (*parts_of(finding.site.path), finding.site, finding.code)


def file_of(path: str) -> str:
    """The file that a finding's path is in: a notebook's cells belong to the notebook."""
    return parts_of(path)[0]


def line_in(source: Source, path: str, line: int) -> int:
    """The line of the whole text that is this line of the cell that a finding's path names."""
    _, cell = parts_of(path)
    return line + next((first - 1 for number, first in source.cells if number == cell), 0)


def site_in(source: Source, site: Site) -> Site:
    """A place of the whole text as one in its cell."""
    if not source.cells or site.path != source.path:
        return site
    cell, first = _cell(source, site.line)
    return Site(
        cell_path(site.path, cell), site.line - first + 1, site.column, site.end_line - first + 1, site.end_column
    )


def facts_in(source: Source, facts: tuple[Fact, ...]) -> tuple[Fact, ...]:
    """Facts with their places in cells."""
    if not source.cells:
        return facts
    return tuple(_fact(source, fact) if fact.path in ("", source.path) else fact for fact in facts)


def _fact(source: Source, fact: Fact) -> Fact:
    cell, first = _cell(source, fact.line)
    return Fact(fact.text, fact.line - first + 1, cell_path(source.path, cell))


def _cell(source: Source, line: int) -> tuple[int, int]:
    return source.cells[max(bisect_right(source.cells, line, key=lambda cell: cell[1]) - 1, 0)]


def _code_cells(text: str) -> list[tuple[int, str]]:
    """The code cells, numbered from 1 among all cells."""
    try:
        book = json.loads(text)
        cells = book["cells"]
        meta: dict[str, Any] = book.get("metadata", {})
        language = meta.get("language_info", {}).get("name") or meta.get("kernelspec", {}).get("language") or "python"
        found = [(n, "".join(cell["source"])) for n, cell in enumerate(cells, 1) if cell["cell_type"] == "code"]
    except (ValueError, RecursionError) as fault:
        raise NotANotebook(f"is not a notebook: {fault}") from None
    except (KeyError, TypeError, AttributeError):
        raise NotANotebook("is not a notebook in format 4") from None
    if str(language).lower() not in ("python", "ipython", "python3"):
        raise NotPython(f"a notebook in {language}")
    return [(number, code.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n")) for number, code in found]


def _python(code: str) -> str:
    """The cell as Python, line for line: what IPython would take for itself does nothing."""
    first = code.lstrip().partition("\n")[0]
    if first.startswith("%%") and not first.startswith(PYTHON_MAGICS):
        return "\n" * code.count("\n")
    # A line that begins with `%` may continue an expression, so what parses is left alone.
    if not any(mark in code for mark in "%!?") or _parses(code):
        return code
    plain: list[str] = []
    taken = False  # by a magic that a backslash leads on to this line
    for line in code.split("\n"):
        plain.append("" if taken else ASSIGNED.sub(r"\1None", MAGIC.sub(r"\1pass", _untimed(line))))
        taken = line.endswith("\\") and plain[-1] != line
    return "\n".join(plain)


def _untimed(line: str) -> str:
    """A line that a magic runs as the line that it runs, column for column: `%time x.item()`."""
    timed = TIMED.match(line)
    if timed is None or line.endswith("\\") or not _parses(timed[3]):
        return line
    return f"{timed[1]}if {'1' * (len(timed[2]) - 5)}: {timed[3]}"


def _parses(code: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
