"""A function in, the key out under which a decorator, or a table, keeps it beside others: it runs only where that is
asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from syncguard.infer.branches.subjects import last_name
from syncguard.infer.home import Home
from syncguard.infer.routine import Routine
from syncguard.infer.tell import snippet
from syncguard.places import Places
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, BIND, CALL, CLASS, CONST, DO, FUNCTION, INDEX, MAP, NAME, SEQ
from syncguard.read.walk import walk
from syncguard.terms import Fact

ASKED: Final = "is asked for, as"


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
    slow, "fast": fast}`; what others may name themselves is told of this file. Of a table in a function one is picked
    there, and no other is run."""
    found: dict[str, Fact] = {}
    for part in home.core.body:
        found.update(_keys(part))
    for routine in home.routines:
        for part in walk(routine.node.body) if type(routine.node) is FUNCTION else ():
            if type(part) is BIND and type(part.value) is MAP and (keys := _keys(part)):
                found.update(keys if _picked(last_name(part.targets[0]), routine, places) else {})
    if found:
        names = [part.id for part in home.pieces if type(part) is NAME and part.id in found]
        found = {name: fact for name, fact in found.items() if names.count(name) == 1}
    return found


def _keys(part: Node) -> dict[str, Fact]:
    """The functions of a table, each with what is said of its key."""
    made = part.value if type(part) is BIND else None
    table = last_name(part.targets[0]) if type(part) is BIND and len(part.targets) == 1 else ""
    if type(made) is not MAP or not table or not all(type(key) is CONST for key in made.keys):
        return {}
    kept = [value.id for value in made.values if type(value) is NAME]
    if len(set(kept)) < 2 or len(kept) < len(made.values):
        return {}
    found: dict[str, Fact] = {}
    for key, value in zip(made.keys, made.values, strict=True):
        if type(key) is CONST and isinstance(key.value, str) and type(value) is NAME and kept.count(value.id) == 1:
            asked = f'only where `"{key.value}"` {ASKED} `{table}` keeps it'
            found[value.id] = Fact(asked if value.id.startswith("_") else f"in this file {asked}", key.at[0])
    return found


def _picked(table: str, routine: Routine, places: Places) -> bool:
    """Whether all that a function does with a table of its own is to pick one entry, or to hand it on with what says
    which: `table[how]`, `pick("solve", table, method)`."""
    parts = walk(routine.node.body)
    uses = [id(part) for part in parts if type(part) is NAME and part.id == table]
    picks = [part.of for part in parts if type(part) is INDEX]
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
