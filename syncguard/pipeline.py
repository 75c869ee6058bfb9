"""The whole of `check`: paths and a configuration in, a report out. Read this page first."""

from __future__ import annotations

import gc
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from syncguard import house, pack, places
from syncguard.config import Config
from syncguard.infer.beliefs import Belief, Watch
from syncguard.infer.project import World
from syncguard.infer.resolve import module_name
from syncguard.infer.routine import Frame, Home, Routine
from syncguard.infer.tell import Texts
from syncguard.judge.heat import Warmth, warmths
from syncguard.judge.judge import findings_of
from syncguard.pack import Pack
from syncguard.read import allow, core
from syncguard.read.find import find
from syncguard.read.lower import Unreadable, lower
from syncguard.read.notebook import in_cells
from syncguard.read.source import FileNote, Source, decode, read
from syncguard.selection import Selection, selection
from syncguard.terms import Finding


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
    rules = pack.load(config.pack_folders)
    wanted = selection(config, rules.rules)
    found = find(paths, config)
    sources = [opened(path, config, stdin, texts or {}) for path in found.paths]
    with paused_collector():
        homes, broken = lowered(sources)
        world = inferred(homes, rules, config)
        warmth = warmths(
            (r for home in homes for r in routines(home)),
            world.places,
            config.hot,
            config.cold,
            lambda r: decorators(r, world),
        )
        lines = {home.path: source.text.split("\n") for home, source in homes.items()}
        findings = [finding for finding in broken if wanted.shows(finding)]
        allowed: list[Finding] = []
        for home, source in homes.items():
            kept, excused = settled(home, source, world, rules, warmth, wanted, lambda path: lines.get(path, []))
            asked = fixes if isinstance(fixes, bool) else source.path in fixes
            findings += rewrites(kept, source, home, world, rules) if asked else kept
            allowed += excused
    unread = {finding.site.path: finding.message for finding in broken}
    notes = (*(noted(source, unread) for source in sources), *found.notes)
    functions = [r for home in homes for r in home.routines]
    hot = sum(warmth[r].heat == "hot" for r in functions)
    read_texts = {file.path: file.text for file in homes.values()} if fixes else {}
    return Report(placed(findings, sources), notes, len(functions), hot, placed(allowed, sources), read_texts)


def beliefs(path: str, line: int, config: Config) -> tuple[Belief, ...]:
    """What inference believes of every expression on a line, and why."""
    rules = pack.load(config.pack_folders)
    source = read(path)
    homes, _ = lowered([source])
    world = world_of(homes, rules, config)
    watch = world.watch = Watch(path, line)
    world.infer(homes)
    return watch.beliefs(source.text.split("\n"))


def opened(path: str, config: Config, stdin: str | bytes | None, texts: Mapping[str, str]) -> Source:
    """One file, or standard input."""
    name = config.stdin_filename if path == "-" else path
    if name in texts:
        return decode(name, texts[name])
    return decode(name, stdin or "") if path == "-" else read(path)


def rewrites(findings: list[Finding], source: Source, home: Home, world: World, rules: Pack) -> list[Finding]:
    """The findings with their fixes. Loaded only here: a check that fixes nothing parses nothing twice."""
    if not findings:
        return findings
    from syncguard.fix.propose import proposed

    return proposed(findings, source, home, world, rules)


def lowered(sources: Sequence[Source]) -> tuple[dict[Home, Source], list[Finding]]:
    """Every file that can be parsed as core; the others as findings."""
    homes: dict[Home, Source] = {}
    broken: list[Finding] = []
    for source in sources:
        if source.note.state == "broken":
            broken.append(house.unreadable(source.path, source.note.reason))
        if source.note.state != "read":
            continue
        try:
            core = lower(source.text)
        except Unreadable as fault:
            broken.append(house.unreadable(source.path, fault.reason, fault.line, fault.column))
            continue
        name, package = module_name(source.path)
        homes[Home(source.path, name, core, package)] = source
    return homes, broken


def inferred(homes: dict[Home, Source], rules: Pack, config: Config) -> World:
    """The world that these files make, run until nothing new is learnt."""
    world = world_of(homes, rules, config)
    world.infer(homes)
    return world


def world_of(homes: dict[Home, Source], rules: Pack, config: Config) -> World:
    """The world of these files, with nothing run yet."""
    world = World(
        rules, places.load(pack.home()), "assumed" if config.default_device == "cuda" else "host", config.torch_version
    )
    for home in homes:
        world.add(home)
    return world


def settled(
    home: Home,
    source: Source,
    world: World,
    rules: Pack,
    warmth: dict[Routine, Warmth],
    wanted: Selection,
    text_of: Texts,
) -> tuple[list[Finding], list[Finding]]:
    """The findings of a file that the user wants to see, and those that a comment allows."""
    every = findings_of(home, world, rules, warmth, text_of)
    outcome = allow.settle(source, every, rules.rules, wanted.codes_for(source.path))
    return [f for f in (*outcome.kept, *outcome.notes) if wanted.shows(f)], [
        f for f in outcome.covered if wanted.shows(f)
    ]


def noted(source: Source, unread: dict[str, str]) -> FileNote:
    """What became of a file: one whose text was read may still not parse."""
    fault = unread.get(source.path)
    return FileNote(source.path, "broken", fault) if fault and source.note.state == "read" else source.note


def placed(findings: Sequence[Finding], sources: Sequence[Source]) -> tuple[Finding, ...]:
    """In order of file and place, those in a notebook moved into their cells."""
    files = {source.path: (number, source) for number, source in enumerate(sources)}
    ordered = sorted(findings, key=lambda f: (files[f.site.path][0], f.site, f.code))
    return tuple(in_cells(files[finding.site.path][1], finding) for finding in ordered)


def routines(home: Home) -> list[Routine]:
    return [*home.routines, *([home.top] if home.top is not None else [])]


def decorators(routine: Routine, world: World) -> tuple[str, ...]:
    """The dotted names of what decorates a function: `torch.compile` makes it hot."""
    if type(routine.node) is not core.Function or not routine.node.decorators:
        return ()
    frame = Frame(world, routine, {})
    return tuple(world.decorator_name(decorator, frame) for decorator in routine.node.decorators)


class paused_collector:
    """Everything here lives to the end, so the garbage collector would only walk it again and again."""

    def __enter__(self) -> None:
        self.was = gc.isenabled()
        gc.disable()

    def __exit__(self, *_: object) -> None:
        if self.was:
            gc.enable()
