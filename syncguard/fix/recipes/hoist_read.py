"""A read or copy that a loop repeats, of what the loop does not change -> before the loop, once."""

from __future__ import annotations

import libcst as cst

from syncguard.fix.loops import bound_in
from syncguard.fix.names import loaded, own
from syncguard.fix.reads import written
from syncguard.fix.recipe import Known, Proposal, Region
from syncguard.fix.region import inside
from syncguard.fix.steady import copies
from syncguard.terms import Finding

MAKERS = ("torch.tensor", "torch.as_tensor")


def rewrite(node: cst.CSTNode, finding: Finding, region: Region, known: Known) -> Proposal | None:
    """A pure expression of variables that the loop neither binds nor writes."""
    if isinstance(node, cst.Call) and known.callee(node) in MAKERS:
        return constant(node, region, known)
    if not isinstance(node, cst.Call) or not pure(node, known):
        return None
    names = loaded(region, node)
    loop = None
    asked: list[cst.BaseExpression] = []
    for candidate in region.loops(node):
        tests = conditions(node, candidate, region)
        read = names.union(*(loaded(region, test) for test in tests or ()))
        if tests is None or not steady(read, candidate, region):
            break
        loop, asked = candidate, tests
    if loop is None or not names:
        return None
    word = next((part.value for part in inside(node) if isinstance(part, cst.Name) and part.value in names), "value")
    name = region.fresh(
        f"{word}_host" if known.callee(node).rpartition(".")[2] != "to" else f"{word}_moved", f"{word}_once"
    )
    once = region.code(node)
    if asked:
        once = f"{once} if {' and '.join(region.code(test) for test in asked)} else None"
    edits = (region.before(region.statement(loop), f"{name} = {once}"), region.swap(node, name))
    held = region.parent(node)
    if (
        not asked
        and isinstance(held, cst.Assign)
        and isinstance(held.targets[0].target, cst.Name)
        and len(held.targets) == 1
    ):
        target = held.targets[0].target.value
        alone = not any(_bound(use, target, loop, held, region) for use in region.places)
        if alone and target not in names:
            statement = region.statement(held)
            block, _ = region.block(statement)
            if len(block) > 1:
                edits = (
                    region.before(region.statement(loop), f"{target} = {region.code(node)}"),
                    region.remove(statement),
                )
    text = "computes it once, before the loop: nothing that the loop calls may change what it is computed from"
    return Proposal("unsafe", text, edits, leaves=1)


def constant(node: cst.Call, region: Region, known: Known) -> Proposal | None:
    """`torch.tensor([0.5, n], device=x.device)` of numbers and a device that the loop does not change, where a function
    of torch computes something of it and nobody keeps it."""
    loop = next(iter(region.loops(node)), None)
    names = loaded(region, node) - {known.torch()}
    if (
        loop is None
        or not known.pure(node)
        or conditions(node, loop, region) != []
        or not _used_up(node, region, known)
    ):
        return None
    for part in inside(node):
        tensor = isinstance(part, cst.Name) and known.tensor(part) is not None
        of = region.parent(part)
        if tensor and not (isinstance(of, cst.Attribute) and of.attr.value in ("device", "dtype")):
            return None
    read = [part for part in inside(node) if isinstance(part, cst.Name) and part.value in names]
    if not all(known.tensor(part) is not None or known.number(part) or _named(part, region, known) for part in read):
        return None
    if any(bound_in(name, loop, region) for name in names) or not steady(names, loop, region):
        return None
    if _tested(names, loop, region) or not all(own(region, region.scope(node), name) for name in names):
        return None
    for outer in region.loops(loop):
        bound = any(bound_in(name, outer, region) for name in names)
        if conditions(loop, outer, region) != [] or bound or _tested(names, outer, region):
            break
        loop = outer
    name = region.fresh("constant", "constants", "made")
    edits = (region.before(region.statement(loop), f"{name} = {region.code(node)}"), region.swap(node, name))
    return Proposal("safe", "makes it once, before the loop", edits, leaves=1)


def _tested(names: set[str], loop: cst.For | cst.While, region: Region) -> bool:
    """Whether a loop asks what these are, and may not come by where they are not what is wanted."""
    tests = [node.test for node in inside(loop) if isinstance(node, cst.If | cst.IfExp | cst.Assert | cst.While)]
    cases = any(isinstance(node, cst.Match | cst.Try) for node in inside(loop))
    return cases or any(names & loaded(region, test) for test in tests)


def _used_up(node: cst.Call, region: Region, known: Known) -> bool:
    """Whether something is computed of a tensor at once, in memory of its own."""
    held = region.parent(node)
    if isinstance(held, cst.BinaryOperation | cst.Comparison | cst.ComparisonTarget):
        return True
    call = region.parent(held) if isinstance(held, cst.Arg) and held.keyword is None else None
    if not isinstance(call, cst.Call) or not copies(call, known) or known.tensor(call) is None:
        return False
    last = known.callee(call).rpartition(".")[2]
    return last.islower() and "sparse" not in last  # a parameter and a sparse tensor keep what they are given


def _named(part: cst.Name, region: Region, known: Known) -> bool:
    """Whether a variable names a device or a dtype."""
    arg = region.parent(part)
    return isinstance(arg, cst.Arg) and arg.keyword is not None and arg.keyword.value in ("device", "dtype")


def conditions(node: cst.CSTNode, loop: cst.For | cst.While, region: Region) -> list[cst.BaseExpression] | None:
    """The tests, variables or attributes, under which a loop comes by a node; None where there are other ones."""
    found: list[cst.BaseExpression] = []
    child = node
    for held in region.around(node):
        if held is loop:
            return found[::-1]
        if isinstance(held, cst.If) and held.body is child and isinstance(held.test, cst.Name | cst.Attribute):
            found.append(held.test)
        elif isinstance(held, cst.If | cst.IfExp | cst.BooleanOperation | cst.Lambda | cst.Try | cst.BaseComp):
            return None
        child = held
    return None


def pure(node: cst.Call, known: Known) -> bool:
    """Whether it is a read or a copy of one tensor: `x.item()`, `x.tolist()`, `x.to(device)`."""
    return isinstance(node.func, cst.Attribute) and known.callee(node).startswith("torch.Tensor.") and known.pure(node)


def steady(names: set[str], loop: cst.For | cst.While, region: Region) -> bool:
    """Whether nothing in a loop changes what these variables hold."""
    for node in inside(loop):
        if isinstance(node, cst.Name) and node.value in names:
            held = region.parent(node)
            if written(node, region) or isinstance(
                held, cst.AssignTarget | cst.For | cst.CompFor | cst.AsName | cst.Del
            ):
                return False
            if isinstance(held, cst.Element) and _target(held, region):
                return False
    return True


def _target(node: cst.CSTNode, region: Region) -> bool:
    return any(isinstance(held, cst.AssignTarget) for held in region.around(node)) or any(
        isinstance(held, cst.For) and node in [*inside(held.target)] for held in region.around(node)
    )


def _bound(use: cst.CSTNode, name: str, loop: cst.CSTNode, assign: cst.Assign, region: Region) -> bool:
    """Whether a variable is bound in a loop elsewhere than in one assignment, or was read before the loop set it."""
    if not isinstance(use, cst.Name) or use.value != name or use is assign.targets[0].target:
        return False
    within = any(held is loop for held in region.around(use))
    early = region.places[use] < region.places[assign]
    return within and (early or written(use, region) or isinstance(region.parent(use), cst.AssignTarget))
