"""A report for people: each finding with its line of source, why we believe it, why it is hot, and what to do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from syncguard.show.look import Look, printable, width_of, wrapped
from syncguard.show.places import path_label
from syncguard.terms import Fact, Finding, Site

if TYPE_CHECKING:
    from syncguard.pipeline import Report

BREAKS = {"capture": "CUDA graph capture", "compile": "torch.compile"}
HEATS = {"unknown": "heat unknown", "amortized": "amortized", "cold": "cold"}
VERDICTS = {
    "confirmed": "confirmed by a run",
    "false-alarm": "a false alarm in a run",
    "untested": "not tested by a run",
}
TIERS = {"safe": "safe", "unsafe": "with --unsafe-fixes", "display": "by hand"}
LABEL = len("because") + 2
WIDEST = 3  # a place that takes more than this part of the width has a line of its own
# A span of more lines than this is shown by its first and its last ones.
MOST_LINES = 5


def render(report: Report, look: Look) -> Iterator[str]:
    """The lines of every finding, a blank one after each."""
    for finding in report.findings:
        yield from one(finding, look)
        yield ""


def one(finding: Finding, look: Look) -> Iterator[str]:
    """The lines of one finding."""
    site = finding.site
    margin = len(str(site.end_line))
    head = f"{finding.code} {finding.name}: "
    first, *rest = [*wrapped(printable(finding.message), look.width - len(head))] or [""]
    yield look.paint(finding.level, head) + look.paint("head", first)
    yield from (look.paint("head", " " * len(head) + line) for line in rest)
    yield f"{' ' * margin}{look.paint('gutter', '-->')} {printable(str(site))}{look.paint('dim', _aside(finding))}"
    yield from frame(site, finding.level, margin, look)
    yield from _rows("because", _facts(finding.because, site.path), margin, look)
    yield from _rows(path_label(finding), _facts(finding.hot_path, site.path), margin, look)
    yield from _rows("option", _facts(finding.options, site.path), margin, look)
    yield from _rows("breaks", [("", ", ".join(BREAKS.get(name, name) for name in finding.breaks))], margin, look)
    yield from _rows("hint", [("", printable(finding.hint))], margin, look)
    if finding.fix is not None:
        fix = finding.fix
        yield from _rows("fix", [("", f"{TIERS[fix.tier]} ({fix.recipe}): {printable(fix.message)}")], margin, look)


def frame(site: Site, level: str, margin: int, look: Look) -> Iterator[str]:
    """The source of a site with its span marked; nothing where the source is gone, or cannot be shown."""
    whole = look.lines(site.path)
    lines = whole[site.line - 1 : site.end_line]
    if not lines or not any(whole):
        return
    bar = look.paint("gutter", f"{'':>{margin}} |")
    yield bar
    if len(lines) == 1:
        text, start, end = _window(lines[0], site.column - 1, site.end_column - 1, look.width - margin - 3)
        yield f"{_number(site.line, margin, look)} {text}".rstrip()
        yield f"{bar} {' ' * width_of(text[:start])}{look.paint(level, '^' * max(width_of(text[start:end]), 1))}"
        return
    first = printable(lines[0])
    # The line that encloses the span leaves the first column, runs down beside it and comes back under its end.
    indent = width_of(printable(lines[0][: site.column - 1]))
    yield f"{_number(site.line, margin, look)}   {_cut(first, look.width - margin - 5)}".rstrip()
    yield f"{bar}  {look.paint(level, '_' * (indent + 1) + '^')}"
    side = look.paint(level, "|")
    for number, line in _inner(site.line + 1, lines[1:]):
        if number:
            yield f"{_number(number, margin, look)} {side} {_cut(printable(line), look.width - margin - 5)}".rstrip()
        else:
            yield f"{look.paint('gutter', '...')}{' ' * margin}{side}"
    last = width_of(printable(lines[-1][: max(site.end_column - 2, 0)]))
    yield f"{bar} {side}{look.paint(level, '_' * (min(last, look.width) + 1) + '^')}"


def _inner(first: int, lines: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    """The lines below the first one, numbered; number 0 stands for those left out."""
    numbered = list(enumerate(lines, first))
    if len(numbered) <= MOST_LINES:
        yield from numbered
    else:
        yield from numbered[:2]
        yield 0, ""
        yield from numbered[-2:]


def _number(number: int, margin: int, look: Look) -> str:
    return look.paint("gutter", f"{number:>{margin}} |")


def _window(line: str, start: int, end: int, room: int) -> tuple[str, int, int]:
    """A line that can be printed and the span in it, in characters; what is too far from the span is cut off."""
    before, marked, after = printable(line[:start]), printable(line[start:end]), printable(line[end:])
    if width_of(before) + width_of(marked) > room:
        keep = max(room // 4, 8)
        before = "..." + before[-keep:] if len(before) > keep + 3 else before
        marked = _cut(marked, max(room - width_of(before), 8))
    text = _cut(before + marked + after, max(room, len(before) + len(marked)))
    return text, len(before), len(before) + len(marked)


def _cut(text: str, room: int) -> str:
    return text if width_of(text) <= room else text[: max(room - 3, 1)] + "..."


def _aside(finding: Finding) -> str:
    """In which function it is, and what sets it apart from a hot and likely finding."""
    parts = [f" in {printable(finding.function)}"] if finding.function else []
    if finding.op and finding.heat in HEATS:
        parts.append(HEATS[finding.heat])
    if finding.verdict:
        parts.append(VERDICTS[finding.verdict])
    if finding.confidence == "possible":
        parts.append("only possible")
    return ", ".join(parts) if finding.function else "".join(f" ({part})" for part in parts)


def _facts(facts: tuple[Fact, ...], path: str) -> list[tuple[str, str]]:
    """Each fact with the place that shows it: a line, and a file where it is another one."""
    return [(_place(fact, path), printable(fact.text)) for fact in facts]


def _place(fact: Fact, path: str) -> str:
    line = str(fact.line) if fact.line else ""
    return (
        f"{printable(fact.path)}:{line}".rstrip(":") if fact.path not in ("", path) else f"line {line}" if line else ""
    )


def _rows(label: str, rows: list[tuple[str, str]], margin: int, look: Look) -> Iterator[str]:
    """A labelled list: places in one column, sentences wrapped in the next; a place that would leave these no room has
    a line of its own."""
    rows = [row for row in rows if row[1]]
    mark = look.paint("hint" if label == "hint" else "label", f"{label:<{LABEL}}")
    begin = f"{' ' * margin} {look.paint('gutter', '=')} {mark}"
    blank = " " * (margin + 3 + LABEL)
    most = look.width // WIDEST
    wide = max((width_of(place) for place, _ in rows if width_of(place) <= most), default=0)
    column = wide + 2 if any(place for place, _ in rows) else 0
    said = ""
    for n, (place, text) in enumerate(rows):
        long = width_of(place) > most
        if long and place != said:
            yield f"{blank if n else begin}{look.paint('dim', place)}"
        said = place
        lead = f"{look.paint('dim', f'{place:<{wide}}')}  " if column and not long else " " * column
        for k, line in enumerate(wrapped(text, max(look.width - len(blank) - column, 24))):
            yield f"{begin if n == k == 0 and not long else blank}{lead if k == 0 else ' ' * column}{look.prose(line)}"
