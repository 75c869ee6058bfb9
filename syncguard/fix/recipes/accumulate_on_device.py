"""`total += loss.item()` in a loop -> the sum on the device, in float64 as Python adds, and one read after the loop."""

from __future__ import annotations

import libcst as cst

from syncguard.fix.loops import varying
from syncguard.fix.names import definition, occurrences, reads, stored, stores
from syncguard.fix.reads import Read, kept, read_of
from syncguard.fix.recipe import Known, Proposal, Region, Unfit
from syncguard.fix.recipes.feed_tensor import given
from syncguard.terms import Edit, Finding

Loop = cst.For | cst.While
ARITHMETIC = (cst.Add, cst.Subtract, cst.Multiply, cst.Divide)


def rewrite(node: cst.CSTNode, finding: Finding, region: Region, known: Known) -> Proposal | None:
    """A local variable or list that is only added to in the loop, and read behind it or behind a gate."""
    read = read_of(node, region, known)
    if read is None:
        return None
    statement = region.small(read.whole)
    name = accumulated(statement)
    if name:
        edits, sure, later = total(name, statement, region, known)
    elif isinstance(statement, cst.Expr):
        return collected(read, statement, region, known)
    elif isinstance(statement, cst.Assign) and statement.value is read.whole:
        return passed_on(read, statement, region, known)
    else:
        return None
    if sure:
        return Proposal("safe", f"adds up on the device, and reads `{name}` after the loop", edits, leaves=later)
    return Proposal(
        "unsafe",
        f"`{name}` becomes a number summed on one device, in float64 if it is a float, and is read after the loop",
        edits,
        leaves=later,
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


def total(
    name: str, statement: cst.BaseSmallStatement, region: Region, known: Known
) -> tuple[tuple[Edit, ...], bool, int]:
    """The edits that keep a sum on the device, whether the number is the same for sure, and the reads they leave."""
    loop, adding, gated = uses(name, statement, region)
    parts = [operand for other in adding for operand in [_added(other)]]
    found: list[Read] = []
    sure = True
    for part in parts:
        here, known_numbers = summands(part, region, known)
        found += here
        sure = sure and known_numbers
    kinds = {read.kind if read.dtype else "" for read in found}
    if not found or (len(found) > 1 and any(read.rank for read in found)):
        raise Unfit("the shapes may differ")
    whole = kinds <= {"int", "bool"} and "" not in kinds
    if any(read.dtype == "complex" for read in found):
        raise Unfit("complex")
    if any(read.into == "int" and read.dtype not in ("int", "bool") for read in found):
        raise Unfit("rounded before it is added")
    if any(read.into == "float" and read.dtype in ("int", "bool") for read in found):
        raise Unfit("made a float before it is added")
    wholes = {read.whole for read in found}
    begins = begun(name, loop, region)
    fraction = not whole or "float" in begins or any(_fractional(part, wholes, known) for part in parts)
    if whole and any(_divides(part) for part in parts):
        raise Unfit("integers divided")
    back = f"{'float' if fraction else 'int'}({name})"
    if fraction and "int" in begins:  # which it stays where the loop adds nothing
        if not known.torch():
            raise Unfit("torch has no name")
        back = f"{name}.item() if {known.torch()}.is_tensor({name}) else {name}"
    edits = [region.swap(read.whole, kept(read, region, known, exact=True, fraction=fraction)) for read in found]
    edits += [region.swap(use, back) for use in gated]
    edits.append(region.after(loop, f"{name} = {back}"))
    sure = sure and not any(varying(read.tensor, loop, region, known) for read in found)
    return tuple(edits), sure and "" not in kinds, 1 + len(gated)


def begun(name: str, loop: Loop, region: Region) -> set[str]:
    """The kinds of number that a sum is set to."""
    starts = [node for node in stores(region, region.scope(loop), name) if not _adds(node, name, region)]
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
    starts = [node for node in every if stored(region, node) and not _adds(node, name, region)]
    if not starts or not all(_number(node, region) for node in starts):
        raise Unfit("it does not begin as a number")
    outside = [
        loop
        for loop in loops
        if not any(_inside(node, loop, region) and not _gate(node, statement, loop, region) for node in starts)
    ]
    if not outside or not any(not _inside(node, outside[-1], region) for node in starts):
        raise Unfit("no loop adds to it")
    loop = outside[-1]
    if isinstance(region.parent(loop), cst.Else | cst.Finally) or _handled(loop, every, region):
        raise Unfit("it is read where the loop may have failed")
    inside = [node for node in every if _inside(node, loop, region) and node not in starts]
    adding = [region.small(node) for node in inside if stored(region, node)]
    gated = []
    for node in inside:
        if stored(region, node) or (_small(node, region) in adding):
            continue
        if not _gate(node, statement, loop, region):
            raise Unfit("the loop reads it")
        gated.append(node)
    if any(_inside(node, loop, region) for node in every if isinstance(region.parent(node), cst.NameItem)):
        raise Unfit("declared global")
    return loop, adding, gated


def summands(part: cst.BaseExpression, region: Region, known: Known) -> tuple[list[Read], bool]:
    """The reads in a sum, product or quotient, and whether all else in it is known to be numbers."""
    if isinstance(part, cst.Call) and (read := read_of(part, region, known)) is not None:
        if read.whole is not part:
            raise Unfit("read in an inner call")
        return [read], True
    if isinstance(part, cst.BinaryOperation) and isinstance(part.operator, ARITHMETIC):
        left, sure = summands(part.left, region, known)
        right, too = summands(part.right, region, known)
        if isinstance(part.operator, cst.Divide) and right:
            raise Unfit("divided by what was read")
        return left + right, sure and too
    if known.number(part):
        return [], True
    if isinstance(part, cst.Name | cst.Attribute) and known.tensor(part) is None:
        return [], False
    raise Unfit("not a sum of numbers")


def collected(read: Read, statement: cst.Expr, region: Region, known: Known) -> Proposal | None:
    """`losses.append(loss.item())` in a loop, and nothing else of the list there."""
    torch = known.torch()
    match statement.value:
        case cst.Call(
            func=cst.Attribute(value=cst.Name() as held, attr=cst.Name(value="append")), args=[cst.Arg(value=value)]
        ) if torch and value is read.whole:
            pass
        case _:
            return None
    begun = definition(region, held).value
    if not isinstance(begun, cst.List) or begun.elements:
        return None
    loops = [loop for loop in region.loops(statement) if not _inside(begun, loop, region)]
    scope = region.scope(statement)
    every = reads(region, scope, held.value)
    if not loops or any(region.scope(node) is not scope for node in every) or _handled(loops[-1], every, region):
        return None
    others = [node for node in every if node is not held]
    if any(node for node in others if region.places[node][0] < region.top(loops[-1])):
        return None
    inside = [node for node in others if _inside(node, loops[-1], region)]
    if any(not _gate(node, statement, loops[-1], region) for node in inside) or (
        read.into == "int" and read.dtype != "int"
    ):
        return None
    name = held.value
    rows = f"{torch}.stack({name}).tolist()"
    sure = (
        read.rank == 0
        and bool(read.dtype)
        and ((read.into in ("", "float") and read.dtype == "float") or not read.into)
        and not varying(read.tensor, loops[-1], region, known)
    )
    edits = [region.swap(read.whole, kept(read, region, known))]
    edits += [region.swap(node, f"{rows} if {name} else []") for node in inside]
    edits.append(region.after(loops[-1], f"{name} = {rows} if {name} else []"))
    if sure:
        return Proposal(
            "safe",
            f"collects on the device, and reads `{name}` once after the loop",
            tuple(edits),
            leaves=1 + len(inside),
        )
    text = f"`{name}` is read once after the loop: its elements must be 0-d tensors of one dtype and device"
    return Proposal("unsafe", text, tuple(edits), leaves=1 + len(inside))


def passed_on(read: Read, statement: cst.Assign, region: Region, known: Known) -> Proposal | None:
    """`value = loss.item()`, and the value is only added up, collected, or read behind a gate."""
    match statement.targets:
        case [cst.AssignTarget(target=cst.Name(value=name))]:
            pass
        case _:
            return None
    scope = region.scope(statement)
    edits = [region.swap(read.whole, kept(read, region, known))]
    loops = region.loops(statement)
    found = reads(region, scope, name)
    if not loops or not found or (read.kind == "int" and read.dtype != "int"):
        return None
    sums: list[str] = []
    others: list[str] = []
    for use in found:
        if definition(region, use) is not statement:
            return None
        small = _small(use, region)
        if _gate(use, statement, loops[0], region):
            edits.append(region.swap(use, f"{read.into or 'float'}({name})" if read.kind != "int" else f"int({name})"))
        elif small is not None and (target := accumulated(small)) and isinstance(_added(small), cst.Name):
            loop, adding, gated = uses(target, small, region)
            if any(other is not small for other in adding):
                return None
            if read.dtype != "int":
                edits.append(region.swap(_added(small), f"{name}.double()"))
            number = "int" if read.kind == "int" else "float"
            edits += [region.swap(node, f"{number}({target})") for node in gated]
            edits.append(region.after(loop, f"{target} = {number}({target})"))
            sums.append(target)
        elif takers := given(use, region, known, 1):
            others += takers
        else:
            return None
    if not sums:
        return None
    if others:
        text = f"`{name}` stays on the device: {' and '.join(f'`{other}`' for other in others)} must take a 0-d tensor"
        return Proposal("display", text, tuple(edits), leaves=len(sums))
    text = f"`{name}` stays on the device, and {', '.join(f'`{target}`' for target in sums)} is read after the loop"
    sure = bool(read.dtype) and read.rank == 0 and not varying(read.tensor, loops[-1], region, known)
    return Proposal("safe" if sure else "unsafe", text, tuple(edits), leaves=len(sums) + len(found))


# -- the places of a variable -----------------------------------------------------------------


def _added(statement: cst.BaseSmallStatement) -> cst.BaseExpression:
    """What is added in `name += value` and `name = name + value`."""
    value = statement.value  # type: ignore[attr-defined]
    return value if isinstance(statement, cst.AugAssign) else value.right  # type: ignore[no-any-return]


def _adds(node: cst.Name, name: str, region: Region) -> bool:
    small = _small(node, region)
    return small is not None and accumulated(small) == name


def _small(node: cst.CSTNode, region: Region) -> cst.BaseSmallStatement | None:
    try:
        return region.small(node)
    except Unfit:
        return None


def _number(node: cst.Name, region: Region) -> bool:
    """Whether a variable is set to a number that is written out: `a = b = 0`, `a, b = 0, 0.0`."""
    return isinstance(_set_to(node, region), cst.Integer | cst.Float)


def _set_to(node: cst.Name, region: Region) -> cst.BaseExpression | None:
    """What a variable is set to, also one of several; None where it is not said."""
    assign = _small(node, region)
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


def _inside(node: cst.CSTNode, holder: cst.CSTNode, region: Region) -> bool:
    return any(held is holder for held in region.around(node))


def _gate(node: cst.CSTNode, statement: cst.CSTNode, loop: Loop, region: Region) -> bool:
    """Whether a place is in the body of an `if` in the loop which does not hold the statement that adds."""
    child = node
    for held in region.around(node):
        if held is loop:
            return False
        if isinstance(held, cst.If) and child is held.body and not _inside(statement, held, region):
            return True
        child = held
    return False


def _handled(loop: Loop, every: list[cst.Name], region: Region) -> bool:
    """Whether a handler around the loop uses the variable."""
    tries = [held for held in region.around(loop) if isinstance(held, cst.Try)]
    parts = [part for held in tries for part in (*held.handlers, held.finalbody) if part is not None]
    return any(_inside(node, part, region) for node in every for part in parts)


def _divides(part: cst.BaseExpression) -> bool:
    if isinstance(part, cst.BinaryOperation):
        return isinstance(part.operator, cst.Divide) or _divides(part.left) or _divides(part.right)
    return False


def _fractional(part: cst.BaseExpression, wholes: set[cst.BaseExpression], known: Known) -> bool:
    if isinstance(part, cst.BinaryOperation):
        return _fractional(part.left, wholes, known) or _fractional(part.right, wholes, known)
    return part not in wholes and known.number(part) not in ("int", "size", "bool")
