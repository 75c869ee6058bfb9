"""A tensor and some code in, whether what is in it stays while the code runs out."""

from __future__ import annotations

from collections.abc import Iterable

import libcst as cst

from syncguard.fix.known import Known
from syncguard.fix.names import loaded, reads, stored, stores, straddled
from syncguard.fix.nodes import inside
from syncguard.fix.region import Region
from syncguard.fix.writes import functional, quiet, targets, writes
from syncguard.infer.domain.values import Const, Host, Instance, Seq, Table

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
        for rebound in _rebound(node):
            if path == (other := region.code(rebound)) or path.startswith(f"{other}."):
                return ""
            if rebound.attr.value in path.split(".")[1:] and root(rebound) != origin:
                tier = tier if alone else "unsafe"
        for target in writes(node, known):
            name = root(target)
            if name == origin and (not isinstance(base, cst.Attribute) or region.code(target).startswith(path)):
                return ""
            if name != origin and (name in views or origin in _origins(name, region, known)):
                return ""
            if not name or name == origin or not _own(name, target, views, region, known):
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


def _rebound(node: cst.CSTNode) -> list[cst.Attribute]:
    """The attributes that a node gives other values, which writes into no memory; `x.data = y` does write."""
    return [one for one in targets(node) if isinstance(one, cst.Attribute) and one.attr.value != "data"]


def _given(node: cst.CSTNode, region: Region, known: Known) -> bool:
    """Whether a tensor goes to a function of which nothing is known."""
    held = region.parent(node)
    while isinstance(held, cst.BaseElement | cst.BaseDictElement | cst.Tuple | cst.List | cst.Set | cst.Dict):
        held = region.parent(held)
    call = region.parent(held)
    return isinstance(held, cst.Arg) and isinstance(call, cst.Call) and not quiet(call, known)


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


def untouched(name: cst.Name, region: Region, known: Known) -> bool:
    """Whether nothing ever writes into a variable's tensor: its function neither does nor lets others."""
    scope = region.scope(name)
    own = all(region.scope(use) is scope and _kept(use, region, known) for use in reads(region, scope, name.value))
    return own and not overwritten(name, region, known)


def overwritten(name: cst.Name, region: Region, known: Known) -> bool:
    """Whether its function writes into a variable's tensor by this name."""
    scope = region.scope(name)
    if scope not in known.written_in:
        within = region.places if isinstance(scope, cst.Module) else inside(scope)
        known.written_in[scope] = frozenset([root(target) for node in within for target in writes(node, known)])
    return name.value in known.written_in[scope]


def _kept(use: cst.BaseExpression, region: Region, known: Known) -> bool:
    """Whether a use of a tensor gives nobody the tensor, nor a view of it."""
    held = region.parent(use)
    match held:
        case cst.For(target=target) | cst.CompFor(target=target) if held.iter is use:
            names = [node for node in inside(target) if isinstance(node, cst.Name)]
            rows = [row for name in names for row in reads(region, region.scope(use), name.value)]
            return all(_kept(row, region, known) for row in rows)
        case cst.Subscript(value=of) if of is use:
            return isinstance(region.parent(held), cst.AssignTarget) or _kept(held, region, known)
        case cst.Attribute(attr=cst.Name(value=name)):
            call = region.parent(held)
            if isinstance(call, cst.Call) and call.func is held:
                return _answered(call, name, region, known)
            return name in PLAIN_ATTRIBUTES or (shares(name, known) and _kept(held, region, known))
        case cst.Arg():
            call = region.parent(held)
            return isinstance(call, cst.Call) and copies(call, known)
    return isinstance(held, LEAVING)


def _answered(call: cst.Call, name: str, region: Region, known: Known) -> bool:
    """Whether a method of a tensor gives nobody the tensor: it computes another, or nobody takes what it gives."""
    if shares(name, known) and known.op(call) is not None:
        return _kept(call, region, known)
    dropped = known.op(call) is not None and isinstance(region.parent(call), cst.Expr)
    return functional(call, known) or dropped


def shares(name: str, known: Known) -> bool:
    """Whether a function of torch may give the memory of its tensor."""
    return name in known.world.views or name in SHARING


def copies(call: cst.Call, known: Known) -> bool:
    """Whether a function of torch, or a built-in one, gives something else than what it was given."""
    callee = known.callee(call)
    last = callee.rpartition(".")[2]
    if callee.startswith("builtins."):
        return last in ("len", "float", "int", "bool", "print", "str", "repr", "range", "isinstance")
    return functional(call, known) and not shares(last, known)


def _origins(name: str, region: Region, known: Known) -> set[str]:
    """The variables of which another is, or may be, a view: those in what it is bound to, unless that is a copy."""
    found: set[str] = set()
    for node in region.names.get(name, ()):
        if stored(region, node):
            holder = next((held for held in region.around(node) if isinstance(held, cst.Assign | cst.For)), None)
            value = holder.iter if isinstance(holder, cst.For) else None
            if isinstance(holder, cst.Assign):
                value = given_to(node, holder, region) or holder.value
                if len(holder.targets) > 1:  # `a = b = x.sum()` is one tensor
                    found |= {other for each in holder.targets for other in loaded(region, each.target)}
            if value is not None and not computed(value, known):
                found |= loaded(region, unkeyed(value))
    return found - {name}


def unkeyed(value: cst.BaseExpression) -> cst.BaseExpression:
    """What is picked from: of `x[n : m]` it is `x` that is shared, not the places."""
    while isinstance(value, cst.Subscript):
        value = value.value
    return value


def computed(value: cst.BaseExpression | None, known: Known) -> bool:
    """Whether an expression gives memory of its own; `+x` gives `x`."""
    if isinstance(value, ARITHMETIC):
        return not (isinstance(value, cst.UnaryOperation) and isinstance(value.operator, cst.Plus))
    if not isinstance(value, cst.Call):
        return False
    last = known.callee(value).rpartition(".")[2]
    return functional(value, known) and known.tensor(value) is not None and not shares(last, known)


def _own(name: str, target: cst.CSTNode, views: set[str], region: Region, known: Known) -> bool:
    """Whether a variable holds numbers, a list into which no view was put, or memory that was made for it."""
    element = not isinstance(region.parent(target), cst.Subscript)  # `rows[0] = 1` writes into no tensor in it
    if element and any(_puts(node, views, region, known) for node in region.names.get(name, ())):
        return False
    if known.number(target) or type(known.value(target)) in (Seq, Table, Const):
        return True
    bound = [node for node in region.names.get(name, ()) if stored(region, node)]
    # An element of a list may be anybody's: `rows[0].add_(1)`.
    listed = isinstance(target, cst.Name) or isinstance(region.parent(target), cst.AugAssign)
    return bool(bound) and all(_made(node, region, known, listed) for node in bound)


def _puts(node: cst.Name, views: set[str], region: Region, known: Known) -> bool:
    """Whether a tensor is put where a variable stands: `rows.append(x)`, `table["x"] = x`."""
    outer: cst.CSTNode = node
    while isinstance(held := region.parent(outer), cst.Subscript) and held.value is outer:
        outer = held
    if known.tensor(node) is not None:
        return False
    given: list[cst.BaseExpression] = []
    if isinstance(held, cst.Attribute) and isinstance(call := region.parent(held), cst.Call) and call.func is held:
        given = [arg.value for arg in call.args]
    elif outer is not node and isinstance(held, cst.AssignTarget | cst.Element):
        given = [one.value for one in region.around(node) if isinstance(one, cst.Assign)]
    return any(views & loaded(region, unkeyed(value)) for value in given if not computed(value, known))


def _made(node: cst.Name, region: Region, known: Known, listed: bool = True) -> bool:
    held = region.parent(node)
    if isinstance(held, cst.AugAssign):
        return True
    assign = next((one for one in region.around(node) if isinstance(one, cst.Assign | cst.BaseCompoundStatement)), None)
    if not isinstance(assign, cst.Assign):
        return False
    value = given_to(node, assign, region)
    if isinstance(value, DISPLAYS):
        return listed
    return isinstance(value, cst.BaseNumber | cst.BaseString) or computed(value, known)


def given_to(node: cst.Name, assign: cst.Assign, region: Region) -> cst.BaseExpression | None:
    """What a variable is bound to by an assignment; None for one of several, of which it is not said."""
    element = region.parent(node)
    if not isinstance(element, cst.Element):
        return assign.value
    row, value = region.parent(element), assign.value
    if not isinstance(row, cst.Tuple) or not isinstance(value, cst.Tuple) or len(row.elements) != len(value.elements):
        return value if isinstance(value, cst.Call) else None
    return value.elements[[*row.elements].index(element)].value


ARITHMETIC = (cst.BinaryOperation, cst.Comparison, cst.UnaryOperation)
# What a tensor may stand in and be nobody's.
LEAVING = (
    *ARITHMETIC, cst.AugAssign, cst.Index, cst.Slice, cst.ComparisonTarget, cst.Expr, cst.If, cst.While, cst.Assert,
    cst.FormattedStringExpression,
)  # fmt: skip
DISPLAYS = (cst.List, cst.Tuple, cst.Dict, cst.Set, cst.ListComp, cst.DictComp, cst.SetComp)
# What gives the same memory where nothing is to be done.
SHARING = frozenset(
    "detach to cpu cuda data contiguous float double half bfloat16 cfloat cdouble chalf long int short char byte bool "
    "type type_as as_tensor asarray from_numpy frombuffer from_dlpack dropout dropout1d dropout2d dropout3d "
    "alpha_dropout feature_dropout feature_alpha_dropout positive conj conj_physical resolve_conj resolve_neg "
    "pin_memory broadcast_tensors meshgrid cartesian_prod broadcast_to atleast_1d atleast_2d atleast_3d real imag "
    "view_as_real view_as_complex Parameter Buffer Tensor FloatTensor LongTensor values indices coalesce to_dense "
    "dequantize requires_grad_ ravel expand_as as_strided diagonal einsum movedim moveaxis swapaxes swapdims "
    "unfold tensor_split hsplit vsplit dsplit unsafe_chunk unsafe_split split_with_sizes adjoint H mH reshape_as "
    "sum_to_size".split()
)
