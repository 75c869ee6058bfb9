"""evidence/readings -> docs/how-often-right.md: of findings that were drawn and read by hand, how many were right."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from marked import between, escaped

PAGE = "how-often-right.md"
LISTED = 3  # of the newest readings, each finding that was not right
VERDICTS = ("right", "borderline", "wrong")
HEATS = {"hot": "hot", "unknown": "of unknown heat"}
Row = Mapping[str, Any]


def pages(docs: Path, evidence: Path) -> dict[Path, str]:
    """The page as it should read; the newest reading first."""
    page = docs / PAGE
    kept = sorted((evidence / "readings").glob("*.json"), reverse=True)
    read = [(json.loads(path.read_text("utf-8")), path.name, n < LISTED) for n, path in enumerate(kept)]
    told = "\n".join(line for reading, name, listed in read for line in section(reading, name, listed))
    told = told or "Nothing has been read yet.\n"
    return {page: between(page.read_text("utf-8"), "read", f"\n{told}\n")}


def section(reading: Row, name: str, listed: bool) -> Iterator[str]:
    """One reading: what was drawn, how many were right, and, if they are listed, each that was not."""
    findings = reading["findings"]
    yield f"## {reading['title']}\n"
    file = f"[{name}](../evidence/readings/{name})"
    yield f"{reading['date']}, SyncGuard {reading['version']}; all verdicts are in {file}.\n"
    yield f"{reading['drawn']}\n"
    yield f"**{share(findings)}.**\n"
    yield "| findings | right | borderline | wrong | right of all |"
    yield "|---|--:|--:|--:|--:|"
    for heat, said in HEATS.items():
        yield counted(said, [one for one in findings if one["heat"] == heat])
    for family in sorted({one["code"][:3] for one in findings}):
        yield counted(f"{family}xx", [one for one in findings if one["code"].startswith(family)])
    yield counted("all", findings)
    for verdict in ("wrong", "borderline") if listed else ():
        left = sorted((one for one in findings if one["verdict"] == verdict), key=place)
        if left:
            yield f"\n{verdict.capitalize()}:\n"
            yield from (f"- {shown(one)}: {plain(one['why'])}" for one in left)
    yield ""


def share(findings: Sequence[Row]) -> str:
    """What the reading came to, in a sentence."""
    of = Counter(one["verdict"] for one in findings)
    return f"{of['right']} of {len(findings)} are right, {of['wrong']} wrong, {of['borderline']} borderline"


def counted(said: str, findings: Iterable[Row]) -> str:
    """A row of the table."""
    of = Counter(one["verdict"] for one in findings)
    cells = " | ".join(str(of[verdict]) for verdict in VERDICTS)
    return f"| {said} | {cells} | {100 * of['right'] / max(1, of.total()):.0f} % |"


def shown(finding: Row) -> str:
    """Where a finding stands and what it is of."""
    return f"{finding['package']} {finding['version']}, `{finding['path']}:{finding['line']}`, {finding['code']}"


def place(finding: Row) -> tuple[str, str, int]:
    """The order of a list."""
    return finding["package"], finding["path"], finding["line"]


def plain(text: str) -> str:
    """A sentence that Markdown leaves alone outside of code."""
    return escaped(text.replace("](", "] ("), code=True)
