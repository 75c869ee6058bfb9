"""One file in, what was found in it out; what it imports of its project is read once for all files."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from syncguard import house, pack
from syncguard.cache.cores import Cores, Lowered, lowered
from syncguard.collector import paused_collector
from syncguard.config import Config
from syncguard.examined import Asked, Cited, Examined, Interface
from syncguard.infer.beliefs import Watch
from syncguard.infer.building import builds_on_device
from syncguard.infer.functions.replaced import replaced_by
from syncguard.infer.home import Home
from syncguard.infer.modules import module_name
from syncguard.infer.parts import digest, part_saying, quoted, whole_parts, words_of
from syncguard.infer.project import World
from syncguard.infer.routine import Frame, Routine
from syncguard.infer.sightings import Context
from syncguard.judge.around.calling import Callers
from syncguard.judge.callers.behind import Behind
from syncguard.judge.callers.functions import functions_of
from syncguard.judge.callers.led import Ways
from syncguard.judge.callers.resting import rests_of
from syncguard.judge.caused import caused_by
from syncguard.judge.heat.heat import warmths
from syncguard.judge.judge import findings_of
from syncguard.judge.options.asking import asking
from syncguard.judge.options.made_with import asked_of_made
from syncguard.judge.options.making import making
from syncguard.read import allow, core
from syncguard.read.cells import sound_cells
from syncguard.read.core import Module
from syncguard.read.lower import Unreadable
from syncguard.read.notebook import cell_path, facts_in, in_cells
from syncguard.read.source import FileNote, Source, read
from syncguard.read.words import numbers_of
from syncguard.selection import Selection, selection
from syncguard.terms import Fact, Finding


class Examiner:
    """Examines files one after another, in a world that keeps what it has read of their project."""

    def __init__(
        self, config: Config, fixes: frozenset[str] = frozenset(), given: Mapping[str, str | bytes] | None = None
    ) -> None:
        self.config, self.fixes, self.given = config, fixes, given or {}
        self.rules = pack.load(config.pack_folders)
        self.wanted: Selection = selection(config, self.rules.rules)
        self.texts: dict[str, str] = {}
        self.lines: dict[str, list[str]] = {}  # of the texts that are quoted for one file
        self.digests: dict[str, str] = {}
        self.lowered: dict[str, core.Module | None] = {}
        self.parts: dict[str, dict[str, str]] = {}  # of the files whose core was kept
        self.words: dict[str, tuple[str, dict[str, str]]] = {}  # of files that were only searched: digests, and parts
        self.cores = Cores(config)
        self.world = self.begun()

    def begun(self, on_device: bool = False) -> World:
        """A world that knows of no file yet; what names no device is built on one where that is said."""
        device = "assumed" if on_device or self.config.default_device == "cuda" else "host"
        world = World(self.rules, device, self.config.torch_version, self.core, self.says)
        world.all_there = self.config.default_device == "cuda"
        return world

    def examine(self, source: Source) -> Examined:
        """Everything that there is to say of one file by itself."""
        if source.note.state != "read":
            broken = source.note.state == "broken"
            found = (house.unreadable(source.path, source.note.reason),) if broken else ()
            return Examined(source.note, findings=found)
        with paused_collector():
            try:
                return self.inferred(source)
            except Unreadable as fault:
                sound, faults = sound_cells(source)
                if faults:
                    return with_cells(source, self.examine(sound), faults)
                finding = in_cells(source, house.unreadable(source.path, fault.reason, fault.line, fault.column))
                note = FileNote(source.path, "broken", finding.message)
                standing = self.world.places.standing(source.path)
                return Examined(note, self.digests[source.path], (finding,), standing=standing)
            except Exception as fault:
                self.world = self.begun()  # what was known may be half known now
                return failed(source.path, fault)

    def inferred(self, source: Source) -> Examined:
        """The findings of a file that can be read. Raises `Unreadable`."""
        home, shared = self.home(source), self.world
        if builds_on_device(home.core.body, shared.places):
            self.world = self.begun(on_device=True)  # for this file alone: others build where they did
        try:
            self.world.infer(home)
            examined = self.judged(home, source)
            self.world.leave(home)
        finally:
            self.world = shared
        self.lines.clear()
        if source.path not in self.world.interfaces:
            self.fold(source.path)
        return examined

    def watched(self, source: Source, line: int) -> Watch:
        """What inference believes of the expressions on a line, collected."""
        try:
            home = self.home(source)
        except Unreadable:
            source, faults = sound_cells(source)
            if not faults:
                raise
            home = self.home(source)
        if builds_on_device(home.core.body, self.world.places):
            self.world = self.begun(on_device=True)
        watch = self.world.watch = Watch(source.path, line)
        self.world.infer(home)
        return watch

    def text_of(self, path: str) -> Sequence[str]:
        """The lines of a file that was read; none of another."""
        lines = self.lines.get(path)
        if lines is None and path in self.texts:
            lines = self.lines[path] = self.texts[path].split("\n")
        return lines or ()

    def home(self, source: Source) -> Home:
        """A file to be checked. Raises `Unreadable`."""
        module = self.lowered.get(source.path) if self.texts.get(source.path) == source.text else None
        if module is None:  # not read yet, or read from the disk where the user gives another text
            module = self.read(source)
        name, package = module_name(source.path)
        return Home(source.path, name, module, package)

    def core(self, path: str) -> core.Module | None:
        """The core of a file that another one imports; None where it cannot be read."""
        if path not in self.lowered:
            source = read(path, self.given)
            try:
                self.lowered[path] = self.read(source) if source.note.state == "read" else None
            except Unreadable:
                self.lowered[path] = None
        self.keep(path)
        return self.lowered[path]

    def says(self, path: str, word: str) -> bool:
        """Whether a file of the project that can be read has a word, for which it need not be parsed."""
        if path not in self.words:
            text = self.texts[path] if path in self.texts else read(path, self.given).text
            self.words[path] = digest(text), words_of(text)
        return bool(self.words[path][1][part_saying(word)])

    def keep(self, path: str) -> None:
        """Keep the core of a file that others import: another process may need it in a moment, the next run does."""
        module = self.lowered[path]
        if module is not None and self.config.cache and path not in self.parts:
            self.parts[path] = whole_parts(module, self.texts[path])
            if path not in self.given:  # such a text may be gone with the next key
                self.cores.put(self.digests[path], Lowered(self.parts[path], module))

    def fold(self, path: str) -> None:
        """Put away what was read of a file until somebody imports it: a core takes ten times its place on disk."""
        module = self.lowered.pop(path)
        if module is not None:
            self.cores.hold(self.digests[path], Lowered(self.parts.pop(path, {}), module))
        del self.texts[path]

    def read(self, source: Source) -> Module:
        """The core of a file, as it was kept or lowered now. Raises `Unreadable`."""
        self.texts[source.path], told = source.text, digest(source.text)
        self.lines.pop(source.path, None)
        self.digests[source.path] = told
        kept = self.cores.get(told)
        self.parts.pop(source.path, None)
        if kept is not None and kept.parts:
            self.parts[source.path] = kept.parts
        module = self.lowered[source.path] = kept.module if kept is not None else lowered(source.text)
        return module

    def judged(self, home: Home, source: Source) -> Examined:
        """The findings of a file that has been run."""
        routines = [*home.routines, *([home.top] if home.top is not None else [])]
        config, places = self.config, self.world.places
        test = places.is_test(home.path)
        warmth = warmths(routines, places, config.hot, config.cold, self.decorators, self.replaced)
        callers = Callers(home)
        every = findings_of(home, self.world, self.rules, warmth, self.text_of, callers)
        behind = Behind(callers, self.world, self.text_of, warmth)
        outcome = allow.settle(source, every, self.rules.rules, self.wanted.codes_for(source.path))
        shown = self.rewritten((*outcome.kept, *outcome.notes), source, home)
        kept, allowed = (tuple(in_cells(source, finding) for finding in found) for found in (shown, outcome.covered))

        def around(routine: Routine, context: Context) -> tuple[Fact, ...]:
            return facts_in(source, behind.around(routine, context))

        makes = making(home, self.world, around) if not test else {}
        asked = asking(home, self.world, around) if not test else {}
        ways = Ways(warmth, callers, self.world, self.text_of)
        calls = functions_of(
            home, routines, warmth, test, places,
            lambda routine: facts_in(source, behind.of(routine)) if matters(routine) or routine in makes else (),
            around, makes, asked, ways,
        )  # fmt: skip
        caused, passes = caused_by(warmth, self.world, self.rules, self.config.cold, self.text_of, callers)
        whole = not source.cells
        needs, wants = (ways.needed(), ways.asked()) if whole else ({}, {})
        told = frozenset([(one.site.line, one.site.column) for one in kept if one.heat != "cold"])
        lone = [one for one in home.routines if warmth[one].heat == "unknown" or warmth[one].here]
        rests = rests_of(home, self.world, lone, told, calls, self.text_of) if told and whole else {}
        used = dict.fromkeys(used for routine in routines for used in routine.uses)
        callers.others.clear()  # it knows itself
        return Examined(
            source.note,
            self.digests[source.path],
            findings=kept,
            allowed=allowed,
            functions=len(home.routines),
            hot=sum(warmth[routine].heat == "hot" for routine in home.routines),
            hot_loops=0 if test else sum(len(routine.stepping) for routine in routines),
            calls=calls,
            asked=asked_by(home),
            uses=tuple(part for part in used if part[0] != home.path),
            cites=self.cited(home, (*every, *caused)),
            caused=caused,
            passes=passes,
            words=numbers_of(source.text),
            needs=needs,
            wants=wants,
            kept=asked_of_made(home.routines, self.world, callers, self.text_of) if whole and not test else {},
            rests=rests,
            standing=self.world.places.standing(source.path),
        )

    def cited(self, home: Home, findings: Iterable[Finding]) -> tuple[Cited, ...]:
        """What findings quote of other files than this one."""
        found: dict[str, set[int]] = defaultdict(set)
        for finding in findings:
            found[finding.site.path].add(finding.site.line)
            for fact in finding.because:
                found[fact.path or finding.site.path].add(fact.line)
        places = ((path, tuple(sorted(found[path]))) for path in sorted(found.keys() - {home.path}))
        return tuple((path, numbers, quoted(self.text_of(path), numbers)) for path, numbers in places)

    def rewritten(self, findings: tuple[Finding, ...], source: Source, home: Home) -> tuple[Finding, ...]:
        """The findings with their fixes, where these are asked for: a check that fixes nothing parses nothing twice."""
        shown = [finding for finding in findings if self.wanted.shows(finding)]
        if source.path not in self.fixes or not shown:
            return findings
        from syncguard.fix.propose import proposed

        return (*proposed(shown, source, home, self.world, self.rules), *(f for f in findings if f not in shown))

    def interfaces(self) -> dict[str, Interface]:
        """The files that were read because others import them; none where nothing is kept of them."""
        if not self.config.cache:
            return {}
        found = {path: Interface(told, parts, {}, ()) for path, (told, parts) in self.words.items()}
        found |= {path: self.told(home) for path, home in self.world.interfaces.items() if home is not None}
        self.cores.trim()
        return found

    def told(self, home: Home) -> Interface:
        """What is kept of a file that was read because others import it, and its core for the next run."""
        self.keep(home.path)
        uses = {r.qualname: tuple(r.uses) for r in (*home.routines, home.top) if r is not None and r.uses}
        return Interface(self.digests[home.path], self.parts[home.path], uses, asked_by(home))

    def replaced(self, routine: Routine) -> str:
        """The decorator that may find another function to run in the place of this one."""
        return replaced_by(routine, self.world)

    def decorators(self, routine: Routine) -> tuple[str, ...]:
        """The dotted names of what decorates a function: `torch.compile` makes it hot."""
        if type(routine.node) is not core.Function or not routine.node.decorators:
            return ()
        frame = Frame(self.world, routine, {})
        return tuple(self.world.decorator_name(decorator, frame) for decorator in routine.node.decorators)


def failed(path: str, fault: Exception) -> Examined:
    """A file that an error of ours leaves unchecked: the others are checked all the same."""
    import traceback

    return unchecked(path, house.internal(fault), "".join(traceback.format_exception(fault)))


def unchecked(path: str, reason: str, fault: str) -> Examined:
    """A file that is told to be unchecked for a reason, with all that is known of what went wrong."""
    return Examined(FileNote(path, "broken", reason), findings=(house.unreadable(path, reason),), fault=fault)


def with_cells(source: Source, examined: Examined, faults: Mapping[int, Unreadable]) -> Examined:
    """A notebook of which some cells cannot be parsed: each is told, and the others are checked."""
    told = [
        house.unreadable(cell_path(source.path, number), fault.reason, fault.line, fault.column)
        for number, fault in faults.items()
    ]
    return replace(examined, digest=digest(source.text), findings=(*examined.findings, *told))


def asked_by(home: Home) -> tuple[Asked, ...]:
    return tuple((module, level, place) for (module, level), place in home.asked.items())


def matters(routine: Routine) -> bool:
    """Whether it is told of what a function stands behind: something waits there, or in another file that it calls."""
    return bool(routine.sightings) or any(callee.home is not routine.home for callee in routine.calls)
