"""A report as one JSON object, version 1, as docs/report.schema.json describes it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from syncguard import __version__
from syncguard.show.counts import counts
from syncguard.show.look import Look
from syncguard.terms import Edit, Fact, Finding, Fix

if TYPE_CHECKING:
    from syncguard.pipeline import Report

VERSION = 1


def render(report: Report, look: Look) -> Iterator[str]:
    """The object, indented."""
    seen = counts(report)
    summary = {
        "findings": seen.findings,
        "files": seen.files,
        "read": seen.read,
        "broken": seen.broken,
        "skipped": dict(seen.skipped),
        "allowed": seen.allowed,
        "functions": seen.functions,
        "hot": seen.hot,
        "hot_loops": seen.hot_loops,
        "baselined": seen.baselined,
        "stale": seen.stale,
        "left_out": seen.left_out,
    }
    tool = {"name": "syncguard", "version": __version__}
    findings = [as_json(finding) for finding in report.findings]
    yield json.dumps({"version": VERSION, "tool": tool, "findings": findings, "summary": summary}, indent=2)


def as_json(finding: Finding) -> dict[str, Any]:
    """One finding."""
    site = finding.site
    return {
        "path": site.path,
        "line": site.line,
        "column": site.column,
        "end_line": site.end_line,
        "end_column": site.end_column,
        "code": finding.code,
        "name": finding.name,
        "op": finding.op,
        "function": finding.function,
        "message": finding.message,
        "hint": finding.hint,
        "because": [_fact(fact, site.path) for fact in finding.because],
        "hot_path": [_fact(fact, site.path) for fact in finding.hot_path],
        "options": [_fact(fact, site.path) for fact in finding.options],
        "heat": finding.heat,
        "confidence": finding.confidence,
        "level": finding.level,
        "breaks": list(finding.breaks),
        "verdict": finding.verdict or None,
        "fix": _fix(finding.fix) if finding.fix else None,
    }


def _fact(fact: Fact, path: str) -> dict[str, Any]:
    return {"path": fact.path or path, "line": fact.line, "text": fact.text}


def _fix(fix: Fix) -> dict[str, Any]:
    edits = [_edit(edit) for edit in fix.edits]
    return {"tier": fix.tier, "recipe": fix.recipe, "message": fix.message, "edits": edits}


def _edit(edit: Edit) -> dict[str, Any]:
    site = edit.site
    place = {"path": site.path, "line": site.line, "column": site.column}
    return {**place, "end_line": site.end_line, "end_column": site.end_column, "text": edit.text}
