"""A file in, the classes of the project that its functions name out, with the options that each stands behind there: to
make an object, or to have another file make one."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from typing import Final

from msgspec.structs import replace

from syncguard.infer.branches.passing import given, is_default, positional, unpacks
from syncguard.infer.classes import ClassInfo
from syncguard.infer.domain.values import UNKNOWN, ClassOf, Later, Source, Value, options
from syncguard.infer.domain.values import Call as Bound
from syncguard.infer.expressions.attributes import decorators
from syncguard.infer.home import Home
from syncguard.infer.modules import absolute
from syncguard.infer.project import World
from syncguard.infer.routine import Routine
from syncguard.infer.sightings import Context
from syncguard.infer.stores import maker_of
from syncguard.judge.around.called import Called, Gift, Where
from syncguard.judge.around.keeping import keeping
from syncguard.judge.around.naming import lines_with, namings
from syncguard.judge.defaults.alone import seen_above
from syncguard.judge.options.common import shared_by_all
from syncguard.judge.options.made_with import gives_all
from syncguard.read import project
from syncguard.read.core import Bring, Call, Param
from syncguard.read.tags import ATTR, BRING, CALL, CONST, FUNCTION, NAME
from syncguard.read.walk import around
from syncguard.terms import Fact

ANYWHERE: Final = ""  # the file of a class of which nothing but its name is known
DEEPEST: Final = 8  # files that hand an import on


def making(
    home: Home, world: World, around: Callable[[Routine, Context], tuple[Fact, ...]]
) -> dict[Routine, tuple[Called, ...]]:
    """By the functions that name them, these classes."""
    known = dict(_known(home, world))
    lines: dict[Routine, dict[int, str]] = {}
    found: dict[Routine, list[Called]] = {}
    called = _calls(known, home) if known else {}
    for name, every in namings(home, known, lines_with({name.rpartition(".")[2] for name in known}, home)).items():
        by: dict[Routine, list[tuple[Fact, ...]]] = {}
        first: dict[Routine, int] = {}
        kept: dict[Routine, set[str]] = {}
        for routine, tests, line in every:
            who = routine or home.top
            if who is not None and not _hands_out(who):
                told = around(who, Context(tests=tests)) if tests and routine is not None else ()
                by.setdefault(who, []).append(told)
                first.setdefault(who, line)
                if who not in lines:
                    lines[who] = keeping(who)
                kept.setdefault(who, set()).add(lines[who].get(line, ""))
        has = by and name in called
        left, gives = _left(name, called[name], len(every), home, world) if has else (frozenset[str](), ())
        for who, told_by_each in by.items():
            path, which = known[name]
            where = (path, which, first[who])
            shared, attribute = shared_by_all(told_by_each), "".join(kept[who]) if len(kept[who]) == 1 else ""
            named = Called(*where, rare=True, options=shared, left=tuple(sorted(left)))
            found.setdefault(who, []).append(replace(named, gives=gives, kept=attribute))
    return {who: tuple(calls) for who, calls in found.items()}


def _left(
    name: str, calls: list[Call], named: int, home: Home, world: World
) -> tuple[frozenset[str], tuple[Gift, ...]]:
    """The arguments of a constructor that every object which a file makes of a class has at their defaults, and what is
    written for all; none where the file does anything else with the class, or where something may make one unseen."""
    held = world.brought(home.env[name], home.top) if name in home.env and home.top is not None else UNKNOWN
    info = held.info if type(held) is ClassOf else None
    if info is None or home.top is None:
        return frozenset(), ()
    calls = [call for call in calls if info.home is not home or not around(info.node.at, call.at)]
    maker = maker_of(info) if len(calls) >= named else None
    if maker is None or type(maker.node) is not FUNCTION or _made_unseen(info, world):
        return frozenset(), ()
    home.top.uses.update({**info.elsewhere, (maker.home.path, maker.qualname): None})
    params = [param for param in maker.node.params if type(param.default) is CONST]
    places = positional(maker.node)[1:]
    left = frozenset([param.name for param in params if all(_leaves(call, param, places) for call in calls)])
    return left, gives_all(calls, maker.node.params[1:], places, home)


def _calls(names: Container[str], home: Home) -> dict[str, list[Call]]:
    """The calls of what has one of these names; of what a text has the name of, too, none."""
    found: dict[str, list[Call]] = {}
    texts = set[str]()
    for part in home.pieces:
        if type(part) is CALL and type(part.fn) is NAME and part.fn.id in names:
            found.setdefault(part.fn.id, []).append(part)
        elif type(part) is CONST and isinstance(part.value, str) and part.value in names:
            texts.add(part.value)
    return {name: calls for name, calls in found.items() if name not in texts}


def _leaves(call: Call, param: Param, places: list[Param]) -> bool:
    return not unpacks(call) and all(is_default(value, param) for value in given(call, param, places, False))


def _made_unseen(info: ClassInfo, world: World) -> bool:
    """Whether others may make objects of a class than those who name it: what a decorator hands it to, a class above it
    that nobody sees, or a method that is called on the class."""
    members = [member for one in info.mro for member in one.members.values()]
    made = any(type(one) is Bound and "classmethod" in decorators(one) for one in members)
    return made or bool(info.node.decorators) or not seen_above(info, world.places)


def _hands_out(routine: Routine) -> bool:
    """Whether a function gives the names of its file to those who ask for them, as an import does."""
    return routine.name == "__getattr__" and routine.owner is None


def _known(home: Home, world: World) -> Iterator[tuple[str, Where]]:
    """The names of a file for classes of the project, or for what may be one, each with the class."""
    brings = [part for part in home.pieces if type(part) is BRING]
    inner = {bound: held for bring in brings for bound, held in _from_project(bring, home) if bound not in home.env}
    modules = set[str]()
    for name, held in {**inner, **home.env}.items():
        told = _told(held, home, world)
        if type(told) is Source:
            modules.add(name)
        elif (found := _class(told)) is not None:
            yield name, found
    for part in home.pieces if modules else ():
        if type(part) is ATTR and part.name[:1].isupper() and part.path.partition(".")[0] in modules:
            yield part.path, (ANYWHERE, part.name)


def _from_project(bring: Bring, home: Home) -> Iterator[tuple[str, Value]]:
    """What an import of the project binds."""
    for bound, module, name in bring.names:
        level = bring.level
        place = project.relative(home.path, level, module) if level else project.absolute(home.path, module)
        full = absolute(home, module, level)
        if place and name != "*":
            yield bound, Later(place, name, full) if name else Source(place, full)


def _told(held: Value, home: Home, world: World) -> Value:
    """What a name of the file stands for, as far as that has been read: no file is read for this alone."""
    return world.brought(held, home.top) if home.top is not None and _is_read(held, world) else held


def _is_read(held: Value, world: World) -> bool:
    """Whether the files have been read by which an import leads to what it brings in."""
    for _ in range(DEEPEST):
        if type(held) is not Later or held.found is not None:
            return True
        if held.place not in world.interfaces:
            return False
        other = world.interfaces[held.place]
        held = other.env.get(held.name, UNKNOWN) if other is not None else UNKNOWN
    return True


def _class(held: Value) -> Where | None:
    """The class that this is; where it is not known, any may be that has its name."""
    if type(held) is Later:
        return (ANYWHERE, held.name) if held.name[:1].isupper() else None
    classes = [one.info for one in options(held) if type(one) is ClassOf]
    if not classes:
        return None
    one = classes[0]
    return (one.home.path, one.qualname) if len(classes) == 1 else (ANYWHERE, one.name)
