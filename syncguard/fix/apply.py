"""Edits and a text in, the new text out; and of many fixes those that can be made together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from syncguard.terms import Edit, Finding, Fix, Tier

Lines = tuple[int, int]


class Overlap(ValueError):
    """Two edits of one fix change the same text."""


def applied(text: str, edits: Iterable[Edit]) -> str:
    """The text with every edit made; places are those of the text as it was."""
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    spans = sorted(
        {
            (_offset(starts, e.site.line, e.site.column), _offset(starts, e.site.end_line, e.site.end_column), e.text)
            for e in edits
        }
    )
    parts: list[str] = []
    end = 0
    for first, last, new in spans:
        if first < end:
            raise Overlap(f"two edits change the text at {first}")
        parts += [text[end:first], new]
        end = max(end, min(last, len(text)))
    if spans and not text.endswith("\n") and spans[-1][0] >= len(text) and spans[-1][2].endswith("\n"):
        parts[-1] = "\n" + parts[-1].removesuffix("\n")
    return "".join([*parts, text[end:]])


def chosen(findings: Sequence[Finding], tiers: frozenset[Tier]) -> tuple[Finding, ...]:
    """Of a file's findings those whose fixes can be made at once: the first of those that touch the same statements.

    A fix of several edits has reasons that another may take away, so it has its function to itself.
    """
    taken: list[tuple[Lines, str, bool]] = []
    found: list[Finding] = []
    for finding in findings:
        fix = finding.fix
        if fix is None or fix.tier not in tiers:
            continue
        lines, alone = reach(fix), len({edit.site.line for edit in fix.edits}) > 1
        if any(_meet(lines, other) or ((alone or wide) and function == finding.function)
               for other, function, wide in taken):  # fmt: skip
            continue
        taken.append((lines, finding.function, alone))
        found.append(finding)
    return tuple(found)


def reach(fix: Fix) -> Lines:
    """The first and last line that a fix touches."""
    return min(edit.site.line for edit in fix.edits), max(edit.site.end_line for edit in fix.edits)


def _meet(one: Lines, other: Lines) -> bool:
    return one[0] <= other[1] and other[0] <= one[1]


def _offset(starts: list[int], line: int, column: int) -> int:
    if line >= len(starts):
        return starts[-1] - 1
    return min(starts[line - 1] + column - 1, starts[-1] - 1)
