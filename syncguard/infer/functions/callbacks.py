"""A call that passes functions in, those of them out of whose parameters a declared type says something new."""

from __future__ import annotations

from collections.abc import Iterator

from syncguard.infer.branches.asking import types_asked
from syncguard.infer.domain.sureness import exact_kind
from syncguard.infer.domain.values import NONE, UNKNOWN, Call, Callback, Seq, Tensor, Union, Value, options
from syncguard.infer.functions import learnt
from syncguard.infer.functions.annotations import promised
from syncguard.infer.functions.wrappers import thin
from syncguard.infer.routine import Frame, Routine
from syncguard.read.tags import CALL, FUNCTION, IF, NAME
from syncguard.read.walk import walk


def told(routine: Routine, handed: dict[str, Value], caller: Frame) -> Iterator[Routine]:
    """The functions of this file that a call passes, where this says something new of their parameters: they will be
    given what the type says of the parameter that takes them."""
    node = routine.node
    if type(node) is not FUNCTION or not any(map(_passes, handed.values())):
        return
    asking = Frame(caller.world, routine, {})
    for param in node.params:
        arg = handed.get(param.name)
        if arg is not None and param.annotation is not None and _passes(arg):
            yield from _handed(promised(param.annotation, asking, caller.world.place(caller.routine)), arg, caller)


def applies(routine: Routine) -> bool:
    """Whether a short function calls a parameter of its own: what it returns is for each caller to say, as in
    `default(noise, lambda: torch.randn_like(x))`."""
    node, written = routine.node, routine.written
    if written.applies is None:
        params = {param.name for param in node.params} if type(node) is FUNCTION and thin(routine) else set()
        calls = [part.fn for part in walk(node.body) if type(part) is CALL] if params else []
        written.applies = any(type(fn) is NAME and fn.id in params for fn in calls)
    return written.applies


def of_kinds(routine: Routine, handed: dict[str, Value], frame: Frame) -> dict[str, Value]:
    """What a call passes for parameters of which a function tests the kind, where it is of one kind for sure, or a
    tensor for all that is known."""
    node, written = routine.node, routine.written
    if written.asked is None:
        tests = tuple([part.test for part in node.body if type(part) is IF])
        inner = Frame(frame.world, routine, {})
        written.asked = frozenset(
            part.args[0].id
            for part in walk(tests)
            if type(part) is CALL and type(part.fn) is NAME and part.args and type(part.args[0]) is NAME
            if part.fn.id == "isinstance" or (len(part.args) == 1 and types_asked(part.fn, inner))
        )
    return {
        name: value
        for name, value in handed.items()
        if name in written.asked and (type(value) is Tensor or all(map(exact_kind, options(value))))
    }


def is_own(value: Value) -> bool:
    """Whether a value is a function or method of the file that is checked."""
    return type(value) is Call and value.routine.home.own


def _passes(value: Value) -> bool:
    """Whether a value is or holds a function of the file that is checked."""
    if type(value) is Seq:
        return any(map(_passes, value.items or ()))
    return type(value) is Call and is_own(value) and value.receiver is None


def _handed(declared: Value, arg: Value, caller: Frame) -> Iterator[Routine]:
    if type(declared) is Union:
        declared = next((option for option in declared.options if option is not NONE), UNKNOWN)
    if type(declared) is Callback and type(arg) is Call:
        if learnt.learn(arg.routine, learnt.given(arg.routine, [*declared.takes], {}, False), caller):
            yield arg.routine
    elif type(declared) is Seq and type(arg) is Seq:
        items = arg.items or ()
        wanted = declared.items if declared.items is not None else (declared.element,) * len(items)
        for inner, item in zip(wanted, items):
            yield from _handed(inner, item, caller)
