"""One file in, what was found in it out; what it imports of its project is read once for all files."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from dataclasses import replace

import msgspec

from syncguard import house, pack, places
from syncguard.config import Config
from syncguard.infer.beliefs import Watch
from syncguard.infer.project import World
from syncguard.infer.resolve import module_name
from syncguard.infer.routine import Frame, Home, Routine
from syncguard.judge.heat import warmths
from syncguard.judge.judge import findings_of
from syncguard.judge.reach import Function, functions_of
from syncguard.read import allow, core
from syncguard.read.lower import Unreadable, lower
from syncguard.read.notebook import in_cells
from syncguard.read.source import FileNote, Source, read
from syncguard.selection import Selection, selection
from syncguard.terms import Fact, Finding


class Owned(msgspec.Struct, frozen=True, array_like=True):
    """A finding, and the line of the def that it stands in."""

    finding: Finding
    line: int


class Examined(msgspec.Struct, frozen=True, array_like=True):
    """What was found in one file, before anything is known of the files that import it."""

    note: FileNote
    findings: tuple[Owned, ...] = ()
    allowed: tuple[Owned, ...] = ()
    functions: int = 0
    hot: int = 0
    calls: tuple[Function, ...] = ()
    asked: tuple[
        tuple[str, str, int, str], ...
    ] = ()  # imports: the file that asks, the module, its dots, the file found
    uses: tuple[str, ...] = ()  # files of the project whose contents count


class Examiner:
    """Examines files one after another, in a world that keeps what it has read of their project."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.rules = pack.load(config.pack_folders)
        self.wanted: Selection = selection(config, self.rules.rules)
        self.texts: dict[str, list[str]] = {}
        self.cores: dict[str, core.Module | None] = {}
        device = "assumed" if config.default_device == "cuda" else "host"
        self.world = World(self.rules, places.load(pack.home()), device, config.torch_version, self.core)

    def examine(self, source: Source) -> Examined:
        """Everything that there is to say of one file by itself."""
        if source.note.state != "read":
            broken = source.note.state == "broken"
            return Examined(source.note, owned((house.unreadable(source.path, source.note.reason),) if broken else ()))
        with paused_collector():
            try:
                home = self.home(source)
            except Unreadable as fault:
                finding = house.unreadable(source.path, fault.reason, fault.line, fault.column)
                return Examined(FileNote(source.path, "broken", finding.message), owned((finding,)))
            self.world.infer(home)
            return self.judged(home, source)

    def watched(self, source: Source, line: int) -> Watch:
        """What inference believes of the expressions on a line, collected."""
        watch = self.world.watch = Watch(source.path, line)
        self.world.infer(self.home(source))
        return watch

    def home(self, source: Source) -> Home:
        """A file to be checked. Raises `Unreadable`."""
        self.texts[source.path] = source.text.split("\n")
        module = self.cores.get(source.path)
        if module is None:
            module = self.cores[source.path] = lower(source.text)
        name, package = module_name(source.path)
        return Home(source.path, name, module, package)

    def core(self, path: str) -> core.Module | None:
        """The core of a file that another one imports; None where it cannot be read."""
        if path not in self.cores:
            source = read(path)
            try:
                self.cores[path] = lower(source.text) if source.note.state == "read" else None
            except Unreadable:
                self.cores[path] = None
            self.texts[path] = source.text.split("\n")
        return self.cores[path]

    def judged(self, home: Home, source: Source) -> Examined:
        """The findings of a file that has been run."""
        routines = [*home.routines, *([home.top] if home.top is not None else [])]
        warmth = warmths(routines, self.world.places, self.config.hot, self.config.cold, self.decorators)
        every = findings_of(home, self.world, self.rules, warmth, lambda path: self.texts.get(path, ()))
        outcome = allow.settle(source, tuple(f for f, _ in every), self.rules.rules, self.wanted.codes_for(source.path))
        lines = {id(finding): line for finding, line in every}
        uses, asked = self.looked_into(home)
        return Examined(
            source.note,
            tuple(Owned(in_cells(source, f), lines.get(id(f), 0)) for f in (*outcome.kept, *outcome.notes)),
            tuple(Owned(in_cells(source, f), lines.get(id(f), 0)) for f in outcome.covered),
            len(home.routines),
            sum(warmth[routine].heat == "hot" for routine in home.routines),
            functions_of(home, routines, warmth),
            asked,
            uses,
        )

    def looked_into(self, home: Home) -> tuple[tuple[str, ...], tuple[tuple[str, str, int, str], ...]]:
        """The files of the project that what was found here rests on, and all that was looked up on the way."""
        seen: dict[str, Home] = {home.path: home}
        todo = [home]
        while todo:
            for place in todo.pop().uses:
                other = self.world.interfaces.get(place)
                if other is not None and place not in seen:
                    seen[place] = other
                    todo.append(other)
        asked = sorted(
            (path, module, level, place)
            for path, other in seen.items()
            for (module, level), place in other.asked.items()
        )
        return tuple(sorted(seen.keys() - {home.path})), tuple(asked)

    def decorators(self, routine: Routine) -> tuple[str, ...]:
        """The dotted names of what decorates a function: `torch.compile` makes it hot."""
        if type(routine.node) is not core.Function or not routine.node.decorators:
            return ()
        frame = Frame(self.world, routine, {})
        return tuple(self.world.decorator_name(decorator, frame) for decorator in routine.node.decorators)


def owned(findings: Sequence[Finding]) -> tuple[Owned, ...]:
    return tuple(Owned(finding, 0) for finding in findings)


def warmed(item: Owned, path: str, reached: dict[tuple[str, int], tuple[Fact, ...]]) -> Finding:
    """A finding in a function that another file may have made hot."""
    way = reached.get((path, item.line)) if item.finding.heat == "unknown" else None
    return item.finding if way is None else replace(item.finding, heat="hot", hot_path=way)


class paused_collector:
    """Everything here lives to the end, so the garbage collector would only walk it again and again."""

    def __enter__(self) -> None:
        self.was = gc.isenabled()
        gc.disable()

    def __exit__(self, *_: object) -> None:
        if self.was:
            gc.enable()
