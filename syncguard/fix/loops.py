"""A node in a loop in, what the loop does to it out: how often it is reached, and whether what it reads stays."""

from __future__ import annotations

from collections.abc import Iterable

import libcst as cst

from syncguard.fix.known import Known
from syncguard.fix.names import defined, loaded, reaching, stored, variable
from syncguard.fix.nodes import children, inside
from syncguard.fix.region import Region, Unfit
from syncguard.fix.steady import given_to, steady

Loop = cst.For | cst.While
Comp = cst.ListComp | cst.SetComp | cst.DictComp | cst.GeneratorExp


# What goes through all of a generator at once.
CONSUMING = frozenset("sum list tuple set frozenset dict max min sorted any all join extend update".split())


def around(node: cst.CSTNode, region: Region) -> Loop | Comp | None:
    """The outermost loop or comprehension around a node in its function. Unfit: a generator computes it later."""
    found: Loop | Comp | None = None
    child = node
    for held in region.around(node):
        if isinstance(held, cst.FunctionDef | cst.Lambda | cst.ClassDef):
            break
        if (isinstance(held, Loop) and held.body is child) or isinstance(held, Comp):
            found = held
        if lazy(held, region):
            raise Unfit("computed who knows when")
        child = held
    return found


def lazy(node: cst.CSTNode, region: Region) -> bool:
    """Whether it is a generator that nothing is known to go through at once."""
    call = region.parent(region.parent(node)) if isinstance(node, cst.GeneratorExp) else None
    if not isinstance(node, cst.GeneratorExp):
        return False
    func = call.func if isinstance(call, cst.Call) else None
    name = func.attr.value if isinstance(func, cst.Attribute) else func.value if isinstance(func, cst.Name) else ""
    return name not in CONSUMING


def skipped(node: cst.CSTNode, loop: Loop | Comp, region: Region) -> bool:
    """Whether an iteration may pass a node by: read before the loop, it would be read for nothing."""
    for held in region.around(node):
        if held is loop:
            return False
        if isinstance(held, cst.If | cst.IfExp | cst.BooleanOperation | cst.Lambda | cst.Try):
            return True
    return False


def questioned(base: cst.BaseExpression, nodes: Iterable[cst.CSTNode], region: Region, sized: bool = True) -> bool:
    """Whether some code asks whether a tensor is there, or of what kind or, if it matters, `sized`: before that nothing
    may be computed of it."""
    for node in nodes:
        match node:
            case cst.If(test=test) | cst.IfExp(test=test) | cst.While(test=test) | cst.Assert(test=test):
                pass
            case cst.CompIf(test=test) | cst.Match(subject=test):
                pass
            case _:
                continue
        if _asks(test, base, region, sized, 3):
            return True
    return False


def _asks(test: cst.CSTNode, base: cst.BaseExpression, region: Region, sized: bool, depth: int) -> bool:
    """Whether a test asks of a tensor more than what only a tensor has, itself or through a variable."""
    for part in inside(test):
        if isinstance(part, cst.Name | cst.Attribute) and part.deep_equals(base) and not _has(part, region, sized):
            return True
        made = defined(region, part) if depth and isinstance(part, cst.Name) else part
        if made is not part and not isinstance(made, cst.Name) and _asks(made, base, region, sized, depth - 1):
            return True
    return False


def _has(part: cst.CSTNode, region: Region, sized: bool) -> bool:
    """Whether a tensor is taken for one: an element, a method, arithmetic; its size where that does not matter."""
    held = region.parent(part)
    if isinstance(held, cst.Subscript):
        return held.value is part
    if isinstance(held, cst.Attribute):
        return not sized or held.attr.value not in SIZES
    if isinstance(held, cst.BinaryOperation):
        return True
    comparison = region.parent(held) if isinstance(held, cst.ComparisonTarget) else held
    if isinstance(comparison, cst.Comparison):
        signs = (cst.Is, cst.IsNot, cst.In, cst.NotIn)
        return not any(isinstance(one.operator, signs) for one in comparison.comparisons)
    call = region.parent(held) if isinstance(held, cst.Arg) else None
    return not sized and isinstance(call, cst.Call) and isinstance(call.func, cst.Name) and call.func.value == "len"


SIZES = ("shape", "size", "numel", "dim", "ndim")


def paths(node: cst.CSTNode, region: Region, known: Known) -> list[cst.BaseExpression]:
    """The tensors in an expression: variables, and attributes that are read of them."""
    found: list[cst.BaseExpression] = []
    for part in inside(node):
        if isinstance(part, cst.Name) and variable(region, part):
            path: cst.BaseExpression = part
            found.append(path)
            while isinstance(held := region.parent(path), cst.Attribute) and held.value is path:
                found.append(path := held)
    return [path for path in found if known.tensor(path) is not None]


def from_to(first: cst.CSTNode, last: cst.CSTNode, region: Region) -> list[cst.CSTNode]:
    """What begins at or below one node and above another, in the text."""
    start, end = region.places[first][:2], region.places[last][:2]
    return [node for node, place in region.places.items() if start <= place[:2] < end]


def changing(keys: list[cst.BaseExpression], loop: Loop | Comp, region: Region) -> bool:
    """Whether a key is bound in the loop: another element each time."""
    bound = {node.value for node in region.places if isinstance(node, cst.Name) and region.within(node, loop)}
    names = {name for key in keys for name in loaded(region, key)}
    return bool(names & bound) and any(bound_in(name, loop, region) for name in names)


def unchanged(base: cst.BaseExpression, loop: Loop | Comp, region: Region, known: Known) -> str:
    """Whether what is in a tensor before a loop is there in all of its turns, as `steady` says."""
    return steady(base, inside(loop), region, known)


def varying(node: cst.CSTNode, loop: cst.CSTNode, region: Region, known: Known) -> bool:
    """Whether a tensor may be on another device in each turn of a loop: it is computed by torch alone from what the
    loop goes through, and that is no tensor."""
    match node:
        case cst.Name(value=name):
            if (value := _bound_here(node, region)) is not None:
                return varying(value, loop, region, known)
            for held in [
                held for use in region.names.get(name, ()) if stored(region, use) for held in region.around(use)
            ]:
                if isinstance(held, cst.For | cst.CompFor) and any(part.value == name for part in _names(held.target)):
                    return not _rows(held.iter, known) and (held is loop or region.within(held, loop))
            made = defined(region, node)
            return made is not node and varying(made, loop, region, known)
        case cst.Call():
            if _moved(node, loop, region, known):
                return True
            if known.op(node) is None:
                return any(_placed(arg.value, loop, region, known, 4) for arg in node.args)
            if known.callee(node).rpartition(".")[2] in MOVES:
                return False
            inner = [node.func.value] if isinstance(node.func, cst.Attribute) else []
            return any(varying(part, loop, region, known) for part in (*inner, *(arg.value for arg in node.args)))
        case cst.Attribute(value=of):
            return varying(of, loop, region, known)
        case cst.Subscript(value=of) if known.tensor(of) is not None:
            return varying(of, loop, region, known)
    return any(varying(child, loop, region, known) for child in children(node))


def _placed(node: cst.CSTNode, loop: cst.CSTNode, region: Region, known: Known, depth: int) -> bool:
    """Whether something is put on a device that may be another in each turn of a loop before it is computed with."""
    for part in inside(node):
        if isinstance(part, cst.Call) and _moved(part, loop, region, known):
            return True
        made = defined(region, part) if isinstance(part, cst.Name) and depth else part
        if made is not part and _placed(made, loop, region, known, depth - 1):
            return True
    return False


def _moved(call: cst.Call, loop: cst.CSTNode, region: Region, known: Known) -> bool:
    """Whether a call moves a tensor to where the loop says: `x.to(f"cuda:{i}")`, `x.cuda(i)`, `x.to(part.device)`."""
    if not isinstance(call.func, cst.Attribute) or call.func.attr.value not in MOVES:
        return False
    return any(_turns(arg.value, loop, region, known, 4) for arg in call.args)


def _turns(node: cst.CSTNode, loop: cst.CSTNode, region: Region, known: Known, depth: int) -> bool:
    """Whether an expression that may name a device has what a loop goes through in it."""
    if isinstance(node, cst.Attribute) and node.attr.value == "device" and known.tensor(node.value) is not None:
        return varying(node.value, loop, region, known)
    if isinstance(node, cst.Name) and depth:
        if (value := _bound_here(node, region)) is not None:
            return _turns(value, loop, region, known, depth - 1)
        through = [held for use in region.names[node.value] if stored(region, use) for held in region.around(use)]
        for held in through:
            if isinstance(held, cst.For | cst.CompFor) and any(
                part.value == node.value for part in _names(held.target)
            ):
                return held is loop or region.within(held, loop)
        made = defined(region, node)
        return made is not node and _turns(made, loop, region, known, depth - 1)
    return any(_turns(child, loop, region, known, depth) for child in children(node))


def _bound_here(node: cst.Name, region: Region) -> cst.BaseExpression | None:
    """What an assignment above gave a variable, on every way that leads here; None where that may differ."""
    store = reaching(region, node.value, node)
    held = next(iter(region.around(store)), None) if store is not None else None
    if store is None or not isinstance(held, cst.AssignTarget | cst.Element):
        return None
    assign = next((one for one in region.around(store) if isinstance(one, cst.Assign | cst.For | cst.CompFor)), None)
    return given_to(store, assign, region) if isinstance(assign, cst.Assign) else None


def _rows(over: cst.BaseExpression, known: Known) -> bool:
    """Whether a loop goes through the rows of tensors: `x`, `enumerate(x)`, `zip(x, y)`."""
    if isinstance(over, cst.Call) and known.callee(over) in ("builtins.enumerate", "builtins.zip", "builtins.reversed"):
        return all(_rows(arg.value, known) for arg in over.args if arg.keyword is None)
    return known.tensor(over) is not None


def _names(target: cst.CSTNode) -> list[cst.Name]:
    return [node for node in inside(target) if isinstance(node, cst.Name)]


# What puts a tensor on a device that is named.
MOVES = ("to", "cuda", "cpu")


def bound_in(name: str, loop: cst.CSTNode, region: Region) -> bool:
    return any(region.within(node, loop) and stored(region, node) for node in region.names.get(name, ()))
