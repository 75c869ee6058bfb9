"""A line that is too long in, the same on several lines out, as formatters break it."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Sequence
from keyword import iskeyword
from tokenize import TokenInfo

from syncguard.fix.text import CLOSING, OPENING

# A string that can be cut at any space: nothing in it but text.
QUOTED = re.compile(r"""(["'])((?:(?!\1)[^\\{}])+)\1(,?)|f(["'])((?:(?!\4)[^\\{}]|\{\w+\})+)\4(,?)""")
BEHIND = re.compile(r"(\.\w+(\(\))?)?")
COMPARING = ("==", "!=", "<=", ">=", ":=")
# Where a text in brackets is cut, what binds least first; a comma stays behind, an operator goes before.
COMPREHENSION, COMMA, CHOICE = 0, 1, 2
RANKS: dict[str, int] = {
    rank: n
    for n, ranks in enumerate(("and or", "< > == >= <= != in is", "|", "^", "&", "<< >>", "+ -", "* / // % @"), 3)
    for rank in ranks.split()
}
DOT = 3 + len({*RANKS.values()})  # what is asked of a result, two times or more: each on a line of its own


def split(line: str, most: int, within: bool = False, whole: bool = False) -> list[str]:
    """A line on several, as formatters break them: behind an opening bracket, the last that will do, and before its
    closing one; what is between them on a line of its own, or part by part. `within`: it is in brackets itself;
    `whole`: it is all that these hold."""
    margin = line[: len(line) - len(line.lstrip())]
    step = margin + ("\t" if margin.startswith("\t") else "    ")
    rank, marks = delimiters(line.strip())
    if within and (rank > COMMA or (rank == COMMA and len(line.strip().rstrip(",")) > marks[0])):
        rows = [row for part in cut(line.strip(), marks) for row in again(part, margin, most)]
        rows[-1] += "," if whole and rank == COMMA and not rows[-1].endswith(",") else ""
        return rows
    if not within and (rows := unpacked(line, step, most)):
        return rows
    good: list[list[str]] = []
    left: list[list[str]] = []
    wrapped = held(line, step, most) if not within else None
    given = asked(line.strip())[0] + len(margin)
    kind = asking(line)
    if wrapped and kind in (DOT, COMMA):
        return wrapped
    pairs = brackets(line)
    for start, end, call in sorted(pairs, key=lambda pair: (line[pair[0]] == "[" and not pair[2], -pair[0])):
        head, body, tail = line[: start + 1], line[start + 1 : end].strip(), margin + line[end:]
        if not body or len(head) > most:
            continue
        rows = [head, *spread(body, step, most, call), *(split(tail, most, within) if len(tail) > most else [tail])]
        if not all(len(row) <= most for row in rows):
            left.append(rows)
        elif plain(tail) and not ((len(rows) > 3 or not call) and operators(line, start)):
            good.append(rows)
            break
        elif not wrapped or (kind < 0 and start >= given):
            good.append(rows)
        else:
            left.append(rows)
    found = [*good[:1], *([wrapped] if wrapped else []), *sorted(left, key=lambda rows: max(map(len, rows)))]
    return found[0] if found else [line]


def unpacked(line: str, step: str, most: int) -> list[str]:
    """A line that unpacks into so many variables that they need lines of their own; none where it does not."""
    text = line.strip()
    margin = line[: len(line) - len(line.lstrip())]
    start = asked(text)[0]
    targets = text[: max(start - 1, 0)].rstrip()
    rank, marks = delimiters(targets) if targets else (-1, [])
    if rank != COMMA or len(margin + targets) + len(" = (") <= most:
        return []
    rest = f"{margin}) = {text[start:].strip()}"
    names = [f"{step}{part.rstrip(',')}," for part in cut(targets, marks)]
    return [f"{margin}(", *names, *(split(rest, most) if len(rest) > most else [rest])]


def spread(body: str, step: str, most: int, call: bool) -> list[str]:
    """What stands in brackets, on lines of its own: one if it fits, else part by part."""
    if len(step + body) <= most:
        return [step + body]
    return each(body, step, most, call) if delimiters(body)[1] else split(step + body, most, within=True)


def each(body: str, step: str, most: int, call: bool) -> list[str]:
    """The parts of what stands in brackets, each on lines of its own."""
    rank, marks = delimiters(body)
    rows = [row for part in cut(body, marks) for row in again(part, step, most)]
    rows[-1] += "," if call and rank == COMMA and not rows[-1].endswith(",") else ""
    return rows


def plain(tail: str) -> bool:
    """Whether hardly anything stands behind a closing bracket: `)`, `):`, `),`, `).tolist()`."""
    return BEHIND.fullmatch(tail.strip()[1:].rstrip(",:")) is not None


def operators(line: str, end: int) -> bool:
    """Whether what stands before a bracket is an operand of others."""
    return COMMA < delimiters(line[:end].strip())[0] < DOT


def asking(line: str) -> int:
    """The rank of what binds least in what a statement assigns, returns or asks; -1 where nothing is cut there."""
    text = line.strip()
    start, end = asked(text)
    return delimiters(text[start:end].strip())[0] if start else -1


def held(line: str, step: str, most: int) -> list[str] | None:
    """What a statement assigns, returns or asks, in parentheses on lines of its own; None where it does not, or too
    long."""
    text = line.strip()
    margin = line[: len(line) - len(line.lstrip())]
    start, end = asked(text)
    body = text[start:end].strip()
    around = brackets(body)[:1] == [(0, len(body) - 1, True)] and body.startswith("(")
    if not start or not body or around or not balanced(body):
        return None
    several = delimiters(body)[0] == COMMA
    rows = each(body, step, most, True) if several else spread(body, step, most, False)
    return [f"{margin}{text[:start]} (", *rows, f"{margin}){text[end:]}"] if max(map(len, rows)) <= most else None


def asked(text: str) -> tuple[int, int]:
    """Where what a statement assigns, returns or asks begins and ends; 0 where it does nothing of this."""
    depth = start = 0
    heads = text.startswith(("if ", "elif ", "while ")) and text.endswith(":")
    if heads or text.startswith("return "):
        return text.index(" "), len(text) - heads
    for token in tokens(text):
        depth += (token.string in ("(", "[", "{")) - (token.string in (")", "]", "}"))
        if not depth and token.string == "lambda":
            break
        if not depth and token.type == tokenize.OP and token.string.endswith("=") and token.string not in COMPARING:
            start = token.end[1] - 1
    return start, len(text)


def balanced(text: str) -> bool:
    """Whether a text closes what it opens, and nothing else."""
    depth = 0
    for token in tokens(text):
        depth += (token.string in ("(", "[", "{")) - (token.string in (")", "]", "}"))
        if depth < 0:
            return False
    return not depth


def again(part: str, margin: str, most: int) -> list[str]:
    if len(margin + part) > most and (found := QUOTED.fullmatch(part)):
        quote, text, comma = found.groups()[:3] if found[1] else found.groups()[3:]
        return said(quote, text, comma, margin, most, "" if found[1] else "f")
    if len(margin + part) <= most:
        return [margin + part]
    comma = "," if part.endswith(",") else ""
    rows = split(margin + part.removesuffix(","), most - len(comma), within=True)
    return [*rows[:-1], rows[-1] + comma]


def said(quote: str, text: str, comma: str, margin: str, most: int, prefix: str = "") -> list[str]:
    """A long string as several, one below another, each up to its last space that will do."""
    parts: list[str] = []
    least = most - len(margin) - 2 * len(quote) - len(comma) - len(prefix)
    while len(text) > least and (place := text.rfind(" ", 1, least) + 1):
        parts.append(text[:place])
        text = text[place:]
    rows = [f"{margin}{prefix if '{' in part else ''}{quote}{part}{quote}" for part in (*parts, text)]
    return [*rows[:-1], rows[-1] + comma]


def cut(text: str, marks: Sequence[int]) -> list[str]:
    """The parts of a text between some places."""
    parts = [text[start:end].strip() for start, end in zip([0, *marks], [*marks, len(text)])]
    return [part for part in parts if part]


def delimiters(text: str) -> tuple[int, list[int]]:
    """Where the operators, or the commas, that bind least in a text are cut, and their rank; none in a lambda."""
    found: dict[int, list[int]] = {}
    depth = 0
    before = None
    many = False
    for token in tokens(text):
        word = token.string
        depth -= bool(word) and word in CLOSING
        if not depth and word == "lambda":
            return -1, []
        many = many or (not depth and word == "for")
        rank = -1 if depth or word in OPENING else _rank(word, before, many)
        if rank == COMMA or (rank >= 0 and token.start[1] > 1):
            found.setdefault(rank, []).append(token.end[1] - 1 if rank == COMMA else token.start[1] - 1)
        depth += bool(word) and word in OPENING
        before = token
    if len(found.get(DOT, ())) < 2:
        found.pop(DOT, None)
    least = min(found, default=-1)
    return (least, found[least]) if found and not depth else (-1, [])


def _rank(word: str, before: TokenInfo | None, many: bool) -> int:
    """The rank of a token outside of brackets; -1 where nothing is cut."""
    last = before.string if before is not None else ""
    operand = before is not None and (
        before.type != tokenize.OP or (bool(last) and last in CLOSING)
    ) and not iskeyword(last)  # fmt: skip
    if word == ",":
        return COMMA
    if word == ".":
        return DOT if last in (")", "]") else -1
    if word in ("for", "async") or (word == "if" and many):
        return -1 if last == "async" else COMPREHENSION
    if word in ("if", "else"):
        return CHOICE
    if word == "in" and (many or last == "not"):
        return -1
    if word == "not":
        return RANKS["in"] if operand else -1
    if word in ("and", "or", "is", "in"):
        return RANKS[word]
    return RANKS.get(word, -1) if operand or last in ("True", "False", "None") else -1


def brackets(line: str) -> list[tuple[int, int, bool]]:
    """The outermost brackets of a line, with whether a comma may stand before the closing one."""
    pairs: list[tuple[int, int, bool]] = []
    held: list[tuple[int, bool]] = []
    before = None
    margin = len(line) - len(line.lstrip())
    for token in tokens(line.strip()):
        column = token.start[1] - 1 + margin
        if token.string in OPENING and token.string:
            name = before is not None and (
                (before.type == tokenize.NAME and not iskeyword(before.string)) or before.string in (")", "]")
            )
            held.append((column, token.string != "[" or not name))
        elif token.string in CLOSING and token.string:
            if held:
                start, call = held.pop()
                if not held:
                    pairs.append((start, column, call))
            else:
                pairs = []  # what stands here was opened above
        before = token
    return pairs


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
