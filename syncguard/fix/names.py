"""A variable in, where its function binds and reads it out."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from syncguard.fix.nodes import children, inside
from syncguard.fix.region import Region, Unfit


def occurrences(region: Region, scope: cst.CSTNode, name: str) -> list[cst.Name]:
    """Every place in a function, or in functions inside it, where a variable of this name stands."""
    found = region.names.get(name, ())
    return [node for node in found if variable(region, node) and _within(region, node, scope)]


def reads(region: Region, scope: cst.CSTNode, name: str) -> list[cst.Name]:
    """Where a variable is read, in order."""
    found = [node for node in occurrences(region, scope, name) if not stored(region, node)]
    return sorted(found, key=lambda node: region.places[node])


def stores(region: Region, scope: cst.CSTNode, name: str) -> list[cst.Name]:
    """Where a variable is bound, changed in place by an operator, or deleted, in order."""
    found = [node for node in occurrences(region, scope, name) if stored(region, node)]
    return sorted(found, key=lambda node: region.places[node])


def stored(region: Region, node: cst.Name) -> bool:
    """Whether a name is bound here: a target, a parameter, an import, a `global`."""
    child: cst.CSTNode = node
    for held in region.around(node):
        match held:
            case cst.AssignTarget() | cst.Param() | cst.NamedExpr() | cst.AnnAssign() | cst.AugAssign():
                return child is getattr(held, "target", None) or child is getattr(held, "name", None)
            case cst.For() | cst.CompFor():
                return child is held.target
            case cst.AsName() | cst.NameItem() | cst.Del() | cst.ImportAlias():
                return True
            case cst.MatchAs() | cst.MatchStar():
                return child is held.name
            case cst.MatchMapping():
                return child is held.rest
            case cst.FunctionDef() | cst.ClassDef():
                return child is held.name
            case cst.Tuple() | cst.List() | cst.Element() | cst.StarredElement():
                child = held
            case _:
                return False
    return False


def own(region: Region, scope: cst.CSTNode, name: str) -> bool:
    """Whether a variable is its function's alone: nobody whom the function calls can bind it."""
    if not isinstance(scope, cst.FunctionDef):
        return False
    bound = stores(region, scope, name)
    here = [node for node in bound if region.scope(node) is scope or scope.params in region.around(node)]
    declared = any(isinstance(region.parent(node), cst.NameItem) for node in bound)
    return bool(bound) and len(here) == len(bound) and not declared


def definition(region: Region, read: cst.Name) -> cst.Assign:
    """The one assignment `name = value` that a read sees, made in a block around it. Unfit: it is not so simple."""
    scope = region.scope(read)
    bound = stores(region, scope, read.value)
    if len(bound) != 1:
        raise Unfit(f"{read.value} is bound {len(bound)} times")
    target = region.parent(bound[0])
    assign = region.parent(target)
    if not isinstance(target, cst.AssignTarget) or not isinstance(assign, cst.Assign) or len(assign.targets) != 1:
        raise Unfit(f"{read.value} is not bound by a plain assignment")
    if region.scope(bound[0]) is not scope:
        raise Unfit(f"{read.value} is bound in another function")
    block = region.parent(region.statement(assign))
    if block not in [*region.around(read)] or region.places[assign][2:] > region.places[read][:2]:
        raise Unfit(f"{read.value} may be unbound")
    return assign


def reaching(region: Region, name: str, node: cst.CSTNode) -> cst.Name | None:
    """Where a variable got what it holds at a node, on every way that leads there; None where that may differ."""
    scope = region.scope(node)
    bound = stores(region, scope, name)
    if any(_binder(region, one) is not scope for one in bound):
        return None
    start = region.places[node][:2]
    before = [
        one
        for one in bound
        if region.places[one][:2] < start and not _under_way(region, one, node) and not _otherwise(region, node, one)
    ]
    last = before[-1] if before else None
    if last is None or not _passed(region, last, node):
        return None
    again = [*straddled(region, last, node)]
    return last if not any(one in again for one in bound) else None


def version(region: Region, name: str, node: cst.CSTNode) -> str:
    """What tells the value that a variable has at a node from those that it has elsewhere."""
    if not stores(region, region.scope(node), name):
        return name
    store = reaching(region, name, node)
    if store is not None:
        line, column = region.places[store][:2]
        return f"{name}@{line}:{column}"
    return f"{name}@{_since(region, name, node)}"


def _since(region: Region, name: str, node: cst.CSTNode) -> str:
    """What the places have in common between which a variable is not bound, though it may have come by it elsewhere."""
    scope = region.scope(node)
    bound = stores(region, scope, name)
    start = region.places[node][:2]
    if any(_binder(region, one) is not scope for one in bound):
        return "{}:{}".format(*start)
    before = [one for one in bound if region.places[one][:2] < start and not _under_way(region, one, node)]
    loops = [
        region.places[held][0]
        for held in region.around(node)
        if isinstance(held, cst.For | cst.While | cst.BaseComp) and any(held in region.around(one) for one in bound)
    ]
    return f"~{region.places[before[-1]][:2] if before else ()}{loops}"


def _binder(region: Region, store: cst.Name) -> cst.CSTNode:
    """The function whose variable a name is where it is bound."""
    if not isinstance(region.parent(store), cst.Param):
        return region.scope(store)
    return next(held for held in region.around(store) if isinstance(held, cst.FunctionDef | cst.Lambda))


def _under_way(region: Region, store: cst.Name, node: cst.CSTNode) -> bool:
    """Whether a node belongs to the statement that binds, which is computed before it does."""
    small = next((held for held in region.around(store) if isinstance(held, cst.BaseSmallStatement)), None)
    return small is not None and region.within(node, small)


def _passed(region: Region, store: cst.Name, node: cst.CSTNode) -> bool:
    """Whether every way to a node leads by where a name is bound, which is plain to see."""
    held = region.parent(store)
    while isinstance(held, cst.Element | cst.StarredElement | cst.Tuple | cst.List):
        held = region.parent(held)
    around = [*region.around(node)]
    if isinstance(held, cst.For):
        return held.body in around
    if isinstance(held, cst.AssignTarget):
        held = region.parent(held)
    if isinstance(held, cst.Assign | cst.AnnAssign | cst.AugAssign):
        return region.parent(region.parent(held)) in around
    return isinstance(held, cst.Param)


def defined(region: Region, node: cst.BaseExpression) -> cst.BaseExpression:
    """What a variable was last bound to, where there is only one such place; any other expression as it is."""
    while isinstance(node, cst.Name):
        try:
            node = definition(region, node).value
        except Unfit:
            break
    return node


def target(assign: cst.Assign) -> str:
    """The variable of `name = value`. Unfit: it is something else."""
    if len(assign.targets) != 1 or not isinstance(assign.targets[0].target, cst.Name):
        raise Unfit("no plain assignment")
    return assign.targets[0].target.value


def loaded(region: Region, node: cst.CSTNode) -> set[str]:
    """The variables that an expression reads."""
    todo, found = [node], set()
    while todo:
        here = todo.pop()
        if isinstance(here, cst.Name) and variable(region, here):
            found.add(here.value)
        todo += children(here)
    return found


def spare(region: Region, at: cst.CSTNode, *names: str) -> str:
    """The first of these names that is not used, or in which another list or number was read that nobody needs at a
    place any more, nor below it; else the last of them with a number."""
    return next((name for name in names if name in region.names and _spent(region, name, at)), region.fresh(*names))


def _spent(region: Region, name: str, at: cst.CSTNode) -> bool:
    scope = region.scope(at)
    bound = stores(region, scope, name)
    if not own(region, scope, name) or not all(_made(region, one) for one in bound):
        return False
    here, loops = region.places[at][:2], region.loops(at)
    for node in occurrences(region, scope, name):
        store = node if node in bound else reaching(region, name, node)
        apart = _otherwise(region, node, at) or _otherwise(region, at, node)
        if store is None or region.scope(node) is not scope or not (apart or region.places[node][2:] <= here):
            return False
        if any(loop in region.loops(node) and loop not in region.loops(store) for loop in loops):
            return False
    return True


def _made(region: Region, store: cst.Name) -> bool:
    """Whether what a variable is bound to was read, or looked up, by a call: as fixes bind what they name."""
    assign = next((held for held in region.around(store) if isinstance(held, cst.BaseSmallStatement)), None)
    match assign:
        case cst.Assign(value=cst.Call(func=cst.Attribute(attr=cst.Name(value=name)))):
            return name in ("tolist", "item", "where")
    return False


def between(region: Region, first: cst.CSTNode, last: cst.CSTNode, names: set[str]) -> list[cst.Name]:
    """Where these variables are bound after one node and before another, as the text and the loops go."""
    start, end = region.places[first][2:], region.places[last][:2]
    again = {node for node in straddled(region, first, last) if isinstance(node, cst.Name)}
    return [
        node
        for name in names
        for node in region.names.get(name, ())
        if (start <= region.places[node][:2] < end or node in again)
        and variable(region, node)
        and stored(region, node)
        and not _otherwise(region, node, first)
    ]


def straddled(region: Region, first: cst.CSTNode, last: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """What runs between two nodes though it may stand below both: the loops around the second but not the first."""
    loops = [held for held in region.around(last) if isinstance(held, cst.For | cst.While | cst.BaseComp)]
    outer = [loop for loop in loops if not region.within(first, loop)]
    return inside(outer[-1]) if outer else iter(())


def _otherwise(region: Region, node: cst.CSTNode, first: cst.CSTNode) -> bool:
    """Whether a node is in the `else` or `elif` of an `if` in whose body another is: of the two only one runs."""
    here = [*region.around(node)]
    return any(
        isinstance(held, cst.If) and held.orelse in here and held.body in region.around(first)
        for held in here
    )  # fmt: skip


def variable(region: Region, node: cst.Name) -> bool:
    """Not an attribute's name, nor a keyword's, nor one that a pattern asks of."""
    held = region.parent(node)
    if isinstance(held, cst.Attribute):
        return held.value is node
    if isinstance(held, cst.MatchKeywordElement):
        return held.key is not node
    return not (isinstance(held, cst.Arg) and held.keyword is node)


def _within(region: Region, node: cst.CSTNode, scope: cst.CSTNode) -> bool:
    return isinstance(scope, cst.Module) or region.within(node, scope)
