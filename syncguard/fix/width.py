"""The edits of a fix in, edits out after which no line is longer than the file's own: a call goes on over several."""

from __future__ import annotations

import ast
import io
import re
import tokenize
import warnings
from collections.abc import Sequence

from syncguard.fix.apply import applied
from syncguard.fix.layout import split
from syncguard.terms import Edit, Site

LEAST, MOST = 88, 120
# Of so few lines the longest tells nothing.
ENOUGH = 100
# What was too long may grow by so much.
GROWN = 1.25
BESIDE = (tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT, tokenize.NEWLINE, tokenize.ENDMARKER)
# A line with a comment, or one that nobody wrote by hand.
NEVER = re.compile(r"#|\"\"\"|'''|\\$|^.{4000}")


def narrowed(text: str, edits: Sequence[Edit]) -> tuple[Edit, ...]:
    """The same edits, those that make a line too long with line breaks; what nothing breaks stays as it is."""
    lines = text.split("\n")
    most = limit(lines)
    every = groups(edits)
    for group in [*every]:
        if not all(map(blank, group)) and group in every and overlong(group, lines, most):
            # What no line alone can be broken for is laid out anew, the whole statement.
            first, last = span(group)
            found = statement(text, first, last)
            within = [one for one in every if found and found[0] <= span(one)[0] and span(one)[1] <= found[1]]
            whole = [edit for one in within for edit in one]
            better = rebuilt(replaced(whole, lines, *found), most, lines) if found and group in within else None
            if found and better is not None:
                every = [one for one in every if one not in within]
                site = Site(whole[0].site.path, found[0], 1, found[1], len(lines[found[1] - 1]) + 1)
                every.append([Edit(site, "\n".join(better))])
    done: list[Edit] = []
    for group in every:
        if all(map(blank, group)):
            done += [Edit(edit.site, "\n".join(broken(edit.text.split("\n"), most, lines))) for edit in group]
            continue
        first, last = span(group)
        new, better = replaced(group, lines, first, last), lined(group, lines, most)
        site = Site(group[0].site.path, first, 1, last, len(lines[last - 1]) + 1)
        done += group if better == new else [Edit(site, "\n".join(better))]
    return tuple(done)


def span(group: Sequence[Edit]) -> tuple[int, int]:
    """The first and last line that edits touch."""
    return min(edit.site.line for edit in group), max(edit.site.end_line for edit in group)


def replaced(group: Sequence[Edit], lines: Sequence[str], first: int, last: int) -> list[str]:
    """Some lines after the edits that are in them."""
    shifted = [Edit(moved(edit.site, first - 1), edit.text) for edit in group]
    return applied("\n".join(lines[first - 1 : last]), shifted).split("\n")


def lined(group: Sequence[Edit], lines: Sequence[str], most: int) -> list[str]:
    """The lines of a group of edits, those that are too long broken one by one."""
    first, last = span(group)
    around = ("", *lines, "")
    new = replaced(group, lines, first, last)
    return broken(new, most, [*lines, *were(new, lines[first - 1 : last], most)], around[first - 1], around[last + 1])


def overlong(group: Sequence[Edit], lines: Sequence[str], most: int) -> bool:
    """Whether a line stays too long that a group of edits makes so."""
    first, last = span(group)
    known = were(replaced(group, lines, first, last), lines[first - 1 : last], most)
    return longest(lined(group, lines, most), [*lines, *known]) > most


def were(new: Sequence[str], old: Sequence[str], most: int) -> list[str]:
    """The lines that were too long before, and are not much longer now: whoever wrote them so wants no other."""
    pairs = zip(new, old) if len(new) == len(old) else ()
    return [line for line, before in pairs if len(before) > most and len(line) <= GROWN * len(before)]


def longest(new: Sequence[str], old: Sequence[str]) -> int:
    """How long the longest line is that was not there before."""
    return max((len(line) for line in new if line not in old and not NEVER.search(line)), default=0)


def limit(lines: Sequence[str]) -> int:
    """How long a file lets its lines be, as far as they tell."""
    return min(max(LEAST, *map(len, lines)), MOST) if len(lines) >= ENOUGH else MOST


def groups(edits: Sequence[Edit]) -> list[list[Edit]]:
    """The edits that have a line in common; those that add or take whole lines are apart from the others."""
    found: list[list[Edit]] = []
    for edit in sorted(edits, key=lambda one: one.site):
        before = found[-1] if found else []
        if blank(edit) or not before or blank(before[-1]) or max(e.site.end_line for e in before) < edit.site.line:
            found.append([edit])
        else:
            before.append(edit)
    return found


def blank(edit: Edit) -> bool:
    """Whether an edit puts whole lines in the place of whole lines."""
    return edit.site.column == 1 == edit.site.end_column


def alike(one: str, other: str) -> bool:
    """Whether two texts are the same program; only the statements that are written differently are compared."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            trees = ast.parse(one), ast.parse(other)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
    rows = one.split("\n"), other.split("\n")
    if len(trees[0].body) != len(trees[1].body):
        return False
    for a, b in zip(trees[0].body, trees[1].body):
        written = [lines[node.lineno - 1 : node.end_lineno] for lines, node in zip(rows, (a, b))]
        if written[0] != written[1] and ast.dump(a) != ast.dump(b):
            return False
    return True


def broken(new: Sequence[str], most: int, old: Sequence[str], before: str = "", after: str = "") -> list[str]:
    """Lines, the new ones among them that are too long broken; `before` is the line above them, `after` that below."""
    found: list[str] = []
    for line, below in zip(new, [*new[1:], after]):
        known = len(line) <= most or line in old or NEVER.search(line)
        opened = before.rstrip()[-1:] in ("(", "[", "{")
        whole = opened and below.strip()[:1] in (")", "]", "}")
        found += [line] if known else split(line, most, opened or before.rstrip().endswith(","), whole)
        before = line
    return found


def statement(text: str, first: int, last: int) -> tuple[int, int] | None:
    """The lines of the one statement, or header, that some lines are of."""
    return next(((start, end) for start, end in logical(text) if start <= first and last <= end), None)


def logical(text: str) -> list[tuple[int, int]]:
    """The first and last line of each statement or header of a text; none where it is no Python."""
    found: list[tuple[int, int]] = []
    start = 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.NEWLINE and start:
                found.append((start, token.start[0]))
                start = 0
            elif not start and token.type not in BESIDE:
                start = token.start[0]
    except (tokenize.TokenError, SyntaxError):
        return []
    return found


def rebuilt(new: Sequence[str], most: int, old: Sequence[str]) -> list[str] | None:
    """Lines in which the statements that are too long are laid out anew; None where there is none that can be."""
    found: list[str] = []
    end = 0
    for start, stop in logical("\n".join(new)):
        found += new[end : start - 1]
        rows = [*new[start - 1 : stop]]
        end = stop
        if longest(rows, old) > most and (line := joined(rows)):
            better = split(line, most) if len(line) > most else [line]
            rows = better if longest(better, old) < longest(rows, old) else rows
        found += rows
    found += new[end:]
    return found if found != [*new] else None


def joined(rows: Sequence[str]) -> str:
    """A statement of several lines on one; '' where that would lose a comment, or the lines of a string."""
    if any(NEVER.search(row) for row in rows):
        return ""
    line = rows[0].rstrip()
    for row in map(str.strip, rows[1:]):
        if row[:1] in (")", "]", "}"):
            line = line.removesuffix(",")
        tight = line[-1:] in ("(", "[", "{") or row[:1] in (")", "]", "}") or (row[:1] == "." and row[:2] != "..")
        line += row if tight or not row else f" {row}"
    return line


def flat(text: str) -> str:
    """An expression on one line, where that loses nothing."""
    return joined(text.split("\n")) or text


def moved(site: Site, lines: int) -> Site:
    return Site(site.path, site.line - lines, site.column, site.end_line - lines, site.end_column)
