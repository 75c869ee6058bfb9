"""A container in, the container with one thing more out; a name and what it stands for in, where that is held out."""

from __future__ import annotations

from syncguard.infer.branches.meant import binders
from syncguard.infer.domain.lattice import join
from syncguard.infer.domain.values import UNKNOWN, Const, Instance, Seq, Table, Unknown, Value, options
from syncguard.infer.expressions.containers import modules_in
from syncguard.infer.routine import Frame
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, BIND, CHOOSE, CONST, FUNCTION, INDEX, LOOP, NAME, SEQ


def filled(of: Seq | Table, key: Value, value: Value, texts: tuple[str, ...] = ()) -> Value:
    """The container with `value` under `key`, which is one of some texts where these are known; under None, where any
    of its items has become this one."""
    if type(of) is Seq and of.items and type(key) is Const and key.value is None:
        return Seq(of.kind, tuple([_grown(item, value) for item in of.items]), names=of.names)
    if isinstance(of, Seq):
        place = _place(of, key)
        if of.items and place >= 0:
            return Seq(of.kind, (*of.items[:place], value, *of.items[place + 1 :]), names=of.names)
        return Seq(of.kind, None, join(of.element, value) if of.items != () else value)
    if type(key) is Const and isinstance(key.value, (str, int)):
        return Table({**of.items, key.value: value}, of.element, of.keys)
    if texts:
        held = {text: of.items.get(text, of.element) for text in texts}
        some = {text: value if one is UNKNOWN else join(one, value) for text, one in held.items()}
        return Table({**of.items, **some}, of.element, of.keys)
    element = value if of.element is UNKNOWN and not of.items else join(of.element, value)
    items = {at: _grown(held, value) for at, held in of.items.items()}
    return Table(items, element, of.keys if type(key) is Const else key)


def texts_of(key: Node, frame: Frame) -> tuple[str, ...]:
    """The texts that a name stands for which is a key, `"mask" if single else "masks"`; none where it may be others."""
    node = frame.routine.node
    if type(key) is not NAME or (type(node) is FUNCTION and key.id in [param.name for param in node.params]):
        return ()
    found: list[str] = []
    for part in binders(frame.routine).get(key.id, ()):
        if type(part) is BIND and all(type(target) in (INDEX, ATTR) for target in part.targets):
            continue  # `items[key] = value` binds something in `items`
        values = _bound(part)
        texts = [one.value for one in values if type(one) is CONST and isinstance(one.value, str)]
        if not texts or len(texts) < len(values):
            return ()
        found.extend(texts)
    return tuple(dict.fromkeys(found))


def _bound(part: Node) -> tuple[Node, ...]:
    """The values that a statement gives to a name, where it says them."""
    if type(part) is BIND and part.value is not None and len(part.targets) == 1 and type(part.targets[0]) is NAME:
        return (part.value.yes, part.value.no) if type(part.value) is CHOOSE else (part.value,)
    if type(part) is LOOP and type(part.target) is NAME and type(part.iterable) is SEQ:
        return part.iterable.items
    return ()


def _place(of: Seq, key: Value) -> int:
    """Where an item stands that a number names which is written out; -1 where nobody knows."""
    size, number = len(of.items or ()), key.value if type(key) is Const else None
    return number % size if type(number) is int and -size <= number < size else -1


def container_in(value: Value, frame: Frame) -> Seq | Table | None:
    """The container that a value is for all that is known, or that a container of modules holds them in."""
    known = [option for option in options(value) if type(option) is not Unknown]
    only = known[0] if len(known) == 1 else None
    return only if isinstance(only, (Seq, Table)) else modules_in(only, frame) if only is not None else None


def holding(holder: Value, container: Value) -> Value:
    """What held a container, with this one in its place: one of modules stays one."""
    known = next((option for option in options(holder) if type(option) is Instance), None)
    return container if known is None else known.holding(container)


def _grown(held: Value, value: Value) -> Value:
    """A container that may be the one which took in something more; all else unchanged."""
    return join(held, value) if type(held) in (Seq, Table) and type(held) is type(value) else held


def hold(name: str, value: Value, source: Node | None, frame: Frame) -> None:
    """Note where a container is held that a name stands for from now on: what is put into it is found there, too."""
    if frame.taken:
        frame.taken = {held: at for held, at in frame.taken.items() if held != name and not _in(at, name)}
    holder = holder_of(source, value) if source is not None else None
    if holder is not None and not _in(holder, name):
        frame.taken[name] = holder


def _in(holder: Node, name: str) -> bool:
    """Whether something is held by what has this name."""
    while type(holder) is INDEX:
        holder = holder.of
    return type(holder) is NAME and holder.id == name


def lend(target: Node, iterable: Node, frame: Frame) -> None:
    """Note where the containers are held that a loop has names for: `for out, x in zip(outs, xs): out.append(x)`."""
    for part, of in lent(target, iterable):
        name = part.id if type(part) is NAME and not _in(of, part.id) else ""
        if any(type(option) in (Seq, Table) for option in options(frame.env.get(name, UNKNOWN))):
            frame.taken[name] = core.Index(of, core.Const(None, of.at), of.at)


def lent(target: Node, iterable: Node) -> list[tuple[Node, Node]]:
    """The parts of a loop's target, each with the container that it is an item of, where one is written out."""
    several = target.items if type(target) is SEQ else ()
    match iterable:
        case core.Name() | core.Attr() | core.Index():
            return [(target, iterable)]
        case core.Call(fn=core.Name(id="zip"), args=args) if len(args) == len(several):
            return [pair for part, of in zip(several, args, strict=True) for pair in lent(part, of)]
        case core.Call(fn=core.Name(id="enumerate"), args=(of, *_)) if len(several) == 2:
            return lent(several[1], of)
        case core.Call(fn=core.Attr(of=of, name="values"), args=()):
            return lent(target, of)
        case core.Call(fn=core.Attr(of=of, name="items"), args=()) if len(several) == 2:
            return lent(several[1], of)
    return []


def holder_of(source: Node, value: Value) -> Node | None:
    """Where a container is held that an attribute, or another container, holds: `self.state[p]`, `outs[i]`."""
    if not any(type(option) in (Seq, Table) for option in options(value)):
        return None
    source = root = under_key(source)
    while type(root) is INDEX:
        root = root.of
    inside = type(root) is NAME and root is not source
    return source if inside or (type(root) is ATTR and root.path) else None


def under_key(source: Node) -> Node:
    """What is asked for by its key, as if it were written so: `state[p]` of `state.setdefault(p, [])`."""
    match source:
        case core.Call(fn=core.Attr(of=of, name="get" | "setdefault"), args=(key, *_)):
            return core.Index(of, key, source.at)
    return source
