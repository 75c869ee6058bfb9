"""What an instance keeps in, whether it is made anew at each step of a generation out: there is nothing of it at first,
it is made as large as what is asked for, and that grows by what each step adds, `ids = torch.cat([ids, token])`."""

from __future__ import annotations

from collections.abc import Iterator

from syncguard.infer.branches.keeps import every_method, set_in
from syncguard.infer.branches.meant import binders
from syncguard.infer.branches.subjects import last_name
from syncguard.infer.routine import Frame
from syncguard.infer.stores import registered
from syncguard.places import Places
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, BIND, CALL, CONST, DO, INDEX, LOOP, NAME, SEQ
from syncguard.read.walk import walk


def lengthens(wanted: Node, table: Node, frame: Frame) -> bool:
    """Whether each step asks for more of a table than there is: `self.mask.shape[0] < n`."""
    of = table.of if type(table) is INDEX else table.fn if type(table) is CALL else None
    kept = of.of if type(of) is ATTR and type(of.of) is ATTR else None
    if kept is None or type(wanted) is not NAME or not _is_length(wanted.id, frame):
        return False
    if not _fits(wanted.id, kept, frame):
        return False
    return any(_grows(loop, frame.world.places) for loop in _loops(frame)) and _empty_at_first(kept.name, frame)


def _fits(wanted: str, kept: core.Attr, frame: Frame) -> bool:
    """Whether the function builds the table as large as what is asked for, and no larger: of `n`, not of `2 * n`."""
    made = [bind.value for bind in set_in(frame.routine).get(kept.path, [])]
    calls = [part for part in walk(frame.routine.node.body) if type(part) is CALL]
    put = [call for call in calls if any(told == kept.name for told in registered(call, "self", None))]
    made += [call.args[1] for call in put if len(call.args) > 1]
    return bool(made) and all(_is_made_of(wanted, value, frame) for value in made)


def _is_made_of(wanted: str, value: Node | None, frame: Frame) -> bool:
    """Whether a call in this is given the length itself, and nothing is computed of it."""
    if type(value) is NAME:
        binds = binders(frame.routine).get(value.id, ())
        value = binds[0].value if len(binds) == 1 and type(binds[0]) is BIND else None
    parts = walk(value) if value is not None else []
    more = any(_names(wanted, part.args) for part in parts if type(part) is DO)
    calls = [part for part in parts if type(part) is CALL]
    most = any(last_name(call.fn) == "max" for call in calls)
    return not (more or most) and any(_names(wanted, call.args) for call in calls)


def _names(wanted: str, args: tuple[Node, ...]) -> bool:
    """Whether a name is one of some arguments, or stands in a shape among them."""
    flat = [one for arg in args for one in (arg.items if type(arg) is SEQ else (arg,))]
    return any(type(one) is NAME and one.id == wanted for one in flat)


def _is_length(name: str, frame: Frame) -> bool:
    """Whether a name is bound to how long something is, once: `n = x.shape[1]`."""
    found = binders(frame.routine).get(name, ())
    bind = found[0] if len(found) == 1 else None
    value = bind.value if type(bind) is BIND else None
    told = value.of if type(value) is INDEX else value
    return told is not None and frame.world.places.is_("gates", "sizes", last_name(told))


def _loops(frame: Frame) -> Iterator[core.Loop]:
    for part in frame.home.pieces:
        if type(part) is LOOP:
            yield part


def _grows(loop: core.Loop, places: Places) -> bool:
    """Whether each turn makes what it gives a call longer by what came of that."""
    parts = walk(loop.body)
    longer = [name for part in parts if (name := _joined(part, places))]
    given = {arg.id for part in parts if type(part) is CALL for arg in part.args if type(arg) is NAME}
    return any(name in given for name in longer)


def _joined(part: Node, places: Places) -> str:
    """The name that is bound to what it held, and more: `ids = torch.cat([ids, token], 1)`."""
    aim = part.targets[0] if type(part) is BIND and len(part.targets) == 1 else None
    value = part.value if type(part) is BIND else None
    if type(aim) is not NAME or type(value) is not CALL or not places.is_("gates", "lengthens", last_name(value.fn)):
        return ""
    items = value.args[0].items if value.args and type(value.args[0]) is SEQ else ()
    return aim.id if items and any(type(one) is NAME and one.id == aim.id for one in items) else ""


def _empty_at_first(name: str, frame: Frame) -> bool:
    """Whether the constructor gives an attribute a table without any rows: `torch.zeros(0, 0)`."""
    for method in every_method(frame):
        if method.name == "__init__":
            made = [bind.value for bind in set_in(method).get(f"self.{name}", [])]
            calls = [part for part in walk(method.node.body) if type(part) is CALL]
            put = [call for call in calls if any(told == name for told in registered(call, "self", None))]
            made += [call.args[1] for call in put if len(call.args) > 1]
            return bool(made) and all(type(one) is CALL and bool(one.args) and _is_zero(one.args[0]) for one in made)
    return False


def _is_zero(node: Node) -> bool:
    if type(node) is SEQ:
        return not node.items or _is_zero(node.items[0])
    return type(node) is CONST and node.value == 0
