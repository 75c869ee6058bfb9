"""What was found in files one by one in, the same with the waits that their callers bring about out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Final

import msgspec
from msgspec.structs import replace

from syncguard.examined import Examined
from syncguard.judge.around.called import Function
from syncguard.judge.brought import brought_often
from syncguard.judge.caused import together
from syncguard.read import allow
from syncguard.read.source import Source
from syncguard.terms import Finding, Rule

Found = Iterable[Examined]
DOUBTED: Final = "possible"


def with_callers(
    examined: Sequence[Examined],
    sources: Sequence[Source],
    others: Found,
    rules: tuple[Rule, ...],
    but: Container[str],
) -> list[Examined]:
    """Each file with the findings that these and other files, but for some, bring about in it and that it did not have
    itself, or doubted. Of several callers the first counts that brings it about at every step, else the first."""
    caused: dict[str, list[Finding]] = defaultdict(list)
    often: dict[str, list[Finding]] = defaultdict(list)
    for one in sorted((*examined, *others), key=lambda one: one.note.path, reverse=True):
        for finding in reversed(one.caused) if one.note.path not in but else ():
            (often if brought_often(finding, one.calls) else caused)[finding.site.path].append(finding)
    for path, findings in often.items():
        caused[path] += findings
    return [
        _with(one, source, caused[one.note.path], rules) if one.note.path in caused else one
        for one, source in zip(examined, sources)
    ]


def _with(one: Examined, source: Source, caused: list[Finding], rules: tuple[Rule, ...]) -> Examined:
    if one.note.state != "read":
        return one
    doubted = {f.site for f in one.findings if f.confidence == DOUBTED}
    had = {f.site for f in (*one.findings, *one.allowed)} - doubted
    sure = (f for f in caused if f.site not in had and not (f.site in doubted and f.confidence == DOUBTED))
    more = together(_warmest(sure, one.findings), lambda f: f.site)
    warm = tuple(_warmed(more.values(), {function.name: function for function in one.calls}))
    before = tuple([f for f in one.findings if not (f.site in more and f.confidence == DOUBTED)])
    outcome = allow.settle_more(source, warm, before, rules)
    return msgspec.structs.replace(
        one, findings=(*outcome.notes, *outcome.kept), allowed=(*one.allowed, *outcome.covered)
    )


def _warmest(caused: Iterable[Finding], had: Iterable[Finding]) -> list[Finding]:
    """The findings without those that setup brings about once, where another call does, or the file itself has one."""
    found = tuple(caused)
    warm = {f.site for f in (*found, *had) if f.heat != "cold"}
    return [f for f in found if f.heat != "cold" or f.site not in warm]


def _warmed(findings: Iterable[Finding], functions: dict[str, Function]) -> Iterator[Finding]:
    """The findings with the heat that the file itself gives to the functions that they are in."""
    for finding in findings:
        function = functions.get(finding.function)
        if function is None or (function.heat == "cold" and not function.calls):
            yield replace(finding, heat="cold", hot_path=()) if finding.heat != "hot" else finding
        elif finding.heat == "unknown":
            yield replace(finding, heat=function.heat, hot_path=function.path)
        else:
            yield finding
