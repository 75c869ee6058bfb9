"""Several reads -> one: `x[i].item()` in a loop reads a list copied before it, two `.item()` one `.tolist()`."""

from __future__ import annotations

import libcst as cst

from syncguard.fix.called import timed
from syncguard.fix.conditions import bare
from syncguard.fix.elements import elements
from syncguard.fix.handed import single
from syncguard.fix.labels import named
from syncguard.fix.names import loaded
from syncguard.fix.nodes import inside
from syncguard.fix.reads import Read, postfix, read_of
from syncguard.fix.recipe import Known, Proposal, Region, Unfit
from syncguard.fix.rowwise import rows, shapes
from syncguard.fix.turns import iterated
from syncguard.terms import Finding

# Built-in functions that change nothing between two reads.
HARMLESS = frozenset(f"builtins.{name}" for name in "float int bool round abs min max str len".split())
# What gives a tensor of another device, or of none.
MOVES = ("to", "cpu", "cuda", "device", "shape", "size", "new_tensor", "type", "type_as")
# What reads before a loop.
APART = (elements, rows, shapes, iterated)
# Where an expression may not be reached though its statement is.
SKIPPED = (cst.IfExp, cst.BooleanOperation, cst.Lambda, cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp)


def rewrite(node: cst.CSTNode, finding: Finding, region: Region, known: Known) -> Proposal | None:
    """An element in a loop, an element that a loop gives, or one of several reads of a statement."""
    for attempt in (*APART, listed, together):
        try:
            proposal = attempt(node, region, known)
        except Unfit:
            continue
        if proposal is not None:
            loops = region.loops(node) if attempt in APART else []
            apart = any(timed(part, region, known) for loop in loops[-1:] for part in inside(loop))
            return None if apart else proposal
    return None


# -- [v.item() for v in rows] ---------------------------------------------------------------------


def listed(node: cst.CSTNode, region: Region, known: Known) -> Proposal | None:
    """A list of numbers, each of another tensor."""
    read, torch = read_of(node, region, known), known.torch()
    listing = region.parent(read.whole) if read is not None else None
    if read is None or not torch or not isinstance(listing, cst.ListComp) or listing.elt is not read.whole:
        return None
    if known.tensor(read.tensor) is None or read.rank > 0 or (read.into and read.into != read.dtype):
        return None
    if any(isinstance(call, cst.Call) and not _quiet(call, known) for call in inside(listing)):
        return None
    inner = region.code(read.tensor) if read.rank == 0 else f"{postfix(read.tensor, region)}.reshape(())"
    clauses = region.code(listing)[len("[") :].removeprefix(region.code(listing.elt))
    text = f"{torch}.stack([{inner}{clauses}).tolist()"
    message = "reads all at once: they must be of one dtype and device, and at least one"
    return Proposal("unsafe", message, (region.swap(listing, text),), leaves=1)


def _quiet(call: cst.Call, known: Known) -> bool:
    """Whether a call is not one that is known to write into a tensor."""
    last = known.callee(call).rpartition(".")[2]
    return not last.endswith("_") or last.endswith("__")


# -- a.item(), b.item() ---------------------------------------------------------------------------


def together(node: cst.CSTNode, region: Region, known: Known) -> Proposal | None:
    """Two or more reads of one statement, or of neighbours that only read."""
    read = read_of(node, region, known)
    torch = known.torch()
    if read is None or not torch or region.handled(node):
        return None
    statement = region.statement(node)
    small = region.small(node)
    run = neighbours(statement, region, known) if isinstance(small, cst.Assign) else []
    found = [one for other in run for one in every(other, region, known)] or every(statement, region, known)
    if len(found) < 2 or not any(one.whole is read.whole for one in found):
        return None
    if not all(known.pure(one.tensor) for one in found):
        return None
    if len(run) < 2:
        undisturbed(statement, found, region, known)
    different = distinct(found)
    if len(different) > 1 and any(not one.dtype and isinstance(region.parent(one.whole), cst.Index) for one in found):
        return None  # what may be an integer among floats picks nothing from a list any more
    slice_of = piece(found, region, known)
    text = slice_of or f"{torch}.stack(({', '.join(scalar(one, region) for one in different)})).tolist()"
    if len(different) == 1:
        text = f"{postfix(found[0].tensor, region)}.item()"
    kinds = {one.dtype for one in found}
    made = [number(one, kinds) for one in found]
    intos = {*made}
    each = f"map({intos.pop()}, {text})" if len(intos) == 1 and "" not in intos else text
    row = gathered(small, found) if len(different) == len(found) else None
    if row is not None and intos == {""}:
        edits = [region.swap(row, text)]
    elif (
        len(run) > 1
        and len(different) == len(found)
        and (each != text or intos == {""})
        and all(alone(one, region) for one in found)
    ):
        targets = ", ".join(region.code(region.small(one.whole).targets[0].target) for one in found)  # type: ignore[attr-defined]
        edits = [region.put(run[0], f"{targets} = {each}"), *(region.remove(other) for other in run[1:])]
    else:
        names = dict(zip((region.code(one.tensor) for one in different), named(different, region)))
        edits = [region.before(run[0] if len(run) > 1 else statement, f"{', '.join(names.values())} = {text}")]
        for one, into in zip(found, made):
            name = names[region.code(one.tensor)]
            edits.append(region.swap(one.whole, f"{into}({name})" if into else name))
    if (slice_of or kinds in ({"float"}, {"int"}, {"bool"})) and beside(found, region, known):
        said = f"reads {len(different)} numbers at once" if len(different) > 1 else "reads the number once"
        return Proposal("safe", said, tuple(edits), leaves=1)
    if len(different) == 1:
        return Proposal("safe", "reads the number once", tuple(edits), leaves=1)
    text = f"reads {len(different)} numbers at once: they must be on one device"
    if "" in kinds:
        text += ", and an integer among floats becomes a float"
    elif "float" in kinds and len(kinds) > 1:
        text += ", and an integer among floats is rounded as they are"
    return Proposal("unsafe", text, tuple(edits), leaves=1)


def distinct(found: list[Read]) -> list[Read]:
    """One read of each tensor."""
    return [one for n, one in enumerate(found) if not any(one.tensor.deep_equals(o.tensor) for o in found[:n])]


def alone(read: Read, region: Region) -> bool:
    """Whether a read is all that its statement assigns."""
    small = region.small(read.whole)
    return isinstance(small, cst.Assign) and small.value is read.whole


def number(read: Read, kinds: set[str]) -> str:
    """What is made of the number in the list: what the host made of it, or what it was before it stood among others."""
    if read.into == "float" and "float" in kinds <= {"float", "int", "bool"}:
        return ""  # among floats all are
    if read.into:
        return read.into if read.into != read.dtype or kinds != {read.into} else ""
    return read.dtype if kinds > {read.dtype} and read.dtype in ("int", "bool") else ""


def piece(found: list[Read], region: Region, known: Known) -> str:
    """`x[1].item(), x[2].item()` as `x[1:3].tolist()`, `x[i, 0].item(), x[i, 1].item()` as `x[i, :2].tolist()`; '' of
    other reads."""
    bases: list[cst.BaseExpression] = []
    places: list[int] = []
    before: list[list[cst.BaseSlice]] = []
    for one in found:
        match one.tensor:
            case cst.Subscript(
                value=of, slice=[*first, cst.SubscriptElement(slice=cst.Index(value=cst.Integer() as key))]
            ):
                bases.append(of)
                places.append(key.evaluated_value)
                before.append([part.slice for part in first])
    held = known.tensor(bases[0]) if bases else None
    if held is None or len(bases) < len(found) or not (before[0] or single(bases[0], region)):
        return ""
    if not all(base.deep_equals(bases[0]) and same(rows, before[0]) for base, rows in zip(bases, before)):
        return ""
    if places != [*range(places[0], places[0] + len(places))]:
        return ""
    numbers = all(isinstance(part, cst.Index) and known.number(part.value) in ("int", "size") for part in before[0])
    lists = "tolist()" if numbers and held.rank == len(before[0]) + 1 else "flatten().tolist()"  # each is one number
    picked = ", ".join([*map(region.code, before[0]), f"{places[0] or ''}:{places[-1] + 1}"])
    return f"{postfix(bases[0], region)}[{picked}].{lists}"


def same(some: list[cst.BaseSlice], others: list[cst.BaseSlice]) -> bool:
    return len(some) == len(others) and all(one.deep_equals(other) for one, other in zip(some, others))


def scalar(read: Read, region: Region) -> str:
    """What is read, as an operand of a list: of no dimension."""
    return bare(region.code(read.tensor)) if read.rank == 0 else f"{postfix(read.tensor, region)}.reshape(())"


def gathered(small: cst.BaseSmallStatement, found: list[Read]) -> cst.Tuple | cst.List | None:
    """The right side of `a, b = x.item(), y.item()`."""
    match small:
        case cst.Assign(
            targets=[cst.AssignTarget(target=cst.Tuple() | cst.List())], value=cst.Tuple() | cst.List() as row
        ) if [element.value for element in row.elements] == [one.whole for one in found]:
            return row if not row.lpar else None
    return None


def beside(found: list[Read], region: Region, known: Known) -> bool:
    """Whether what is read is on one device, and no number of another kind: all of it computed from one tensor that
    nothing moves."""
    tensors = [
        {part.value for part in inside(one.tensor) if isinstance(part, cst.Name) and known.tensor(part) is not None}
        for one in found
    ]
    moved = [
        part for one in found for part in inside(one.tensor)
        if isinstance(part, cst.Attribute) and part.attr.value in MOVES
    ]  # fmt: skip
    held = [known.tensor(one.tensor) for one in found]
    if any("complex" in line for line in region.lines[region.first - 1 : region.last]):
        return False  # a mean of what may be complex is a float only where it is not
    there = {tensor.device for tensor in held if tensor is not None} <= {"device", "assumed"}
    return bool(set.intersection(*tensors)) and there and not moved


def every(statement: cst.CSTNode, region: Region, known: Known) -> list[Read]:
    """The reads of a statement that are surely made, in order. Unfit: it is a compound one."""
    if not isinstance(statement, cst.SimpleStatementLine):
        raise Unfit("in the header of a compound statement")
    found: dict[cst.CSTNode, Read] = {}
    for node in inside(statement):
        read = read_of(node, region, known) if isinstance(node, cst.Call) else None
        if read is not None and known.tensor(read.tensor) is not None:
            found.setdefault(read.whole, read)
    for whole in found:
        for held in region.around(whole):
            if held is statement:
                break
            if isinstance(held, SKIPPED) or held in found:
                raise Unfit("not every read is made each time, or one needs another")
    return sorted(found.values(), key=lambda read: region.places[read.whole])


def undisturbed(statement: cst.CSTNode, found: list[Read], region: Region, known: Known) -> None:
    """Unfit: between the reads of a statement something is called that may change what they read."""
    last = region.places[found[-1].whole][:2]
    for call in inside(statement):
        if not isinstance(call, cst.Call) or region.places[call][2:] > last or read_of(call, region, known) is not None:
            continue
        if known.callee(call) not in HARMLESS and not known.pure(call):
            raise Unfit(f"{region.code(call.func)} is called between the reads")


def neighbours(statement: cst.CSTNode, region: Region, known: Known) -> list[cst.SimpleStatementLine]:
    """The statements directly above and below that only read into a variable of their own."""
    block, here = region.block(statement)

    def reads_only(other: cst.CSTNode) -> bool:
        if not isinstance(other, cst.SimpleStatementLine) or len(other.body) != 1:
            return False
        small = other.body[0]
        if not isinstance(small, cst.Assign) or len(small.targets) != 1:
            return False
        return isinstance(small.targets[0].target, cst.Name | cst.Attribute) and read_only(small.value, region, known)

    if not reads_only(block[here]):
        return []
    first = last = here
    while first > 0 and reads_only(block[first - 1]):
        first -= 1
    while last + 1 < len(block) and reads_only(block[last + 1]):
        last += 1
    run = [other for other in block[first : last + 1] if isinstance(other, cst.SimpleStatementLine)]
    made = [part for other in run for part in other.body if isinstance(part, cst.Assign)]
    bound = {region.code(part.targets[0].target) for part in made}
    used = {name for part in made for name in loaded(region, part.value)}
    return run if not bound & used and len(bound) == len(run) else []


def read_only(value: cst.BaseExpression, region: Region, known: Known) -> bool:
    """Whether a value is a read, or arithmetic with one read and numbers that are written out."""
    match value:
        case cst.Call():
            read = read_of(value, region, known)
            return read is not None and read.whole is value and known.tensor(read.tensor) is not None
        case cst.UnaryOperation(expression=inner):
            return read_only(inner, region, known)
        case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(comparator=right)]):
            return _literal(right) and read_only(left, region, known)
        case cst.BinaryOperation(left=left, right=right):
            return _literal(right) and read_only(left, region, known)
    return False


def _literal(node: cst.BaseExpression) -> bool:
    inner = node.expression if isinstance(node, cst.UnaryOperation) else node
    return isinstance(inner, cst.Integer | cst.Float)
