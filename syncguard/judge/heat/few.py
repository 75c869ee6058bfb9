"""A loop in, whether it has few turns out: those that are written there, one for each key of a dict, or a mere read of
each of what there is."""

from __future__ import annotations

from collections.abc import Container
from typing import Final

from syncguard.infer.branches.feeding import carries
from syncguard.infer.branches.subjects import path_of
from syncguard.infer.sightings import Step
from syncguard.read import core
from syncguard.read.core import At, Node
from syncguard.read.tags import ATTR, CALL, COMP, DO, INDEX, LOOP, NAME, SEQ
from syncguard.read.walk import walk

VIEWS: Final = ("items", "keys", "values")
ORDERS: Final = ("sorted", "list", "tuple", "enumerate")
SHOWS: Final = ("print", "len", "isinstance", "float", "int", "bool", "str", "round", "abs", "repr", "sorted", "zip")
NUMBERS: Final = ("float", "int", "bool", "str", "round", "abs")


def small(loop: Node) -> bool:
    """Whether a loop has few turns as far as it tells."""
    return few_turns(loop) or reads_each(loop) or _by_key(loop)


def aside(step: Step, line: int) -> bool:
    """Whether a loop in a function that takes the steps on some line is none of these, and goes through what is there
    by name: `for row in tokens:`, behind the loop that made them. What counts, draws, or goes on from what came of its
    turn before may take steps of its own."""
    return bool(line) and not (step.reason or step.steps) and _aside(step.node, line)


def long_loops(node: core.Function, line: int, stepping: Container[At]) -> tuple[tuple[int, int], ...]:
    """Where the loops of a function begin and end that may turn often; of one that takes the steps on some line not
    such as go through what is there by name beside that."""
    loops = [part for part in walk(node.body) if type(part) is LOOP or type(part) is COMP]
    few = [_aside(one, line) if line else small(one) for one in loops]
    return tuple([(one.at[0], one.at[2]) for one, is_few in zip(loops, few) if one.at in stepping or not is_few])


def _aside(node: Node, line: int) -> bool:
    if node.at[0] <= line <= node.at[2]:
        return False
    if type(node) is COMP:
        return small(node) or all(_there(iterable) for _, iterable, _ in node.clauses)
    if type(node) is not LOOP or carries(node):
        return small(node)
    return node.iterable is not None and _there(node.iterable)


def _there(iterable: Node) -> bool:
    if type(iterable) is CALL and type(iterable.fn) is NAME and iterable.fn.id in ("enumerate", "zip"):
        return all(map(_there, iterable.args))
    return type(iterable) is NAME or type(iterable) is ATTR


def few_turns(loop: Node) -> bool:
    """Whether a loop has the few turns that are written there: `for size in (64, 128):`."""
    turns = _turns(loop)
    match turns[1] if turns is not None else None:
        case core.Seq(items=items):
            return not any(type(item) is DO and item.what == "*" for item in items)
        case core.Call(fn=core.Name(id="enumerate" | "zip"), args=(core.Seq(), *_)):
            return True
        case core.Do(what="+", args=parts):  # names, and one more
            return any(type(part) is SEQ for part in parts)
    return False


def by_column(loop: Node) -> bool:
    """Whether a loop has a turn for each column of a table, and none for each row: `for n in range(x.shape[1])`."""
    match loop.iterable if type(loop) is LOOP else None:
        case core.Call(
            fn=core.Name(id="range"), args=(core.Index(of=core.Attr(name="shape"), key=core.Const(value=n)),)
        ):
            return bool(n != 0)
        case core.Call(
            fn=core.Name(id="range"), args=(core.Call(fn=core.Attr(name="size"), args=(core.Const(value=n),)),)
        ):
            return bool(n != 0)
    return False


def names_each(loop: Node) -> bool:
    """Whether a loop over what there is by name makes one for each turn: `for t in times: self.log(f"loss_{t}", ..)`.
    What has a name is for people, or is one of a few."""
    if type(loop) is not LOOP or loop.iterable is None or not _there(loop.iterable):
        return False
    turns = {part.id for part in walk(loop.target) if type(part) is NAME}
    texts = [part for part in walk(loop.body) if type(part) is DO and part.what == "join" and len(part.args) > 1]
    shown = [arg.args[0] for text in texts for arg in text.args if type(arg) is DO and arg.what == "format"]
    return any(_of_turn(one, turns) for one in shown)


def _of_turn(shown: Node, turns: set[str]) -> bool:
    """Whether this is what a loop goes through, or the name of that: `layer`, `layer.name`."""
    if type(shown) is ATTR and shown.name.endswith("name"):
        shown = shown.of
    return type(shown) is NAME and shown.id in turns


def reads_each(loop: Node) -> bool:
    """Whether a comprehension does nothing but read each element of what is there: `[e.item() for e in energies]`."""
    if type(loop) is not COMP or len(loop.clauses) != 1:
        return False
    target, iterable, conditions = loop.clauses[0]
    if type(target) is not NAME or conditions or type(iterable) is CALL:
        return False
    parts = walk(loop.body)
    asked = {id(part.fn) for part in parts if type(part) is CALL and _number(part)}
    calls = [part for part in parts if type(part) is CALL and id(part.fn) not in asked]
    plain = all(type(call.fn) is ATTR and not call.args and not call.keywords for call in calls)
    return plain and all(part.id == target.id for part in parts if type(part) is NAME and id(part) not in asked)


def shows_each(loop: Node) -> bool:
    """Whether a loop goes through the items of a dict and hands them to nothing but what shows or compares them, by
    functions of Python and torch: a report."""
    if type(loop) is not LOOP or not _by_key(loop):
        return False
    return all(_of_nobody(part) for part in walk(loop.body) if type(part) is CALL)


def _of_nobody(call: core.Call) -> bool:
    """Whether this calls a function of Python or torch, or for nothing that it is given."""
    if type(call.fn) is NAME:
        return call.fn.id in SHOWS
    return type(call.fn) is ATTR and (call.fn.path.startswith("torch.") or not (call.args or call.keywords))


def _number(call: core.Call) -> bool:
    return type(call.fn) is NAME and call.fn.id in NUMBERS


def _turns(loop: Node) -> tuple[Node, Node, tuple[Node, ...]] | None:
    """The target of a loop, or of a comprehension of one clause, what it goes through, and what each turn does."""
    if type(loop) is COMP and len(loop.clauses) == 1:
        return loop.clauses[0][0], loop.clauses[0][1], loop.body
    if type(loop) is LOOP and loop.target is not None and loop.iterable is not None:
        return loop.target, loop.iterable, loop.body
    return None


def _by_key(loop: Node) -> bool:
    """Whether a loop goes through the keys or items of a dict: `for key in totals: show(totals[key])`."""
    turns = _turns(loop)
    if turns is None:
        return False
    target, iterable, body = turns
    while type(iterable) is CALL and type(iterable.fn) is NAME and iterable.fn.id in ORDERS and iterable.args:
        iterable = iterable.args[0]
    if type(iterable) is CALL:
        return type(iterable.fn) is ATTR and iterable.fn.name in VIEWS and not iterable.args
    whole = path_of(iterable)
    return type(target) is NAME and any(
        type(part) is INDEX and path_of(part.of) == whole and type(part.key) is NAME and part.key.id == target.id
        for part in (walk(body) if whole else ())
    )
