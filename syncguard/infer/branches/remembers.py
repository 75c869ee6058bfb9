"""A test for a key in, whether what stands behind it fills a table that remembers what was built once for that key."""

from __future__ import annotations

from typing import Any, Final

from syncguard.infer.branches.keeps import lives
from syncguard.infer.branches.meant import binders, plainly
from syncguard.infer.domain.values import Tensor, options
from syncguard.infer.routine import Frame
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, BIND, CALL, CLASS, DO, FUNCTION, INDEX, LEAVE, LOOP, NAME, SEQ
from syncguard.read.walk import bound_in, targets, walk

SIZES: Final = ("shape", "size")
ABOUT: Final = ("device", "dtype", "shape", "size", "ndim", "numel", "dim")  # what a tensor tells of itself on the host


def remembers(node: core.If, outcome: bool, frame: Frame) -> bool:
    """Whether this side of `if key not in table:` stores under the key what is made of no tensor's numbers, in a table
    that outlives the call: it is met once for each key."""
    return _fills(node.body if outcome else node.orelse, _asked(node.test, outcome, frame), frame)


def refits(node: core.If, outcome: bool, frame: Frame) -> bool:
    """Whether this side of a test is for what the instance keeps that has another size than is asked for, and makes it
    anew of no tensor's numbers: `if self.table.shape[0] != x.shape[1]: self.table = self.build(x.shape[1])`."""
    test, wanted = plainly(node.test, outcome)
    if type(test) is not DO or test.what not in ("==", "!=") or (test.what == "!=") is not wanted:
        return False
    path = _kept_size(test.args[0]) or _kept_size(test.args[1])
    made = [part for part in (node.body if outcome else node.orelse) if path and _empties(part, path)]
    return bool(made) and lives(frame) and not any(_reads(part, frame) for part in made)


def _kept_size(node: Node) -> str:
    """The attribute of the instance whose size this is: `self.table.shape[0]`, `self.table.size(0)`."""
    told = node.of if type(node) is INDEX else node.fn if type(node) is CALL else node
    if type(told) is not ATTR or told.name not in SIZES or type(told.of) is not ATTR:
        return ""
    return told.of.path if told.of.path == f"self.{told.of.name}" else ""


def recalled(node: core.If, frame: Frame) -> bool:
    """Whether what follows a test fills such a table, for where the key was there its value was given back."""
    whole, last = frame.routine.node.body, node.body[-1] if node.body else None
    place = next((n for n, part in enumerate(whole) if part is node), len(whole))
    if node.orelse or type(last) is not LEAVE or last.what != "return":
        return False
    return _fills(whole[place + 1 :], _asked(node.test, False, frame), frame)


def _fills(body: tuple[Node, ...], asked: tuple[Node, Node] | None, frame: Frame) -> bool:
    if asked is None or not _outlives(asked[1], frame):
        return False
    stores = [part for part in walk(body) if type(part) is BIND and any(_is(aim, *asked) for aim in part.targets)]
    made = {part.id for part in bound_in(body) if type(part) is NAME}
    owner = frame.routine.owner
    if stores and owner is not None and owner.is_optimizer:  # once for each parameter, or each group of them
        return True
    return bool(stores) and not any(_reads(part, frame) for part in body if not _puts(part, made))


def _puts(part: Node, made: set[str]) -> bool:
    """Whether a statement only puts somewhere what was made before: `self.table[key] = made`."""
    return type(part) is BIND and type(part.value) is NAME and part.value.id in made


def _asked(test: Node, outcome: bool, frame: Frame) -> tuple[Node, Node] | None:
    """The key and the table of a test by which this outcome says that the key is not there."""
    test, outcome = plainly(test, outcome)
    if type(test) is not DO:
        return None
    match test:
        case core.Do(what="is" | "is not" as what, args=(core.Name(id=name), core.Const(value=None))):
            return _looked_up(name, frame) if (what == "is") is outcome else None
        case core.Do(what="in" | "not in" as what, args=(key, table)) if (what == "not in") is outcome:
            return key, table
        case core.Do(what="==" | "!=" as what, args=(left, right)) if (what == "!=") is outcome:
            return _held_for(left, frame) or _held_for(right, frame)
    return None


def _held_for(node: Node, frame: Frame) -> tuple[Node, Node] | None:
    """The key and the table of what is asked for its shape or device: `grid = self.grids[k]`, `grid.shape[2:]`, and
    `self.grids[k].shape[2:]`."""
    told = node.of if type(node) is INDEX else node
    if type(told) is not ATTR or told.name not in ABOUT:
        return None
    if type(told.of) is INDEX:
        return told.of.key, told.of.of
    if type(told.of) is not NAME:
        return None
    for part in binders(frame.routine).get(told.of.id, ()):
        match part:
            case core.Bind(value=core.Index(of=table, key=key)):
                return key, table
    return None


def _looked_up(name: str, frame: Frame) -> tuple[Node, Node] | None:
    """The key and the table that a name was looked up by: `kept = table.get(key)`."""
    for part in binders(frame.routine).get(name, ()):
        match part:
            case core.Bind(value=core.Call(fn=core.Attr(of=table, name="get"), args=(key,))):
                return key, table
    return None


def _outlives(table: Node, frame: Frame) -> bool:
    """Whether a table is an attribute of the instance that no method empties, a part of one, or stands outside of the
    function."""
    routine = frame.routine
    if type(table) is NAME:
        node = routine.node
        given = node.params if type(node) is FUNCTION else ()
        made = [part for part in binders(routine).get(table.id, ()) if _names(targets(part), table.id)]
        return all(_part(part, frame) for part in made) and all(param.name != table.id for param in given)
    return _kept(table, frame)


def _kept(table: Node, frame: Frame) -> bool:
    """Whether this is an attribute of the instance that this method does not empty."""
    node = frame.routine.node
    if type(table) is not ATTR or table.path != f"self.{table.name}" or type(node) is not FUNCTION:
        return False
    return not any(_empties(part, table.path) for part in walk(node.body))


def _part(made: Node, frame: Frame) -> bool:
    """Whether a name is bound to a part of what outlives the call: `state = self.state[p]`, or a loop over it."""
    if type(made) is BIND:
        return type(made.value) is INDEX and _kept(made.value.of, frame)
    over = made.iterable if type(made) is LOOP else None
    if type(over) is CALL and type(over.fn) is NAME:  # `zip`, `enumerate`
        return bool(over.args) and all(_kept(arg, frame) for arg in over.args)
    return over is not None and _kept(over, frame)


def _names(aims: tuple[Node, ...], name: str) -> bool:
    """Whether targets bind a name anew; `table[key]` does not."""
    return any(_names(aim.items, name) if type(aim) is SEQ else type(aim) is NAME and aim.id == name for aim in aims)


def _empties(part: Node, path: str) -> bool:
    match part:
        case core.Bind(targets=made):
            return any(type(aim) is ATTR and aim.path == path for aim in made)
        case core.Call(fn=core.Attr(of=core.Attr() as of, name="clear")):
            return of.path == path
    return False


def _is(aim: Node, key: Node, table: Node) -> bool:
    """Whether a target is the place of this key in this table."""
    return type(aim) is INDEX and _alike(aim.key, key) and _alike(aim.of, table)


def _alike(a: Any, b: Any) -> bool:
    """Whether two pieces are written alike."""
    if type(a) is not type(b):
        return False
    if type(a) is tuple:
        return len(a) == len(b) and all(map(_alike, a, b))
    if isinstance(a, Node):
        return all(_alike(getattr(a, name), getattr(b, name)) for name in a.__struct_fields__ if name != "at")
    return bool(a == b)


def _reads(part: Any, frame: Frame) -> bool:
    """Whether a piece makes something of the numbers of a tensor that the function has: what it is told by `x.device`
    or `x.shape` are none."""
    if type(part) is tuple:
        return any(_reads(one, frame) for one in part)
    if type(part) is NAME:
        return _looked_up(part.id, frame) is None and any(
            type(option) is Tensor and option.on_device for option in options(frame.lookup(part.id))
        )
    if type(part) is ATTR and (part.name in ABOUT or part.name.startswith("new_")):
        return False
    if type(part) is BIND:
        return _reads(part.value, frame)
    if type(part) in (FUNCTION, CLASS) or not isinstance(part, Node):
        return False
    return any(_reads(getattr(part, name), frame) for name in part.__struct_fields__ if name != "at")
