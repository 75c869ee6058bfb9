"""The whole of `check`: paths and a configuration in, a report out. Read this page first."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from syncguard import pack, store, table, workers
from syncguard.ahead import Ahead
from syncguard.callers import with_callers
from syncguard.collector import paused_collector
from syncguard.config import Config
from syncguard.examine import Examined, Examiner
from syncguard.infer.beliefs import Belief
from syncguard.infer.parts import digest
from syncguard.judge.baseline import Divided, Entry, Past, divided, entered
from syncguard.judge.brought import as_brought
from syncguard.judge.called import Function, Where
from syncguard.judge.caused import by_caller
from syncguard.judge.gated import gated
from syncguard.judge.idle import idle
from syncguard.judge.led_there import There
from syncguard.judge.made import made_behind, with_options
from syncguard.judge.opted import off_by_default
from syncguard.judge.processes import gpuless
from syncguard.judge.reach import behind, reached
from syncguard.judge.warmth import SLOWER, UNASKED, UNCALLED, UNNAMED, for_callers, for_hot_code
from syncguard.mentions import Mentions
from syncguard.read import project
from syncguard.read.find import find
from syncguard.read.notebook import facts_in, file_of, line_in, order, site_in
from syncguard.read.source import FileNote, Source, decode, read
from syncguard.read.spelling import Spelling
from syncguard.selection import selection
from syncguard.templates import templates
from syncguard.terms import Fact, Finding, Rule
from syncguard.texts import Files
from syncguard.unheard import unheard
from syncguard.unnamed import left_to, uncalled, unnamed


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
    faults: tuple[str, ...] = ()  # the tracebacks of errors of ours: each left one file unchecked


class Around(msgspec.Struct, frozen=True):
    """What is known of the files that are not checked: those that pass something to these as they were examined, and of
    all that are remembered what they call, and their words."""

    tellers: list[Examined] = []
    calls: dict[str, tuple[Function, ...]] = {}
    words: dict[str, bytes] = {}


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
    project.forget()
    rules = pack.load(config.pack_folders)
    wanted = selection(config, rules.rules)
    found = find(paths, config)
    given = {os.path.abspath(path): text for path, text in (texts or {}).items()}
    if not all(map(is_text, found.paths)):
        # What is no text cannot be kept, nor told to another process.
        config = replace(config, cache=False, jobs=1)
    spelling = Spelling(config.stdin_filename if path == "-" else path for path in found.paths)
    with paused_collector():
        sources = [opened(path, config, stdin, given) for path in found.paths]
        asked = {s.path for s in sources if fixes is True or (fixes and spelling.of(s.path) in fixes)}
        alone, around, warning = examine(sources, config, rules, frozenset(asked), given)
    calls = {**around.calls, **{one.note.path: one.calls for one in alone}}
    words = {**around.words, **{one.note.path: one.words for one in alone}}
    files, hot = Files(sources, given, words), reached(calls)
    callers = {fact.path for where, way in hot.items() if where[0] in spelling for fact in way}
    told = {one.note.path for one in alone if one.findings or one.allowed}
    checked = {source.path for source in sources}
    brought = [(one.note.path, f.site.path) for one in (*alone, *around.tellers) for f in one.caused]
    told |= {path for by, at in brought if at in checked for path in (by, at)}
    made = templates(told | callers, files, rules.places)
    examined = with_callers(alone, sources, around.tellers, rules.rules, made.made_into)
    if not made.made_into.keys().isdisjoint(callers):  # what stands in a template calls nothing, and passes nothing
        calls = {path: functions for path, functions in calls.items() if path not in made.made_into}
        hot = reached(calls)
    there = There(calls, hot)
    unsure = frozenset(unsettled(examined))
    elsewhere = gpuless(calls, unsure, Mentions(files, rules.places))
    optional = behind(calls, elsewhere)
    made_for = made_behind(calls, with_findings(examined))
    seldom = idle(calls, hot, rules.places, public=True)
    known = left_to(unsure, calls, seldom, files, rules.places)
    hosted = {**idle(calls, hot, rules.places), **{where: seldom[where] for where in known}, **elsewhere}
    rare = gated(calls, hot, hosted)
    rare = {where: rare[where] for where in left_to(unsure, calls, rare, files, rules.places)}
    unused = unnamed((one.note.path for one in examined if has_unknown(one)), files, rules.places)
    unknown = [*of_unknown_heat(examined)]
    lonely = uncalled(((path, f.name) for path, f in unknown if f.alone), files, rules.places)
    nobody_yet = unheard(unknown, calls, files)

    def heated(one: Examined, items: Sequence[Finding]) -> list[Finding]:
        told = [with_options(item, (one.note.path, item.function), optional, made_for) for item in items]
        warm = [warmed(item, one, there, hosted, rare) for item in told]
        warm = [unless_set(as_brought(finding, calls, hot)) for finding in warm]
        warm = [*map(unless_unused, warm)] if one.note.path in unused else warm
        warm = [unless_unused(f, UNCALLED) if (one.note.path, f.function) in lonely else f for f in warm]
        warm = [unless_heard(f, nobody_yet.get((one.note.path, f.function), "")) for f in warm]
        return [made.told(finding, one.note.path) for finding in warm if not for_hot_code(finding.hot_path)]

    def shown(items: Sequence[Finding]) -> list[Finding]:
        return sorted((spelling.finding(finding) for finding in items if wanted.shows(finding)), key=order)

    warm = [heated(one, one.findings) for one in examined]
    findings = tuple(finding for items in warm for finding in shown(items))
    divided = divide(past, findings, sources, examined, config, rules.rules)
    read = [source for source in sources if source.note.state == "read"]
    return Report(
        findings=divided.new,
        files=(*(replace(one.note, path=spelling.of(one.note.path)) for one in examined), *found.notes),
        functions=sum(one.functions for one in examined),
        hot_loops=sum(one.hot_loops for one in examined),
        hot=sum(one.hot for one in examined) + sum(where[0] in spelling for where in hot),
        left_out=sum(wanted.leaves_out(finding) for items in warm for finding in items),
        allowed=tuple(finding for one in examined for finding in shown(heated(one, one.allowed))),
        warnings=(warning,) if warning else (),
        texts={spelling.of(source.path): source.text for source in read} if fixes else {},
        baselined=divided.known,
        entries=divided.entries,
        stale=divided.stale,
        rules=rules.rules,
        faults=tuple(one.fault for one in examined if one.fault),
    )


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
    sources: Sequence[Source], config: Config, rules: pack.Pack, fixes: frozenset[str], texts: Mapping[str, str]
) -> tuple[list[Examined], Around, str]:
    """What was found in each source, what is known of other files, and why the cache is not written.

    What is to be fixed is examined anew, and kept without its fixes; nothing is where `texts` stand in for files.
    """
    if not config.cache:
        return [*workers.examine(sources, config, fixes, texts)[0]], Around(), ""
    ahead = Ahead(sources, config, fixes, texts)
    file = store.file_of(config, rules.digest)
    state = table.load(file)
    given = {source.path for source in sources}
    remembered = state.table.examined
    callers = sorted(path for path in remembered.keys() - given if not given.isdisjoint(remembered[path].passes))
    digests = {source.path: digest(source.text) for source in sources if source.path not in fixes}
    digests |= {path: remembered[path].digest for path in callers if path not in texts and state.unchanged(path)}
    same = {*state.same(digests)}
    changed = [source for source in sources if source.path not in same]
    ahead.only(changed)
    known = store.still_true(state, digests, texts)
    unsure = [read(path, texts) for path in callers if path not in known]
    doubtful = [source for source in sources if source.path in same and source.path not in known]
    fresh, interfaces = ahead.result([*doubtful, *unsure])
    known.update((one.note.path, one) for one in fresh)
    kept = {path: one for path, one in remembered.items() if path not in given and state.unchanged(path)}
    words = {path: one.words for path, one in kept.items() if path not in texts}
    tellers = [known[path] for path in callers]
    calls = {path: one.calls for path, one in kept.items()} | {one.note.path: one.calls for one in tellers}
    warning = ""
    if fresh and not texts:
        warning = table.save(file, state, store.grown(state, map(without_fixes, fresh), interfaces))
    return [known[source.path] for source in sources], Around(tellers, calls, words), warning


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


def warmed(
    finding: Finding,
    one: Examined,
    there: There,
    hosted: dict[Where, Fact],
    rare: dict[Where, tuple[Fact, ...]],
) -> Finding:
    """A finding in a function that another file may have made hot, or that only setup, or processes without a GPU,
    call, or steps now and then."""
    where = (one.note.path, finding.function)
    if not may_be_told(finding):
        return finding
    if where in rare:
        return replace(finding, heat="amortized", hot_path=rare[where]) if finding.heat == "unknown" else finding
    if where in hosted:
        return replace(finding, heat="cold", hot_path=(hosted[where],))
    way = there.to(where, one.needs.get((finding.site.line, finding.site.column), ()))
    return replace(finding, heat="hot", hot_path=way) if way else finding


def may_be_told(finding: Finding) -> bool:
    """Whether another file may say how often this runs."""
    return finding.heat == "unknown" or (finding.heat in SLOWER and for_callers(finding.hot_path))


def unless_set(finding: Finding) -> Finding:
    """A finding where nobody is known to set the option that it needs, and nothing to run it at every step, as one of
    what runs now and then."""
    if finding.heat != "unknown" or not any(map(off_by_default, finding.options)):
        return finding
    return replace(finding, heat="amortized", hot_path=(Fact(UNASKED, 0),))


def has_unknown(one: Examined) -> bool:
    """Whether a file alone leaves open how often something in it runs."""
    return any(finding.heat == "unknown" for finding in (*one.findings, *one.allowed))


def unsettled(examined: Sequence[Examined]) -> Iterator[Where]:
    """The functions that hold something of which another file may say how often it runs."""
    for one in examined:
        yield from {(one.note.path, f.function) for f in (*one.findings, *one.allowed) if may_be_told(f)}


def of_unknown_heat(examined: Sequence[Examined]) -> Iterator[tuple[str, Function]]:
    """The functions that hold something of unknown heat, each with its file."""
    for one in examined:
        held = {finding.function for finding in (*one.findings, *one.allowed) if finding.heat == "unknown"}
        yield from [(one.note.path, function) for function in one.calls if function.name in held]


def unless_unused(finding: Finding, why: str = UNNAMED) -> Finding:
    """A finding in what nothing in its package names, a private module or function, as one of what runs seldom if at
    all."""
    return replace(finding, heat="cold", hot_path=(Fact(why, 0),)) if finding.heat == "unknown" else finding


def unless_heard(finding: Finding, told: str) -> Finding:
    """A finding in what nothing calls yet, with what is said of that: it may be unused, or there for others."""
    return replace(finding, hot_path=(Fact(told, 0),)) if told and finding.heat == "unknown" else finding


def with_findings(examined: Sequence[Examined]) -> Iterator[Where]:
    """The functions that hold something."""
    for one in examined:
        yield from {(one.note.path, finding.function) for finding in (*one.findings, *one.allowed)}


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
