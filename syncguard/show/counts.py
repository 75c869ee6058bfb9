"""A report -> its closing line and its statistics: what was read, what was left out and why, what was found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import msgspec

from syncguard.read.notebook import file_of
from syncguard.show.look import Look, plural, printable

if TYPE_CHECKING:
    from syncguard.pipeline import Report
    from syncguard.terms import Finding


class Counts(msgspec.Struct, frozen=True):
    """The numbers of a report. `skipped` is by reason; the reason of a folder begins with "folder "."""

    findings: int
    files: int
    read: int
    broken: int
    skipped: tuple[tuple[str, int], ...]
    allowed: int
    functions: int
    hot: int
    baselined: int = 0
    stale: int = 0
    hot_loops: int = 0
    left_out: int = 0
    hot_alone: bool = False
    doubted: int = 0


def counts(report: Report) -> Counts:
    """Count a report."""
    states = Counter(note.state for note in report.files)
    skipped = Counter(
        f"folder {note.reason}" if note.path.endswith("/") else note.reason
        for note in report.files
        if note.state == "skipped"
    )
    files = {file_of(finding.site.path) for finding in report.findings}
    return Counts(
        len(report.findings),
        len(files),
        states["read"],
        states["broken"],
        tuple(sorted(skipped.items())),
        len(report.allowed),
        report.functions,
        report.hot,
        len(report.baselined),
        len(report.stale),
        report.hot_loops,
        report.left_out,
        report.hot_alone,
        report.doubted,
    )


def closing(report: Report) -> str:
    """The last line of every output: no zero is silent."""
    seen = counts(report)
    found = f"{plural(seen.findings, 'finding')} in {plural(seen.files, 'file')}" if seen.findings else "No findings"
    if seen.baselined:
        found += f", {seen.baselined:,} baselined"
    if seen.allowed:
        found += f", {seen.allowed:,} allowed"
    if seen.left_out:
        found += f", {seen.left_out:,} left out that {'are not hot' if seen.hot_alone else 'run seldom'} (--heat all)"
    if seen.doubted:
        found += f", {seen.doubted:,} that are only likely (--confidence likely)"
    parts = [f"{plural(seen.read, 'file')} read"]
    if seen.broken:
        parts.append(f"{seen.broken:,} unreadable")
    if seen.skipped:
        parts.append(f"{sum(n for _, n in seen.skipped):,} skipped: {', '.join(map(_reason, seen.skipped))}")
    loops = f", {plural(seen.hot_loops, 'hot loop')}" if seen.hot_loops else ""
    return f"{found} ({', '.join(parts)}; {plural(seen.functions, 'function')}, {seen.hot:,} hot{loops})"


def statistics(report: Report, look: Look) -> Iterator[str]:
    """How many findings each rule has, most first."""
    found = Counter((finding.code, finding.name) for finding in report.findings)
    wide = len(f"{max(found.values(), default=0):,}")
    for (code, name), number in sorted(found.items(), key=lambda item: (-item[1], item[0])):
        yield f"{number:>{wide},}  {look.paint('head', code)}  {name}"


def allowed(report: Report, look: Look) -> Iterator[str]:
    """What a comment allows, a line each."""
    yield from _listed(report.allowed, "allowed", look)


def baselined(report: Report, look: Look) -> Iterator[str]:
    """What a baseline knows, a line each."""
    yield from _listed(report.baselined, "baselined", look)


def _listed(findings: Iterable[Finding], word: str, look: Look) -> Iterator[str]:
    for finding in findings:
        place = look.paint("head", printable(str(finding.site)))
        yield f"{place} {look.paint('dim', f'{finding.code} {word}:')} {look.prose(printable(finding.message))}"


def _reason(item: tuple[str, int]) -> str:
    reason, number = item
    if reason.startswith("folder "):
        return f"{plural(number, 'folder')} {reason.removeprefix('folder ')}"
    return f"{number:,} {reason}"
