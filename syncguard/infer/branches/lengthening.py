"""What an instance keeps in, whether it is made anew at each step of a generation out: there is nothing of it at first,
it is made as large as what is asked for, and that grows by what each step adds, `ids = torch.cat([ids, token])`."""

from __future__ import annotations

from collections.abc import Iterator

from syncguard.infer.branches.keeps import every_method, set_in
from syncguard.infer.branches.meant import binders
from syncguard.infer.branches.subjects import last_name, path_of
from syncguard.infer.routine import Frame
from syncguard.infer.stores import registered
from syncguard.pack.places import Places
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, BIND, CALL, CONST, DO, INDEX, LOOP, NAME, SEQ
from syncguard.read.walk import walk


def lengthens(wanted: Node, table: Node, frame: Frame) -> bool:
    """Whether each step asks for more of a table than there is: `self.mask.shape[0] < n`, `self.mask.size(0) != n`."""
    of = table.of if type(table) is INDEX else table.fn if type(table) is CALL else None
    kept = of.of if type(of) is ATTR and type(of.of) is ATTR else None
    length = _length(wanted, frame)
    if kept is None or not length or not _fits(length, kept, frame):
        return False
    return any(_grows(loop, frame.world.places) for loop in _loops(frame)) and _small_at_first(kept.name, frame)


def _fits(length: str, kept: core.Attr, frame: Frame) -> bool:
    """Whether the function builds the table as large as what is asked for, and no larger: of `n`, not of `2 * n`."""
    made = [bind.value for bind in set_in(frame.routine).get(kept.path, [])]
    calls = [part for part in walk(frame.routine.node.body) if type(part) is CALL]
    put = [call for call in calls if any(told == kept.name for told in registered(call, "self", None))]
    made += [call.args[1] for call in put if len(call.args) > 1]
    return bool(made) and all(_is_made_of(length, value, frame) for value in made)


def _is_made_of(length: str, value: Node | None, frame: Frame) -> bool:
    """Whether a call in this is given the length itself, and nothing is computed of it."""
    if type(value) is NAME:
        value = _bound(value, frame)
    parts = walk(value) if value is not None else []
    more = any(_is_among(length, part.args, frame) for part in parts if type(part) is DO)
    calls = [part for part in parts if type(part) is CALL]
    most = any(last_name(call.fn) == "max" for call in calls)
    return not (more or most) and any(_is_among(length, call.args, frame) for call in calls)


def _is_among(length: str, args: tuple[Node, ...], frame: Frame) -> bool:
    """Whether a length is one of some arguments, or stands in a shape among them."""
    flat = [one for arg in args for one in (arg.items if type(arg) is SEQ else (arg,))]
    return any(_length(one, frame) == length for one in flat)


def _length(node: Node | None, frame: Frame, deep: int = 2) -> str:
    """What tells how long something is, `x.shape[1]`, as it is or by a name that is bound to it once, by whose length
    that is; '' of anything else."""
    if type(node) is NAME:
        return _length(_bound(node, frame), frame, deep - 1) if deep else ""
    told = node.of if type(node) is INDEX else node
    if told is None or not frame.world.places.is_("gates", "sizes", last_name(told)):
        return ""
    of = told.fn if type(told) is CALL else told
    which = node.key if type(node) is INDEX else node.args[0] if type(node) is CALL and node.args else None
    number = which.value if type(which) is CONST else ""
    return f"{path_of(of.of)} {number}" if type(of) is ATTR else f"{last_name(of)} {number}"


def _bound(name: core.Name, frame: Frame) -> Node | None:
    """What a name is bound to, if that is done once."""
    found = binders(frame.routine).get(name.id, ())
    bind = found[0] if len(found) == 1 else None
    return bind.value if type(bind) is BIND else None


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


def _small_at_first(name: str, frame: Frame) -> bool:
    """Whether the constructor gives an attribute none, or a table without any rows, or of one: `torch.zeros(0, 0)`."""
    for method in every_method(frame):
        if method.name == "__init__":
            made = [bind.value for bind in set_in(method).get(f"self.{name}", [])]
            calls = [part for part in walk(method.node.body) if type(part) is CALL]
            put = [call for call in calls if any(told == name for told in registered(call, "self", None))]
            made += [call.args[1] for call in put if len(call.args) > 1]
            return bool(made) and all(_is_small(one) for one in made)
    return False


def _is_small(node: Node | None) -> bool:
    if type(node) is CONST:
        return node.value is None
    return type(node) is CALL and bool(node.args) and _is_few(node.args[0])


def _is_few(node: Node) -> bool:
    if type(node) is SEQ:
        return not node.items or _is_few(node.items[0])
    return type(node) is CONST and node.value in (0, 1)
