"""A node in a loop in, what the loop does to it out: how often it is reached, and whether what it reads stays."""

from __future__ import annotations

import libcst as cst

from syncguard.fix.known import Known
from syncguard.fix.names import loaded, stored
from syncguard.fix.region import Region, inside
from syncguard.infer.values import Const, Seq, Table

Loop = cst.For | cst.While
Comp = cst.ListComp | cst.SetComp | cst.DictComp | cst.GeneratorExp


def around(node: cst.CSTNode, region: Region) -> Loop | Comp | None:
    """The outermost loop or comprehension around a node in its function."""
    found: Loop | Comp | None = None
    child = node
    for held in region.around(node):
        if isinstance(held, cst.FunctionDef | cst.Lambda | cst.ClassDef):
            break
        if (isinstance(held, Loop) and held.body is child) or isinstance(held, Comp):
            found = held
        child = held
    return found


def skipped(node: cst.CSTNode, loop: Loop | Comp, region: Region) -> bool:
    """Whether an iteration may pass a node by: read before the loop, it would be read for nothing."""
    for held in region.around(node):
        if held is loop:
            return False
        if isinstance(held, cst.If | cst.IfExp | cst.BooleanOperation | cst.Lambda | cst.Try):
            return True
    return False


def changing(keys: list[cst.BaseExpression], loop: Loop | Comp, region: Region) -> bool:
    """Whether a key is bound in the loop: another element each time."""
    bound = {node.value for node in region.places if isinstance(node, cst.Name) and within(node, loop, region)}
    names = {name for key in keys for name in loaded(region, key)}
    return bool(names & bound) and any(bound_in(name, loop, region) for name in names)


def unchanged(base: cst.BaseExpression, loop: Loop | Comp, region: Region, known: Known) -> str:
    """Whether what is in a tensor before a loop is there in all of its turns: "safe", "unsafe" where something that the
    loop writes or calls might share its memory, '' where the loop binds it, writes into it, or hands it to others."""
    path, origin = region.code(base), root(base)
    if not origin or bound_in(origin, loop, region):
        return ""
    views = {origin} | _origins(origin, region)
    tier = "safe"
    for node in inside(loop):
        if isinstance(node, cst.Name | cst.Attribute) and node.deep_equals(base) and _given(node, region, known):
            return ""
        if isinstance(node, cst.Call) and isinstance(base, cst.Attribute) and not known.callee(node):
            tier = "unsafe"
        target = _written(node, region)
        if target is None:
            continue
        name = root(target)
        if name == origin and (not isinstance(base, cst.Attribute) or region.code(target).startswith(path)):
            return ""
        if name != origin and (name in views or origin in _origins(name, region)):
            return ""
        if not name or name == origin or not _own(name, target, region, known):
            tier = "unsafe"
    return tier


def root(node: cst.CSTNode) -> str:
    """The variable of `x`, `x.a`, `x[0]`, `x.view(-1)`; '' where there is none."""
    while not isinstance(node, cst.Name):
        match node:
            case cst.Attribute(value=of) | cst.Subscript(value=of) | cst.Call(func=cst.Attribute(value=of)):
                node = of
            case _:
                return ""
    return node.value


def _written(node: cst.CSTNode, region: Region) -> cst.CSTNode | None:
    """What a node writes into: `x` in `x.add_(1)`, `x[0] = 1`, `x.data = y`, `x += 1` and `out=x`."""
    match node:
        case cst.Call(func=cst.Attribute(value=of, attr=cst.Name(value=name))) if _in_place(name):
            return of
        case cst.AssignTarget(target=cst.Subscript(value=of) | cst.Attribute(value=of)):
            return of
        case cst.AugAssign(target=target):
            return target
        case cst.Arg(keyword=cst.Name(value="out"), value=value):
            return value
    return None


def _in_place(name: str) -> bool:
    return name.endswith("_") and not name.endswith("__")


def _given(node: cst.CSTNode, region: Region, known: Known) -> bool:
    """Whether a tensor goes to a function of which nothing is known."""
    held = region.parent(node)
    call = region.parent(held)
    return isinstance(held, cst.Arg) and isinstance(call, cst.Call) and not known.callee(call)


def _origins(name: str, region: Region) -> set[str]:
    """The variables of which another is, or may be, a view: those in what it is bound to."""
    found: set[str] = set()
    for node in region.names.get(name, ()):
        if stored(region, node):
            holder = next((held for held in region.around(node) if isinstance(held, cst.Assign | cst.For)), None)
            value = holder.value if isinstance(holder, cst.Assign) else holder.iter if holder is not None else None
            if value is not None and not isinstance(value, ARITHMETIC):
                found |= loaded(region, value)
    return found - {name}


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
    if not isinstance(value, cst.Call) or known.tensor(value) is None:
        return False
    last = known.callee(value).rpartition(".")[2]
    return bool(last) and last not in known.world.views and last not in SHARING and not _in_place(last)


ARITHMETIC = (cst.BinaryOperation, cst.Comparison, cst.UnaryOperation)
DISPLAYS = (cst.List, cst.Tuple, cst.Dict, cst.Set, cst.ListComp, cst.DictComp, cst.SetComp)
# What gives the same memory where nothing is to be done.
SHARING = frozenset("detach to cpu cuda data contiguous float double half long int type as_tensor from_numpy".split())


def within(node: cst.CSTNode, holder: cst.CSTNode, region: Region) -> bool:
    return any(held is holder for held in region.around(node))


def bound_in(name: str, loop: cst.CSTNode, region: Region) -> bool:
    return any(within(node, loop, region) and stored(region, node) for node in region.names.get(name, ()))
