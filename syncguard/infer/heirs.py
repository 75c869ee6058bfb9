"""A class and a name in, what the classes of its file that descend from it make of that name out."""

from __future__ import annotations

from typing import Final

from syncguard.infer.branches.subjects import last_name
from syncguard.infer.classes import ClassInfo
from syncguard.infer.domain.lattice import pooled
from syncguard.infer.domain.values import Call, ClassOf, Instance, Named, Value, options
from syncguard.infer.routine import Routine
from syncguard.read import core
from syncguard.read.tags import CONST, FUNCTION, LEAVE, RUN

MOST: Final = 6  # overriding methods of which a call may be any
ABSTRACT: Final = ("abstractmethod", "abstractproperty")


def overriding(method: Routine, receiver: Value | None, reader: Routine) -> list[Routine]:
    """The methods that a call leads to of one that is there to be overridden; none where there is no telling."""
    info = receiver.info if type(receiver) is Instance and receiver.name != "super" else None
    if info is None or not (unwritten(method) or _empty(method) or info.find(method.name) is None):
        return []
    if not info.home.own:
        reader.uses[info.home.path, ""] = None  # other classes may stand there tomorrow
    members = [heir.members.get(method.name) for heir in heirs(info)]
    found = [member.routine for member in members if type(member) is Call and not unwritten(member.routine)]
    found = [one for one in found if one is not method]
    return found if len(found) <= MOST else []


def below(of: Instance, info: ClassInfo, name: str, reader: Routine) -> Value | None:
    """An attribute that only heirs assign, or a method that only they have; either, where some do one and some do the
    other."""
    held = _assigned(info, name, reader)
    called = held is None or any(type(option) is Instance or type(option) is Call for option in options(held))
    written = _written_below(info, name) if called and reader.home.own else None
    if written is None:
        return held
    return Call(written, of) if held is None else pooled(held, Call(written, of))


def _written_below(info: ClassInfo, name: str) -> Routine | None:
    """A method that a class asks itself for, which only heirs have; None where one above it may that nobody sees."""
    if any(type(base) is not ClassOf and type(base) is not Named for one in info.mro for base in one.bases):
        return None
    bare, known = info.world.places.is_, ("torch.nn.Module",)
    if not all(base in known or bare("names", "bare_bases", base) for base in info.external()):
        return None
    if any(info.world.op(f"{base}.{name}") is not None for base in info.libraries()):
        return None
    members = [heir.members.get(name) for heir in heirs(info)]
    found = [one.routine for one in members if type(one) is Call and not unwritten(one.routine)]
    plain = [one for one in found if type(one.node) is FUNCTION and not one.node.decorators]
    return found[0] if plain and len(plain) == len(found) else None


def _assigned(info: ClassInfo, name: str, reader: Routine) -> Value | None:
    """What an attribute holds that only heirs assign."""
    found: Value | None = None
    for heir in heirs(info):
        value = heir.attribute(name, reader)
        if value is not None:
            found = value if found is None else pooled(found, value)
    return found


def heirs(info: ClassInfo) -> list[ClassInfo]:
    return [one for one in info.home.classes if one is not info and info in one.mro]


def unwritten(method: Routine) -> bool:
    """Whether a method is declared to be abstract, and has no body, or does nothing but raise."""
    node = method.node
    if type(node) is not FUNCTION:
        return False
    body = _done(node)
    if not body:
        return any(last_name(one) in ABSTRACT for one in node.decorators)
    return all(type(part) is LEAVE and part.what == "raise" for part in body)


def _empty(method: Routine) -> bool:
    """Whether a method does nothing, and is told of something: a hook, for those below to put something in."""
    node = method.node
    return type(node) is FUNCTION and len(node.params) > 1 and not _done(node)


def _done(node: core.Function) -> list[core.Node]:
    """What a body does, without its texts."""
    return [part for part in node.body if not (type(part) is RUN and type(part.value) is CONST)]
