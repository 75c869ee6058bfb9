"""A record and the files that it speaks of -> their source, coloured, waits and static findings beside their lines."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from syncguard.read.notebook import file_of
from syncguard.record import Place, Record, Static
from syncguard.show.look import TAB, plural, printable, width_of
from syncguard.show.run.rows import Row, milliseconds, number, rows

AROUND = 4  # lines shown before and after one that waits
IDLE = re.compile(r"#.*|(else|try|finally)\s*:|[\])},:]*")  # lines that have nothing to run
LARGE = 20_000  # lines of a file from which it is not coloured
Lead = tuple[Place, Row]  # a line of the project, and what waits in a library because of it
Sources = Callable[[str], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Line:
    """A line of source: its text as HTML, what waits on it, and where in it (columns from 0, width)."""

    number: int
    html: str
    executed: bool = True
    gap: bool = False  # lines before it are left out
    waits: tuple[Row, ...] = ()
    findings: tuple[Static, ...] = ()
    marks: tuple[tuple[int, int], ...] = ()
    leads: tuple[Row, ...] = ()  # what waits in a library because of it

    @property
    def margin(self) -> str:
        """The cost of the line in a word: its most expensive wait, or how often it waits."""
        dearest = max(self.waits, key=lambda row: row.bubble or 0.0, default=None)
        if dearest is None:
            return ""
        if dearest.bubble:
            return milliseconds(dearest.bubble)
        return f"{number(sum(row.often for row in self.waits))}×"


@dataclass(frozen=True, slots=True)
class File:
    """The lines of a file that are worth showing, and what is to be said of it."""

    path: str
    told: str
    note: str
    lines: tuple[Line, ...]


def annotated(record: Record, sources: Sources) -> tuple[File, ...]:
    """The files in order of what their waits cost; waits without a line make one of their own, the last."""
    waits: dict[str, list[Row]] = defaultdict(list)
    findings: dict[str, list[Static]] = defaultdict(list)
    leads: dict[str, list[Lead]] = defaultdict(list)
    for row in rows(record):
        waits[row.place.path].append(row)
        for place in row.wait.entrances:
            leads[place.path].append((place, row))
    for finding in record.findings:
        findings[finding.place.path].append(finding)

    def rank(path: str) -> tuple[bool, bool, float, bool, str]:
        caused = {row.number: row for row in (*waits[path], *[row for _, row in leads[path]])}
        return not path, not caused, -_cost([*caused.values()]), not leads[path], path

    paths = sorted({*waits, *findings, *leads}, key=rank)
    return tuple(_file(path, waits[path], findings[path], leads[path], record, sources) for path in paths)


def _cost(members: Sequence[Row]) -> float:
    return sum(row.bubble or 0.0 for row in members) or sum(row.often for row in members) * 1e-9


def _file(
    path: str,
    waits: Sequence[Row],
    findings: Sequence[Static],
    leads: Sequence[Lead],
    record: Record,
    sources: Sources,
) -> File:
    text = tuple(sources(path)) if path else ()
    told = ", ".join([
        *([plural(len(waits), "wait")] if waits or not leads else []),
        *([plural(len({row.number for _, row in leads}), "wait") + " in a library"] if leads else []),
        *([plural(len(findings), "static finding")] if findings else []),
    ])  # fmt: skip
    places = {place.line: place for place, _ in leads}
    places |= {row.place.line: row.place for row in waits} | {f.place.line: f.place for f in findings}
    note = ""
    if not path:
        note = "These waits come from no line of Python: the allocator, or a library."
    elif not text:
        note = "The file cannot be read; what is shown was kept with the run."
    elif any(_moved(place, text) for place in places.values()):
        note = "The file is not as it was in the run. The lines that waited are shown as they were."
    shown = {n for line in places for n in range(max(line - AROUND, 1), min(line + AROUND, len(text)) + 1)}
    html = _coloured(text, path)
    executed = record.executed.get(path)
    found = _lines(sorted(shown | set(places)), places, waits, findings, leads, html, text, executed)
    return File(path or "No Python line", told, note, tuple(found))


def _lines(
    numbers: Sequence[int],
    places: Mapping[int, Place],
    waits: Sequence[Row],
    findings: Sequence[Static],
    leads: Sequence[Lead],
    html: Sequence[str],
    text: Sequence[str],
    executed: Sequence[tuple[int, int]] | None,
) -> Iterator[Line]:
    of_line: dict[int, list[Row]] = defaultdict(list)
    told: dict[int, list[Static]] = defaultdict(list)
    led: dict[int, list[Row]] = defaultdict(list)
    for row in waits:
        of_line[row.place.line].append(row)
    for place, row in leads:
        led[place.line].append(row)
    known = {row.number for row in waits}
    for finding in findings:
        # A confirmed finding is told by its wait.
        if not (finding.verdict == "confirmed" and known.intersection(finding.waits)):
            told[finding.place.line].append(finding)
    before = 0
    for n in numbers:
        here = of_line.get(n, [])
        gone = n > len(text) or (n in places and _moved(places[n], text))
        line = _plain(places[n].source) if gone and n in places else html[n - 1] if 0 < n <= len(html) else ""
        ran = executed is None or bool(here) or n in led or any(first <= n <= last for first, last in executed)
        blank = 0 < n <= len(text) and IDLE.fullmatch(text[n - 1].strip()) is not None
        shown = places[n].source if gone and n in places else text[n - 1] if 0 < n <= len(text) else ""
        marks = {mark for row in here if (mark := _mark(row.place, shown))}
        yield Line(
            n, line, ran or blank, n > before + 1 and before > 0, tuple(here), tuple(told.get(n, ())),
            tuple(sorted(marks)), tuple(led.get(n, ())),
        )  # fmt: skip
        before = n


def _moved(place: Place, text: Sequence[str]) -> bool:
    """Whether the line is no longer what the run saw."""
    if not place.source:
        return False
    return place.line > len(text) or text[place.line - 1].strip() != place.source.strip()


def _mark(place: Place, line: str) -> tuple[int, int] | None:
    """Where on its line a place is, in columns of type."""
    if place.column <= 0:
        return None
    end = place.end_column if place.end_line in (0, place.line) else len(line) + 1
    start, width = (width_of(_shown(part)) for part in (line[: place.column - 1], line[place.column - 1 : end - 1]))
    return (start, width) if width else None


def _shown(text: str) -> str:
    return printable(text.replace("\t", TAB))


def _plain(text: str) -> str:
    from markupsafe import escape

    return escape(_shown(text))


def _coloured(text: Sequence[str], path: str) -> Sequence[str]:
    """Each line as HTML; all of a file is lexed, since a string may begin far above the line that is shown."""
    if len(text) > LARGE or file_of(path).endswith((".so", ".pyx")):
        return [_plain(line) for line in text]
    from markupsafe import Markup
    from pygments import highlight  # type: ignore[import-untyped]
    from pygments.formatters import HtmlFormatter  # type: ignore[import-untyped]
    from pygments.lexers import PythonLexer  # type: ignore[import-untyped]

    whole = "\n".join(_shown(line) for line in text)
    html = highlight(whole, PythonLexer(stripnl=False, ensurenl=False), HtmlFormatter(nowrap=True))
    # Pygments escapes the text, so what it gives is safe; it closes its spans at the end of each line.
    return [Markup(line) for line in html.split("\n")]  # noqa: S704
