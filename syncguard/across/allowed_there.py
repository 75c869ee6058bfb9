"""Files in, the same out as comments at the lines allow it to which findings lead that are told at calls."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

import msgspec
from msgspec.structs import replace

from syncguard import house
from syncguard.across.texts import Files
from syncguard.examined import Examined
from syncguard.infer.tell import told_at_call
from syncguard.read import allow
from syncguard.read.source import FileNote, Source
from syncguard.terms import Finding, Rule, Site

Reach = dict[allow.Allow, tuple[allow.Span, ...]]


def allowed_there(
    examined: list[Examined], others: Iterable[Examined], files: Files, rules: tuple[Rule, ...]
) -> list[Examined]:
    """Each file, with what a comment of another file covers among what it allows; and where such a comment stands, that
    it is of use, also by what others call."""
    led: dict[str, list[tuple[Finding, int]]] = defaultdict(list)
    for one in (*examined, *others):
        for finding in one.findings:
            for wait in told_at_call(finding):
                if wait.path != finding.site.path:
                    led[wait.path].append((finding, wait.line))
    reach = {path: found for path in led if (found := _reach(path, files))}
    if not reach:
        return examined
    reasons: dict[Finding, str] = {}
    used: dict[str, list[Finding]] = {}
    for path, comments in reach.items():
        words: set[tuple[allow.Allow, str]] = set()
        for finding, line in led[path]:
            there = replace(finding, site=Site(path, line, 1, line, 1))
            _, covered, spoken = allow.apply((there,), comments, rules)
            words |= spoken
            if covered:
                reasons[finding] = covered[0].allowed
        used[path] = [house.finding("SG001", comment.site, word=word) for comment, word in words]
    return [_with(one, reasons, used.get(one.note.path, ())) for one in examined]


def _reach(path: str, files: Files) -> Reach:
    """What the comments of a file speak for."""
    if path.endswith(".ipynb") or not files.may_hold(path, allow.NAMES):
        return {}
    return allow.reach_of(Source(path, files.text(path), FileNote(path, "read")))


def _with(one: Examined, reasons: Mapping[Finding, str], of_use: Iterable[Finding]) -> Examined:
    covered = tuple([replace(f, allowed=reasons[f]) for f in one.findings if f in reasons])
    if not covered and not of_use:
        return one
    kept = [finding for finding in one.findings if finding not in reasons and finding not in of_use]
    return msgspec.structs.replace(one, findings=tuple(kept), allowed=(*one.allowed, *covered))
