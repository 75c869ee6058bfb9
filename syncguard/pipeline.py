"""The whole of `check`: paths and a configuration in, a report out. Read this page first."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from syncguard import pack, store, workers
from syncguard.config import Config
from syncguard.examine import Examined, Examiner, paused_collector
from syncguard.infer.beliefs import Belief
from syncguard.infer.parts import digest
from syncguard.judge.reach import Function, reached
from syncguard.read import project
from syncguard.read.find import find
from syncguard.read.source import FileNote, Source, decode, read
from syncguard.read.spelling import Spelling
from syncguard.selection import selection
from syncguard.terms import Fact, Finding


@dataclass(frozen=True, slots=True)
class Report:
    """What a check found: findings by path and place, a note on every file, how many functions and hot ones.

    `texts` of the files that parse, with `\\n` at the ends of lines, where fixes were asked for.
    """

    findings: tuple[Finding, ...]
    files: tuple[FileNote, ...]
    functions: int = 0
    hot: int = 0
    allowed: tuple[Finding, ...] = ()
    warnings: tuple[str, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)


def check(
    paths: Sequence[str],
    config: Config,
    stdin: str | bytes | None = None,
    *,
    fixes: bool | frozenset[str] = False,
    texts: Mapping[str, str] | None = None,
) -> Report:
    """Find the places where these files make the host wait; with `fixes`, say how each would be rewritten,
    in all files or in these.

    `texts` are read in place of the files of the same names.
    """
    project.forget()
    rules = pack.load(config.pack_folders)
    wanted = selection(config, rules.rules)
    found = find(paths, config)
    spelling = Spelling(config.stdin_filename if path == "-" else path for path in found.paths)
    with paused_collector():
        sources = [opened(path, config, stdin, texts or {}) for path in found.paths]
        asked = {s.path for s in sources if fixes is True or (fixes and spelling.of(s.path) in fixes)}
        examined, others, warning = examine(sources, config, rules.digest, frozenset(asked), keep=not texts)
    hot = reached({**others, **{one.note.path: one.calls for one in examined}})

    def shown(one: Examined, items: Sequence[Finding]) -> list[Finding]:
        warm = [warmed(item, one.note.path, hot) for item in items]
        return sorted((spelling.finding(f) for f in warm if wanted.shows(f)), key=lambda f: (f.site, f.code))

    return Report(
        tuple(finding for one in examined for finding in shown(one, one.findings)),
        (*(replace(one.note, path=spelling.of(one.note.path)) for one in examined), *found.notes),
        sum(one.functions for one in examined),
        sum(one.hot for one in examined) + sum(where[0] in spelling for where in hot),
        tuple(finding for one in examined for finding in shown(one, one.allowed)),
        (warning,) if warning else (),
        {spelling.of(source.path): source.text for source in sources if source.note.state == "read"} if fixes else {},
    )


def opened(path: str, config: Config, stdin: str | bytes | None, texts: Mapping[str, str]) -> Source:
    """One file, or standard input."""
    name = config.stdin_filename if path == "-" else path
    whole = os.path.abspath(name)
    if name in texts:
        return decode(whole, texts[name])
    return decode(whole, stdin or "") if path == "-" else read(whole)


def examine(
    sources: Sequence[Source], config: Config, rules: str, fixes: frozenset[str], *, keep: bool
) -> tuple[list[Examined], dict[str, tuple[Function, ...]], str]:
    """What was found in each source, what earlier runs know of the calls in other files, and why the cache is
    not written.

    What is to be fixed is examined anew, and not kept.
    """
    if not config.cache:
        return workers.examine(sources, config, fixes)[0], {}, ""
    file = store.file_of(config, rules)
    state = store.load(file)
    known = store.still_true(state, {s.path: digest(s.text) for s in sources if s.path not in fixes})
    fresh, interfaces = workers.examine([source for source in sources if source.path not in known], config, fixes)
    known.update((one.note.path, one) for one in fresh)
    given = {source.path for source in sources}
    remembered = state.table.examined
    others = {path: kept.calls for path, kept in remembered.items() if path not in given and state.unchanged(path)}
    kept = [one for one in fresh if one.note.path not in fixes]
    warning = store.save(file, store.grown(state, kept, interfaces)) if kept and keep else ""
    return [known[source.path] for source in sources], others, warning


def warmed(finding: Finding, path: str, hot: dict[tuple[str, str], tuple[Fact, ...]]) -> Finding:
    """A finding in a function that another file may have made hot."""
    way = hot.get((path, finding.function)) if finding.heat == "unknown" else None
    return finding if way is None else replace(finding, heat="hot", hot_path=way)


def beliefs(path: str, line: int, config: Config) -> tuple[Belief, ...]:
    """What inference believes of every expression on a line, and why."""
    source = read(path)
    return Examiner(config).watched(source, line).beliefs(source.text.split("\n"))
