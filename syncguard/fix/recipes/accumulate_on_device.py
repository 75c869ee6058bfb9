"""`total += loss.item()` in a loop -> the sum on the device, in float64 as Python adds, and one read after the loop."""

from __future__ import annotations

import libcst as cst

from syncguard.fix.collect import filled, listing
from syncguard.fix.loops import varying
from syncguard.fix.names import definition, reads
from syncguard.fix.reads import Read, kept, read_of
from syncguard.fix.recipe import Known, Proposal, Region, Unfit
from syncguard.fix.recipes.feed_tensor import given
from syncguard.fix.sums import accumulated, added, begun, gate, handled, inside_of, plain, uses
from syncguard.terms import Edit, Finding

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
        return filled(read, statement, region, known) or passed_on(read, statement, region, known)
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


def total(
    name: str, statement: cst.BaseSmallStatement, region: Region, known: Known
) -> tuple[tuple[Edit, ...], bool, int]:
    """The edits that keep a sum on the device, whether the number is the same for sure, and the reads they leave."""
    loop, adding, gated = uses(name, statement, region)
    parts = [operand for other in adding for operand in [added(other)]]
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
    loops = [loop for loop in region.loops(statement) if not inside_of(begun, loop, region)]
    scope = region.scope(statement)
    every = reads(region, scope, held.value)
    if not loops or any(region.scope(node) is not scope for node in every) or handled(loops[-1], every, region):
        return None
    others = [node for node in every if node is not held]
    if any(node for node in others if region.places[node][0] < region.top(loops[-1])):
        return None
    inside = [node for node in others if inside_of(node, loops[-1], region)]
    if any(not gate(node, statement, loops[-1], region) for node in inside) or (
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
    lists = left = 0
    for use in found:
        if definition(region, use) is not statement:
            return None
        small = plain(use, region)
        if gate(use, statement, loops[0], region):
            edits.append(region.swap(use, f"{read.into or 'float'}({name})" if read.kind != "int" else f"int({name})"))
        elif small is not None and (target := accumulated(small)) and isinstance(added(small), cst.Name):
            loop, adding, gated = uses(target, small, region)
            if any(other is not small for other in adding):
                return None
            if read.dtype != "int":
                edits.append(region.swap(added(small), f"{name}.double()"))
            number = "int" if read.kind == "int" else "float"
            edits += [region.swap(node, f"{number}({target})") for node in gated]
            edits.append(region.after(loop, f"{target} = {number}({target})"))
            sums.append(target)
        elif (row := listing(use, statement, region, known)) is not None:
            sums.append(row[0])
            edits += row[1]
            left += row[2]
            lists += 1
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
    if lists:
        text = f"{text}: what is put into a list must be 0-d tensors of one dtype and device"
    return Proposal("safe" if sure else "unsafe", text, tuple(edits), leaves=len(sums) - lists + left + len(found))


def _divides(part: cst.BaseExpression) -> bool:
    if isinstance(part, cst.BinaryOperation):
        return isinstance(part.operator, cst.Divide) or _divides(part.left) or _divides(part.right)
    return False


def _fractional(part: cst.BaseExpression, wholes: set[cst.BaseExpression], known: Known) -> bool:
    if isinstance(part, cst.BinaryOperation):
        return _fractional(part.left, wholes, known) or _fractional(part.right, wholes, known)
    return part not in wholes and known.number(part) not in ("int", "size", "bool")
