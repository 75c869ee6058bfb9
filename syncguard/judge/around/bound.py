"""Statements and a name or an attribute in, the one expression out that they leave it with: what arms bind is a choice
between them."""

from __future__ import annotations

from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import BIND, CONST, DO, IF, LEAVE, NAME, RUN, SEQ
from syncguard.read.walk import binds, targets, walk

Parts = tuple[Node, ...]


def left_with(parts: Parts, path: str, before: Node | None) -> Node | None:
    """What the statements leave `path` with; None where something else than assignments and their arms binds it, or
    where an arm leaves it unbound."""
    value = before
    for part in parts:
        if not _binds(part, path):
            continue
        if type(part) is BIND:
            value = bound_to(part, path)
        elif type(part) is IF:
            value = _chosen(part, [left_with(arm, path, value) for arm in (part.body, part.orelse)], "")
        else:
            return None
        if value is None:
            return None
    return value


def given_back(parts: Parts) -> Node | None:
    """What a function gives back that does nothing but test and return; None of any other."""
    for index, part in enumerate(parts):
        if type(part) is RUN and type(part.value) is CONST:  # its docstring
            continue
        if type(part) is LEAVE:
            return part.value if part.what == "return" else None
        if type(part) is not IF:
            return None
        rest = parts[index + 1 :]
        arms = [given_back(arm if _leaves(arm, "") else rest) for arm in (part.body, part.orelse)]
        return _chosen(part, arms, "raise")
    return None


def _chosen(part: core.If, arms: list[Node | None], leaving: str) -> Node | None:
    """One of two arms; the other one where the first is left for good."""
    yes, no = arms
    if _leaves(part.body, leaving):
        return no
    if _leaves(part.orelse, leaving):
        return yes
    return core.Choose(part.test, yes, no, part.at) if yes is not None and no is not None else None


def _leaves(arm: Parts, what: str) -> bool:
    """Whether an arm ends so: by any way out where none is named."""
    last = arm[-1] if arm else None
    return type(last) is LEAVE and what in ("", last.what)


def _binds(part: Node, path: str) -> bool:
    """Whether a statement, or one within it, binds what has this path."""
    aims = [aim for one in walk(part) if binds(one) for aim in targets(one)]
    return any(path_of(one) == path for aim in aims for one in walk(aim))


def bound_to(bind: Node, path: str) -> Node | None:
    """What an assignment gives the name or attribute of this path; None where that is for the run to say."""
    if type(bind) is not BIND or bind.value is None:
        return None
    given = [_given(target, bind.value, path) for target in bind.targets]
    return next((value for value in given if value is not None), None)


def put_back(parts: Parts, path: str) -> bool:
    """Whether the statements turn `path` off, and give it back what a name has kept of it: `kept = self.check`."""
    given: list[Node | None] = []
    names: dict[str, list[Node | None]] = {}
    for part in walk(parts):
        if type(part) is not BIND:
            continue
        for target in part.targets:
            if path_of(target) == path:
                given.append(part.value)
            elif type(target) is NAME:
                names.setdefault(target.id, []).append(part.value)
    back = [names.get(one.id, []) for one in given if type(one) is NAME]
    off = [one for one in given if type(one) is CONST and not one.value]
    kept = all(values and all(value is not None and path_of(value) == path for value in values) for values in back)
    return bool(back) and kept and len(back) + len(off) == len(given)


def _given(target: Node, value: Node, path: str) -> Node | None:
    if type(target) is not SEQ:
        return value if path_of(target) == path else None
    found = [index for index, item in enumerate(target.items) if path_of(item) == path]
    parts = value.items if type(value) is SEQ else ()
    stars = [index for index, part in enumerate(parts) if type(part) is DO and part.what == "*"]
    if len(found) != 1 or len(stars) > 1 or any(type(item) is DO and item.what == "*" for item in target.items):
        return None
    if type(value) is not SEQ:  # one of what it gives
        return core.Index(value, core.Const(found[0], target.at), target.at)
    if not stars:
        return parts[found[0]] if len(parts) == len(target.items) else None
    behind = len(target.items) - found[0]  # `a, b, c = *x.shape, self.c`: what stands behind a star counts from the end
    if behind < len(parts) - stars[0]:
        return parts[-behind]
    return parts[found[0]] if found[0] < stars[0] else None


def path_of(node: Node) -> str:
    """`a.b.c`, of the attribute or of `getattr(a.b, "c")`; '' of all else."""
    match node:
        case core.Name(id=name):
            return name
        case core.Attr(path=path):
            return path
        case core.Call(fn=core.Name(id="getattr"), args=(of, core.Const(value=str() as name), *_)):
            return f"{path_of(of)}.{name}"
    return ""
