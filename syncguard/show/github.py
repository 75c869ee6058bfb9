"""A report as GitHub workflow commands, which become annotations of a pull request."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from syncguard.show.look import Look
from syncguard.show.places import from_root

if TYPE_CHECKING:
    from syncguard.pipeline import Report

COMMANDS = {"error": "error", "warning": "warning", "advice": "notice"}


def render(report: Report, look: Look) -> Iterator[str]:
    """A command for each finding."""
    root = os.environ.get("GITHUB_WORKSPACE", "")
    for finding in report.findings:
        site = finding.site
        place = {"file": from_root(site.path, root), "line": site.line, "endLine": site.end_line}
        if site.line == site.end_line:
            # GitHub refuses columns of a span over several lines.
            place |= {"col": site.column, "endColumn": site.end_column}
        title = f"syncguard {finding.code} {finding.name}"
        fields = ",".join(f"{key}={_field(str(value))}" for key, value in {**place, "title": title}.items())
        text = "\n".join(part for part in (finding.message, finding.hint) if part)
        yield f"::{COMMANDS[finding.level]} {fields}::{_data(f'{site}: {finding.code} {text}')}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _field(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
