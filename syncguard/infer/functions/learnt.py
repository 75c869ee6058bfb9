"""What a call passes in, what the parameters of the routine that is called are seen to hold out."""

from __future__ import annotations

from syncguard.infer.domain.contents import holds_tensor
from syncguard.infer.domain.lattice import passed, pooled, same
from syncguard.infer.domain.values import (
    UNKNOWN,
    Const,
    Host,
    Seq,
    Table,
    Tensor,
    Value,
    kind_of,
)
from syncguard.infer.operations.targets import names_host
from syncguard.infer.routine import Frame, Routine
from syncguard.read import core
from syncguard.read.core import Node, Param
from syncguard.read.tags import FUNCTION


def given(
    routine: Routine, args: list[Value], keywords: dict[str, Value], bound: bool, counted: bool = True
) -> dict[str, Value]:
    """The parameters of a routine that a call gives something known, without the receiver; `*rest` is given a tuple."""
    node = routine.node
    if type(node) is not FUNCTION:
        return {}
    params = {param.name: param for param in node.params}
    positional = [param for param in node.params if param.kind == "positional"]
    rest = next((param for param in node.params if param.kind == "*"), None)
    found: dict[str, Value] = {}
    pairs: list[tuple[Param, Value]] = []
    pairs += zip(positional, args)
    pairs += [(params[name], arg) for name, arg in keywords.items() if name in params]
    for param, arg in pairs:
        if arg is UNKNOWN or (bound and param is node.params[0]):
            continue
        if type(arg) is Const and isinstance(arg.value, int | float):
            arg = Host(kind_of(arg))  # one caller's number is not every caller's
        known = found.get(param.name)
        found[param.name] = arg if known is None else pooled(known, arg)
    several = args[len(positional) :]
    if rest is not None and any(arg is not UNKNOWN for arg in several):
        each = [_kept(arg) for arg in several]
        found[rest.name] = Seq("tuple", tuple(each)) if counted else Seq("tuple", None, _pooled(each))
    others = next((param for param in node.params if param.kind == "**"), None) if keywords else None
    if others is not None and "**" not in keywords:  # else nobody knows which there are
        left = {name: _kept(arg) for name, arg in keywords.items() if name not in params}
        if any(map(holds_tensor, left.values())):
            found[others.name] = Table(left)
    return found


def _pooled(values: list[Value]) -> Value:
    """What any of these may be."""
    found: Value = UNKNOWN
    for value in values:
        found = value if found is UNKNOWN else found if value is UNKNOWN else pooled(found, value)
    return found


def _both(known: Value, arg: Value) -> Value:
    """What several calls give `*rest`: each in its place, where they give as many."""
    if type(known) is not Seq or type(arg) is not Seq:
        return passed(known, arg)
    if known.items is None or arg.items is None or len(known.items) != len(arg.items):
        return Seq("tuple", None, _pooled([*(known.items or (known.element,)), *(arg.items or (arg.element,))]))
    return Seq("tuple", tuple([_either(one, other) for one, other in zip(known.items, arg.items)]))


def _either(one: Value, other: Value) -> Value:
    """What is known of either, as of a parameter: a call that gives what nobody knows tells nothing."""
    return other if one is UNKNOWN else one if other is UNKNOWN else passed(one, other)


def _kept(arg: Value) -> Value:
    """What is passed without a parameter of its own, as calls share it."""
    return Host(kind_of(arg)) if type(arg) is Const and isinstance(arg.value, int | float | str) else arg


def learn(routine: Routine, handed: dict[str, Value], caller: Frame) -> bool:
    """Join what a call gives into what the parameters were seen to hold; tells whether that is news."""
    if caller.quiet:
        return False
    if caller.routine is caller.home.top and any(outcome and as_script(test) for test, outcome in caller.context.tests):
        handed = {name: arg for name, arg in handed.items() if not _tries(arg, routine, caller)}
    vague = _vague(routine, handed)
    news = not routine.vague.issuperset(vague)
    routine.vague.update(vague)
    node = routine.node
    rest = next((param.name for param in node.params if param.kind == "*"), "") if type(node) is FUNCTION else ""
    for name, arg in handed.items():
        known = routine.seen.get(name)
        joined = arg if known is None else _both(known, arg) if name == rest else passed(known, arg)
        if known is None or not same(known, joined):
            routine.seen[name] = joined
            news = True
    return news


def as_script(test: Node) -> bool:
    """Whether this asks whether the file is run by itself."""
    match test:
        case core.Do(what="truth", args=(inner,)):
            return as_script(inner)
        case core.Do(what="==", args=(core.Name(id="__name__"), core.Const(value="__main__"))):
            return True
    return False


def _tries(arg: Value, routine: Routine, caller: Frame) -> bool:
    """Whether a file that is run by itself tries what stands in it on what it draws, or a module on what it makes, or,
    in a package, on the host: others may give it anything."""
    if names_host(arg):
        return "." in caller.home.name
    if type(arg) is not Tensor or arg.device != "host" or arg.why is None or arg.why.root.path != caller.home.path:
        return False
    made = ("built", "rows", "of_data") if routine.owner is not None and routine.owner.is_module else ()
    is_ = caller.world.places.is_
    return any(is_("factories", kind, arg.why.root.text) for kind in ("drawn", *made))


def _vague(routine: Routine, handed: dict[str, Value]) -> list[str]:
    """The parameters that a call must give something, and of which it is not known what that is."""
    node = routine.node
    params = node.params if type(node) is FUNCTION else ()
    return [param.name for param in params if param.default is None and param.name not in handed]
