"""A test of the key in a loop over a dict's items in, what it tells of the value beside it out."""

from __future__ import annotations

from syncguard.infer.domain.lattice import join_all
from syncguard.infer.domain.values import Table, Value
from syncguard.infer.routine import Frame
from syncguard.read import core


def paired(node: core.Loop, frame: Frame) -> None:
    """Keep which names a loop gives to the keys and the values of a dict of which some keys are known."""
    from syncguard.infer.expressions.evaluate import quiet_value

    match node:
        case core.Loop(
            target=core.Seq(items=(core.Name(id=key), core.Name(id=name))),
            iterable=core.Call(fn=core.Attr(of=of, name="items"), args=()),
        ):
            table = quiet_value(of, frame)
            if type(table) is Table and table.items and key in frame.env and name in frame.env:
                frame.keyed[key] = (frame.env[key], name, frame.env[name], table)


def beside(key: str, said: object, equal: bool, frame: Frame) -> dict[str, Value]:
    """What the value is where its key is this one, or is any other."""
    known = frame.keyed.get(key)
    if known is None:
        return {}
    turn, name, value, table = known
    if frame.env.get(key) is not turn or frame.env.get(name) is not value:
        return {}  # bound anew
    if equal:
        return {name: table.items.get(said, table.element)}
    others = [item for other, item in table.items.items() if other != said]
    return {name: join_all([*others, table.element])}
