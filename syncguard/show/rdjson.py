"""A report in the Reviewdog Diagnostic Format: one DiagnosticResult, as reviewdog's proto/rdf describes it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from syncguard.show.look import Look
from syncguard.show.places import from_root, sentence
from syncguard.terms import Fact, Finding, Site

if TYPE_CHECKING:
    from syncguard.pipeline import Report

SEVERITIES = {"error": "ERROR", "warning": "WARNING", "advice": "INFO"}
SOURCE = {"name": "syncguard"}


def render(report: Report, look: Look) -> Iterator[str]:
    """One object."""
    found = [_diagnostic(finding, look) for finding in report.findings]
    yield json.dumps({"source": SOURCE, "severity": "WARNING", "diagnostics": found}, indent=2)


def _diagnostic(finding: Finding, look: Look) -> dict[str, Any]:
    site = finding.site
    told: dict[str, Any] = {
        "message": sentence(finding),
        "location": {"path": from_root(site.path), "range": _range(site, look)},
        "severity": SEVERITIES[finding.level],
        "source": SOURCE,
        "code": {"value": finding.code},
    }
    if facts := (*finding.because, *finding.options):
        told["related_locations"] = [_related(fact, site.path) for fact in facts]
    if finding.fix is not None and finding.fix.tier != "display":
        told["suggestions"] = [
            {"range": _range(edit.site, look), "text": edit.text}
            for edit in finding.fix.edits
            if from_root(edit.site.path) == from_root(site.path)
        ]
    return told


def _related(fact: Fact, path: str) -> dict[str, Any]:
    start = {"line": max(fact.line, 1)}
    return {"message": fact.text, "location": {"path": from_root(fact.path or path), "range": {"start": start}}}


def _range(site: Site, look: Look) -> dict[str, dict[str, int]]:
    lines = look.lines(site.path)
    return {
        "start": {"line": site.line, "column": _byte(lines, site.line, site.column)},
        "end": {"line": site.end_line, "column": _byte(lines, site.end_line, site.end_column)},
    }


def _byte(lines: tuple[str, ...], line: int, column: int) -> int:
    """A column in bytes of UTF-8, as reviewdog counts."""
    text = lines[line - 1] if line <= len(lines) else ""
    return column + len(text[: column - 1].encode("utf-8", "replace")) - len(text[: column - 1])
