"""A read or copy that a loop repeats, of what the loop does not change -> before the loop, once."""

from __future__ import annotations

from keyword import iskeyword

import libcst as cst

from syncguard.fix.labels import label
from syncguard.fix.loops import bound_in, paths, questioned
from syncguard.fix.names import loaded, own, variable
from syncguard.fix.nodes import inside
from syncguard.fix.reads import written
from syncguard.fix.recipe import Known, Proposal, Region
from syncguard.fix.steady import copies, kept, root, steady
from syncguard.infer.domain.values import Instance, Named, Unknown
from syncguard.terms import Finding

SENDING = ("to", "cuda")
MAKERS = ("torch.tensor", "torch.as_tensor")


def rewrite(node: cst.CSTNode, finding: Finding, region: Region, known: Known) -> Proposal | None:
    """A pure expression of variables that the loop neither binds nor writes."""
    if isinstance(node, cst.Call) and known.callee(node) in MAKERS:
        return constant(node, region, known)
    if not isinstance(node, cst.Call) or not pure(node, known):
        return None
    names = loaded(region, node)
    loop, asked = outermost(node, region, known)
    if loop is None or not names:
        return None
    word = _word(node, names, region, known)
    name = region.fresh(
        f"{word}_host" if known.callee(node).rpartition(".")[2] not in SENDING else f"{word}_moved", f"{word}_once"
    )
    once = region.code(node)
    if asked:
        once = f"{once} if {' and '.join(region.code(test) for test in asked)} else None"
    calls = [part for part in inside(loop) if isinstance(part, cst.Call) and part.deep_equals(node)]
    same = [part for part in calls if region.scope(part) is region.scope(node) and not asked] or [node]
    edits = (region.before(region.statement(loop), f"{name} = {once}"), *(region.swap(part, name) for part in same))
    held = region.parent(node)
    if (
        not asked
        and len(same) == 1
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
    text = (
        "computes it once, before the loop, also where that never runs: "
        "what the loop calls or writes into may not change what it is computed from"
    )
    return Proposal("unsafe", text, edits, leaves=1)


def outermost(
    node: cst.Call, region: Region, known: Known
) -> tuple[cst.For | cst.While | None, list[cst.BaseExpression]]:
    """The outermost loop that changes nothing in an expression, and the tests on the way to it there."""
    loop: cst.For | cst.While | None = None
    asked: list[cst.BaseExpression] = []
    for candidate in region.loops(node):
        tests = conditions(node, candidate, region)
        if tests is None or not all(unmoved(part, candidate, region, known) for part in (node, *tests)):
            break
        asking = [part for part in inside(candidate) if getattr(part, "test", None) not in tests]
        if any(questioned(path, asking, region) for path in paths(node, region, known)):
            break
        loop, asked = candidate, tests
    return loop, asked


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
    if not all(known.tensor(part) is not None or known.number(part) or _setting(part, region) for part in read):
        return None
    if any(bound_in(name, loop, region) for name in names):
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


def _setting(part: cst.Name, region: Region) -> bool:
    """Whether a variable names a device or a dtype."""
    arg = region.parent(part)
    return isinstance(arg, cst.Arg) and arg.keyword is not None and arg.keyword.value in ("device", "dtype")


def _word(node: cst.Call, names: set[str], region: Region, known: Known) -> str:
    """What to call the result: `scale` of `self.scale.item()`."""
    for part in sorted((part for part in inside(node) if isinstance(part, cst.Name)), key=region.places.__getitem__):
        if part.value in names and variable(region, part) and type(known.value(part)) is not Named:
            path = _path(part, region, known)
            held = region.parent(part)
            if path is part and isinstance(held, cst.Attribute) and not isinstance(region.parent(held), cst.Call):
                path = held
            return path.attr.value if isinstance(path, cst.Attribute) else part.value
    inner = node.func.value if isinstance(node.func, cst.Attribute) else node
    first = next((arg.value for arg in inner.args), None) if isinstance(inner, cst.Call) else None
    word = label(first).lower() if first is not None else ""
    return word if word.isidentifier() and not iskeyword(word) else "value"


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


def unmoved(node: cst.BaseExpression, loop: cst.For | cst.While, region: Region, known: Known) -> bool:
    """Whether nothing in a loop is seen to change what an expression is computed from: its tensors, and the objects
    that hold them or numbers beside them."""
    own = {*inside(node)}
    body = [part for part in inside(loop) if part not in own and not _submitted(part, region, known)]
    for name in [part for part in inside(node) if isinstance(part, cst.Name) and variable(region, part)]:
        base = _path(name, region, known)
        if known.tensor(base) is not None and not steady(base, body, region, known):
            return False
        if known.tensor(name) is None and type(known.value(name)) is not Named and not kept(name, body, region, known):
            return False
    return True


def _submitted(node: cst.CSTNode, region: Region, known: Known) -> bool:
    """Whether a node is given to a module, `self.layer(x, node)`: modules compute, and leave what they are given."""
    held = region.parent(node)
    call = region.parent(held) if isinstance(held, cst.Arg) else None
    if not isinstance(call, cst.Call) or call.func is node or not isinstance(call.func, cst.Attribute):
        return False
    return root(call.func) == "self" and type(known.value(call.func)) in (Instance, Unknown)


def _path(name: cst.Name, region: Region, known: Known) -> cst.BaseExpression:
    """The tensor that a variable leads to: `self.scale` of `self` in `self.scale.item()`."""
    path: cst.BaseExpression = name
    while known.tensor(path) is None:
        held = region.parent(path)
        if not isinstance(held, cst.Attribute) or held.value is not path:
            return name
        path = held
    return path


def _bound(use: cst.CSTNode, name: str, loop: cst.CSTNode, assign: cst.Assign, region: Region) -> bool:
    """Whether a variable is bound in a loop elsewhere than in one assignment, or was read before the loop set it."""
    if not isinstance(use, cst.Name) or use.value != name or use is assign.targets[0].target:
        return False
    within = region.within(use, loop)
    early = region.places[use] < region.places[assign]
    return within and (early or written(use, region) or isinstance(region.parent(use), cst.AssignTarget))
