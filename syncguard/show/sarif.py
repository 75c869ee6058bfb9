"""A report as SARIF 2.1.0, which code scanning services and editors read."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from syncguard import __version__
from syncguard.house import HOUSE
from syncguard.read.notebook import file_of, parts_of
from syncguard.show.look import Look
from syncguard.show.places import fingerprints, sentence
from syncguard.terms import Fact, Finding, Fix, Rule, Site

if TYPE_CHECKING:
    from syncguard.pipeline import Report
    from syncguard.read.source import FileNote

LEVELS = {"error": "error", "warning": "warning", "advice": "note"}
PRECISION = {"certain": "very-high", "likely": "high", "possible": "medium"}
SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
BLOCK = re.compile(r"```toml\n.*?```\n*", re.DOTALL)
ROOT = "%SRCROOT%"


def render(report: Report, look: Look) -> Iterator[str]:
    """One log with one run."""
    told = [*report.findings]
    told += report.baselined if look.baselined else ()
    told += report.allowed if look.allowed else ()
    codes = {finding.code: finding for finding in told}
    index = {code: n for n, code in enumerate(sorted(codes))}
    known = {rule.code: rule for rule in (*HOUSE, *report.rules)}
    rules = [_rule(codes[code], known.get(code)) for code in index]
    results = [
        _result(finding, index[finding.code], mark)
        for finding, mark in zip(told, fingerprints(told, look), strict=True)
    ]
    # What is said of one result in this way must be said of all.
    old, new = len(report.findings), len(results) - (len(report.allowed) if look.allowed else 0)
    for n, (finding, result) in enumerate(zip(told, results, strict=True)):
        if report.baselined:
            result["baselineState"] = "unchanged" if old <= n < new else "new"
        if look.allowed:
            result["suppressions"] = [_suppression(finding)] if n >= new else []
    run = {
        "tool": {"driver": {"name": "syncguard", "version": __version__, "rules": rules}},
        "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": [*map(_unread, _broken(report))]}],
        "originalUriBaseIds": {ROOT: {"description": {"text": "The folder that the check was run in."}}},
        "columnKind": "unicodeCodePoints",
        "results": results,
    }
    yield json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _broken(report: Report) -> Iterator[FileNote]:
    return (note for note in report.files if note.state == "broken")


def _unread(note: FileNote) -> dict[str, Any]:
    place = {"physicalLocation": {"artifactLocation": _artifact(note.path)}}
    return {"level": "error", "message": {"text": f"not checked: {note.reason}"}, "locations": [place]}


def _rule(finding: Finding, rule: Rule | None) -> dict[str, Any]:
    told: dict[str, Any] = {
        "id": finding.code,
        "name": finding.name,
        "shortDescription": {"text": finding.name.replace("-", " ")},
        "defaultConfiguration": {"level": LEVELS[finding.level]},
    }
    if rule is not None and rule.path:
        page = BLOCK.sub("", Path(rule.path).read_text("utf-8")).strip()
        told["fullDescription"] = {"text": _short(rule.why) or told["shortDescription"]["text"]}
        told["help"] = {"text": page, "markdown": page}
        kinds = ["performance", "pytorch", *(f"breaks-{name}" for name in rule.breaks)]
        told["properties"] = {"tags": kinds, "precision": "high", "problem.severity": _problem(finding)}
    return told


def _short(text: str) -> str:
    """What a code scanning service shows in a list: it takes 1,024 characters."""
    flat = " ".join(text.split())
    return flat if len(flat) <= 1000 else flat[:1000].rpartition(" ")[0] + " ..."


def _problem(finding: Finding) -> str:
    return "recommendation" if finding.level == "advice" else finding.level


def _result(finding: Finding, index: int, mark: str) -> dict[str, Any]:
    site = finding.site
    place: dict[str, Any] = {"physicalLocation": {"artifactLocation": _artifact(site.path), "region": _region(site)}}
    if finding.function:
        place["logicalLocations"] = [{"fullyQualifiedName": finding.function, "kind": "function"}]
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": LEVELS[finding.level],
        "message": {"text": sentence(finding)},
        "locations": [place],
        "partialFingerprints": {"syncguard/v1": mark},
        "properties": {
            "op": finding.op,
            "heat": finding.heat,
            "confidence": finding.confidence,
            "precision": PRECISION[finding.confidence],
            "breaks": list(finding.breaks),
        },
    }
    if cell := parts_of(site.path)[1]:
        result["properties"]["cell"] = cell  # the lines of a cell are counted within it
    if finding.verdict:
        result["properties"]["verdict"] = finding.verdict
    if facts := (*finding.because, *finding.options):
        result["relatedLocations"] = [{"id": n, **_related(f, site.path)} for n, f in enumerate(facts, 1)]
    if finding.hot_path:
        steps = [{"location": _related(fact, site.path)} for fact in finding.hot_path]
        result["codeFlows"] = [
            {
                "message": {"text": "Why it is hot" if finding.heat == "hot" else "How often it runs"},
                "threadFlows": [{"locations": steps}],
            }
        ]
    if finding.fix is not None and finding.fix.tier != "display":
        result["fixes"] = [_fix(finding.fix)]
    return result


def _fix(fix: Fix) -> dict[str, Any]:
    files: dict[str, list[dict[str, Any]]] = {}
    for edit in fix.edits:
        change = {"deletedRegion": _region(edit.site), "insertedContent": {"text": edit.text}}
        files.setdefault(edit.site.path, []).append(change)
    changes = [{"artifactLocation": _artifact(path), "replacements": edits} for path, edits in files.items()]
    safe = "" if fix.tier == "safe" else " (unsafe)"
    return {"description": {"text": f"{fix.message}{safe}"}, "artifactChanges": changes}


def _suppression(finding: Finding) -> dict[str, str]:
    return {"kind": "inSource", **({"justification": finding.allowed} if finding.allowed else {})}


def _region(site: Site) -> dict[str, int]:
    return {
        "startLine": site.line,
        "startColumn": site.column,
        "endLine": site.end_line,
        "endColumn": site.end_column,
    }


def _related(fact: Fact, path: str) -> dict[str, Any]:
    place = {"artifactLocation": _artifact(fact.path or path), "region": {"startLine": max(fact.line, 1)}}
    return {"physicalLocation": place, "message": {"text": fact.text}}


def _artifact(path: str) -> dict[str, str]:
    path = file_of(path)
    if os.path.isabs(path):
        return {"uri": f"file://{quote(os.fsencode(path.replace(os.sep, '/')))}"}
    return {"uri": quote(os.fsencode(path.replace(os.sep, "/"))), "uriBaseId": ROOT}
