"""An attribute of which its class says nothing in, the setting out that it is: the constructor makes an attribute of
each of them, `for key in config: setattr(self, key, config[key])`, or hands it under its name to one that nobody sees,
`super().__init__(params, paged=paged)`."""

from __future__ import annotations

from collections.abc import Iterator

from syncguard.infer.branches.subjects import last_name
from syncguard.infer.classes import ClassInfo
from syncguard.infer.domain.values import Call
from syncguard.infer.routine import Routine
from syncguard.judge.around.bound import path_of
from syncguard.judge.defaults.defaults import Place, Written
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import CALL, FUNCTION, LOOP, NAME
from syncguard.read.walk import walk


def taken_over(classes: list[ClassInfo], name: str, place: Place) -> tuple[Written, ...]:
    """What an attribute of each of these classes is; nothing where one of them does not tell."""
    every = [next(_settings(info, place.routine), None) for info in classes]
    found = [one for one in every if one is not None]
    told = tuple([(core.Attr(of, name, f"{path_of(of)}.{name}", of.at), place.of(there)) for of, there in found])
    if len(found) == len(every):
        return told
    given = tuple([one for info in classes if (one := _handed_up(info, name, place)) is not None])
    return given if not found and len(given) == len(classes) else ()


def _handed_up(info: ClassInfo, name: str, place: Place) -> Written | None:
    """What a class hands under its name to the constructor of one above it that nobody sees."""
    makers = [member.routine for one in info.mro if type(member := one.members.get("__init__")) is Call]
    routine = makers[0] if len(makers) == 1 else None
    if routine is None or type(routine.node) is not FUNCTION or not any(True for _ in info.external()):
        return None
    if all(param.name != name for param in routine.node.params):
        return None
    place.routine.uses[routine.home.path, routine.qualname] = None
    for call in walk(routine.node.body):
        if type(call) is CALL and last_name(call.fn) == "__init__":
            given = (*call.args, *[value for _, value in call.keywords])
            handed = [value for value in given if type(value) is NAME and value.id == name]
            if handed:
                return handed[0], place.of(routine)
    return None


def _settings(info: ClassInfo, asker: Routine) -> Iterator[tuple[Node, Routine]]:
    """What the constructors of a class, the last one first, go through so."""
    for one in info.mro:
        member = one.members.get("__init__")
        routine = member.routine if type(member) is Call else None
        node = routine.node if routine is not None else None
        if routine is None or type(node) is not FUNCTION or not node.params or not _sets(node):
            continue
        asker.uses[routine.home.path, routine.qualname] = None
        for loop in walk(node.body):
            settings = _kept_by(loop, node.params[0].name) if type(loop) is LOOP else None
            if settings is not None:
                yield settings, routine


def _sets(node: core.Function) -> bool:
    return any(use.endswith("setattr") for use in node.uses.get(node.params[0].name, ()))


def _kept_by(loop: core.Loop, me: str) -> Node | None:
    """What a loop goes through that keeps each entry of it in the object, and does nothing else."""
    of, call = loop.iterable, _only_call(loop)
    if call is None or of is None:
        return None
    match loop.target, call:
        case core.Name(id=key), core.Call(
            args=(core.Name(id=mine), core.Name(id=name), core.Index(of=held, key=core.Name(id=same)))
        ):
            return of if (mine, name, same) == (me, key, key) and path_of(held) == path_of(of) != "" else None
        case core.Seq(items=(core.Name(id=key), core.Name(id=value))), core.Call(
            args=(core.Name(id=mine), core.Name(id=name), core.Name(id=given))
        ):
            return _of_items(of) if (mine, name, given) == (me, key, value) else None
    return None


def _only_call(loop: core.Loop) -> core.Call | None:
    """The `setattr` that is all that a loop does."""
    match loop.body:
        case (core.Run(value=core.Call(fn=core.Name(id="setattr")) as call),):
            return call
    return None


def _of_items(node: Node | None) -> Node | None:
    """What it is the items of: `config.items()`, `vars(config).items()`, `config.__dict__.items()`."""
    match node:
        case core.Call(fn=core.Attr(of=of, name="items"), args=()):
            match of:
                case core.Call(fn=core.Name(id="vars"), args=(held,)) | core.Attr(of=held, name="__dict__"):
                    return held
            return of
    return None
