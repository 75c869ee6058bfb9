"""A sum in a loop in, where it begins, what is added to it and where it is read out."""

from __future__ import annotations

import re
from collections.abc import Callable

import libcst as cst

from syncguard.fix.loops import bound_in
from syncguard.fix.names import between, occurrences, reads, stored, stores
from syncguard.fix.nodes import inside
from syncguard.fix.region import Region, Unfit

Loop = cst.For | cst.While
# `n = int(n)`, `total = float(total)`, `losses = torch.stack(losses).tolist() if losses else []`, as fixes write them.
READ = re.compile(
    r"(\w+) = (int\(\1\)|float\(\1\)|\1\.item\(\) if \w+\.is_tensor\(\1\) else \1"
    r"|\w+\.stack\(\1\)\.tolist\(\) if \1 else \[\])"
)


def accumulated(statement: cst.BaseSmallStatement) -> str:
    """The variable of `name += value` or `name = name + value`."""
    match statement:
        case cst.AugAssign(target=cst.Name(value=name), operator=cst.AddAssign() | cst.SubtractAssign()):
            return name
        case cst.Assign(
            targets=[cst.AssignTarget(target=cst.Name(value=name))],
            value=cst.BinaryOperation(left=cst.Name(value=same), operator=cst.Add() | cst.Subtract()),
        ) if name == same:
            return name
    return ""


def begun(name: str, loop: Loop, region: Region) -> set[str]:
    """The kinds of number that a sum is set to."""
    starts = [node for node in stores(region, region.scope(loop), name) if _starts(node, name, region)]
    values = [_set_to(node, region) for node in starts]
    return {"int" if isinstance(value, cst.Integer) else "float" for value in values}


def uses(
    name: str, statement: cst.BaseSmallStatement, region: Region
) -> tuple[Loop, list[cst.BaseSmallStatement], list[cst.Name]]:
    """The outermost loop that adds to a variable without setting it, what adds to it there, and its gated reads."""
    scope = region.scope(statement)
    every = occurrences(region, scope, name)
    if any(region.scope(node) is not scope for node in every) or isinstance(scope, cst.Lambda):
        raise Unfit("another function has it, too")
    loops = region.loops(statement)
    starts = [node for node in every if stored(region, node) and _starts(node, name, region)]
    if not starts or not all(_number(node, region) for node in starts):
        raise Unfit("it does not begin as a number")
    outside = [
        loop
        for loop in loops
        if not any(region.within(node, loop) and not gate(node, statement, loop, region) for node in starts)
    ]
    if not outside or not any(not region.within(node, outside[-1]) for node in starts):
        raise Unfit("no loop adds to it")
    loop = outside[-1]
    if any(region.places[node][0] <= region.bottom(loop) for node in every if scaled(node, name, region)):
        raise Unfit("it is more than a number that the loop adds to")
    if isinstance(region.parent(loop), cst.Else | cst.Finally) or handled(loop, every, region):
        raise Unfit("it is read where the loop may have failed")
    inside = [node for node in every if region.within(node, loop) and node not in starts]
    adding = [region.small(node) for node in inside if stored(region, node)]
    gated = []
    for node in inside:
        if stored(region, node) or (plain(node, region) in adding):
            continue
        if not gate(node, statement, loop, region):
            raise Unfit("the loop reads it")
        gated.append(node)
    if any(region.within(node, loop) for node in every if isinstance(region.parent(node), cst.NameItem)):
        raise Unfit("declared global")
    return loop, adding, gated


def needed(name: str, loop: Loop, region: Region) -> bool:
    """Whether a sum may be read outside of its loop: below it, or above where a loop around comes back."""
    scope = region.scope(loop)
    every = occurrences(region, scope, name)
    found = [*reads(region, scope, name), *(node for node in every if scaled(node, name, region))]
    outside = [use for use in found if not region.within(use, loop)]
    return any(region.places[use] > region.places[loop] or bool(region.loops(loop)) for use in outside)


def reached(use: cst.CSTNode, statement: cst.CSTNode, name: str, region: Region) -> bool:
    """Whether a value was added to a sum before each time that a place is reached: it is no longer what it began as."""
    block = region.parent(region.statement(statement))
    above = block in [*region.around(use)] and region.places[statement] < region.places[use]
    return above and not between(region, statement, use, {name})


def added(statement: cst.BaseSmallStatement) -> cst.BaseExpression:
    """What is added in `name += value` and `name = name + value`."""
    value = statement.value  # type: ignore[attr-defined]
    return value if isinstance(statement, cst.AugAssign) else value.right  # type: ignore[no-any-return]


def _adds(node: cst.Name, name: str, region: Region) -> bool:
    small = plain(node, region)
    return small is not None and accumulated(small) == name


def scaled(node: cst.Name, name: str, region: Region) -> bool:
    """Whether a sum is changed in place by another operator, `total /= n`."""
    held = region.parent(node)
    return isinstance(held, cst.AugAssign) and held.target is node and not _adds(node, name, region)


def _starts(node: cst.Name, name: str, region: Region) -> bool:
    """Whether a sum is set where it is bound."""
    return not _adds(node, name, region) and not scaled(node, name, region)


def plain(node: cst.CSTNode, region: Region) -> cst.BaseSmallStatement | None:
    try:
        return region.small(node)
    except Unfit:
        return None


def _number(node: cst.Name, region: Region) -> bool:
    """Whether a variable is set to a number that is written out: `a = b = 0`, `a, b = 0, 0.0`."""
    return isinstance(_set_to(node, region), cst.Integer | cst.Float)


def _set_to(node: cst.Name, region: Region) -> cst.BaseExpression | None:
    """What a variable is set to, also one of several; None where it is not said."""
    assign = plain(node, region)
    if not isinstance(assign, cst.Assign):
        return None
    value = assign.value
    holder = region.parent(node)
    if isinstance(holder, cst.Element):
        row = region.parent(holder)
        if (
            not isinstance(row, cst.Tuple)
            or not isinstance(value, cst.Tuple)
            or len(row.elements) != len(value.elements)
        ):
            return None
        value = value.elements[[*row.elements].index(holder)].value
    return value


def gate(node: cst.CSTNode, statement: cst.CSTNode, loop: Loop, region: Region) -> bool:
    """Whether a place is in the body of an `if` in the loop which does not hold the statement that adds."""
    child = node
    for held in region.around(node):
        if held is loop:
            return False
        if isinstance(held, cst.If) and child is held.body and not region.within(statement, held):
            return True
        child = held
    return False


def settled(loop: Loop, region: Region) -> cst.CSTNode:
    """What the number of a sum is read below: its loop, and the statements that read the numbers of others there."""
    block = region.parent(loop)
    below = [*block.body] if isinstance(block, cst.IndentedBlock | cst.Module) else [loop]
    last: cst.CSTNode = loop
    for statement in below[below.index(loop) + 1 :]:
        if not READ.fullmatch(region.code(statement)) or region.top(statement) != region.bottom(last) + 1:
            break
        last = statement
    return last


def crowded(nodes: list[cst.Name], loop: Loop, region: Region) -> bool:
    """Whether more than one of some reads stands behind gates that no turn opens or shuts, `if rank == 0:`: where those
    are open each turn waits for all of them, and waited once before."""
    return sum(all(map(_fixed(loop, region), _gates(node, loop, region))) for node in nodes) > 1


def _gates(node: cst.CSTNode, loop: Loop, region: Region) -> list[cst.BaseExpression]:
    """The tests on the way from a loop to a place."""
    around = [*region.around(node)]
    return [held.test for held in around[: around.index(loop)] if isinstance(held, cst.If)]


def _fixed(loop: Loop, region: Region) -> Callable[[cst.BaseExpression], bool]:
    """Whether a test is the same in every turn of a loop: of variables and attributes that are not set there."""
    held = [region.code(node.target) for node in inside(loop) if isinstance(node, cst.AssignTarget | cst.AugAssign)]

    def fixed(test: cst.BaseExpression) -> bool:
        parts = [*inside(test)]
        if any(isinstance(part, cst.Call | cst.Modulo | cst.Subscript | cst.NamedExpr) for part in parts):
            return False
        if any(isinstance(part, cst.Attribute) and region.code(part) in held for part in parts):
            return False
        return not any(isinstance(part, cst.Name) and bound_in(part.value, loop, region) for part in parts)

    return fixed


def handled(loop: Loop, every: list[cst.Name], region: Region) -> bool:
    """Whether a variable is used where the loop may have failed: in a handler, behind one, or behind a `suppress`."""
    tries = [held for held in region.around(loop) if isinstance(held, cst.Try | cst.TryStar)]
    parts = [part for held in tries for part in (*held.handlers, held.finalbody) if part is not None]
    if any(region.within(node, part) for node in every for part in parts):
        return True
    catching = [held.body for held in tries if held.handlers and region.within(loop, held.body)]
    catching += [held.body for held in region.around(loop) if isinstance(held, cst.With) and _suppresses(held)]
    return any(region.places[node] > region.places[body] and not region.within(node, body)
               for node in every for body in catching)  # fmt: skip


def _suppresses(held: cst.With) -> bool:
    """Whether a `with` may go on after an exception: no more is known of it than its name."""
    names = [part.value for item in held.items for part in inside(item.item) if isinstance(part, cst.Name)]
    return any("suppress" in name or "raises" in name for name in names)
