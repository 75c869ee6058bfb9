"""A text as the editor has it in; its findings, what can be done about them, and what is believed of a place out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from syncguard import config as settings
from syncguard import pack, pipeline
from syncguard.config import Config
from syncguard.fix.permit import permitted
from syncguard.fixing import SAFE, fixed
from syncguard.judge import baseline
from syncguard.read.source import Source, decode
from syncguard.show import explain
from syncguard.show.look import Look
from syncguard.terms import Edit, Fact, Finding, Op, Site

REASON = "TODO: say why"
NAME = re.compile(r"[\w.]+")
WIDTH = 88


class Change(NamedTuple):
    """Something to be done about a finding: what the editor shows, and its edits."""

    title: str
    finding: Finding
    edits: tuple[Edit, ...]
    best: bool = False


class Belief(NamedTuple):
    """What is told of a place: Markdown, and the expression that it is about."""

    text: str
    site: Site


class Seen(msgspec.Struct, frozen=True):
    """A file as it was checked."""

    source: Source
    config: Config
    findings: tuple[Finding, ...] = ()
    warnings: tuple[str, ...] = ()
    texts: Mapping[str, str] = {}
    fixes: bool = False


def seen(path: str, texts: Mapping[str, str], *, fixes: bool = False) -> Seen:
    """Check a file; `texts` has its text and those of all files that are open, by whole path. Raises ConfigError.

    Fixes take as long again, so they are thought of when somebody asks for them.
    """
    config = settings.load([path])
    past = baseline.Past(baseline.load(config.baseline_file)) if config.baseline_file else None
    report = pipeline.check([path], config, fixes=fixes, texts=texts, past=past)
    return Seen(decode(path, texts[path]), config, report.findings, report.warnings, texts, fixes)


def changes(of: Seen, first: int, last: int) -> Iterator[Change]:
    """What can be done about the findings on these lines."""
    for finding in of.findings:
        if finding.site.end_line < first or finding.site.line > last:
            continue
        if (fix := finding.fix) is not None and fix.tier != "display":
            doubt = "" if fix.tier == "safe" else " (results may differ)"
            yield Change(f"{finding.code}: {fix.message}{doubt}", finding, fix.edits, fix.tier == "safe")
        if edits := permitted(of.source, [finding], REASON):
            yield Change(f"{finding.code}: allow it here", finding, edits)


def all_fixed(of: Seen) -> str:
    """The text with every safe fix made."""
    path = of.source.path
    config = replace(of.config, stdin_filename=path)
    return fixed(["-"], config, of.source.text, SAFE).texts[path][1]


def belief(of: Seen, line: int, column: int) -> Belief | None:
    """What is believed of the smallest expression at a place, and what its operation does."""
    found = [item for item in pipeline.beliefs_in(of.source, line, of.config) if _holds(item[0], line, column)]
    finding = next((f for f in reversed(of.findings) if f.op and _holds(f.site, line, column)), None)
    if not found:
        return None
    site, source, value, because = min(found, key=lambda item: _size(item[0]))
    rules = pack.load(of.config.pack_folders)
    parts = [f"```python\n{source}\n```\n**{value}**"]
    parts += [_facts(because, of.source.path)] if because else []
    if finding is not None:
        parts.append(f"**{finding.code} {finding.name}**: {finding.message}")
    op = rules.op(finding.op) if finding is not None else _op(of.source, line, column, rules)
    if op is not None:
        parts.append("```text\n" + "\n".join(explain.op(op, rules.judged(op), Look(width=WIDTH))) + "\n```")
    return Belief("\n\n".join(parts), site)


def _op(source: Source, line: int, column: int, rules: pack.Pack) -> Op | None:
    """The row of the dotted name under the cursor, if it is one of torch's as it is written."""
    text = source.text.split("\n")[line - 1]
    for match in NAME.finditer(text):
        if match.start() < column <= match.end() + 1 and match[0].startswith("torch."):
            op = rules.op(match[0])
            return op if op is not None and op.known else None
    return None


def _facts(facts: tuple[Fact, ...], path: str) -> str:
    rows = [f"- {fact.text} ({'' if fact.path in ('', path) else fact.path + ' '}line {fact.line})" for fact in facts]
    return "\n".join(rows)


def _holds(site: Site, line: int, column: int) -> bool:
    return (site.line, site.column) <= (line, column) <= (site.end_line, site.end_column)


def _size(site: Site) -> tuple[int, int]:
    return site.end_line - site.line, site.end_column - site.column
