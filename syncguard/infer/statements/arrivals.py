"""A test for an event and its two ways in; a copy that the event was waited for has arrived on both."""

from __future__ import annotations

from syncguard.infer.branches.subjects import path_of
from syncguard.infer.domain.contents import arrived
from syncguard.infer.routine import Env
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, CALL, RUN


def arrive(node: core.If, yes: Env, no: Env) -> None:
    """What an event is waited for where there is one has arrived: where there is none, it needs no waiting for."""
    match node.test:
        case core.Do(what="truth", args=(core.Do(what="is not", args=(asked, core.Const(value=None))),)):
            path = path_of(asked)
        case core.Do(what="truth", args=(asked,)):
            path = path_of(asked)
        case _:
            path = ""
    if not path or not any(_called_on(part, path) for part in node.body):
        return
    for name, value in no.items():
        held, landed = yes.get(name), arrived(value)
        if landed is not value and held is not None and arrived(held) is held:
            no[name] = landed


def _called_on(part: Node, path: str) -> bool:
    """Whether a statement calls a method of what has this name."""
    call = part.value if type(part) is RUN else None
    return type(call) is CALL and type(call.fn) is ATTR and path_of(call.fn.of) == path
