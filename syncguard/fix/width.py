"""The edits of a fix in, edits out after which no line is longer than the file's own: a call goes on over several."""

from __future__ import annotations

import ast
import io
import re
import tokenize
import warnings
from collections.abc import Sequence
from keyword import iskeyword
from tokenize import TokenInfo

from syncguard.fix.apply import applied
from syncguard.fix.text import CLOSING, OPENING
from syncguard.terms import Edit, Site

LEAST, MOST = 88, 120
COMPARING = ("==", "!=", "<=", ">=", ":=")
# Of so few lines the longest tells nothing.
ENOUGH = 100
NEVER = re.compile(r"#|\"\"\"|'''|\\$")


def narrowed(text: str, edits: Sequence[Edit]) -> tuple[Edit, ...]:
    """The same edits, those that make a line too long with line breaks; what nothing breaks stays as it is."""
    lines = text.split("\n")
    most = limit(lines)
    done: list[Edit] = []
    for group in groups(edits):
        first = min(edit.site.line for edit in group)
        last = max(edit.site.end_line for edit in group)
        if all(blank(edit) for edit in group):
            done += [Edit(edit.site, "\n".join(broken(edit.text.split("\n"), most, lines))) for edit in group]
            continue
        here = "\n".join(lines[first - 1 : last])
        shifted = [Edit(moved(edit.site, first - 1), edit.text) for edit in group]
        new = applied(here, shifted).split("\n")
        better = broken(new, most, lines, lines[first - 2] if first > 1 else "")
        if better == new:
            done += group
        else:
            site = Site(group[0].site.path, first, 1, last, len(lines[last - 1]) + 1)
            done.append(Edit(site, "\n".join(better)))
    return tuple(done)


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


def broken(new: Sequence[str], most: int, old: Sequence[str], before: str = "") -> list[str]:
    """Lines, the new ones among them that are too long broken; `before` is the line above them."""
    found: list[str] = []
    for line in new:
        known = len(line) <= most or line in old or NEVER.search(line)
        within = before.rstrip()[-1:] in ("(", "[", "{", ",")
        found += [line] if known else split(line, most, within)
        before = line
    return found


def split(line: str, most: int, within: bool = False) -> list[str]:
    """A line on several, as formatters break them: behind an opening bracket, the last that will do, and before its
    closing one; what is between them on a line of its own, or part by part. `within`: it is in brackets itself."""
    margin = line[: len(line) - len(line.lstrip())]
    step = margin + ("\t" if margin.startswith("\t") else "    ")
    pairs, commas = brackets(line)
    plain = not {"for", "lambda"} & words(line.strip())
    if within and plain and commas and len(line.rstrip().rstrip(",")) > commas[0]:
        marks = [mark - len(margin) for mark in commas]
        return [part for one in cut(line.strip(), marks) for part in again(one, margin, most)]
    fits: list[tuple[bool, list[str]]] = []
    for start, end, call in sorted(pairs, key=lambda pair: (line[pair[0]] == "[" and not pair[2], -pair[0])):
        head, body, tail = line[: start + 1], line[start + 1 : end].strip(), margin + line[end:]
        if not body or len(head) > most or len(tail) > most:
            continue
        if len(step + body) <= most:
            whole = held(line, step, most) if not call or len(tail.strip().rstrip(",:")) > 1 else None
            return whole or [head, step + body, tail]
        inner, marks = brackets(body)
        if marks and not {"for", "lambda"} & words(body):
            parts = [part for one in cut(body, marks) for part in again(one, step, most)]
            parts[-1] += "," if call and not parts[-1].endswith(",") else ""
            fits.append((all(len(part) <= most for part in parts), [head, *parts, tail]))
        elif inner:
            fits.append((False, [head, *split(step + body, most), tail]))
    good = [rows for fit, rows in fits if fit] or [rows for _, rows in fits]
    return good[0] if good else [line]


def held(line: str, step: str, most: int) -> list[str] | None:
    """What a statement assigns or returns, in parentheses on lines of its own; None where it does not, or too long."""
    depth = 0
    start = 0
    margin = len(line) - len(line.lstrip())
    for token in tokens(line.strip()):
        depth += (token.string in ("(", "[", "{")) - (token.string in (")", "]", "}"))
        column = token.end[1] - 1 + margin
        sets = token.type == tokenize.OP and token.string.endswith("=") and token.string not in COMPARING
        if not depth and (sets or (token.string == "return" and not start)):
            start = column
    body = line[start:].strip()
    if not start or not body or body.startswith("("):
        return None
    rows = [step + body]
    _, marks = brackets(body)
    if len(rows[0]) > most and marks and not {"for", "lambda"} & words(body):
        rows = [step + part for part in cut(body, marks)]
    return [f"{line[:start]} (", *rows, f"{line[:margin]})"] if all(len(row) <= most for row in rows) else None


def again(part: str, margin: str, most: int) -> list[str]:
    return split(margin + part, most) if len(margin + part) > most else [margin + part]


def cut(text: str, marks: Sequence[int]) -> list[str]:
    """The parts of a row, each with its comma."""
    starts = [0, *(mark + 1 for mark in marks)]
    parts = [text[start:end].strip() for start, end in zip(starts, [*starts[1:], len(text)])]
    return [part for part in parts if part]


def brackets(line: str) -> tuple[list[tuple[int, int, bool]], list[int]]:
    """The outermost brackets of a line, with whether a call or a list is in them, and the commas outside of them."""
    pairs: list[tuple[int, int, bool]] = []
    commas: list[int] = []
    held: list[tuple[int, bool]] = []
    before = None
    margin = len(line) - len(line.lstrip())
    for token in tokens(line.strip()):
        column = token.start[1] - 1 + margin
        if token.string in OPENING and token.string:
            name = before is not None and (
                (before.type == tokenize.NAME and not iskeyword(before.string)) or before.string in (")", "]")
            )
            held.append((column, name if token.string == "(" else token.string == "[" and not name))
        elif token.string in CLOSING and token.string:
            if held:
                start, call = held.pop()
                if not held:
                    pairs.append((start, column, call))
            else:
                pairs, commas = [], []  # what stands here was opened above
        elif token.string == "," and not held:
            commas.append(column)
        before = token
    return pairs, [] if held else commas


def words(text: str) -> set[str]:
    """The words of a text outside of its brackets."""
    depth = 0
    found = set()
    for token in tokens(text):
        depth += (token.string in ("(", "[", "{")) - (token.string in (")", "]", "}"))
        if not depth and token.type == tokenize.NAME:
            found.add(token.string)
    return found


def tokens(text: str) -> list[TokenInfo]:
    """The tokens of a part of a program, without the parenthesis that holds it open; as many as there are."""
    found: list[TokenInfo] = []
    try:
        found.extend(tokenize.generate_tokens(io.StringIO(f"({text}").readline))
    except (tokenize.TokenError, SyntaxError):
        pass
    plain: list[TokenInfo] = []
    strings = 0
    for token in found[1:]:
        kind = tokenize.tok_name[token.type]
        strings += kind.endswith("STRING_START")
        if not strings and kind not in ("NL", "NEWLINE", "ENDMARKER"):
            plain.append(token)
        strings -= kind.endswith("STRING_END")
    return plain


def moved(site: Site, lines: int) -> Site:
    return Site(site.path, site.line - lines, site.column, site.end_line - lines, site.end_column)
