"""The whole of `check --fix`: paths, a configuration and the tiers wanted in, new texts and the report on them out."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from syncguard import pipeline
from syncguard.config import Config
from syncguard.fix.apply import applied, chosen
from syncguard.fix.imports import unneeded
from syncguard.fix.permit import permitted
from syncguard.fix.propose import parses
from syncguard.judge.baseline import Past
from syncguard.pipeline import Report
from syncguard.read.notebook import file_of
from syncguard.read.source import decode, read
from syncguard.terms import Edit, Finding, Site, Tier

PASSES = 500
SAFE: frozenset[Tier] = frozenset(("safe",))
UNSAFE: frozenset[Tier] = frozenset(("safe", "unsafe"))
Ask = Callable[[Finding, str, str], bool]  # of a finding and its file's text before and after: make this fix?
Key = tuple[str, str, str, str, str]
Named = tuple[Key, int]  # the n-th of those that nothing else tells from one another
Names = Mapping[tuple[Site, str], Named]  # of findings by their place and code
Function = tuple[str, str]  # a file and a function in it
Wave = dict[str, list[Finding]]  # the findings of each file whose fixes are made in one pass


class Fixed(msgspec.Struct, frozen=True):
    """What fixing came to: the report on the new texts, the texts before and after, the findings whose fix was made."""

    report: Report
    texts: Mapping[str, tuple[str, str]]
    made: tuple[Finding, ...] = ()
    permitted: tuple[Finding, ...] = ()
    waiting: int = 0  # fixes that only --unsafe-fixes makes

    @property
    def changed(self) -> dict[str, tuple[str, str]]:
        return {path: pair for path, pair in self.texts.items() if pair[0] != pair[1]}


class Work(msgspec.Struct):
    """The state between two passes."""

    texts: dict[str, str] = {}
    made: list[Finding] = []
    answers: dict[tuple[Named, str], bool] = {}  # what the user said of a fix by its recipe
    refused: set[Named] = set()
    alone: set[Function] = set()  # in which fixes are made one at a time
    grown: bool = False  # whether a fix was made since the last look at all of them
    stale: set[str] = set()  # files that read what a fix in another one has changed

    def looks_again(self) -> bool:
        """Whether what was refused may be tried once more, for a fix was made since; forgets that it was refused."""
        again = self.grown and bool(self.refused or self.alone)
        if again:
            self.refused, self.alone, self.grown = set(), set(), False
        return again

    def moved(self, report: Report) -> frozenset[str]:
        """The files with findings in which to look for fixes again: they read what a fix has changed. Forgets them."""
        paths = {file_of(finding.site.path) for finding in report.findings}
        found = frozenset([path for path in paths if os.path.abspath(path) in self.stale])
        self.stale = set()
        return found

    def hold_back(self, refused: set[Function], wave: Wave, names: Names) -> None:
        """What did not help is not tried again for now; where it may be either of several, one is made at a time."""
        for place in refused:
            bad = [finding for finding in wave[place[0]] if finding.function == place[1]]
            if len(bad) > 1:
                self.alone.add(place)
            else:
                self.refused |= {names[finding.site, finding.code] for finding in bad}

    def keep(self, wave: Wave, names: Names, texts: dict[str, str]) -> None:
        """The fixes of a pass were made: of what says the same as their findings there is one less each."""
        fixed = [finding for findings in wave.values() for finding in findings]
        gone = [names[finding.site, finding.code] for finding in fixed]
        self.made += fixed
        self.refused = {left for one in self.refused if (left := _closed(one, gone))}
        answers = {(_closed(one, gone), recipe): said for (one, recipe), said in self.answers.items()}
        self.answers = {(left, recipe): said for (left, recipe), said in answers.items() if left is not None}
        self.texts, self.grown = texts, True


def fixed(
    paths: Sequence[str],
    config: Config,
    stdin: str | bytes | None,
    tiers: frozenset[Tier],
    ask: Ask | None = None,
    past: Past | None = None,
) -> Fixed:
    """Make fixes until none is left; those that touch the same code wait for the next pass. Nothing is written.

    What was refused beside others, or before others, is tried again until a look at all that is left makes no fix: so
    a second run makes none either. What was known in the `past` stays as it is.
    """
    done = _fixed(paths, remembering(config), stdin, tiers, ask, past)
    return done if config.cache else replace(done, report=replace(done.report, warnings=()))


def _fixed(
    paths: Sequence[str],
    config: Config,
    stdin: str | bytes | None,
    tiers: frozenset[Tier],
    ask: Ask | None,
    past: Past | None,
) -> Fixed:
    report, state = pipeline.checked(paths, config, stdin, fixes=True, past=past)
    first, warnings = report.texts, report.warnings
    work = Work()
    for _ in range(PASSES):
        now = {**first, **work.texts}
        names = named(report, now)
        answers = len(work.answers)
        wave = _wave(report, now, tiers, work, ask, names)
        if not wave:
            if len(work.answers) > answers or work.looks_again():
                continue  # what was declined stood before others
            again = work.moved(report)
            if not again:
                break
            after, state = pipeline.checked(paths, config, stdin, fixes=again, texts=work.texts, past=past, state=state)
            report = carried(report, after, again)
            continue
        texts = work.texts | {path: applied(now[path], _edits(findings)) for path, findings in wave.items()}
        changed = frozenset(wave)
        after, state = pipeline.checked(paths, config, stdin, fixes=changed, texts=texts, past=past, state=state)
        after = carried(report, after, changed)
        if refused := _refused(wave, report, after, texts):
            work.hold_back(refused, wave, names)  # and back to the texts before this pass
        else:
            work.keep(wave, names, texts)
            work.stale |= state.latest() - {os.path.abspath(path) for path in wave} if state is not None else set()
            report = after
    if tidy := _tidied(first, work.texts):
        work.texts = work.texts | tidy
        changed = frozenset(tidy)
        after, _ = pipeline.checked(paths, config, stdin, fixes=changed, texts=work.texts, past=past, state=state)
        report = carried(report, after, changed)
    others = {f.fix.edits for f in report.findings if f.fix is not None and f.fix.tier == "unsafe"}
    waiting = len(others) if tiers == SAFE else 0
    pairs = {path: (text, work.texts.get(path, text)) for path, text in first.items()}
    return Fixed(replace(report, warnings=warnings), pairs, tuple(work.made), waiting=waiting)


def remembering(config: Config) -> Config:
    """Settings with a cache, for what is checked again and again: where none is wanted, one that is on no disk."""
    return config if config.cache else replace(config, cache=True, cache_dir=os.devnull)


def _tidied(first: Mapping[str, str], texts: Mapping[str, str]) -> dict[str, str]:
    """The texts of the files in which fixes leave imports without a use, without these."""
    now = {**first, **texts}
    found: dict[str, str] = {}
    for path, text in texts.items():
        others = (other for name, other in now.items() if name != path)
        after = applied(text, unneeded(path, first[path], text, others))
        if after != text and parses(after):
            found[path] = after
    return found


def permitting(
    paths: Sequence[str], config: Config, stdin: str | bytes | None, reason: str, past: Past | None, done: Fixed | None
) -> Fixed:
    """Write at the statement of each finding that is left that it is allowed, and why. Nothing is written to a file."""
    fixed_texts = {path: after for path, (_, after) in done.changed.items()} if done is not None else {}
    report = done.report if done is not None else pipeline.check(paths, config, stdin, past=past)
    pairs = dict(done.texts) if done is not None else {}
    texts = dict(fixed_texts)
    for path in dict.fromkeys(file_of(finding.site.path) for finding in report.findings):
        given = fixed_texts.get(path, stdin if stdin is not None and path == config.stdin_filename else None)
        source = decode(path, given) if given is not None else read(path)
        if source.note.state != "read" or not parses(source.text):
            continue
        here = [finding for finding in report.findings if finding.site.path == path]
        after = applied(source.text, permitted(source, here, reason))
        if after != source.text and parses(after):
            texts[path] = after
            pairs[path] = (pairs[path][0] if path in pairs else source.text, after)
    after_all = pipeline.check(paths, config, stdin, texts=texts, past=past) if texts else report
    left = Counter(key(finding, "") for finding in after_all.findings)  # the comment changes the line
    gone = Counter(key(finding, "") for finding in report.findings) - left
    allowed = [finding for finding in dict.fromkeys(report.findings) if gone[key(finding, "")]]
    return Fixed(after_all, pairs, done.made if done else (), tuple(allowed), done.waiting if done else 0)


def carried(before: Report, after: Report, changed: frozenset[str]) -> Report:
    """The later report with the fixes of the earlier one for the findings of the files that have not changed."""
    known = {(f.site, f.code): f.fix for f in before.findings if f.fix is not None and f.site.path not in changed}
    return replace(after, findings=tuple(replace(f, fix=f.fix or known.get((f.site, f.code))) for f in after.findings))


def _wave(
    report: Report,
    texts: Mapping[str, str],
    tiers: frozenset[Tier],
    work: Work,
    ask: Ask | None,
    names: Names,
) -> Wave:
    """The fixes of one pass; what the user is asked of them is noted."""
    found: Wave = {}
    fixable = [wanted(finding, tiers) for finding in report.findings if finding.fix is not None]
    for path in dict.fromkeys(finding.site.path for finding in fixable):
        here = [f for f in fixable if f.site.path == path and names[f.site, f.code] not in work.refused]
        here = [f for f in here if work.answers.get(asked(f, names), True)]
        taken: set[str] = set()
        for finding in chosen(here, tiers):
            assert finding.fix is not None
            if finding.function in taken and (path, finding.function) in work.alone:
                continue
            told = asked(finding, names)
            if ask is not None and told not in work.answers:
                work.answers[told] = ask(finding, texts[path], applied(texts[path], finding.fix.edits))
            if work.answers.get(told, True):
                taken.add(finding.function)
                found.setdefault(path, []).append(finding)
    return found


def wanted(finding: Finding, tiers: frozenset[Tier]) -> Finding:
    """A finding with the fix that is best for these tiers."""
    fix = finding.fix
    if fix is not None and fix.bolder is not None and fix.bolder.tier in tiers:
        return replace(finding, fix=fix.bolder)
    return finding


def _refused(wave: Wave, before: Report, after: Report, texts: Mapping[str, str]) -> set[Function]:
    """The functions that have more findings than their fixes promise, or of which the file is no Python any more."""
    had, has = (Counter((f.site.path, f.function) for f in report.findings) for report in (before, after))
    saved: Counter[Function] = Counter()
    for path, findings in wave.items():
        for finding in findings:
            saved[path, finding.function] += 1 - (finding.fix.leaves if finding.fix is not None else 0)
    return {place for place, number in saved.items() if has[place] > had[place] - number or not parses(texts[place[0]])}


def named(report: Report, texts: Mapping[str, str]) -> dict[tuple[Site, str], Named]:
    """Every finding by its place, with what tells it from others though lines move: the first of two that say the same
    may be refused and the second made."""
    lines = {path: text.split("\n") for path, text in texts.items()}
    found: dict[tuple[Site, str], Named] = {}
    count: Counter[Key] = Counter()
    for finding in report.findings:
        told = key(finding, "\n".join(lines.get(finding.site.path, ())[finding.site.line - 1 : finding.site.line]), 1)
        found[finding.site, finding.code] = told, count[told]
        count[told] += 1
    return found


def _closed(one: Named, gone: Sequence[Named]) -> Named | None:
    """The same finding when others that say the same are gone; None where it is gone itself."""
    if one in gone:
        return None
    told, number = one
    return told, number - sum(other == told and n < number for other, n in gone)


def key(finding: Finding, text: str, line: int = 0) -> Key:
    """What tells most findings from others though lines move: of its file's text, at this line, its own line too."""
    at = line or finding.site.line
    here = text.split("\n")[at - 1 : at]
    return finding.site.path, finding.function, finding.code, finding.message, "".join(here).strip()


def asked(finding: Finding, names: Names) -> tuple[Named, str]:
    """What tells a fix from others of the same finding."""
    return names[finding.site, finding.code], finding.fix.recipe if finding.fix is not None else ""


def _edits(findings: Sequence[Finding]) -> list[Edit]:
    return [edit for finding in findings if finding.fix is not None for edit in finding.fix.edits]
