"""Findings x a record -> verdicts: confirmed, false alarm, untested; and the waits that nobody predicted."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import PurePath

import msgspec
from msgspec.structs import replace

from syncguard.record import Place, Record, Static, Wait, when
from syncguard.terms import Fact, Finding

# What these say is true or not, but no wait at that place shows it: a switch, a loader, a threshold, a read too early.
UNSEEN = frozenset("SG210 SG303 SG306 SG404 SG901 SG902 SG903".split())
# Judgements that inference makes of a plain hazard by what surrounds it: a run sees the plain one.
REFINED = frozenset("SG205 SG209 SG304 SG305 SG405".split())
# A wait that somebody wrote down: `check` knows it by its name, and is silent where it is right, beside a clock say.
ASKED_FOR = frozenset(("SG401",))
UNPREDICTED = "unpredicted"  # the hazard of what has no row
SAME_PLACE, INSIDE, SAME_LINES = 3, 2, 1
Lines = Callable[[str], Sequence[str]]


def joined(record: Record, findings: Iterable[Finding], checked: Collection[str], lines: Lines) -> Record:
    """The record with findings and their verdicts, and with every wait that they predict or miss marked.

    `checked` are the files that were read for findings: only there can an alarm be missed. `lines` gives a file's
    lines by the path of a finding. Paths are those of `syncguard check`, relative to the current folder.
    """
    findings = [finding for finding in findings if finding.op]
    names = Names(record.folder)
    by_file: dict[str, list[int]] = {}
    inside: dict[tuple[str, int], list[int]] = {}
    for number, finding in enumerate(findings):
        by_file.setdefault(names.ours(finding.site.path), []).append(number)
        if (wait_of := within(finding)) is not None:
            inside.setdefault((names.ours(wait_of.path), wait_of.line), []).append(number)
    read = {names.ours(path) for path in checked}
    met: dict[int, list[int]] = {}
    waits: list[Wait] = []
    for number, wait in enumerate(record.waits):
        # The backward of an autograd.Function waits at a line of its own; any other backward has its forward line.
        for place in filter(None, (wait.place, wait.forward)):
            path = names.theirs(place.path, read)
            hits = predicted(wait, place, [(n, findings[n]) for n in by_file.get(path, ())])
            if hits:
                break
        hits = hits or led(wait, names, read, findings, by_file)
        at_calls = tuple(n for n in inside.get((path, place.line), ()) if alike(wait, place, findings[n]))
        for n in dict.fromkeys((*hits, *at_calls)):
            met.setdefault(n, []).append(number)
        hits = hits or at_calls
        unsaid = f"depends-on-{wait.depends}" if wait.depends else "missed-alarm"
        static = "confirmed" if hits else unsaid if path in read and missed(wait, record) else ""
        judged = [findings[n].code for n in hits]
        code = next((one for one in judged if one in REFINED), wait.code or next(iter(judged), ""))
        hint = next((findings[n].hint for n in hits if findings[n].code == code), "")
        waits.append(msgspec.structs.replace(wait, static=static, code=code, hint=hint))
    statics = tuple(_static(finding, tuple(met.get(n, ())), record, names, lines) for n, finding in enumerate(findings))
    return msgspec.structs.replace(record, waits=tuple(waits), findings=statics)


def marked(findings: Iterable[Finding], record: Record, lines: Lines) -> tuple[Finding, ...]:
    """The findings with their verdicts."""
    findings = tuple(findings)
    verdicts = iter(joined(record, findings, (), lines).findings)
    return tuple(replace(f, verdict=next(verdicts).verdict) if f.op else f for f in findings)


def predicted(wait: Wait, place: Place, findings: Iterable[tuple[int, Finding]]) -> tuple[int, ...]:
    """The numbers of the findings that fit a wait at this place, its own or its forward line, best."""
    fits = [(fit(wait, place, finding), number) for number, finding in findings]
    best = max((score for score, _ in fits), default=0)
    return tuple(number for score, number in fits if score == best) if best else ()


def fit(wait: Wait, place: Place, finding: Finding) -> int:
    """How well a finding predicts a wait at this place; 0 if not at all."""
    site = finding.site
    begin, end = (place.line, place.column), (place.end_line or place.line, place.end_column)
    first, last = (site.line, site.column), (site.end_line, site.end_column)
    if begin == first and end == last:
        return SAME_PLACE
    if not alike(wait, place, finding) or end[0] < first[0] or last[0] < begin[0]:
        return 0
    nested = (begin <= first and last <= end) or (first <= begin and end <= last)
    return INSIDE if nested or not place.column else SAME_LINES if finding.code == wait.code else 0


def alike(wait: Wait, place: Place, finding: Finding) -> bool:
    """Whether a finding speaks of such a wait, wherever that is."""
    return finding.code in (wait.code, *REFINED) or finding.op == wait.op or place is wait.forward


def led(
    wait: Wait, names: Names, read: Collection[str], findings: Sequence[Finding], by_file: Mapping[str, Sequence[int]]
) -> tuple[int, ...]:
    """The numbers of the findings at the lines that led into a library, where it waits in there for what they say: of
    the library's own function, or by the same rule.
    """
    inner = {part for place in (wait.place, wait.forward, *wait.stack) if place for part in PurePath(place.path).parts}
    return tuple(
        number
        for place in wait.entrances
        for number in by_file.get(names.theirs(place.path, read), ())
        if fit(wait, place, finding := findings[number]) == SAME_PLACE
        and (finding.code in (wait.code, *REFINED) or finding.op.partition(".")[0] in inner)
    )


def within(finding: Finding) -> Fact | None:
    """The line of another file that waits, where the finding is told at the call that leads there."""
    from syncguard.infer.tell import told_at_call  # where there are findings, what made them is at hand

    return next(reversed(told_at_call(finding)), None)


def missed(wait: Wait, record: Record) -> bool:
    """Whether a wait that nobody predicted should have been: one that is allowed or only in setup need not be.

    Nor need one that is asked for, nor one whose hazard no rule judges, so that `check` is silent on purpose; a call
    without a row has none. One that depends on sizes, or on a layout, no reader of the source could have told.
    """
    judged = (bool(wait.code) and wait.code not in ASKED_FOR) or wait.hazard == UNPREDICTED
    return judged and not wait.allowed and when(wait, record.steps) != "setup"


class Names:
    """Paths of a check and of a record as absolute ones; a record that was made elsewhere is taken to be made here."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def ours(self, path: str) -> str:
        return os.path.realpath(path)

    def theirs(self, path: str, known: Collection[str]) -> str:
        there = os.path.realpath(os.path.join(self.folder, path))
        if there in known or os.path.isabs(path):
            return there
        here = os.path.realpath(path)
        return here if here in known else there


def executed(record: Record, path: str) -> tuple[tuple[int, int], ...]:
    """The executed stretches of a file, named as `syncguard check` names it."""
    names = Names(record.folder)
    ours = names.ours(path)
    return next((found for name, found in record.executed.items() if names.theirs(name, {ours}) == ours), ())


def _static(finding: Finding, waits: tuple[int, ...], record: Record, names: Names, lines: Lines) -> Static:
    site = finding.site
    text = lines(site.path)
    source = text[site.line - 1] if 0 < site.line <= len(text) else ""
    path = os.path.realpath(site.path).removeprefix(os.path.realpath(record.folder) + os.sep)  # as those of waits
    place = Place(path, site.line, site.column, site.end_line, site.end_column, finding.function, source)
    verdict = _verdict(finding, waits, record, lines)
    return Static(place, finding.code, finding.message, verdict, waits, finding.confidence)


def _verdict(finding: Finding, waits: tuple[int, ...], record: Record, lines: Lines) -> str:
    if waits:
        return "confirmed"
    site = finding.site
    ran = any(first <= site.line <= last for first, last in executed(record, site.path))
    if not ran or finding.code in UNSEEN or not record.machine.used:
        return "untested"
    if within(finding) is not None:
        return "untested"  # another file's line is what would wait
    return "untested" if sheltered(finding, lines(site.path)) else "false-alarm"


def sheltered(finding: Finding, lines: Sequence[str]) -> bool:
    """Whether the line may have run without the expression: it is in the right arm of `and`, in a lambda, ..."""
    try:
        tree = ast.parse("\n".join(lines))
    except (SyntaxError, ValueError, RecursionError):
        return True
    site = finding.site
    first, last = (site.line, site.column), (site.end_line, site.end_column)

    def around(node: ast.AST) -> bool:
        text = [lines[line - 1] if line <= len(lines) else "" for line in (node.lineno, node.end_lineno)]  # type: ignore[attr-defined]
        begin = (node.lineno, len(text[0].encode()[: node.col_offset].decode("utf-8", "ignore")) + 1)  # type: ignore[attr-defined]
        end = (node.end_lineno, len(text[1].encode()[: node.end_col_offset].decode("utf-8", "ignore")) + 1)  # type: ignore[attr-defined]
        return begin <= first and last <= end

    return any(
        around(arm)
        for node in ast.walk(tree)
        for arm in arms(node)
        if arm.lineno <= site.line <= (arm.end_lineno or 0)  # type: ignore[attr-defined]
    )


def arms(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a node that need not run when its line does."""
    match node:
        case ast.BoolOp():
            yield from node.values[1:]
        case ast.IfExp():
            yield from (node.body, node.orelse)
        case ast.Lambda():
            yield node.body
        case ast.Compare():
            yield from node.comparators[1:]
        case ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
            yield node.elt
        case ast.DictComp():
            yield from (node.key, node.value)
        case ast.Assert():
            yield from [node.msg] if node.msg else []
        case ast.If() | ast.For() | ast.While() | ast.With() | ast.FunctionDef() | ast.AsyncFunctionDef():
            yield from (inner for inner in node.body if inner.lineno == node.lineno)
