"""An expression in, what it reads from something that holds settings out: `config.check`, `cfg["check"]`."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import CONST, NAME


class Asked(msgspec.Struct, frozen=True):
    """What is asked, for what, and what is taken where it has none; None where nothing is written for that."""

    of: Node
    name: str
    default: Node | None


def read_of(node: Node) -> Asked | None:
    """What a name is asked of: `of.name`, `of["name"]`, `of.get("name", default)`, `getattr(of, "name", default)`, and
    of whatever is called for both: `look_up(of, "name", default=default)`."""
    match node:
        case core.Attr(of=of, name=name) | core.Index(of=of, key=core.Const(value=str() as name)):
            return Asked(of, name, None)
        case core.Call(
            fn=core.Attr(of=of, name="get"), args=(core.Const(value=str() as name), *_), keywords=keywords
        ) if len(node.args) < 3:
            given = [*node.args[1:], *[value for key, value in keywords if key in ("default", "default_value")]]
            return Asked(of, name, given[0] if given else core.Const(None, node.at))
        case core.Call(fn=core.Name(id="getattr"), args=(of, core.Const(value=str() as name), *_)):
            return Asked(of, name, node.args[2] if len(node.args) > 2 else None)
        case core.Call() if node.keywords:
            return _looked_up(node)
    return None


def _looked_up(call: core.Call) -> Asked | None:
    """The same of a call that is given a key and a default by name: `look_up(of, "name", default=default)`."""
    given = dict(call.keywords)
    key = given.get("key") or next((arg for arg in call.args[:2] if type(arg) is CONST), None)
    default = given.get("default")
    if default is None or type(key) is not CONST or not isinstance(key.value, str):
        return None
    of = next((arg for arg in (*call.args[:1], *given.values()) if arg is not key and arg is not default), call.fn)
    return Asked(of, key.value, default)


def carried(node: Node, is_carrier: Callable[[str], bool]) -> bool:
    """Whether a part of a chain of names is what settings are kept in: `self.cfg.model`, `cfg["model"]`."""
    if type(node) is NAME:
        return is_carrier(node.id)
    asked = read_of(node)
    return asked is not None and (is_carrier(asked.name) or carried(asked.of, is_carrier))
