"""A place in a method in, the attribute of its object out that must list a text for the place to be reached, as each
call gives one of what it lists: `for kind in self.kinds: self.score(x, kind)`, `if kind == "points":`; and an
expression in, the texts out of which it lists none but some."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from syncguard.infer.branches.asking import spelled_out
from syncguard.infer.branches.meant import binders, necessary, plainly
from syncguard.infer.branches.passing import given, positional, unpacks
from syncguard.infer.classes import ClassInfo
from syncguard.infer.home import Home
from syncguard.infer.routine import Routine
from syncguard.infer.sightings import Context
from syncguard.judge.around.calling import call_at
from syncguard.judge.defaults.defaults import Place, bound
from syncguard.read import core
from syncguard.read.core import At, Node
from syncguard.read.tags import ATTR, BIND, CALL, CONST, FUNCTION, LOOP, NAME, SEQ
from syncguard.read.walk import around, everything, walk

LISTS: Final = ("tuple", "list", "set", "sorted")
LOOKS: Final = ("len", "isinstance", "enumerate", "print", "str", "repr", "any", "all", "frozenset")
GROWS: Final = ("append", "add")
COUNTS: Final = ("index", "count", "copy")
KNOWN: Final = GROWS + COUNTS
READS: Final = LISTS + LOOKS
DEEPEST: Final = 3  # calls and names that an expression is followed through


class Listed(msgspec.Struct, frozen=True):
    """The attribute that must list a text, and the line of the method that asks for the text."""

    attribute: core.Attr
    text: str
    line: int


def must_list(context: Context, owner: ClassInfo, place: Place) -> list[Listed]:
    """What must be listed for a place in a method to be reached: asked there, or around all calls of the method."""
    routine = place.routine
    asked = _compared(context, routine, place)
    calls = place.callers.of_each.get(routine, ())
    if calls and all(caller.owner is owner for caller, _, _ in calls):
        around_each = [_compared(each, caller, place) for caller, _, each in calls]
        asked += [one for one in around_each[0] if all(_alike(one, other) for other in around_each)]
    found = [(_lister(method, name, owner, place), text, line) for method, name, text, line in asked]
    return [Listed(attribute, text, line) for attribute, text, line in found if attribute is not None]


Asked = tuple[Routine, str, str, int]  # a method, its parameter, the text that this must be, and the line


def _alike(one: Asked, others: list[Asked]) -> bool:
    return any(one[:3] == other[:3] for other in others)


def _compared(context: Context, routine: Routine, place: Place) -> list[Asked]:
    """The parameters of a method that must be a text for a place in it to be reached."""
    node = routine.node
    names = [param.name for param in node.params] if type(node) is FUNCTION else []
    found: list[Asked] = []
    for written, wanted in context.tests if names else ():
        for test, outcome in necessary(spelled_out(written, place.frame), wanted):
            match plainly(test, outcome):
                case core.Do(what="==", args=(core.Name(id=name), core.Const(value=str() as text))), True:
                    if name in names and not binders(routine).get(name):
                        found.append((routine, name, text, test.at[0]))
    return found


def _lister(method: Routine, name: str, owner: ClassInfo, place: Place) -> core.Attr | None:
    """The attribute of which all calls of a method in its class give a parameter one of what it lists."""
    calls = place.callers.of_each.get(method, ())
    found = [_listing(caller, at, method, name) if caller.owner is owner else None for caller, at, _ in calls]
    first = found[0] if found else None
    return first if first is not None and all(one is not None and one.path == first.path for one in found) else None


def _listing(caller: Routine, at: At, method: Routine, name: str) -> core.Attr | None:
    """The attribute that a loop goes through whose items a call gives."""
    call, node, within = call_at(at, caller), method.node, caller.node
    if call is None or unpacks(call) or type(node) is not FUNCTION or type(within) is not FUNCTION:
        return None
    param = next((one for one in node.params if one.name == name), None)
    values = given(call, param, positional(node), bound(call, method)) if param is not None else []
    item = values[0] if len(values) == 1 else None
    binds = binders(caller).get(item.id, ()) if type(item) is NAME else ()
    loops = [one for one in binds if around(one.at, at)]
    loop = loops[0] if len(loops) == 1 and all(type(one) is LOOP for one in binds) else None
    if type(loop) is not LOOP or type(loop.target) is not NAME:
        return None
    over = loop.iterable
    return over if type(over) is ATTR and over.path == f"self.{over.name}" else None


def texts_of(node: Node, home: Home, deep: int = 0) -> tuple[str, ...]:
    """The texts of which an expression of a file lists none but some; () where nobody knows."""
    if deep > DEEPEST:
        return ()
    match node:
        case core.Seq(items=items):
            texts = [one.value for one in items if type(one) is CONST and isinstance(one.value, str)]
            return tuple(texts) if len(texts) == len(items) else ()
        case core.Comp(clauses=((core.Name(id=item), of, _),), body=(core.Name(id=given_back),)):
            return texts_of(of, home, deep + 1) if item == given_back else ()
        case core.Call(fn=core.Name(id=name), args=(of,), keywords=()) if name in LISTS:
            return texts_of(of, home, deep + 1)
        case core.Name(id=name):
            return _of_name(name, node.at, home, deep)
    return ()


def _of_name(name: str, at: At, home: Home, deep: int) -> tuple[str, ...]:
    """The same of a name that its function binds once, and puts into what it is bound to."""
    inside = [one for one in home.routines if type(one.node) is FUNCTION and around(one.node.at, at)]
    routine = max(inside, key=lambda one: one.node.at, default=None)
    binds = binders(routine).get(name, ()) if routine is not None else ()
    bind = binds[0] if len(binds) == 1 else None
    if routine is None or type(bind) is not BIND or len(bind.targets) != 1 or type(bind.targets[0]) is not NAME:
        return ()
    texts = texts_of(bind.value, home, deep + 1) if bind.value is not None else ()
    if texts and not (_is_fixed(bind.value) or only_read(name, routine, (at, bind.targets[0].at), KNOWN)):
        return ()
    for part in walk(routine.node.body) if texts and type(routine.node) is FUNCTION else ():
        if type(part) is CALL and type(part.fn) is ATTR and type(part.fn.of) is NAME and part.fn.of.id == name:
            put = part.args[0] if len(part.args) == 1 else None
            if part.fn.name not in KNOWN:
                return ()
            if part.fn.name in GROWS:
                if type(put) is not CONST or not isinstance(put.value, str):
                    return ()
                texts = (*texts, put.value)
    return texts


def _is_fixed(value: Node | None) -> bool:
    """Whether this is a tuple, which nobody puts anything into."""
    if type(value) is SEQ:
        return value.kind == "tuple"
    return type(value) is CALL and type(value.fn) is NAME and value.fn.id in ("tuple", "frozenset")


def only_read(name: str, routine: Routine, besides: tuple[At, ...], methods: tuple[str, ...] = COUNTS) -> bool:
    """Whether a function does no more with what a name holds than to go through it, look into it or call some methods
    of it, but at some places: whom it is handed to may put more into it."""
    parts = everything(routine.node.body)
    read = [part for part in parts if type(part) is NAME and part.id == name and part.at not in besides]
    return len(read) == sum([len(_only_reads(name, part, methods)) for part in parts])


def _only_reads(name: str, part: Node, methods: tuple[str, ...]) -> list[Node]:
    """The places of a piece that only read what a name holds."""
    match part:
        case core.Call(fn=core.Attr(of=of, name=method)) if method in methods:
            told = [of]
        case core.Call(fn=core.Name(id=fn), args=args) if fn in READS:
            told = [*args]
        case core.Loop(iterable=over) if over is not None:
            told = [over]
        case core.Comp(clauses=clauses):
            told = [of for _, of, _ in clauses]
        case core.Do(what=what, args=args) if what in ("in", "not in"):
            told = [*args[-1:]]
        case _:
            return []
    return [one for one in told if type(one) is NAME and one.id == name]


def only_looked_into(name: str, text: str) -> bool:
    """Whether code does no more with attributes of a name than to set them, go through them and look into them."""
    told = rf"[\w.\[\]]*\.{name}\b"
    reads = (
        rf"\bin[ \t]+{told}(?=[ \t]*(?:[:\])]|$|if\b|and\b|or\b))",
        rf"\b(?:{'|'.join(READS)})\({told}[,)]",
        rf"{told}[ \t]*(?:[=!]=|=)",
        rf"{told}\.(?:{'|'.join(COUNTS)})\(",
        rf"\{{{told}\}}",
    )
    rest = re.sub("|".join(reads), "", text, flags=re.MULTILINE)
    asked = rf"\bgetattr\([^,()]+,\s*[\"']{name}[\"']|\bgetattr\([^()\n]*\)\.(?:append|extend|insert|add|update)\("
    return re.search(rf"\.{name}\b|{asked}", rest) is None
