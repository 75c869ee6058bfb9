"""A record as one HTML page that needs nothing else: summary, timeline, lines by cost, what-if, annotated source."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from syncguard.record import Place, Record, Static, Wait
from syncguard.show.look import QUOTED, plural, printable
from syncguard.show.run import words
from syncguard.show.run.annotate import File, Line, Sources, annotated
from syncguard.show.run.cells import TONES, aside, columns, leading, line, scales_of, time_of
from syncguard.show.run.lanes import lanes, moments
from syncguard.show.run.rows import (
    GROUPS,
    Row,
    brief,
    callers,
    first_choice,
    hint,
    milliseconds,
    number,
    ranked,
    rows,
    span,
    step_ms,
    together,
    where,
)  # fmt: skip

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

ASSETS = Path(__file__).parent / "assets"
MOST = 200  # rows of the table that are shown before the reader asks for all
CHOICES = 16  # what-if checkboxes


class Incomplete(Exception):
    """What the page is made with is not installed; the message is one line."""


class Tag(NamedTuple):
    """A word in a box, and the tone that colours it."""

    text: str
    tone: str = ""


def render(record: Record, sources: Sources) -> str:
    """The page. `sources` gives the lines of a path of the record, none where it cannot be read."""
    missing = [name for name in ("jinja2", "pygments") if find_spec(name) is None]
    if missing:
        raise Incomplete(f"the HTML page needs {' and '.join(missing)}: pip install 'syncguard[run]'")
    found = rows(record)
    timed = any(row.waited is not None or row.bubble is not None for row in found)
    heads, scales = columns(found, record, timed), scales_of(found)
    return _environment().get_template("page.html").render(
        command=printable(words.command(record)),
        setting=printable(words.setting(record)),
        figures=_figures(record, found),
        sentences=[s for s in (words.stepping(record), words.ending(record), words.waiting(record)) if s],
        advice=words.advice(record),
        unseen=words.unseen(record),
        lanes=record.timeline,
        steps=[span.name for span in moments(record)],
        rows=[line(row, scales, heads, record) for row in found],
        columns=[{**head, "sorted": n == leading(heads)} for n, head in enumerate(heads)],
        timed=timed,
        most=MOST,
        choices=_choices(record),
        hidden_choices=_hidden(record),
        what_ifs=words.what_ifs(record) if record.what_if else (),
        counted=words.counted(record),
        files=[_file(file, record) for file in annotated(record, sources)],
        executed=bool(record.executed),
        findings=[_finding(finding, record) for finding in record.findings],
        checked=words.checked(record),
        footer=_footer(record),
        data=_data(record, found),
    )  # fmt: skip


def _figures(record: Record, found: tuple[Row, ...]) -> list[dict[str, str]]:
    """The few numbers that say how it stands."""
    often = [row for row in found if row.group in ("step", "run")]
    took, most = step_ms(record), together(record)
    simulated, steps = record.machine.mode == "simulate", record.steps.counted
    waits, lines = number(sum(row.often for row in often)), f"{len({where(row.place) for row in often}):,}"
    figures = [
        {"name": "waits a step" if steps else "waits", "value": waits, "unit": "", "tone": "bad" if often else "good"},
        {"name": "lines that wait", "value": lines, "unit": "", "tone": "bad" if often else "good"},
    ]
    if steps and (simulated or not took):
        figures.append({"name": "steps counted", "value": f"{steps:,}", "unit": "", "tone": ""})
    if took and not simulated:
        value, _, unit = milliseconds(took).partition(" ")
        figures.append({"name": "a step takes", "value": value, "unit": unit, "tone": ""})
    if most is not None:
        value, _, unit = milliseconds(max(most.saved_ms, 0.0)).partition(" ")
        share = f", {most.saved_ms / took:.0%} of it" if took else ""
        figures.append({"name": f"cost of all together{share}", "value": value, "unit": unit, "tone": "bad"})
    for group in ("first", "setup", "allowed"):
        if count := sum(row.group == group for row in found):
            name = {"first": "in the first steps only", "setup": "outside the steps", "allowed": "allowed"}
            unit = "line" if count == 1 else "lines"
            figures.append({"name": name[group], "value": f"{count:,}", "unit": unit, "tone": "calm"})
    return figures


def _choices(record: Record) -> list[dict[str, Any]]:
    """The waits that the what-if can remove one by one or a few together."""
    numbers = {n for what in record.what_if if len(what.waits) <= CHOICES for n in what.waits}
    found = [row for row in rows(record) if row.number in numbers][:CHOICES]
    return [
        {"number": row.number, "where": brief(row.place), "aside": aside(row),
         "source": printable(span(row.place) if row.place.source else row.wait.op)}
        for row in found
    ]  # fmt: skip


def _hidden(record: Record) -> int:
    every = {n for what in record.what_if for n in what.waits}
    return len(every) - len(_choices(record)) if record.what_if else 0


def _file(file: File, record: Record) -> dict[str, Any]:
    return {"path": printable(file.path), "told": file.told, "note": file.note,
            "lines": [_source_line(line, record) for line in file.lines]}  # fmt: skip


def _source_line(line: Line, record: Record) -> dict[str, Any]:
    return {
        "number": line.number or "", "html": line.html, "executed": line.executed, "gap": line.gap, "marks": line.marks,
        "margin": line.margin.replace("us", "µs"),
        "calm": all(row.group not in ("step", "run") for row in line.waits) and bool(line.waits),
        "waits": [_note(row, record) for row in line.waits],
        "findings": [_finding(finding, record) for finding in line.findings],
        "leads": [{"number": row.number, "where": brief(row.place), "what": _what(row.wait)} for row in line.leads],
    }  # fmt: skip


def _note(row: Row, record: Record) -> dict[str, Any]:
    """What is said under a line that waits."""
    wait = row.wait
    often = f"{number(row.often)} a step" if row.moment == "step" else f"{plural(wait.count, 'time')} in all"
    times = [
        f"waits {time_of(row.waited)}" if row.waited is not None else "",
        time_of(row.bubble) + " idle" if row.bubble else "",
    ]
    tags = [Tag(often), *(Tag(text) for text in times if text)]
    tags += [Tag(word, TONES.get(word, "")) for word in (wait.verdict, wait.static.replace("-", " ")) if word]
    tags += [Tag(GROUPS[row.group].lower())] if row.group in ("first", "setup") else []
    tags += [Tag(ranked(wait, record.world))] if record.world > 1 and wait.ranks else []
    facts = [f"Allowed: {wait.allowed}"] if wait.allowed else []
    if wait.forward is not None:
        facts.append(f"Waits in backward, at `{printable(where(wait.place))}`.")
    if wait.thread not in ("", "main"):
        facts.append(f"On the thread {printable(wait.thread)}.")
    return {
        "number": row.number, "calm": row.group not in ("step", "run"),
        "code": wait.code or "no rule", "what": _what(wait), "tags": tags, "facts": facts,
        "led": [{"where": brief(place), "source": printable(span(place))} for place in wait.entrances],
        "hint": hint(wait), "callers": [_caller(place, row.place) for place in callers(wait)[:6]],
    }  # fmt: skip


def _caller(place: Place, below: Place) -> str:
    return f"line {place.line}" if place.path == below.path else brief(place)


def _what(wait: Wait) -> str:
    kind = "" if wait.kind in ("", "simulated", wait.op) else f" waits in {printable(wait.kind)}"
    return f"`{printable(wait.op)}`{kind or ' waits for the device'}"


def _finding(finding: Static, record: Record) -> dict[str, Any]:
    verdict = finding.verdict.replace("-", " ")
    message = f"{'only possible: ' if finding.confidence == 'possible' else ''}{finding.message}"
    return {
        "where": brief(finding.place), "sort": f"{finding.place.path}:{finding.place.line:09}",
        "code": finding.code, "verdict": verdict, "tone": TONES.get(verdict, ""), "message": printable(message),
        "link": str(finding.waits[0]) if finding.waits else "",
    }  # fmt: skip


def _footer(record: Record) -> str:
    ran = [record.tool, *([f"run started {record.started}"] if record.started else []), record.folder]
    return printable(" · ".join(part for part in ran if part))


def _data(record: Record, found: tuple[Row, ...]) -> Mapping[str, Any]:
    """What the scripts of the page read: the lanes, the waits by number, the what-ifs."""
    # Python 3.12.1 would take a variable `span` of a comprehension for the function in the next one.
    shown = {moment.wait for moment in record.timeline}
    best = first_choice(record)
    texts, drawn = lanes(record)
    return {
        "names": texts,
        "lanes": drawn,
        "steps": [[moment.start_us, moment.duration_us] for moment in moments(record)],
        "waits": {
            row.number: [printable(brief(row.place)), printable(span(row.place)), row.wait.verdict]
            for row in found if row.number in shown
        },
        "whatIf": [[*what.waits] for what in record.what_if],
        "saved": [what.saved_ms for what in record.what_if],
        "best": [*best.waits] if best else [],
        "step": step_ms(record),
    }  # fmt: skip


def prose(text: str) -> Markup:
    """A sentence as HTML, what stands between backticks as code."""
    from markupsafe import Markup, escape

    clean, parts, last = printable(text), [], 0
    for match in QUOTED.finditer(clean):
        parts += [escape(clean[last : match.start()]), Markup("<code>{}</code>").format(match[0][1:-1])]
        last = match.end()
    return Markup("").join([*parts, escape(clean[last:])])


def shown(value: object) -> object:
    """A value of the page, with nothing in it that cannot be printed; what is HTML already stays as it is."""
    return printable(value) if type(value) is str else value


def asset(name: str) -> Markup:
    """A file of the page as it is."""
    from markupsafe import Markup

    return Markup((ASSETS / name).read_text("utf-8"))  # noqa: S704 - our own text


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        loader=FileSystemLoader(ASSETS),
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.finalize = shown
    environment.globals["asset"] = asset
    environment.filters["prose"] = prose
    return environment
