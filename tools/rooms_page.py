"""The rooms of syncguard/ and what each module says of itself -> docs/rooms.md."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

START = """# The rooms

Where to find what. Each room is a folder of `syncguard/` and says in a sentence what comes in and what goes out; so
does each of its modules. [pipeline.py](../syncguard/pipeline.py) is the whole of `check` on a page and leads to all of
them; who may import whom is held by the contracts in [pyproject.toml](../pyproject.toml). This page is written by
`make docs` from the modules themselves.
"""


def pages(docs: Path, package: Path) -> dict[Path, str]:
    """docs/rooms.md, as it should read."""
    return {docs / "rooms.md": "\n".join([START, *(line for room in rooms(package) for line in told(room, package))])}


def rooms(package: Path) -> Iterator[Path]:
    """The folders that hold modules, each before those inside it."""
    yield package
    for folder in sorted(package.rglob("*")):
        if (folder / "__init__.py").is_file():
            yield folder


def told(room: Path, package: Path) -> Iterator[str]:
    """A room: its heading, its sentence, and a row for each module."""
    inside = room.relative_to(package.parent)
    yield f"{'##' if len(inside.parts) <= 2 else '###'} {inside}/"
    yield ""
    yield said(room / "__init__.py")
    yield ""
    yield "| module | what comes in, what goes out |"
    yield "|---|---|"
    for module in sorted(room.glob("*.py")):
        if module.name not in ("__init__.py", "__main__.py"):
            yield f"| [{module.stem}](../{inside / module.name}) | {said(module).replace('|', '&#124;')} |"
    yield ""


def said(module: Path) -> str:
    """The first paragraph of a module's docstring, as one line."""
    text = ast.get_docstring(ast.parse(module.read_text("utf-8"))) or ""
    return " ".join(text.partition("\n\n")[0].split())
