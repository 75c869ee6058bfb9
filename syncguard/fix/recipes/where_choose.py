"""`a if test else b` and `if test: x = a`, asked of a tensor -> `torch.where(test, a, b)`: both are computed."""

from __future__ import annotations

import libcst as cst

from syncguard.fix.conditions import bare, condition, positive
from syncguard.fix.declared import declared
from syncguard.fix.guarded import ALONE, added, by_none, from_zero, guarded_total, more
from syncguard.fix.names import loaded, reads, stored
from syncguard.fix.nodes import inside
from syncguard.fix.recipe import Known, Proposal, Region
from syncguard.fix.shapes import alike, picks, shaped_as, subscript
from syncguard.fix.steady import root
from syncguard.fix.width import flat
from syncguard.terms import Finding, Wait

TAKING = ("index_select", "gather", "take", "take_along_dim")
OPERATORS = {
    cst.AddAssign: "+", cst.SubtractAssign: "-", cst.MultiplyAssign: "*", cst.DivideAssign: "/",
}  # fmt: skip


def rewrite(node: cst.CSTNode, finding: Finding, region: Region, known: Known) -> Proposal | None:
    """Only where both sides are tensors or numbers, and computing either changes nothing else."""
    if not known.torch():
        return None
    child = node
    for held in region.around(node):
        if isinstance(held, cst.IfExp) and held.test is child:
            return ternary(held, region, known)
        if isinstance(held, cst.If) and held.test is child:
            return branch(held, region, known) or elements(held, region, known)
        if isinstance(held, cst.BaseStatement | cst.BaseSmallStatement):
            return None
        child = held
    return None


def ternary(node: cst.IfExp, region: Region, known: Known) -> Proposal | None:
    """`a if test else b`."""
    if text := guarded_total(node.test, node.body, node.orelse, region, known):
        return Proposal("unsafe", ALONE, (region.swap(node, text),))
    text = chosen(node.test, node.body, node.orelse, region, known)
    if not text or bounds(node, region):
        return None
    numbers = all(known.number(side) for side in (node.body, node.orelse))
    if numbers and declared(node, region):
        return None
    message = (
        "the number becomes a 0-d tensor of the default dtype"
        if numbers
        else "computes both sides, as a tensor of their common shape and dtype: NaN of either can reach the gradient"
    )
    return Proposal("unsafe", message, (region.swap(node, text),))


def bounds(node: cst.IfExp, region: Region) -> bool:
    """Whether what is chosen, itself or through a variable, bounds a slice: a size, which the host needs."""
    held = region.parent(node)
    uses: list[cst.CSTNode] = [node]
    if isinstance(held, cst.Assign) and isinstance(held.targets[0].target, cst.Name):
        uses += reads(region, region.scope(node), held.targets[0].target.value)
    return any(isinstance(region.parent(use), cst.Slice) for use in uses)


def branch(node: cst.If, region: Region, known: Known) -> Proposal | None:
    """`if test: x = a`, with or without `else: x = b`, of a variable that has a value."""
    name, yes = assigned(node.body, region)
    if isinstance(node.orelse, cst.Else):
        other, no = assigned(node.orelse.body, region)
        if other != name:
            return None
    elif node.orelse is None:
        no = name
    else:
        return None
    if not name or isinstance(region.parent(node), cst.If):
        return None
    if node.orelse is None and (edits := from_zero(name, yes, node, region, known) or more(node, region, known)):
        return Proposal("unsafe", ALONE, edits)
    suites = [node.body, node.orelse.body] if node.orelse is not None else [node.body]
    if any((part := added(suite)) is not None and not _always(part, known) for suite in suites):
        return None
    before = [
        read for read in region.places if isinstance(read, cst.Name) and read.value == name and stored(region, read)
        and region.places[read] < region.places[node] and region.scope(read) is region.scope(node)
    ]  # fmt: skip
    if isinstance(no, str) and not before:
        return None
    if isinstance(no, str) and not _value_before(name, node, region, known):
        return None
    if name and (text := guarded_total(node.test, yes, no, region, known)):
        return Proposal("unsafe", ALONE, (region.put(node, f"{name} = {text}"),))
    text = chosen(node.test, yes, no, region, known)
    if not text:
        return None
    message = f"computes `{name}` each time, as a new tensor: NaN of what is not chosen can reach the gradient"
    return Proposal("unsafe", message, (region.put(node, f"{name} = {text}"),))


def elements(node: cst.If, region: Region, known: Known) -> Proposal | None:
    """`if test: x[i] = a; y[i] = b`: elements of tensors that are there whether they are written or not."""
    asked = condition(node.test, region, known)
    body = node.body.body if isinstance(node.body, cst.IndentedBlock) else ()
    if node.orelse is not None or isinstance(region.parent(node), cst.If) or asked is None or not body:
        return None
    text, straight = bare(asked[0]), asked[1]
    written = [element(line, known) for line in body if isinstance(line, cst.SimpleStatementLine)]
    told = {name for name in loaded(region, node.test) if name in {root(target) for target, _ in written if target}}
    if len(written) != len(body) or not all(target for target, _ in written) or told:
        return None
    comments = any(isinstance(part, cst.Comment) for part in inside(node))
    if comments or any(not isinstance(value, cst.BaseExpression) for _, value in written):
        return None
    lines = []
    if len(written) > 1:
        name = region.fresh("holds", "condition")
        lines, text = [f"{name} = {text}"], name
    for target, value in written:
        x, y = region.code(target), bare(flat(region.code(value)))  # type: ignore[arg-type]
        lines.append(f"{x} = {known.torch()}.where({text}, {f'{y}, {x}' if straight else f'{x}, {y}'})")
    what = " and ".join(dict.fromkeys(f"`{region.code(target)}`" for target, _ in written if target is not None))
    message = f"computes and writes {what} each time: NaN of what is not chosen can reach the gradient"
    return Proposal("unsafe", message, (region.put(node, *lines),))


def element(line: cst.SimpleStatementLine, known: Known) -> tuple[cst.Subscript | None, cst.BaseExpression | None]:
    """The element of a tensor on the device that a line sets, and the tensor to which, or None twice."""
    match line.body:
        case [cst.Assign(targets=[cst.AssignTarget(target=cst.Subscript() as target)], value=value)]:
            pass
        case _:
            return None, None
    key, held, given = subscript(target), known.tensor(target.value), known.tensor(value)
    there = held is not None and held.device in ("device", "assumed") and given is not None and given.device != "host"
    number = key is not None and known.number(key) in ("int", "size")
    if not there or not number or not known.pure(target) or not known.pure(value) or picks(value, known):
        return None, None
    return target, value


def chosen(
    test: cst.BaseExpression, yes: cst.BaseExpression | str, no: cst.BaseExpression | str, region: Region, known: Known
) -> str:
    """The call of `where`; '' where the sides are no tensors or numbers."""
    asked = condition(test, region, known)
    if asked is None:
        return ""
    for side in (yes, no):
        if not isinstance(side, str) and not (
            known.pure(side) and (known.tensor(side) is not None or known.number(side))
        ):
            return ""
    if any(picks(side, known) for side in (yes, no) if not isinstance(side, str)):
        return ""  # what the test guards may be empty
    if any(waiting(side, known) for side in (yes, no) if not isinstance(side, str)):
        return ""  # then it would wait each time
    if any(by_none(side, test, known) for side in (yes, no) if not isinstance(side, str)):
        return ""
    places = [keyed(side, region, known) if not isinstance(side, str) else set() for side in (yes, no)]
    if places[0] != places[1]:
        return ""  # or not be there
    if not compatible(yes, no, region, known):
        return ""
    text, straight = asked
    divisor = positive(test, region, known) if straight else None
    tensors = [not isinstance(side, str) and known.tensor(side) is not None for side in (yes, no)]
    first, second = (
        side
        if isinstance(side, str)
        else (all(tensors) and literal(side, known)) or flat(guarded(side, divisor, region, known))
        for side in (yes, no)
    )
    if not straight:
        first, second = second, first
    return f"{known.torch()}.where({bare(text)}, {first}, {second})"


def waiting(side: cst.BaseExpression, known: Known) -> bool:
    """Whether a side sends or reads numbers itself: `torch.tensor([0.0, n])`, but not one that is written out."""
    calls = [part for part in inside(side) if isinstance(part, cst.Call)] if not literal(side, known) else []
    return any(_may(wait, call, known) for call in calls for wait in getattr(known.op(call), "waits", ()))


def _may(wait: Wait, call: cst.Call, known: Known) -> bool:
    """Whether a call may wait in one of the ways of its row: `torch.where(test, a, b)` does not."""
    alone = any(condition == "alone" for condition, _ in wait.when)
    missing = [name for condition, name in wait.when if condition == "missing"]
    return not (alone and len(call.args) > 1) and all(known.argument(call, name) is None for name in missing)


def keyed(side: cst.BaseExpression, region: Region, known: Known) -> set[str]:
    """The elements that are taken at places which are not written out: `x[i + 1]`, `x.index_select(0, i)`."""
    found: set[str] = set()
    for part in inside(side):
        match part:
            case cst.Subscript(slice=places):
                keys = [one.slice for one in places if isinstance(one.slice, cst.Index)]
                taken = any(loaded(region, key) for key in keys)
            case cst.Call():
                taken = known.callee(part).rpartition(".")[2] in TAKING
            case _:
                continue
        found |= {region.code(part)} if taken else set()
    return found


def compatible(yes: cst.BaseExpression | str, no: cst.BaseExpression | str, region: Region, known: Known) -> bool:
    """Whether one tensor can hold both: a fraction or 0-d value on a side, or two of one shape by construction."""
    sides = [side for side in (yes, no) if not isinstance(side, str)]
    numbers = [known.number(side) for side in sides]
    if len(sides) == 2 and all(numbers):
        return set(numbers) == {"float"}  # an integer may be a size, and a bool is asked next
    if "bool" in numbers:
        return False
    if any(number or known.rank(side) == 0 for number, side in zip(numbers, sides)) and len(sides) == 2:
        return True
    if len(sides) == 1:
        other = yes if isinstance(yes, str) else no
        name = cst.parse_expression(str(other).split(" ")[0])
        return isinstance(name, cst.Name) and shaped_as(sides[0], name.value, sides[0], region, known)
    return len(sides) == 0 or alike(sides[0], sides[1], region, known)


def literal(side: cst.BaseExpression, known: Known) -> str:
    """The number of `torch.tensor(0.0)` or `x.new_tensor(0.0)`, which `where` takes as it is."""
    match side:
        case cst.Call(args=[cst.Arg(value=cst.Integer(value=number) | cst.Float(value=number)), *_]):
            return number if known.callee(side) in ("torch.tensor", "torch.Tensor.new_tensor") else ""
    return ""


def guarded(side: cst.BaseExpression, divisor: cst.BaseExpression | None, region: Region, known: Known) -> str:
    """A side as text; what the test says is not 0 is never 0 as a divisor."""
    text = region.code(side)
    if divisor is None or not isinstance(side, cst.BinaryOperation) or not isinstance(side.operator, cst.Divide):
        return text
    if not side.right.deep_equals(divisor):
        return text
    held = known.tensor(divisor)
    name = region.code(divisor)
    safe = (
        f"{name}.clamp(min=1)"
        if held is not None and held.dtype == "int"
        else f"{known.torch()}.where({name} > 0, {name}, 1)"
    )
    return f"{region.code(side.left)} / {safe}"


def assigned(suite: cst.BaseSuite, region: Region) -> tuple[str, cst.BaseExpression | str]:
    """The variable and value of the one assignment that a block is."""
    if not isinstance(suite, cst.IndentedBlock) or len(suite.body) != 1:
        return "", ""
    line = suite.body[0]
    if not isinstance(line, cst.SimpleStatementLine) or len(line.body) != 1:
        return "", ""
    match line.body[0]:
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value):
            return name, value
        case cst.AugAssign(target=cst.Name(value=name), operator=operator, value=value) if type(operator) in OPERATORS:
            if isinstance(value, cst.Name | cst.Attribute | cst.Call | cst.Integer | cst.Float) or value.lpar:
                return name, f"{name} {OPERATORS[type(operator)]} {region.code(value)}"
    return "", ""


def _always(value: cst.BaseExpression, known: Known) -> bool:
    """Whether a value can be computed each time: it changes nothing, does not wait, and is there."""
    return known.pure(value) and not picks(value, known) and not waiting(value, known)


def _value_before(name: str, node: cst.If, region: Region, known: Known) -> bool:
    """Whether a variable is a tensor where it is read above or in the branch, and never anything else."""
    found = [
        read for read in region.places
        if isinstance(read, cst.Name) and read.value == name and region.scope(read) is region.scope(node)
        and not stored(region, read) and known.tensor(read) is not None
    ]  # fmt: skip
    return bool(found)
