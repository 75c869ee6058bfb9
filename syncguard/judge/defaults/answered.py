"""What a class of settings is asked in, `settings.exact.on()`, what it answers unless somebody sets it out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from syncguard.infer.branches.subjects import held_at
from syncguard.infer.classes import ClassInfo
from syncguard.infer.domain.values import Call, ClassOf
from syncguard.judge.defaults.defaults import Place
from syncguard.judge.defaults.fields import all_stored
from syncguard.judge.defaults.turned import enters, turned_on
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, BIND, CONST, FUNCTION, IF, LEAVE, NAME, RUN

DEEPEST: Final = 4  # methods that ask one another


class Answer(msgspec.Struct, frozen=True):
    """What is answered."""

    value: Any


def answer_of(call: core.Call, place: Place) -> Answer | None:
    """What a method says that is called on a class with nothing; None where that does not tell."""
    fn = call.fn
    if call.args or call.keywords or type(fn) is not ATTR or type(fn.of) not in (NAME, ATTR):
        return None
    held = held_at(fn.of, place.frame)
    return _said(fn.name, held.info, place, 0) if type(held) is ClassOf else None


def _said(name: str, info: ClassInfo, place: Place, deep: int) -> Answer | None:
    """What a method of a class says, as far as what the class holds decides it."""
    member = info.find(name)
    routine = member[0].routine if member is not None and type(member[0]) is Call else None
    node = routine.node if routine is not None else None
    if routine is None or type(node) is not FUNCTION or len(node.params) != 1 or deep > DEEPEST:
        return None
    place.routine.uses.update(info.elsewhere)
    place.routine.uses[routine.home.path, routine.qualname] = None
    me = node.params[0].name
    for part in node.body:
        if type(part) is IF and not part.orelse:
            told = _value(part.test, me, info, place, deep)
            if told is None:
                return None
            if not told.value:
                continue
            part = part.body[0] if len(part.body) == 1 else part
        elif type(part) is RUN and type(part.value) is CONST:  # its docstring
            continue
        returns = type(part) is LEAVE and part.what == "return" and part.value is not None
        return _value(part.value, me, info, place, deep) if type(part) is LEAVE and returns else None
    return None


def _value(node: Node | None, me: str, info: ClassInfo, place: Place, deep: int) -> Answer | None:
    match node:
        case core.Const(value=value):
            return Answer(value)
        case core.Attr(path=path, name=name) if path == f"{me}.{name}" and name not in place.callers.set:
            stored = all_stored(info, name, place)
            on = turned_on(info, stored, place) or (stored and enters(info, place))
            return next(_held(name, info), None) if not on else None
        case core.Call(fn=core.Attr(path=path, name=name), args=(), keywords=()) if path == f"{me}.{name}":
            return _said(name, info, place, deep + 1)
        case core.Do(what="truth" | "not" as what, args=(of,)):
            told = _value(of, me, info, place, deep)
            return Answer(bool(told.value) is (what == "truth")) if told is not None else None
        case core.Do(what="is" | "is not" as what, args=(of, core.Const(value=None))):
            told = _value(of, me, info, place, deep)
            return Answer((told.value is None) is (what == "is")) if told is not None else None
        case core.Choose(test=test, yes=yes, no=no):
            told = _value(test, me, info, place, deep)
            return _value(yes if told.value else no, me, info, place, deep) if told is not None else None
    return None


def _held(name: str, info: ClassInfo) -> Iterator[Answer]:
    """What the body of a class, or of one that it descends from, gives an attribute."""
    for one in info.mro:
        for part in one.node.body:
            if type(part) is BIND and any(type(aim) is NAME and aim.id == name for aim in part.targets):
                if type(part.value) is CONST:
                    yield Answer(part.value.value)
                return
