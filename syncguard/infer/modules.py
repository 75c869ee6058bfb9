"""An import in, what it brings out: of the project's own files read when they are first needed, or a library's name."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import PurePath

from syncguard.infer.domain.lattice import join_all
from syncguard.infer.domain.values import UNKNOWN, Const, Later, Named, Seq, Source, Union, Value, options
from syncguard.infer.expressions.usage import Usage
from syncguard.infer.home import Home
from syncguard.infer.parts import ANY, NAMED, part_saying
from syncguard.infer.routine import Frame, Routine
from syncguard.pack import Pack
from syncguard.read import core, project
from syncguard.read.tags import BRING, MODULE
from syncguard.read.walk import walk

Load = Callable[[str], "core.Module | None"]
Says = Callable[[str, str], bool]  # whether the text of a file has a word


def nothing(path: str) -> core.Module | None:
    """Of a project whose other files cannot be read."""
    return None


def silent(path: str, word: str) -> bool:
    """Of a project whose other files cannot be read."""
    return False


class Modules(Usage):
    """The part of the world that follows imports.

    A file that is checked is analyzed for itself. What it imports of its own project is known by an *interface*: a
    second reading, shared by all that import it, which depends on nobody who does. So a file's findings are the same
    whether it is checked alone, with the rest, or by another worker.
    """

    def __init__(self, pack: Pack, version: str, load: Load, says: Says) -> None:
        super().__init__(pack, version)
        self.load, self.says = load, says
        self.interfaces: dict[str, Home | None] = {}
        self.bringing: list[Later] = []  # imports that are being followed
        self.half = 0  # answers by a module that is itself still being read: they are not kept

    def open(self, home: Home) -> None:
        raise NotImplementedError

    def interface(self, place: str) -> Home | None:
        """What a file of the project gives to those who import it; None where it cannot be read."""
        try:
            return self.interfaces[place]
        except KeyError:
            self.interfaces[place] = None
        module = self.load(place) if place.endswith(".py") else None
        if module is None:
            return None
        name, package = module_name(place)
        home = self.interfaces[place] = Home(place, name, module, package, own=False)
        self.open(home)
        return home

    def bring(self, frame: Frame, bound: str, module: str, name: str, level: int) -> None:
        """Bind an import."""
        home = frame.home
        place = project.relative(home.path, level, module) if level else project.absolute(home.path, module)
        full = absolute(home, module, level)
        home.asked[module, level] = place
        if name == "*":
            self.bring_all(frame, place, full)
        elif not place:
            frame.env[bound] = self.resolved(f"{full}.{name}" if name else full)
        elif not name:
            frame.env[bound] = Source(place, full)
        else:
            later = Later(place, name, full)
            at_top = type(frame.routine.node) is MODULE
            frame.env[bound] = later if at_top else self.brought(later, frame.routine)

    def module(self, name: str, level: int, home: Home) -> Value:
        """A module that a file brings in by its name: one of the project, or a library's."""
        place = project.relative(home.path, level, name) if level else project.absolute(home.path, name)
        home.asked[name, level] = place
        full = absolute(home, name, level)
        return Source(place, full) if place else Named(full)

    def first(self, home: Home, word: str, asker: Routine) -> Iterator[Home]:
        """The files with a word in them that Python runs before a function of this one is called: the packages that it
        is in, what they import, and what it imports itself. Who is imported by these is not followed."""
        level, package, packages = 1, project.relative(home.path, 1, ""), list[str]()
        while package.endswith(".py"):
            packages.append(package)
            asker.uses[package, ""] = None  # what it imports counts, too
            level, package = level + 1, project.relative(home.path, level + 1, "")
        around = [other for place in packages if (other := self.interface(place)) is not None]
        places = [place for importer in (home, *around) for place in imports_of(importer)]
        for place in dict.fromkeys((*packages, *places)):
            if place == home.path or not place.endswith(".py"):
                continue
            if not self.says(place, word):
                asker.uses[place, part_saying(word)] = None
            elif (other := self.interface(place)) is not None:
                asker.uses[place, ""] = None
                yield other

    def bring_all(self, frame: Frame, place: str, full: str) -> None:
        """`from module import *`: what `__all__` lists, or every name without an underscore."""
        other = self.interface(place) if place else None
        if other is None:
            frame.home.stars.append(full)
            return
        looks_for(ANY, place, frame.routine)
        if other.top is None or other.top.running:
            frame.home.circular.append(place)
            return
        frame.home.circular += [further for further in other.circular if further not in frame.home.circular]
        for name in sorted(name for name in other.env if exports(other, name)):
            held = other.env[name]
            ours = type(held) is Later and (held.place, held.name) == (frame.home.path, name)
            if not ours:  # what the other file has from here is here already
                frame.env[name] = held

    def starred(self, home: Home, name: str, asker: Routine, passed: tuple[str, ...] = ()) -> Value | None:
        """What a name stands for that came with everything of a file that was still being read: it is by now."""
        for place in home.circular:
            other = self.interfaces.get(place)
            if other is None or other is home or place in passed:
                continue
            looks_for(NAMED + name, place, asker)
            self.half += other.half
            held = other.env.get(name) if exports(other, name) else None
            if held is not None:
                return self.brought(held, asker)
            further = self.starred(other, name, asker, (*passed, place))
            if further is not None:
                return further
        return None

    def brought(self, value: Value, asker: Routine) -> Value:
        """What an imported name stands for, found when it is first used."""
        if type(value) is Union:
            return join_all([self.brought(option, asker) for option in options(value)])
        if type(value) is not Later:
            return value
        looks_for(NAMED + value.name, value.place, asker)
        if value.found is not None:
            return value.found
        if value in self.bringing:
            self.half += 1
            return UNKNOWN
        self.bringing.append(value)
        half = self.half
        found = self.member(Source(value.place, value.module), value.name, asker)
        self.bringing.pop()
        if half == self.half:
            value.found = found
        return found

    def member(self, source: Source, name: str, asker: Routine) -> Value:
        """`module.name`: what the module's top level binds, or a module in the package."""
        looks_for(NAMED + name, source.place, asker)
        other = self.interface(source.place)
        held = other.env.get(name) if other is not None else None
        self.half += other is not None and other.half
        if type(held) is Later and (held.place, held.name) == (source.place, name):
            held = None  # `from . import name` in the package itself: the module of this name
        if held is not None and other is not None and other.top is not None:
            asker.uses.update(other.top.uses)
            return self.brought(held, asker)
        late = self.starred(other, name, asker) if other is not None and other.circular else None
        if late is not None:
            return late
        inner = project.submodule(source.place, name)
        if inner:
            return Source(inner, f"{source.name}.{name}")
        if other is not None:
            for library in other.stars:
                if self.op(f"{library}.{name}") is not None:
                    return self.resolved(f"{library}.{name}")
        return self.resolved(f"{source.name}.{name}")


def looks_for(part: str, place: str, asker: Routine) -> None:
    """Note that a name, or any, was looked for in a file, whether it is there or not: all around the functions counts
    with it."""
    asker.uses[place, part] = None


def imports_of(home: Home) -> Iterator[str]:
    """The files of the project that a file imports where it is imported itself."""
    for part in walk(home.core.body):
        for _, module, name in part.names if type(part) is BRING else ():
            level = part.level if type(part) is BRING else 0
            place = project.relative(home.path, level, module) if level else project.absolute(home.path, module)
            yield place
            yield project.submodule(place, name) if place and name else ""


def exports(home: Home, name: str) -> bool:
    """Whether a module gives a name to those who import everything: if `__all__` lists it, or by its look."""
    listed = home.env.get("__all__")
    if type(listed) is Seq and listed.items is not None:
        return any(type(item) is Const and item.value == name for item in listed.items)
    return not name.startswith("_") and "." not in name


def absolute(home: Home, module: str, level: int) -> str:
    """The full name of a module imported with leading dots."""
    if not level:
        return module
    parts = home.name.split(".")
    base = parts[: len(parts) - (level - home.package)]
    return ".".join([*base, module] if module else base)


def module_name(path: str) -> tuple[str, bool]:
    """A file's dotted name, by the packages around it, and whether it is a package itself."""
    pure = PurePath(path)
    parts = [] if pure.stem == "__init__" else [pure.stem]
    folder = os.path.dirname(os.path.abspath(path))
    while "__init__.py" in project.listing(folder):
        folder, last = os.path.split(folder)
        parts.insert(0, last)
    return ".".join(parts) or pure.stem, pure.stem == "__init__"
