"""A tensor and some code in, whether what is in it stays while the code runs out."""

from __future__ import annotations

from collections.abc import Iterable

import libcst as cst

from syncguard.fix.known import Known
from syncguard.fix.names import loaded, reads, stored, stores, straddled
from syncguard.fix.region import Region
from syncguard.infer.domain.values import Const, Host, Instance, Seq, Table

PLAIN = ("builtins.", "math.", "time.")
PLAIN_ATTRIBUTES = ("shape", "dtype", "device", "ndim", "requires_grad", "is_cuda")


def steady(base: cst.BaseExpression, nodes: Iterable[cst.CSTNode], region: Region, known: Known) -> str:
    """Whether what is in a tensor stays while some nodes run: "safe", "unsafe" where something that they write or call
    might share its memory, '' where they bind it, write into it, or hand it to others."""
    path, origin = region.code(base), root(base)
    every = [*nodes]
    if not origin or any(
        isinstance(node, cst.Name) and node.value == origin and stored(region, node) for node in every
    ):
        return ""
    views = {origin} | _origins(origin, region, known)
    alone = private(base, region, known)
    tier = "safe"
    for node in every:
        if isinstance(node, cst.Name | cst.Attribute) and node.deep_equals(base) and _given(node, region, known):
            return ""
        if _optimizes(node) and _leaf(base, region, known):
            return ""
        if isinstance(node, cst.Yield | cst.Await) or (isinstance(node, cst.Call) and not quiet(node, known)):
            tier = tier if alone else "unsafe"
        if (rebound := _rebound(node)) is not None:
            if path == (other := region.code(rebound)) or path.startswith(f"{other}."):
                return ""
            if rebound.attr.value in path.split(".")[1:] and root(rebound) != origin:
                tier = tier if alone else "unsafe"
            continue
        target = _written(node, region)
        if target is None:
            continue
        name = root(target)
        if name == origin and (not isinstance(base, cst.Attribute) or region.code(target).startswith(path)):
            return ""
        if name != origin and (name in views or origin in _origins(name, region, known)):
            return ""
        if not name or name == origin or not _own(name, target, region, known):
            tier = tier if alone else "unsafe"
    return tier


def since(base: cst.BaseExpression, first: cst.CSTNode, last: cst.CSTNode, region: Region, known: Known) -> str:
    """The same of what runs between two nodes: what stands there, the loops that come back to the second alone, what
    is called with the second before the first, its target, is written."""
    start, end = region.places[first][2:], region.places[last][:2]
    nodes = [node for node, place in region.places.items() if start <= place[:2] and place[2:] <= end]
    target = next((held for held in region.around(first) if isinstance(held, cst.AssignTarget | cst.AugAssign)), None)
    statement = region.parent(target) if isinstance(target, cst.AssignTarget) else target
    around = [*region.around(last)]
    calls = [held for held in around if isinstance(held, cst.Call)] if statement in around else []
    return steady(base, [*nodes, *calls, *straddled(region, first, last)], region, known)


def kept(name: cst.Name, nodes: Iterable[cst.CSTNode], region: Region, known: Known) -> bool:
    """Whether some nodes leave a variable that is no tensor, and what it holds, as it is: they bind neither, call none
    of its methods and give it to nobody."""
    for node in nodes:
        if not isinstance(node, cst.Name) or node.value != name.value:
            continue
        outer: cst.CSTNode = node
        while isinstance(held := region.parent(outer), cst.Attribute | cst.Subscript) and held.value is outer:
            outer = held
        if stored(region, node) or (outer is not node and isinstance(held, cst.AssignTarget | cst.AugAssign | cst.Del)):
            return False
        if isinstance(known.value(node), Const | Host):
            continue
        call = region.parent(held) if isinstance(held, cst.Arg) else held
        if not isinstance(call, cst.Call) or quiet(call, known):
            continue
        if (outer is node and held is not call) or (call.func is outer and type(known.value(outer)) is not Instance):
            return False
    return True


def root(node: cst.CSTNode) -> str:
    """The variable of `x`, `x.a`, `x[0]`, `x.view(-1)`; '' where there is none."""
    while not isinstance(node, cst.Name):
        match node:
            case cst.Attribute(value=of) | cst.Subscript(value=of) | cst.Call(func=cst.Attribute(value=of)):
                node = of
            case _:
                return ""
    return node.value


def related(one: str, other: str, region: Region, known: Known) -> bool:
    """Whether two variables may hold the same memory: one is, or may be, a view of the other or of what that is of."""
    first, second = ({name} | _origins(name, region, known) for name in (one, other))
    return bool(first & second)


def _written(node: cst.CSTNode, region: Region) -> cst.CSTNode | None:
    """What a node writes into: `x` in `x.add_(1)`, `x[0] = 1`, `x.data = y`, `x += 1` and `out=x`."""
    match node:
        case cst.Call(func=cst.Attribute(value=of, attr=cst.Name(value=name))) if _in_place(name):
            return of
        case cst.AssignTarget(target=cst.Subscript(value=of)):
            return of
        case cst.AssignTarget(target=cst.Attribute(value=of, attr=cst.Name(value="data"))):
            return of
        case cst.AugAssign(target=target):
            return target
        case cst.Arg(keyword=cst.Name(value="out"), value=value):
            return value
    return None


def _rebound(node: cst.CSTNode) -> cst.Attribute | None:
    """The attribute that a node gives another value, which writes into no memory; `x.data = y` does write."""
    match node:
        case cst.AssignTarget(target=cst.Attribute(attr=cst.Name(value=name)) as target) if name != "data":
            return target
    return None


def _in_place(name: str) -> bool:
    return name.endswith("_") and not name.endswith("__")


def _given(node: cst.CSTNode, region: Region, known: Known) -> bool:
    """Whether a tensor goes to a function of which nothing is known."""
    held = region.parent(node)
    call = region.parent(held)
    return isinstance(held, cst.Arg) and isinstance(call, cst.Call) and not quiet(call, known)


def quiet(call: cst.Call, known: Known) -> bool:
    """Whether a call is one of torch, of a built-in function, or of a method of a list or number: what it writes is
    seen here."""
    callee = known.callee(call)
    if callee:
        return callee.startswith(PLAIN) or known.op(call) is not None
    if not isinstance(call.func, cst.Attribute):
        return False
    return type(known.value(call.func.value)) in (Seq, Table, Const, Host) or known.tensor(call.func.value) is not None


def _optimizes(node: cst.CSTNode) -> bool:
    """Whether a node may be the step of an optimizer, `optimizer.step()` or `scaler.step(optimizer)`, which writes into
    the parameters that it was given."""
    match node:
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="step")), args=[] | [_]):
            return True
    return False


def _leaf(base: cst.BaseExpression, region: Region, known: Known) -> bool:
    """Whether a tensor may be one that an optimizer was given: not where a function computes it."""
    if not isinstance(base, cst.Name):
        return True
    bound = stores(region, region.scope(base), base.value)
    return not bound or not all(_made(node, region, known) and not _asks(node, region) for node in bound)


def _asks(node: cst.Name, region: Region) -> bool:
    """Whether a tensor is made to take a gradient of its own."""
    assign = next((held for held in region.around(node) if isinstance(held, cst.Assign)), None)
    return assign is not None and any(word in region.code(assign.value) for word in ("requires_grad", "Parameter"))


def private(base: cst.BaseExpression, region: Region, known: Known) -> bool:
    """Whether nobody but this function can know a tensor: it was made here, and nothing but torch has been given it."""
    if not isinstance(base, cst.Name):
        return False
    scope = region.scope(base)
    bound = stores(region, scope, base.value)
    if not bound or not all(_made(node, region, known) for node in bound):
        return False
    return all(region.scope(use) is scope and _kept(use, region, known) for use in reads(region, scope, base.value))


def _kept(use: cst.Name, region: Region, known: Known) -> bool:
    """Whether a use of a tensor gives nobody the tensor, nor a view of it."""
    held = region.parent(use)
    if isinstance(held, cst.BinaryOperation | cst.Comparison | cst.UnaryOperation | cst.AugAssign | cst.Index):
        return True
    if isinstance(held, cst.For | cst.CompFor) and held.iter is use:
        return True
    if isinstance(held, cst.Attribute):
        call = region.parent(held)
        if not isinstance(call, cst.Call):
            return held.attr.value in PLAIN_ATTRIBUTES
        return known.op(call) is not None and not shares(held.attr.value, known)
    if isinstance(held, cst.Subscript):
        outer = region.parent(held)
        return isinstance(
            outer, cst.Attribute | cst.AssignTarget | cst.AugAssign | cst.BinaryOperation | cst.Comparison
        )
    call = region.parent(held)
    return isinstance(held, cst.Arg) and isinstance(call, cst.Call) and copies(call, known)


def shares(name: str, known: Known) -> bool:
    """Whether a function of torch may give the memory of its tensor."""
    return name in known.world.views or name in SHARING


def copies(call: cst.Call, known: Known) -> bool:
    """Whether a function of torch, or a built-in one, gives something else than what it was given."""
    callee = known.callee(call)
    last = callee.rpartition(".")[2]
    if callee.startswith("builtins."):
        return last in ("len", "float", "int", "bool", "print", "str", "repr", "range", "isinstance")
    return known.op(call) is not None and not shares(last, known) and not _in_place(last)


def views(name: str, region: Region, known: Known) -> set[str]:
    """The variables that are, or may be, views of another."""
    return {other for other in region.names if name in _origins(other, region, known)}


def _origins(name: str, region: Region, known: Known) -> set[str]:
    """The variables of which another is, or may be, a view: those in what it is bound to, unless that is a copy."""
    found: set[str] = set()
    for node in region.names.get(name, ()):
        if stored(region, node):
            holder = next((held for held in region.around(node) if isinstance(held, cst.Assign | cst.For)), None)
            value = holder.value if isinstance(holder, cst.Assign) else holder.iter if holder is not None else None
            copy = isinstance(value, ARITHMETIC) or (isinstance(value, cst.Call) and _copied(value, known))
            if value is not None and not copy:
                found |= loaded(region, unkeyed(value))
    return found - {name}


def unkeyed(value: cst.BaseExpression) -> cst.BaseExpression:
    """What is picked from: of `x[n : m]` it is `x` that is shared, not the places."""
    while isinstance(value, cst.Subscript):
        value = value.value
    return value


def _copied(value: cst.Call, known: Known) -> bool:
    """Whether a call gives memory of its own."""
    last = known.callee(value).rpartition(".")[2]
    if known.op(value) is None or known.tensor(value) is None:
        return False
    return not shares(last, known) and not _in_place(last)


def _own(name: str, target: cst.CSTNode, region: Region, known: Known) -> bool:
    """Whether a variable holds numbers, a list, or memory that was made for it."""
    if known.number(target) or type(known.value(target)) in (Seq, Table, Const):
        return True
    bound = [node for node in region.names.get(name, ()) if stored(region, node)]
    return bool(bound) and all(_made(node, region, known) for node in bound)


def _made(node: cst.Name, region: Region, known: Known) -> bool:
    held = region.parent(node)
    if isinstance(held, cst.AugAssign):
        return True
    assign = next((one for one in region.around(node) if isinstance(one, cst.Assign | cst.BaseCompoundStatement)), None)
    if not isinstance(assign, cst.Assign):
        return False
    value = assign.value
    if isinstance(value, (*ARITHMETIC, cst.Integer, cst.Float, cst.BaseString, *DISPLAYS)):
        return True
    return isinstance(value, cst.Call) and _copied(value, known)


ARITHMETIC = (cst.BinaryOperation, cst.Comparison, cst.UnaryOperation)
DISPLAYS = (cst.List, cst.Tuple, cst.Dict, cst.Set, cst.ListComp, cst.DictComp, cst.SetComp)
# What gives the same memory where nothing is to be done.
SHARING = frozenset(
    "detach to cpu cuda data contiguous float double half bfloat16 long int short char byte bool type type_as "
    "as_tensor asarray from_numpy frombuffer from_dlpack dropout alpha_dropout feature_dropout positive conj "
    "resolve_conj resolve_neg pin_memory broadcast_tensors meshgrid broadcast_to atleast_1d atleast_2d atleast_3d "
    "real imag view_as_real view_as_complex requires_grad_ ravel expand_as as_strided diagonal movedim moveaxis "
    "swapaxes swapdims unfold tensor_split hsplit vsplit dsplit split_with_sizes adjoint reshape_as".split()
)
