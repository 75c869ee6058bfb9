"""A function in, the key out under which a decorator, or a table, keeps it beside others: it runs only where that is
asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from syncguard.infer.branches.subjects import last_name
from syncguard.infer.home import Home
from syncguard.infer.routine import Routine
from syncguard.infer.tell import snippet
from syncguard.pack.places import Places
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, BIND, CALL, CLASS, CONST, DO, FUNCTION, INDEX, MAP, NAME, SEQ
from syncguard.read.walk import around, walk
from syncguard.terms import Fact

ASKED: Final = "is asked for, as"
IN_FILE: Final = "in this file "


def chosen(routine: Routine, lines: Sequence[str]) -> Fact | None:
    """What must be asked for, if several functions of the file are kept so: `@register("fast")`."""
    if routine.closure:
        return None
    owner = routine.owner
    decorator = _keeper(owner.node if owner is not None else routine.node)
    if decorator is None or (owner is None and sum(_same(one.node, decorator) for one in routine.home.routines) < 2):
        return None
    keys = [one for one in (_key(decorator), *_more(decorator)) if one is not None]
    shown = ", ".join([snippet(key.at, lines) for key in keys])
    return Fact(f"only where `{shown}` {ASKED} `{last_name(decorator.fn)}` keeps it", decorator.at[0])


def by_key(option: Fact) -> bool:
    """Whether an option is the key that a function is kept under."""
    return ASKED in option.text


def tabled(home: Home, places: Places) -> dict[str, Fact]:
    """The functions that a file names nowhere but in one table, and the keys that they have there: `RULES = {"slow":
    slow, "fast": fast}`, and the methods that their class does, `{"slow": self.slow, "fast": self.fast}`; what others
    may name themselves is told of this file. Of a table in a function one is picked there, and no other is run."""
    found: dict[str, Fact] = {}
    for part in home.core.body:
        found.update(_keys(part))
    for routine in home.routines:
        for part in walk(routine.node.body) if type(routine.node) is FUNCTION else ():
            if type(part) is BIND and type(part.value) is MAP and (keys := _keys(part, _itself(routine))):
                found.update(keys if _picked(last_name(part.targets[0]), routine, places) else {})
    if found:
        names = [*_named(home, found)]
        found = {name: fact for name, fact in found.items() if names.count(name) == 1}
    return found


def known_as(routine: Routine) -> str:
    """What a table calls a function, or a method of its own class."""
    return routine.name if routine.owner is None else f"{routine.owner.name}.{routine.name}"


def _itself(routine: Routine) -> tuple[str, str]:
    """The name of an object in its method, and of its class."""
    node, owner = routine.node, routine.owner
    return (node.params[0].name, owner.name) if type(node) is FUNCTION and node.params and owner else ("", "")


def _named(home: Home, wanted: Iterable[str]) -> Iterator[str]:
    """Those of some names that a file has, each time that it does: of functions, and of methods of a class in the
    class."""
    classes = [(info.node.at, info.name) for info in home.classes]
    lasts = frozenset([name.rpartition(".")[2] for name in wanted])
    for part in home.pieces:
        if type(part) is NAME and part.id in lasts:
            yield part.id
        elif type(part) is ATTR and part.name in lasts:
            yield from (f"{name}.{part.name}" for at, name in classes if around(at, part.at))


def _keys(part: Node, itself: tuple[str, str] = ("", "")) -> dict[str, Fact]:
    """The functions of a table, each with what is said of its key."""
    made = part.value if type(part) is BIND else None
    table = last_name(part.targets[0]) if type(part) is BIND and len(part.targets) == 1 else ""
    if type(made) is not MAP or not table or not all(map(_is_key, made.keys)):
        return {}
    kept = [_function(value, itself) for value in made.values]
    if len(set(kept)) < 2 or "" in kept:
        return {}
    found: dict[str, Fact] = {}
    for key, name in zip(made.keys, kept, strict=True):
        shown = f'"{key.value}"' if type(key) is CONST and isinstance(key.value, str) else ""
        shown = key.path if type(key) is ATTR else shown
        if key is not None and shown and kept.count(name) == 1:
            asked = f"only where `{shown}` {ASKED} `{table}` keeps it"
            own = name.rpartition(".")[2].startswith("_")
            found[name] = Fact(asked if own else f"{IN_FILE}{asked}", key.at[0])
    return found


def _is_key(key: Node | None) -> bool:
    """Whether this is written out, or one of several that have a name: `Kind.FAST`."""
    return type(key) is CONST or (type(key) is ATTR and key.name.isupper() and bool(key.path))


def _function(value: Node, itself: tuple[str, str]) -> str:
    """What a table keeps: `slow`, or `self.slow` of this object."""
    if type(value) is ATTR and type(value.of) is NAME and value.of.id == itself[0]:
        return f"{itself[1]}.{value.name}"
    return value.id if type(value) is NAME else ""


def _picked(table: str, routine: Routine, places: Places) -> bool:
    """Whether all that a function does with a table of its own is to pick one entry, or to hand it on with what says
    which: `table[how]`, `pick("solve", table, method)`."""
    parts = walk(routine.node.body)
    uses = [id(part) for part in parts if type(part) is NAME and part.id == table]
    picks = [part.of for part in parts if type(part) is INDEX and type(part.key) is not CONST]
    for part in parts:
        if type(part) is CALL:
            names = [arg.id for arg in part.args if type(arg) is NAME]
            picks += part.args if any(places.is_("names", "choices", name) for name in names) else ()
            picks += [part.fn.of] if type(part.fn) is ATTR and part.fn.name == "get" else ()
        elif type(part) is DO and part.what in ("in", "not in"):
            picks.append(part.args[1])
        elif type(part) is BIND:
            picks += part.targets
    return len(uses) > 1 and {*uses} <= {id(pick) for pick in picks}


def kept(routine: Routine) -> bool:
    """Whether others ask for a function by its key: who calls it by its name does not tell all."""
    return _keeper(routine.node) is not None


def _same(node: Node, decorator: core.Call) -> bool:
    other = _keeper(node)
    return other is not None and last_name(other.fn) == last_name(decorator.fn)


def _keeper(node: Node) -> core.Call | None:
    """The decorator of a function that is given a key."""
    for decorator in node.decorators if type(node) is FUNCTION or type(node) is CLASS else ():
        if type(decorator) is CALL and "regist" in last_name(decorator.fn) and decorator.args:
            key = _key(decorator)
            if key is not None:
                return None if type(key) is CONST and "::" in str(key.value) else decorator
    return None


def _more(decorator: core.Call) -> tuple[Node, ...]:
    """The texts beside the first that a key is made of: `@register("models", "fast")`."""
    more = decorator.args[1:]
    texts = type(decorator.args[0]) is CONST and all(type(one) is CONST and isinstance(one.value, str) for one in more)
    return more if texts else ()


def _key(decorator: core.Call) -> Node | None:
    """What a function is kept under: a text, the name of one of several, or the texts that what describes it is given
    first, `Settings(names=["fast", "quick"])`."""
    first = decorator.args[0]
    if type(first) is CONST:
        return first if isinstance(first.value, str) else None
    if type(first) is ATTR:
        return first if first.name.isupper() else None
    if type(first) is not CALL:
        return None
    given = [*first.args, *[value for _, value in first.keywords]][:1]
    texts = [item for key in given for item in (key.items if type(key) is SEQ else (key,))]
    return given[0] if texts and all(type(text) is CONST and isinstance(text.value, str) for text in texts) else None
