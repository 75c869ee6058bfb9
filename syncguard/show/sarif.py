"""A report as SARIF 2.1.0, which code scanning services and editors read."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from syncguard import __version__
from syncguard.read.notebook import file_of
from syncguard.show.look import Look
from syncguard.terms import Fact, Finding

if TYPE_CHECKING:
    from syncguard.pipeline import Report

LEVELS = {"error": "error", "warning": "warning", "advice": "note"}
SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def render(report: Report, look: Look) -> Iterator[str]:
    """One log with one run."""
    rules = sorted({finding.code: finding for finding in report.findings}.items())
    index = {code: n for n, (code, _) in enumerate(rules)}
    driver = {"name": "syncguard", "version": __version__, "rules": [_rule(finding) for _, finding in rules]}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, index[finding.code]) for finding in report.findings],
    }
    yield json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _rule(finding: Finding) -> dict[str, Any]:
    return {
        "id": finding.code,
        "name": finding.name,
        "shortDescription": {"text": finding.name.replace("-", " ")},
        "defaultConfiguration": {"level": LEVELS[finding.level]},
    }


def _result(finding: Finding, index: int) -> dict[str, Any]:
    site = finding.site
    region = {
        "startLine": site.line,
        "startColumn": site.column,
        "endLine": site.end_line,
        "endColumn": site.end_column,
    }
    text = ". ".join(part.rstrip(".") for part in (finding.message, finding.hint) if part)
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": LEVELS[finding.level],
        "message": {"text": f"{text}."},
        "locations": [{"physicalLocation": {"artifactLocation": _artifact(site.path), "region": region}}],
        "properties": {
            "op": finding.op,
            "heat": finding.heat,
            "confidence": finding.confidence,
            "breaks": list(finding.breaks),
        },
    }
    if finding.because:
        result["relatedLocations"] = [_related(fact, site.path) for fact in finding.because]
    if finding.hot_path:
        steps = [{"location": _related(fact, site.path)} for fact in finding.hot_path]
        result["codeFlows"] = [{"message": {"text": "Why it is hot"}, "threadFlows": [{"locations": steps}]}]
    return result


def _related(fact: Fact, path: str) -> dict[str, Any]:
    place = {"artifactLocation": _artifact(fact.path or path), "region": {"startLine": max(fact.line, 1)}}
    return {"physicalLocation": place, "message": {"text": fact.text}}


def _artifact(path: str) -> dict[str, str]:
    path = file_of(path)
    if os.path.isabs(path):
        return {"uri": f"file://{quote(path.replace(os.sep, '/'))}"}
    return {"uri": quote(path.replace(os.sep, "/")), "uriBaseId": "%SRCROOT%"}
