"""A parameter in, whether a function makes tensors of it, or of its items, out: then it is numbers, and no tensor."""

from __future__ import annotations

from syncguard.infer.branches.instances import kinds_of
from syncguard.infer.branches.meant import binders
from syncguard.infer.branches.stepping import called_path
from syncguard.infer.domain.values import UNKNOWN, Named
from syncguard.infer.routine import Frame
from syncguard.read import core
from syncguard.read.tags import BIND, CALL, COMP, DO, FUNCTION, LOOP, NAME
from syncguard.read.walk import walk


def is_data(node: core.Function, name: str, frame: Frame) -> bool:
    """Whether a tensor is made of what has this name: `torch.tensor(rows)`, or `torch.tensor(row)` in a loop."""
    return any(_of_data(use, frame) for one in (name, *_drawn(node, name)) for use in node.uses.get(one, ()))


def made_tensor(name: str, frame: Frame) -> bool:
    """Whether a function replaces what has this name by a tensor of it, `x = torch.tensor(x)`, as it is or reshaped:
    what is asked of the one tells nothing of the other, unless the function tests which it is."""
    if not any(_of_data(use, frame) for use in frame.uses(name)):
        return False
    replaced = any(
        type(call) is CALL and _first(call) == name and _of_data(_use(call), frame)
        for part in binders(frame.routine).get(name, ())
        if type(part) is BIND
        for call in walk(part.value)
    )
    return replaced and not asks_kind(frame, name)


def _first(call: core.Call) -> str:
    """The name that a call is given first."""
    return call.args[0].id if call.args and type(call.args[0]) is NAME else ""


def _use(call: core.Call) -> str:
    """The use that a call makes of what it is given first."""
    return f"(0{called_path(call)}"


def asks_kind(frame: Frame, name: str) -> bool:
    """Whether a function tests if what has this name is a tensor, or one of several things that have a name."""
    node = frame.routine.node
    if type(node) is FUNCTION and "(0isinstance" not in node.uses.get(name, ()):
        return False
    asked = [
        part.args[1]
        for part in walk(node.body)
        if type(part) is CALL and type(part.fn) is NAME and part.fn.id == "isinstance" and len(part.args) == 2
        if type(part.args[0]) is NAME and part.args[0].id == name
    ]
    return any(_may_be_tensor(kinds, frame) for kinds in asked)


def _may_be_tensor(kinds: core.Node, frame: Frame) -> bool:
    """Whether a tensor is among these types; of a name that is bound later nobody knows."""
    named = kinds_of(kinds, frame)
    return UNKNOWN in named or any(type(one) is Named and frame.world.is_tensor_type(one.name) for one in named)


def _drawn(node: core.Function, name: str) -> list[str]:
    """The names that loops give to the items of what has this name."""
    clauses = [
        (target, iterable)
        for part in walk(node.body)
        for target, iterable in (
            [(part.target, part.iterable)] if type(part) is LOOP
            else [clause[:2] for clause in part.clauses] if type(part) is COMP
            else []
        )
    ]  # fmt: skip
    return [
        target.id
        for target, iterable in clauses
        if type(target) is NAME and type(iterable) is NAME and iterable.id == name
    ]


def _of_data(use: str, frame: Frame) -> bool:
    """Whether this use makes a tensor of numbers: `torch.tensor(rows)`."""
    head, _, rest = use[2:].partition(".") if use.startswith("(0") else ("", "", "")
    value = frame.lookup(head) if head else UNKNOWN
    if type(value) is not Named:
        return False
    return frame.world.places.is_("factories", "of_data", f"{value.name}.{rest}" if rest else value.name)


def tested(node: core.Function, name: str) -> bool:
    """Whether a body asks whether a parameter is true, by itself: few tensors could answer."""
    tests = (part.args[0] for part in walk(node.body) if type(part) is DO and part.what in ("truth", "not"))
    return any(type(test) is NAME and test.id == name for test in tests)
