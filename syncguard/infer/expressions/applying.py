"""A call that has another function called in, what that gives out."""

from __future__ import annotations

from typing import Final

from syncguard.infer.domain.contents import tensor_in
from syncguard.infer.domain.lattice import join
from syncguard.infer.domain.values import NONE, UNKNOWN, Seq, Table, Value
from syncguard.infer.expressions.iterators import Function, called, element
from syncguard.infer.routine import Frame
from syncguard.read.core import At, Node


def _map(args: list[Value], keywords: dict[str, Value], at: At, nodes: tuple[Node, ...], frame: Frame) -> Value:
    from syncguard.infer.expressions.calls import invoke

    return (
        Seq("iterator", None, invoke(args[0], [element(arg, at, frame) for arg in args[1:]], {}, at, nodes[1:], frame))
        if len(args) > 1
        else UNKNOWN
    )


OF_CHECKPOINT: Final = frozenset(
    "use_reentrant preserve_rng_state context_fn determinism_check debug early_stop".split()
)


def _checkpoint(
    args: list[Value], keywords: dict[str, Value], at: At, nodes: tuple[Node, ...], frame: Frame
) -> Value | None:
    """Activation checkpointing calls its first argument with the others."""
    from syncguard.infer.expressions.calls import invoke

    if not args:
        return None
    handed = {name: value for name, value in keywords.items() if name not in OF_CHECKPOINT}
    return invoke(args[0], args[1:], handed, at, nodes[1:], frame)


def _functional_call(
    args: list[Value], keywords: dict[str, Value], at: At, nodes: tuple[Node, ...], frame: Frame
) -> Value | None:
    """`functional_call(module, parameters, x)` calls the module with x, or with the items of a tuple."""
    from syncguard.infer.expressions.calls import invoke

    given = args[2] if len(args) > 2 else keywords.get("args", NONE)
    named = args[3] if len(args) > 3 else keywords.get("kwargs", NONE)
    handed = list(given.items) if type(given) is Seq and given.items is not None else [given]
    if not args or (type(given) is Seq and given.items is None):
        return None
    found = invoke(args[0], [] if given is NONE else handed, named.items if type(named) is Table else {}, at, (), frame)
    return None if found is UNKNOWN else found


def _reduce(args: list[Value], keywords: dict[str, Value], at: At, nodes: tuple[Node, ...], frame: Frame) -> Value:
    item = element(args[1], at, frame) if len(args) > 1 else UNKNOWN
    if len(args) > 2:  # what it begins with, and then what is made of that
        result = join(args[2], called(args[0], [args[2], item], at, (), frame))
        return join(args[2], called(args[0], [result, item], at, (), frame))
    result = called(args[0], [item, item], at, (), frame) if args else UNKNOWN
    return item if tensor_in(result) is None else result


APPLYING: Final[dict[str, Function]] = {
    "builtins.map": _map, "functools.reduce": _reduce, "torch.utils.checkpoint.checkpoint": _checkpoint,
    "torch.func.functional_call": _functional_call, "torch.nn.utils.stateless.functional_call": _functional_call,
}  # fmt: skip
