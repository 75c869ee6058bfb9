"""A node in, what it writes into, or may, and whether it sets something for others, out."""

from __future__ import annotations

import libcst as cst

from syncguard.fix.known import ELSEWHERE, Known, on
from syncguard.fix.region import Region
from syncguard.infer.domain.values import Const, Host, Instance, Named, Seq, Table

PLAIN = ("builtins.", "math.", "time.")
CALLING = ("map", "filter")
CHANGING = ("exec", "eval", "setattr", "delattr")
AUGMENTED = frozenset(
    f"__{name}__"
    for name in "setitem iadd isub imul imatmul itruediv ifloordiv imod ipow iand ior ixor ilshift irshift".split()
)
# What is no tensor, nor made of some, and what is given as it was: `self`.
OPAQUE = ("", "unknown", "none", "new", "self", "module")


def writes(node: cst.CSTNode, known: Known) -> list[cst.BaseExpression]:
    """`x` in `x.add_(1)`, `x[0] = 1`, `x.data, n = y, 1`, `x += 1`, `torch.add(y, 1, out=x)`, `F.relu(x, True)`, and
    whatever a function of torch is given whose row does not say that it gives tensors or numbers."""
    match node:
        case cst.Call():
            return [part for value in _by_call(node, known) for part in _parts(value, known)]
        case cst.AugAssign(target=target):
            return [target]
    return [of for target in targets(node) if (of := _into(target)) is not None]


def targets(node: cst.CSTNode) -> list[cst.BaseExpression]:
    """What is bound by an assignment, a loop or a `with`: each of several by itself."""
    match node:
        case cst.AssignTarget(target=target) | cst.AnnAssign(target=target):
            return _flat(target)
        case cst.For(target=target) | cst.CompFor(target=target) | cst.WithItem(asname=cst.AsName(name=target)):
            return _flat(target)
    return []


def functional(call: cst.Call, known: Known) -> bool:
    """Whether a function of torch writes into nothing that it is given: its row says that it gives tensors or numbers,
    and the call does not ask for another place for them."""
    op = known.op(call)
    return op is not None and _word(op.returns) not in OPAQUE and _asks_nothing(call, known)


def quiet(call: cst.Call, known: Known) -> bool:
    """Whether a call is one of torch, of a built-in function, or of a method of a list or number: what it writes is
    seen here."""
    callee = known.callee(call)
    if callee.startswith(PLAIN):
        return not _calls(call, known)
    if callee:
        return known.op(call) is not None
    if not isinstance(call.func, cst.Attribute) or _calls(call, known):
        return False
    return type(known.value(call.func.value)) in (Seq, Table, Const, Host) or known.tensor(call.func.value) is not None


def sets(node: cst.CSTNode, region: Region, known: Known) -> bool:
    """Whether a node asks how long something takes, or sets something for all of a library."""
    if not isinstance(node, cst.Call):
        return any(isinstance(one, cst.Attribute) and _of_module(one, known) for one in targets(node))
    callee = known.callee(node)
    if callee in known.world.clocks or callee.startswith("time."):
        return True
    of = known.value(node.func.value) if isinstance(node.func, cst.Attribute) else None
    owner = of.name if type(of) is Instance else callee if not callee.startswith("torch.Tensor.") else ""
    dropped = owner.startswith("torch.") and isinstance(region.parent(node), cst.Expr)
    return dropped and all(known.tensor(one) is None for one in writes(node, known))


def _of_module(node: cst.BaseExpression, known: Known) -> bool:
    while isinstance(node, cst.Attribute):
        node = node.value
    return type(known.value(node)) is Named


def in_place(name: str) -> bool:
    return (name.endswith("_") and not name.endswith("__")) or name in AUGMENTED


def _by_call(call: cst.Call, known: Known) -> list[cst.BaseExpression]:
    callee, op = known.callee(call), known.op(call)
    out = [arg.value for arg in call.args if arg.keyword is not None and arg.keyword.value == "out"]
    match call.func:
        case cst.Attribute(value=of, attr=cst.Name(value=name)) if (
            in_place(name) and type(known.value(of)) is not Named
        ):
            others = [arg.value for arg in call.args] if known.tensor(of) is None else []
            return [of, *others, *out]
    if op is None or callee.startswith("builtins."):
        return out
    if not in_place(callee.rpartition(".")[2]):
        if callee.startswith("torch.Tensor.") or (_word(op.returns) == "new" and _asks_nothing(call, known)):
            return out
        if functional(call, known):
            return []
        if said := known.written(call):
            return [*out, *said]
        if out and not any(arg.star for arg in call.args) and _word(op.returns) not in OPAQUE:
            return out
    return [arg.value for arg in call.args]


def _asks_nothing(call: cst.Call, known: Known) -> bool:
    """Whether a call has no `out`, no `inplace` that may be true, and no arguments that are not seen."""
    if in_place(known.callee(call).rpartition(".")[2]) or any(arg.star == "**" for arg in call.args):
        return False
    op = known.op(call)
    if any(arg.star for arg in call.args) and op is not None and {*ELSEWHERE} & {*op.args}:
        return False
    return not known.written(call) and not any(on(known.argument(call, name)) for name in ELSEWHERE)


def _word(returns: str) -> str:
    return returns.partition(" ")[0]


def _calls(call: cst.Call, known: Known) -> bool:
    """Whether a built-in function calls what it is given, `map(bump, rows)`, and that is neither built in nor a lambda,
    whose body is seen."""
    last = known.callee(call).rpartition(".")[2]
    given = [arg.value for arg in call.args if arg.keyword is not None and arg.keyword.value == "key"]
    given += [arg.value for arg in call.args[:1] if last in CALLING]
    seen = all(isinstance(one, cst.Lambda) or not on(one) or known.callee(one).startswith(PLAIN) for one in given)
    return last in CHANGING or not seen


def _flat(target: cst.BaseExpression) -> list[cst.BaseExpression]:
    if isinstance(target, cst.Tuple | cst.List):
        return [part for element in target.elements for part in _flat(element.value)]
    return [target]


def _into(target: cst.BaseExpression) -> cst.BaseExpression | None:
    match target:
        case cst.Subscript(value=of) | cst.Attribute(value=of, attr=cst.Name(value="data")):
            return of
    return None


def _parts(value: cst.BaseExpression, known: Known) -> list[cst.BaseExpression]:
    """What may be a tensor that others have, of an argument: an element of a list, no number, nothing computed."""
    match value:
        case cst.Tuple() | cst.List() | cst.Set():
            return [part for element in value.elements for part in _parts(element.value, known)]
        case cst.Dict():
            return [part for element in value.elements for part in _parts(element.value, known)]
        case cst.BinaryOperation() | cst.Comparison() | cst.BaseString() | cst.BaseNumber() | cst.Lambda():
            return []
    if known.number(value) or type(known.value(value)) in (Const, Host, Named, Instance):
        return []
    return [value]
