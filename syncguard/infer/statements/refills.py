"""A loop over a container in, what the container holds after it out: each of its parts, moved or read."""

from __future__ import annotations

from typing import Final

from syncguard.infer.branches.narrow import narrowed
from syncguard.infer.domain.contents import holds_tensor, tensor_in, without
from syncguard.infer.domain.lattice import join, join_all
from syncguard.infer.domain.values import UNKNOWN, Host, Table, Tensor, Unknown, Value
from syncguard.infer.expressions.evaluate import quiet_value
from syncguard.infer.routine import Frame
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, BIND, CALL, IF, INDEX, LEAVE, NAME, SEQ
from syncguard.read.walk import walk

WAYS: Final = ("items", "keys")  # to iterate over a container's keys
COPIES: Final = ("list", "tuple")
ANY: Final = Tensor(sure=True)


def refill(node: core.Loop, frame: Frame) -> None:
    """`for key, part in batch.items(): batch[key] = part.to(device)`: what was in the batch is on the device; after
    `part.item()` it is a number."""
    name = _container(node.iterable)
    held = frame.env.get(name) if name else None
    if (type(held) is not Unknown and type(held) is not Table) or node.target is None:
        return
    pair = node.target.items if type(node.target) is SEQ else ()
    key = pair[0] if pair else node.target
    if type(key) is not NAME:
        return
    puts = [part for part in walk(node.body) if type(part) is BIND and _puts(part.targets, name, key.id)]
    put = puts[0] if puts else None
    if put is None or put.value is None:
        return
    value = quiet_value(put.value, frame)
    there = tensor_in(value)
    each = any(put is statement for statement in node.body)
    item = pair[1].id if len(pair) == 2 and type(pair[1]) is NAME else f"{name}[{key.id}]"
    read = UNKNOWN if there is value else _of_any_tensor(puts, node.body, item, frame)
    if type(read) is not Unknown and not holds_tensor(read):
        always = each and not any(type(part) is LEAVE for part in walk(node.body))
        frame.env[name] = _read(held, read, always)
    elif type(held) is Table and there is not None:
        each = each and there is value
        items = {at: _moved(item, there, each) for at, item in held.items.items()}
        frame.env[name] = Table(items, there if each else join(held.element, there), held.keys)
    elif there.on_device if there is not None else type(value) is Unknown and value.weak is not None:
        frame.env[name] = Table({}, value if each else join(UNKNOWN, value), Host("str"))


def _moved(item: Value, there: Tensor, each: bool) -> Value:
    """A part after the loop; where only some were put back, those were that are tensors."""
    if type(item) is Tensor:
        return item.but(device=there.device, why=there.why)
    return there if each else item


def _read(held: Value, value: Value, always: bool) -> Value:
    """A dict whose tensors were all replaced by what was read of them."""
    if type(held) is not Table:
        return Table({}, value, Host("str")) if always else held
    items = {at: value if always or tensor_in(item) is not None else item for at, item in held.items.items()}
    left = without(held.element, lambda option: always or type(option) is Tensor)
    return Table(items, value if left is UNKNOWN else join(left, value), held.keys)


def _of_any_tensor(puts: list[core.Bind], body: tuple[Node, ...], item: str, frame: Frame) -> Value:
    """What is put in the place of a tensor, whichever it is; UNKNOWN where some may be left as they are: what stands
    before, or around, asks something else of `item` than whether it is a tensor."""
    before = frame.env
    frame.env = given = {**before, item: ANY}
    frame.dotted.add(item.partition("[")[0])
    found: list[Value] = []
    sure = False
    for put in puts:
        ways = _ways_to(put, body)
        # What several put there is asked of each as its own tests leave it: `if isinstance(x, float): out[k] = x`.
        for test, outcome in ways or () if len(puts) > 1 else ():
            frame.env = {**frame.env, **narrowed(test, outcome, frame)}
        value = UNKNOWN if ways is None or put.value is None else quiet_value(put.value, frame)
        frame.env = given
        found.append(value)
        sure = sure or (
            ways is not None
            and all(tensor_in(narrowed(test, not outcome, frame).get(item, ANY)) is None for test, outcome in ways)
        )
    frame.env = before
    return join_all(found) if sure and all(type(value) is not Unknown for value in found) else UNKNOWN


def _ways_to(put: core.Bind, body: tuple[Node, ...]) -> list[tuple[Node, bool]] | None:
    """The tests that stand between the start of a loop's turn and this statement, each with the outcome that leads to
    it; None where it is reached in another way."""
    ways: list[tuple[Node, bool]] = []
    for part in body:
        if part is put:
            return ways
        if type(part) is not IF:
            if any(type(inner) is LEAVE for inner in walk(part)):
                return None
            continue
        for arm, outcome in ((part.body, True), (part.orelse, False)):
            if any(inner is put for inner in walk(arm)):
                inside = _ways_to(put, arm)
                return None if inside is None else [*ways, (part.test, outcome), *inside]
        if any(type(inner) is LEAVE for inner in walk(part)):
            if part.orelse or type(part.body[-1]) is not LEAVE or part.body[-1].what != "continue":
                return None
            ways.append((part.test, False))
    return None


def _container(node: Node | None) -> str:
    """The name or path of what a loop takes the keys of; '' where it is not written so."""
    if type(node) is CALL and type(node.fn) is NAME and node.fn.id in COPIES and len(node.args) == 1:
        node = node.args[0]
    if type(node) is CALL and type(node.fn) is ATTR and node.fn.name in WAYS and not node.args:
        node = node.fn.of
    return _path(node)


def _path(node: Node | None) -> str:
    """A name, or the attributes asked of one: `self.logs`."""
    return node.id if type(node) is NAME else node.path if type(node) is ATTR else ""


def _puts(targets: tuple[Node, ...], name: str, key: str) -> bool:
    """Whether this is `name[key] = ...`."""
    target = targets[0]
    return (
        len(targets) == 1
        and type(target) is INDEX
        and type(target.key) is NAME
        and (_path(target.of), target.key.id) == (name, key)
    )
