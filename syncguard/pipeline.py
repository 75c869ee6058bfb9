"""The whole of `check`: paths and a configuration in, a report out. Read this page first."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

import msgspec
from msgspec.structs import replace

from syncguard import pack
from syncguard.across.allowed_there import allowed_there
from syncguard.across.callers import with_callers
from syncguard.across.elsewhere import elsewhere
from syncguard.across.ends import End, Memory, memory_of
from syncguard.across.templates import templates
from syncguard.across.texts import Files
from syncguard.cache import store, table
from syncguard.cache.table import State
from syncguard.collector import paused_collector
from syncguard.config import Config
from syncguard.examine import workers
from syncguard.examine.ahead import Ahead
from syncguard.examine.examine import Examiner
from syncguard.examined import Examined
from syncguard.infer.beliefs import Belief
from syncguard.infer.parts import digest
from syncguard.judge.around.called import Function
from syncguard.judge.baseline import Divided, Entry, Past, divided, entered
from syncguard.judge.callers.entries import Callers, callers_in
from syncguard.judge.callers.giving import with_given
from syncguard.judge.callers.reach import reached
from syncguard.judge.caused import by_caller
from syncguard.read import project
from syncguard.read.find import find
from syncguard.read.notebook import facts_in, file_of, line_in, order, site_in
from syncguard.read.source import FileNote, Source, decode, read
from syncguard.read.spelling import Spelling
from syncguard.selection import selection
from syncguard.terms import Finding, Rule


class Report(msgspec.Struct, frozen=True):
    """What a check found: findings by path and place, a note on every file, how many functions, hot ones and hot loops.

    `texts` of the files that parse, with `\\n` at the ends of lines, where fixes were asked for.
    """

    findings: tuple[Finding, ...]
    files: tuple[FileNote, ...]
    functions: int = 0
    hot: int = 0
    allowed: tuple[Finding, ...] = ()
    warnings: tuple[str, ...] = ()
    texts: Mapping[str, str] = {}
    baselined: tuple[Finding, ...] = ()
    entries: tuple[Entry, ...] = ()  # of each finding, what a baseline would say
    stale: tuple[Entry, ...] = ()  # of the baseline
    rules: tuple[Rule, ...] = ()  # that there are
    hot_loops: int = 0
    left_out: int = 0  # findings that run too seldom for what is asked for
    hot_alone: bool = False  # whether what may be hot is left out, too
    doubted: int = 0  # likely ones, where only what is certain is asked for
    faults: tuple[str, ...] = ()  # the tracebacks of errors of ours: each left one file unchecked


class Around(msgspec.Struct, frozen=True):
    """What is known of the files that are not checked: those that pass something to these as they were examined, and of
    all that are remembered what they call, and their words."""

    tellers: list[Examined] = []
    calls: dict[str, tuple[Function, ...]] = {}
    words: dict[str, bytes] = {}


class Begun(msgspec.Struct, frozen=True):
    """Each file by itself, and what is known of the files around; why the cache is not written, what the next run of
    this process may know, and where the end of this one is kept, if it may be."""

    alone: list[Examined]
    around: Around = Around()
    warning: str = ""
    state: State | None = None
    memory: Memory | None = None


def check(
    paths: Sequence[str],
    config: Config,
    stdin: str | bytes | None = None,
    *,
    fixes: bool | frozenset[str] = False,
    texts: Mapping[str, str] | None = None,
    past: Past | None = None,
) -> Report:
    """Find the places where these files make the host wait; with `fixes`, say how each would be rewritten,
    in all files or in these.

    `texts` are read in place of the files of the same names. What was known in the `past` is told apart.
    """
    return checked(paths, config, stdin, fixes=fixes, texts=texts, past=past, remembers=False)[0]


def checked(
    paths: Sequence[str],
    config: Config,
    stdin: str | bytes | None = None,
    *,
    fixes: bool | frozenset[str] = False,
    texts: Mapping[str, str] | None = None,
    past: Past | None = None,
    state: State | None = None,
    remembers: bool = True,
) -> tuple[Report, State | None]:
    """The same, and what it remembers of it: with this `state` the next check reads only what is another text by then.
    None where nothing is kept, or to be remembered.
    """
    project.forget()
    rules = pack.load(config.pack_folders)
    rules.places.forget()
    wanted = selection(config, rules.rules)
    found = find(paths, config)
    given = {os.path.abspath(path): text for path, text in (texts or {}).items()}
    if not all(map(is_text, found.paths)):
        # What is no text cannot be kept, nor told to another process.
        config = replace(config, cache=False, jobs=1)
    spelling = Spelling(config.stdin_filename if path == "-" else path for path in found.paths)
    warnings: tuple[str, ...] = ()
    with paused_collector():
        sources = [opened(path, config, stdin, given) for path in found.paths]
        if fixes is True and config.cache and len(sources) > 1:  # to read what has nothing to fix once more takes long
            first, state = checked(paths, config, stdin, texts=texts, past=past, state=state)
            fixes, warnings = frozenset(file_of(finding.site.path) for finding in first.findings), first.warnings
        asked = {s.path for s in sources if fixes is True or (fixes and spelling.of(s.path) in fixes)}
        begun = examine(sources, config, rules, frozenset(asked), given, state, remembers)
    plain = fixes is False and past is None and stdin is None
    if not plain:
        begun = replace(begun, memory=None)
    examined, end = together(begun, sources, given, rules, spelling)

    def shown(items: Sequence[Finding]) -> list[Finding]:
        return sorted((spelling.finding(finding) for finding in items if wanted.shows(finding)), key=order)

    findings = tuple(finding for items in end.findings for finding in shown(items))
    divided = divide(past, findings, sources, examined, config, rules.rules)
    read = [source for source in sources if source.note.state == "read"]
    report = Report(
        findings=divided.new,
        files=(*(replace(one.note, path=spelling.of(one.note.path)) for one in examined), *found.notes),
        functions=sum(one.functions for one in examined),
        hot_loops=sum(one.hot_loops for one in examined),
        hot=sum(one.hot for one in examined) + end.hot,
        left_out=sum(wanted.leaves_out(finding) for items in end.findings for finding in items),
        hot_alone=config.heat == "hot",
        doubted=sum(wanted.doubts(finding) for items in end.findings for finding in items),
        allowed=tuple(finding for items in end.allowed for finding in shown(items)),
        warnings=(begun.warning,) if begun.warning else warnings,
        texts={spelling.of(source.path): source.text for source in read} if fixes is not False else {},
        baselined=divided.known,
        entries=divided.entries,
        stale=divided.stale,
        rules=rules.rules,
        faults=tuple(one.fault for one in examined if one.fault),
    )
    return report, begun.state


def together(
    begun: Begun, sources: Sequence[Source], given: Mapping[str, str], rules: pack.Pack, spelling: Spelling
) -> tuple[list[Examined], End]:
    """Each file with what others bring about in it, and what all of them say of its findings: what they said the last
    time, where that is remembered."""
    alone, around, memory = begun.alone, begun.around, begun.memory
    words = {**around.words, **{one.note.path: one.words for one in alone}}
    if memory is not None:
        end = memory.end(Files(sources, given, words), rules.places)
        if end is not None:
            return alone, end
    calls, callers = _told({**around.calls, **{one.note.path: one.calls for one in alone}})
    files, hot = Files(sources, given, words), reached(calls, callers)
    leading = {fact.path for where, way in hot.items() if where[0] in spelling for fact in way}
    told = {one.note.path for one in alone if one.findings or one.allowed}
    ours = {source.path for source in sources}
    brought = [(one.note.path, f.site.path) for one in (*alone, *around.tellers) for f in one.caused]
    told |= {path for by, at in brought if at in ours for path in (by, at)}
    files.expect((path, calls.get(path, ())) for path in sorted(told))
    made = templates(told | leading, files, rules.places)
    examined = with_callers(alone, sources, around.tellers, rules.rules, made.made_into)
    examined = allowed_there(examined, around.tellers, files, rules.rules)
    if not made.made_into.keys().isdisjoint(leading):  # what stands in a template calls nothing, and passes nothing
        calls = {path: functions for path, functions in calls.items() if path not in made.made_into}
        callers = callers_in(calls)
        hot = reached(calls, callers)
    others = elsewhere(examined, calls, callers, hot, made, files, rules.places)
    end = End(
        tuple(tuple(others.told(one.findings, one)) for one in examined),
        tuple(tuple(others.told(one.allowed, one)) for one in examined),
        sum(where[0] in spelling for where in hot),
    )
    if memory is not None:
        memory.keep(end, files, rules.places)
    return examined, end


def _told(calls: dict[str, tuple[Function, ...]]) -> tuple[dict[str, tuple[Function, ...]], Callers]:
    """The calls, with the options of what they are known to be given, and who makes them."""
    callers = callers_in(calls)
    told = with_given(calls, callers)
    return told, callers if told is calls else callers_in(told)


def divide(
    past: Past | None,
    findings: tuple[Finding, ...],
    sources: Sequence[Source],
    examined: Sequence[Examined],
    config: Config,
    rules: tuple[Rule, ...],
) -> Divided:
    """The findings, by whether they were known in the past; what files held then is examined as they are."""
    if past is None:
        return Divided(findings)
    entries = entered(zip(examined, sources))
    known = past.entries
    if past.texts is not None:
        texts = dict(past.texts)
        texts |= {s.path: texts[real] for s in sources if (real := os.path.realpath(s.path)) in texts}
        having = {os.path.abspath(file_of(finding.site.path)) for finding in findings}
        calling = {one.note.path for one in examined if not having.isdisjoint(one.passes)}
        calling |= {fact.path for one in examined for f in one.findings if by_caller(f) for fact in f.because}
        files = {s.path: s for s in sources} | {path: read(path) for path in calling - {""} - {s.path for s in sources}}
        before = [
            decode(path, texts[path]) if path in texts else source
            for path, source in files.items()
            if path in having or path in calling
        ]
        then = workers.examine(before, replace(config, cache=False), given=texts)[0]
        then = with_callers(then, before, (), rules, ())
        known |= frozenset(entered(zip(then, before)).values())
    checked = (one.note.path for one in examined if one.note.state == "read")
    return divided(findings, entries, known, past.entries, checked)


def opened(path: str, config: Config, stdin: str | bytes | None, texts: Mapping[str, str]) -> Source:
    """One file, or standard input."""
    name = config.stdin_filename if path == "-" else path
    whole = os.path.abspath(name)
    return decode(whole, stdin or "") if path == "-" and whole not in texts else read(whole, texts)


def examine(
    sources: Sequence[Source],
    config: Config,
    rules: pack.Pack,
    fixes: frozenset[str],
    texts: Mapping[str, str],
    before: State | None,
    remembers: bool,
) -> Begun:
    """What was found in each source by itself; `before` is what this run knows, where there was one in this process,
    and it `remembers` for another.

    What is to be fixed is examined anew, and kept without its fixes; on disk nothing is where `texts` stand in for
    files.
    """
    if not config.cache:
        return Begun([*workers.examine(sources, config, fixes, texts)[0]])
    ahead = Ahead(sources, config, fixes, texts)
    file = store.file_of(config, rules.digest)
    state = before or table.load(file)
    given = {source.path for source in sources}
    remembered = state.table.examined
    callers = sorted(path for path in remembered.keys() - given if not given.isdisjoint(remembered[path].passes))
    digests = {source.path: digest(source.text) for source in sources if source.path not in fixes}
    digests |= {path: remembered[path].digest for path in callers if path not in texts and state.unchanged(path)}
    same = {*state.same(digests)}
    changed = [source for source in sources if source.path not in same]
    ahead.only(changed)
    known = store.still_true(state, digests, rules.places, texts)
    unsure = [read(path, texts) for path in callers if path not in known]
    doubtful = [source for source in sources if source.path in same and source.path not in known]
    fresh, interfaces = ahead.result([*doubtful, *unsure])
    known.update((one.note.path, one) for one in fresh)
    kept = {path: one for path, one in remembered.items() if path not in given and state.unchanged(path)}
    words = {path: one.words for path, one in kept.items() if path not in texts}
    tellers = [known[path] for path in callers]
    calls = {path: one.calls for path, one in kept.items()} | {one.note.path: one.calls for one in tellers}
    alone, around = [known[source.path] for source in sources], Around(tellers, calls, words)
    saves = bool(fresh) and not texts and before is None
    plain = not (remembers or texts or before or fixes)
    memory = memory_of(file, state, fresh, [source.path for source in sources], sorted(calls)) if plain else None
    if not (saves or remembers):
        return Begun(alone, around, memory=memory)
    more = store.grown(state, map(without_fixes, fresh), interfaces)
    warning = ""
    if saves:
        typed = {source.path for source in sources if not _on_disk(source, config)}
        told = replace(more, examined={path: one for path, one in more.examined.items() if path not in typed})
        warning = table.save(file, state, told)
    grown = state.grown(more) if remembers else None
    return Begun(alone, around, warning, grown, memory if not warning else None)


def _on_disk(source: Source, config: Config) -> bool:
    """Whether a file holds what was read as it: standard input may be another text under its name."""
    whole = os.path.abspath(config.stdin_filename)
    return source.path != whole or read(whole).text == source.text


def without_fixes(one: Examined) -> Examined:
    """What was found in a file as a check finds it that fixes nothing."""
    return replace(one, findings=tuple([replace(finding, fix=None) for finding in one.findings]))


def is_text(path: str) -> bool:
    """Whether a path is Unicode, which those of Linux need not be."""
    try:
        os.path.abspath(path).encode()
    except UnicodeEncodeError:
        return False
    return True


def beliefs(path: str, line: int, config: Config) -> tuple[Belief, ...]:
    """What inference believes of every expression on a line, and why; the path may name a cell of a notebook."""
    source = read(file_of(path))
    found = beliefs_in(source, line_in(source, path, line), config)
    return tuple((site_in(source, site), text, value, facts_in(source, why)) for site, text, value, why in found)


def on_line(path: str, line: int, config: Config) -> tuple[Finding, ...]:
    """The findings on a line, however cold or doubtful, and allowed ones; those that callers in other files bring about
    as far as earlier runs are remembered. The path may name a cell of a notebook."""
    report = check([file_of(path)], replace(config, heat="all", confidence="possible", jobs=1))
    found = [
        f
        for f in (*report.findings, *report.allowed)
        if f.site.path == path and f.site.line <= line <= f.site.end_line and f.op
    ]
    return tuple(sorted(found, key=order))


def beliefs_in(source: Source, line: int, config: Config) -> tuple[Belief, ...]:
    """The same of a text."""
    examiner = Examiner(config)
    return examiner.watched(source, line).beliefs(examiner.text_of)
