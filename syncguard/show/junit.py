"""A report as JUnit XML, as Jenkins' junit-10.xsd has it: a suite for each file, a case for each finding."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from syncguard.read.notebook import file_of, order
from syncguard.show.look import Look
from syncguard.show.places import path_label, sentence
from syncguard.terms import Finding

if TYPE_CHECKING:
    from syncguard.pipeline import Report

# What XML 1.0 cannot hold, however it is written.
FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(report: Report, look: Look) -> Iterator[str]:
    """One document. A file in which nothing was found is a suite with a case that passes."""
    told = [(finding, _failure(finding)) for finding in report.findings]
    told += [(f, _skipped(f"allowed: {f.allowed}".strip(": "), f)) for f in report.allowed if look.allowed]
    told += [(finding, _skipped("baselined", finding)) for finding in report.baselined if look.baselined]
    suites: dict[str, list[tuple[Finding, str]]] = {n.path: [] for n in report.files if n.state != "skipped"}
    for finding, text in sorted(told, key=lambda item: order(item[0])):
        suites.setdefault(file_of(finding.site.path), []).append((finding, text))
    cases = sum(len(found) or 1 for found in suites.values())
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield f'<testsuites name="syncguard" tests="{cases}" failures="{len(report.findings)}">'
    for path, found in suites.items():
        yield from _suite(path, found)
    yield "</testsuites>"


def _suite(path: str, found: list[tuple[Finding, str]]) -> Iterator[str]:
    failures = sum(text.startswith("<failure") for _, text in found)
    counts = f'tests="{len(found) or 1}" failures="{failures}" errors="0" skipped="{len(found) - failures}"'
    yield f"  <testsuite name={_attribute(path)} {counts}>"
    for finding, text in found:
        name = f"{finding.code} {finding.name} {finding.site.line}:{finding.site.column}"
        yield f"    <testcase classname={_attribute(finding.site.path)} name={_attribute(name)}>{text}</testcase>"
    if not found:
        yield f'    <testcase classname={_attribute(path)} name="syncguard check"/>'
    yield "  </testsuite>"


def _failure(finding: Finding) -> str:
    lines: Iterable[str] = (
        f"{finding.site} {finding.code} {sentence(finding)}",
        *(f"because {fact.path or finding.site.path}:{fact.line} {fact.text}" for fact in finding.because),
        *(
            f"{path_label(finding)} {fact.path or finding.site.path}:{fact.line} {fact.text}"
            for fact in finding.hot_path
        ),
        *(f"option {fact.path or finding.site.path}:{fact.line} {fact.text}" for fact in finding.options),
    )
    said, kind = _attribute(finding.message), _attribute(finding.code)
    return f"<failure message={said} type={kind}>{escape(_plain(chr(10).join(lines)))}</failure>"


def _skipped(why: str, finding: Finding) -> str:
    return f"<skipped message={_attribute(why)}>{escape(_plain(f'{finding.site} {finding.message}'))}</skipped>"


def _attribute(text: str) -> str:
    return quoteattr(_plain(text))


def _plain(text: str) -> str:
    return FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)
