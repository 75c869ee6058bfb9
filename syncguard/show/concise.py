"""A report with one line a finding: where, which rule, what waits, what to do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from syncguard.show.look import Look, printable
from syncguard.show.places import sentence

if TYPE_CHECKING:
    from syncguard.pipeline import Report


def render(report: Report, look: Look) -> Iterator[str]:
    """A line for each finding."""
    for finding in report.findings:
        said = sentence(finding).removesuffix(".")
        place = look.paint("head", printable(str(finding.site)))
        yield f"{place} {look.paint(finding.level, finding.code)} {look.prose(printable(said))}"
