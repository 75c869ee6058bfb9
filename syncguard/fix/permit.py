"""The findings of a file and a reason in, the edits that write `# syncguard: allow[...] reason` for them out."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from syncguard.house import CODES
from syncguard.read.allow import Allow, Span, comments, reached, statements
from syncguard.read.source import Source
from syncguard.terms import Edit, Finding, Site

SHORTEST, WIDEST = 88, 120  # a comment makes no line longer than the longest one of its file, within these
QUOTING = {"FSTRING_START": 1, "FSTRING_END": -1, "TSTRING_START": 1, "TSTRING_END": -1}


class Place(NamedTuple):
    """Where a comment goes: behind a line, or on a line of its own above it."""

    line: int
    above: bool


def permitted(source: Source, findings: Sequence[Finding], reason: str) -> tuple[Edit, ...]:
    """The edits. What is said of files and comments has no statement, and notebooks are not written into."""
    wanted = [finding for finding in findings if finding.code not in CODES]
    if source.cells or not wanted:
        return ()
    spans = statements(source.text)
    lines = source.text.split("\n")
    free = _free(source.text)
    reach = {allow: reached(allow, source, spans) for allow in comments(source) if allow.verb == "allow"}
    longest = min(max(SHORTEST, max(map(len, lines))), WIDEST)
    grown: dict[Allow, list[str]] = {}
    written: dict[Place, list[str]] = {}
    for finding in sorted(wanted, key=lambda finding: (finding.site, finding.code)):
        span = _span(finding.site.line, spans)
        known = next((allow for allow, found in reach.items() if span in found), None)
        if known is not None:
            grown.setdefault(known, []).append(finding.code)
        else:
            place = _place(finding.site.line, span, lines, free, longest - len(_comment([finding.code], reason)) - 2)
            written.setdefault(place, []).append(finding.code)
    return (
        *(_more(source.path, allow, codes, reason, lines) for allow, codes in grown.items()),
        *(_new(source.path, place, codes, reason, lines) for place, codes in written.items()),
    )


def _span(line: int, spans: Iterable[Span]) -> Span:
    """The innermost statement of a line."""
    around = [span for span in spans if span[0] <= line <= span[1]]
    return min(around, key=lambda span: span[1] - span[0], default=(line, line))


def _free(text: str) -> frozenset[int]:
    """The lines that a comment can end: not those that end within a string, with a backslash or with one of ours."""
    found: set[int] = set()
    ours = 0
    quoted = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        quoted += QUOTING.get(tokenize.tok_name[token.type], 0)
        if token.type == tokenize.COMMENT and "syncguard:" in token.string:
            ours = token.start[0]
        if not quoted and token.type in (tokenize.NEWLINE, tokenize.NL) and token.start[0] != ours:
            found.add(token.start[0])
    return frozenset(found)


def _place(line: int, span: Span, lines: Sequence[str], free: frozenset[int], room: int) -> Place:
    """Behind the finding's own line, else behind its statement's last or first, else above it."""
    ends = [n for n in (line, span[1], span[0]) if n in free]
    first = span[0]
    if _may_stand_above(first, lines, free) and not any(len(lines[n - 1].rstrip()) <= room for n in ends):
        return Place(first, True)
    return Place(next((n for n in ends if len(lines[n - 1].rstrip()) <= room), ends[0] if ends else span[1]), False)


def _may_stand_above(first: int, lines: Sequence[str], free: frozenset[int]) -> bool:
    """Whether the line before ends there: it is the first, free, or a comment of its own."""
    return first == 1 or first - 1 in free or lines[first - 2].lstrip().startswith("#")


def _comment(codes: Iterable[str], reason: str) -> str:
    return f"# syncguard: allow[{', '.join(dict.fromkeys(codes))}] {reason}"


def _new(path: str, place: Place, codes: Sequence[str], reason: str, lines: Sequence[str]) -> Edit:
    text, line = lines[place.line - 1], place.line
    comment = _comment(codes, reason)
    if place.above:
        indent = text[: len(text) - len(text.lstrip())]
        return Edit(Site(path, line, 1, line, 1), f"{indent}{comment}\n")
    return Edit(Site(path, line, len(text.rstrip()) + 1, line, len(text) + 1), f"  {comment}")


def _more(path: str, allow: Allow, codes: Sequence[str], reason: str, lines: Sequence[str]) -> Edit:
    """A comment that is there takes the codes as well; its own reason stays."""
    line = allow.site.line
    text = lines[line - 1]
    start = text.index("[", allow.site.column - 1)
    end = text.index("]", start)
    inside = ", ".join(dict.fromkeys((*allow.words, *codes)))
    why = "" if allow.reason else f" {reason}"
    return Edit(Site(path, line, start + 1, line, end + 2), f"[{inside}]{why}")
