"""A report as a GitLab Code Quality artifact, see docs.gitlab.com: Code Quality report format."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from syncguard.show.look import Look
from syncguard.show.places import fingerprints, from_root, sentence
from syncguard.terms import Finding

if TYPE_CHECKING:
    from syncguard.pipeline import Report

SEVERITIES = {"error": "critical", "warning": "major", "advice": "minor"}


def render(report: Report, look: Look) -> Iterator[str]:
    """One array. Paths are relative to the repository, which GitLab's runner names."""
    root = os.environ.get("CI_PROJECT_DIR", "")
    marks = fingerprints(report.findings, look, root)
    rows = [_row(finding, mark, root) for finding, mark in zip(report.findings, marks)]
    yield json.dumps(rows, indent=2)


def _row(finding: Finding, mark: str, root: str) -> dict[str, Any]:
    site = finding.site
    return {
        "type": "issue",
        "check_name": finding.code,
        "description": f"{finding.code} {finding.name}: {sentence(finding)}",
        "categories": ["Performance"],
        "fingerprint": mark,
        "severity": SEVERITIES[finding.level],
        "location": {"path": from_root(site.path, root), "lines": {"begin": site.line, "end": site.end_line}},
    }
