"""A record as a table in the terminal: what waits, how often and at what cost, the most expensive first."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from syncguard.record import Record, Static
from syncguard.show.look import Look, plural, printable, width_of, wrapped
from syncguard.show.run import words
from syncguard.show.run.rows import (
    GROUPS,
    Row,
    entrances,
    milliseconds,
    number,
    ranked,
    ranks,
    rows,
    short,
    span,
    where,
)

if TYPE_CHECKING:
    from rich.text import Text

WIDE = 100  # columns from which the source has one of its own
MOST = 40  # rows of a group, and of the other lists
LEAST = 8  # columns that a line or its source keeps
TOTALS = ("run", "first", "setup")
NUMBERS = ("bubble", "wait", "a step", "times")
VERDICTS = {
    "host-bound": "red", "true-dependency": "yellow", "gpu-bound": "dim",
    "confirmed": "red", "missed-alarm": "magenta", "allowed": "dim",
    "depends-on-sizes": "dim", "depends-on-layout": "dim",
}  # fmt: skip


TITLES = {
    "false-alarm": "False alarms of `check`",
    "untested": "Not tested: not run, or nothing that a wait could show",
}


def render(record: Record, look: Look) -> Iterator[str]:
    """The lines of the whole report."""
    yield from _said(words.heading(record), look, "head")
    for sentence in (words.stepping(record), words.ending(record), words.waiting(record), words.checked(record)):
        yield from _said(sentence, look)
    found = rows(record)
    for group, title in GROUPS.items():
        members = [row for row in found if row.group == group]
        if not members:
            continue
        yield ""
        if group not in ("step", "run"):
            yield look.paint("head", f"{title}:")
        yield from _table(members, record, look)
    what_ifs = words.what_ifs(record)
    yield from _list(f"What if{', all together and not the sum of each' * (len(what_ifs) > 1)}", what_ifs, look)
    if what_ifs and (told := words.counted(record)):
        yield from _said(told, look)
    for verdict, title in TITLES.items():
        findings = words.of_verdict(record, verdict)
        yield from _list(title, [_finding(finding) for finding in findings], look)
    yield from _list("Not seen", words.unseen(record), look)
    yield ""
    yield from _said(words.advice(record), look)


def concise(record: Record, look: Look) -> Iterator[str]:
    """A line for each wait: where, which rule, how often, at what cost, what it is; and how many there are."""
    for row in rows(record):
        wait, place = row.wait, row.place
        spot = f"{where(place)}:{place.column}" if place.path and place.column else where(place)
        often = f"{number(row.often)} a step" if row.moment == "step" else f"{plural(wait.count, 'time')} in all"
        facts = [
            often,
            *(["in backward"] if wait.phase == "backward" else []),
            *({"first": ["first steps only"], "setup": ["outside the steps"]}.get(row.moment, [])),
        ]
        facts += [f"waits {milliseconds(row.waited)}"] if row.waited is not None else []
        facts += [f"{milliseconds(row.bubble)} idle"] if row.bubble is not None else []
        facts += [f"from {entrances(wait)}"] if wait.entrances else []
        facts += [word for word in (wait.verdict, wait.static) if word]
        facts += [ranked(wait, record.world)] if ranks(wait, record.world) not in ("", "all") else []
        facts += [f"allowed: {wait.allowed}"] if wait.allowed else []
        rule = look.paint("warning", wait.code or "unpredicted")
        text = f"{rule} {printable(', '.join(facts))}: {_what(row)}"
        yield f"{look.paint('head', printable(spot))} {text}"
    yield printable(" ".join(text for text in (words.ending(record), words.waiting(record)) if text))


def _what(row: Row) -> str:
    return printable(f"`{span(row.place)}`" if row.place.source else f"`{row.wait.op}`")


def _finding(finding: Static) -> str:
    doubted = " (only possible)" if finding.confidence == "possible" else ""
    return f"{where(finding.place)} {finding.code}{doubted} {finding.message}"


def _said(text: str, look: Look, style: str = "") -> Iterator[str]:
    for line in wrapped(printable(text), look.width):
        yield look.paint(style, line) if style else look.prose(line)


def _list(title: str, sentences: Sequence[str], look: Look) -> Iterator[str]:
    """Sentences under a title, a dash before each."""
    if not sentences:
        return
    yield ""
    yield look.paint("head", f"{title}:")
    for sentence in sentences[:MOST]:
        for n, line in enumerate(wrapped(printable(sentence), look.width - 4)):
            yield f"  {'-' if n == 0 else ' '} {look.prose(line)}"
    if len(sentences) > MOST:
        yield f"  - and {len(sentences) - MOST:,} more"


def _table(members: Sequence[Row], record: Record, look: Look) -> Iterator[str]:
    """The rows of a group; columns in which nothing stands are left out."""
    from rich.console import Console
    from rich.table import Table

    shown = members[:MOST]
    cells = [_cells(row, record, look) for row in shown]
    kept = [title for title in cells[0] if any(cell[title] for cell in cells)]
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
    widths = _widths(kept, cells, look.width)
    for title, width in widths.items():
        side: Literal["left", "right"] = "right" if title in NUMBERS else "left"
        table.add_column(title, justify=side, no_wrap=True, overflow="ellipsis", width=width)
    for cell in cells:
        table.add_row(*(_text(title, _cut(title, cell[title], widths[title])) for title in kept))
    console = Console(
        file=io.StringIO(),
        width=look.width, color_system="standard" if look.colour else None, force_terminal=look.colour,
        no_color=not look.colour, highlight=False, markup=False, emoji=False, legacy_windows=False, _environ={},
    )  # fmt: skip
    with console.capture() as capture:
        console.print(table)
    yield from (line.rstrip() for line in capture.get().rstrip("\n").split("\n"))
    if len(members) > MOST:
        yield look.paint("dim", f"and {plural(len(members) - MOST, 'line')} more; a saved record and the page have all")


def _cells(row: Row, record: Record, look: Look) -> dict[str, str]:
    """The cells of a row by the title of their column; in a narrow terminal several facts share one."""
    wait, wide = row.wait, look.width >= WIDE
    back = " (backward)" if wait.phase == "backward" else ""
    room = (40 if wide else max(look.width - 46, 16)) - len(back)
    line = short(printable(where(row.place)), room) + back
    source = printable(span(row.place) if row.place.source else wait.op)
    code, static = wait.code or "none", wait.static.replace("-", " ")
    who = ranks(wait, record.world) if record.world > 1 else ""
    thread = printable(wait.thread) if wait.thread != "main" else ""
    often = f"{number(row.often)}{' in all' if row.group == 'allowed' and row.moment != 'step' else ''}"
    cells = {
        "bubble": milliseconds(row.bubble),
        "wait": milliseconds(row.waited),
        "times" if row.group in TOTALS else "a step": often,
    }
    if wide:
        facts = {
            "line": line,
            "from": printable(entrances(wait)),
            "thread": thread,
            "source": source,
            "rule": code,
            "verdict": wait.verdict,
            "check": static,
            "ranks": who,
        }
        return {**cells, **facts, "allowed": printable(wait.allowed)}
    led = [f"from {printable(entrances(wait))}"] if wait.entrances else []
    below = [
        source,
        *led,
        *([f"on the thread {thread}"] if thread else []),
        *([ranked(wait, record.world)] if who else []),
        *([printable(wait.allowed)] if wait.allowed else []),
    ]
    rule = [f"{code} {static}".rstrip(), *([wait.verdict] if wait.verdict else [])]
    return {**cells, "line": "\n".join([line, *below]), "rule": "\n".join(rule)}


def _widths(kept: Sequence[str], cells: Sequence[dict[str, str]], room: int) -> dict[str, int]:
    """How wide each column is: where there is too little room only what people wrote gives way, the longest first."""
    widths = {t: max(width_of(line) for cell in cells for line in (t, *cell[t].split("\n"))) for t in kept}
    free = [title for title in ("line", "from", "thread", "source", "allowed") if title in widths]
    while sum(widths.values()) + 2 * len(widths) > room:
        longest = max(free, key=lambda title: widths[title])
        if widths[longest] <= LEAST:
            break
        widths[longest] -= 1
    return widths


def _cut(title: str, text: str, width: int) -> str:
    """Of a place that has too little room, the front of its path goes: the line is what one looks for."""
    if title not in ("line", "from"):
        return text
    first, newline, rest = text.partition("\n")
    path, blank, more = first.partition(" ")
    return short(path, max(width - len(blank + more), LEAST)) + blank + more + newline + rest


def _text(title: str, text: str) -> Text:
    from rich.text import Text

    first, newline, rest = text.partition("\n")
    if title == "line":
        return Text.assemble((first, "bold"), newline, (rest, "cyan"))
    if title == "rule":
        code, blank, static = first.partition(" ")
        return Text.assemble((code, "yellow"), blank, (static, _colour(static)), newline, (rest, _colour(rest)))
    styles = {"bubble": "bold red", "source": "cyan", "verdict": _colour(text), "check": _colour(text)}
    return Text(text, style=styles.get(title, ""))


def _colour(verdict: str) -> str:
    return VERDICTS.get(verdict.replace(" ", "-"), "")
