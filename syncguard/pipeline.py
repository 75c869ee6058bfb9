"""The whole of `check`: paths and a configuration in, a report out. Read this page first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from syncguard.config import Config
from syncguard.examine import Examined, Examiner, paused_collector, warmed
from syncguard.infer.beliefs import Belief
from syncguard.judge.reach import reached
from syncguard.read.find import find
from syncguard.read.source import FileNote, decode, read
from syncguard.terms import Finding


@dataclass(frozen=True, slots=True)
class Report:
    """What a check found: findings by path and place, a note on every file, how many functions and hot ones."""

    findings: tuple[Finding, ...]
    files: tuple[FileNote, ...]
    functions: int = 0
    hot: int = 0
    allowed: tuple[Finding, ...] = ()


def check(paths: Sequence[str], config: Config, stdin: str | bytes | None = None) -> Report:
    """Find the places where these files make the host wait."""
    examiner = Examiner(config)
    found = find(paths, config)
    sources = (decode(config.stdin_filename, stdin or "") if path == "-" else read(path) for path in found.paths)
    with paused_collector():
        examined = [examiner.examine(source) for source in sources]
    hot = reached({one.note.path: one.calls for one in examined})

    def shown(one: Examined, allowed: bool = False) -> list[Finding]:
        items = one.allowed if allowed else one.findings
        every = [warmed(item, one.note.path, hot) for item in items]
        return sorted((f for f in every if examiner.wanted.shows(f)), key=lambda f: (f.site, f.code))

    return Report(
        tuple(finding for one in examined for finding in shown(one)),
        (*(one.note for one in examined), *found.notes),
        sum(one.functions for one in examined),
        sum(one.hot for one in examined) + len(hot),
        tuple(finding for one in examined for finding in shown(one, allowed=True)),
    )


def beliefs(path: str, line: int, config: Config) -> tuple[Belief, ...]:
    """What inference believes of every expression on a line, and why."""
    source = read(path)
    return Examiner(config).watched(source, line).beliefs(source.text.split("\n"))
