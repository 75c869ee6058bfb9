"""`total += loss.item()` in a loop -> the sum on the device, in float64 as Python adds, and one read after the loop."""

from __future__ import annotations

import libcst as cst

from syncguard.fix.collect import filled
from syncguard.fix.loops import bound_in, varying
from syncguard.fix.names import definition, loaded, occurrences, reaching, reads, stores
from syncguard.fix.nodes import inside
from syncguard.fix.reads import Read, counted, kept, read_of
from syncguard.fix.recipe import Known, Proposal, Region, Unfit
from syncguard.fix.recipes.feed_tensor import given, told
from syncguard.fix.sums import accumulated, added, begun, crowded, gate, needed, plain, reached, scaled, settled, uses
from syncguard.fix.windows import taken_up, window
from syncguard.terms import Edit, Finding

ARITHMETIC = (cst.Add, cst.Subtract, cst.Multiply, cst.Divide)


def rewrite(node: cst.CSTNode, finding: Finding, region: Region, known: Known) -> Proposal | None:
    """A local variable or list that is only added to in the loop, and read behind it or behind a gate."""
    read = read_of(node, region, known)
    if read is None or not known.plain("float", "int", "bool"):
        return None
    statement = region.small(read.whole)
    name = accumulated(statement)
    if name and not isinstance(region.parent(read.whole), cst.Element):
        edits, sure, later = total(name, statement, region, known)
        when = "after the loop" if needed(name, uses(name, statement, region)[0], region) else "where it is used"
    elif isinstance(statement, cst.Expr | cst.AugAssign):
        return collected(read, statement, region, known)
    elif isinstance(statement, cst.Assign) and statement.value is read.whole:
        return filled(read, statement, region, known) or passed_on(read, statement, region, known)
    else:
        return None
    if sure:
        return Proposal("safe", f"adds up on the device, and reads `{name}` {when}", edits, leaves=later)
    text = f"`{name}` is summed on one device, in float64 unless it is known to be of integers, and read {when}"
    return Proposal("unsafe", text, edits, leaves=later)


def total(
    name: str, statement: cst.BaseSmallStatement, region: Region, known: Known
) -> tuple[tuple[Edit, ...], bool, int]:
    """The edits that keep a sum on the device, whether the number is the same for sure, and the reads they leave."""
    loop, adding, gated = uses(name, statement, region)
    if len({_withs(other, loop, region) for other in adding}) > 1 or _moded(statement, loop, region):
        raise Unfit("added up in different modes, of which one may give tensors that the other may not write into")
    if crowded(gated, loop, region):
        raise Unfit("read more often than before")
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
    if any(map(widened, found)):
        raise Unfit("made a float before it is added")
    wholes = {read.whole for read in found}
    begins = begun(name, loop, region)
    fraction = not whole or "float" in begins or any(_fractional(part, wholes, known) for part in parts)
    if whole and any(_divides(part) for part in parts):
        raise Unfit("integers divided")
    counts = {read.whole for read in found if read.dtype and read.kind in ("int", "bool")}
    if fraction and "int" in begins and any(_counting(part, counts, region, known) for part in parts):
        raise Unfit("an integer until a fraction is added, which may not be")
    back = _back(name, fraction, begins, loop, region, known)
    edits = [region.swap(read.whole, kept(read, region, known, exact=True, fraction=fraction)) for read in found]
    edits += [region.swap(use, _number(use, back, name, statement, region, fraction)) for use in gated]
    after = needed(name, loop, region)
    edits += [region.after(settled(loop, region), f"{name} = {back}")] if after else []
    sure = sure and not any(varying(read.tensor, loop, region, known) for read in found)
    return tuple(edits), sure and "" not in kinds, after + len(gated)


def _withs(statement: cst.CSTNode, loop: cst.CSTNode, region: Region) -> tuple[cst.CSTNode, ...]:
    return tuple(held for held in region.around(statement) if isinstance(held, cst.With) and region.within(held, loop))


def _moded(statement: cst.CSTNode, loop: cst.CSTNode, region: Region) -> bool:
    """Whether what is added to may be of another mode in another turn: `with torch.inference_mode(step > 3)`."""
    if not any("inference_mode" in line for line in region.lines[region.first - 1 : region.last]):
        return False
    items = [item.item for held in _withs(statement, loop, region) for item in cst.ensure_type(held, cst.With).items]
    turning = {name for item in items for name in loaded(region, item) if bound_in(name, loop, region)}
    asked = any(isinstance(item, cst.Call) and item.args and "mode" in region.code(item.func) for item in items)
    return bool(turning) or asked or any(isinstance(item, cst.IfExp) for item in items)


def _back(name: str, fraction: bool, begins: set[str], loop: cst.CSTNode, region: Region, known: Known) -> str:
    """The number of a sum: an integer stays one where the loop adds nothing, unless all ask for its fraction."""
    scope = region.scope(loop)
    later = [use for use in stores(region, scope, name) if scaled(use, name, region)]
    found = [*later, *(use for use in reads(region, scope, name) if reaching(region, name, use) not in later)]
    if not fraction or "int" not in begins or all(_fraction(use, region) for use in found):
        return f"{'float' if fraction else 'int'}({name})"
    if not known.torch():
        raise Unfit("torch has no name")
    return f"{name}.item() if {known.torch()}.is_tensor({name}) else {name}"


def _fraction(use: cst.Name, region: Region) -> bool:
    """Whether of an integer the same becomes as of a float: it is divided, or a fraction multiplied with it."""
    match region.parent(use):
        case cst.AugAssign(operator=cst.DivideAssign()):
            return True
        case cst.BinaryOperation(left=left, operator=cst.Divide()):
            return left is use
        case cst.BinaryOperation(left=left, operator=cst.Multiply(), right=right):
            return isinstance(left, cst.Float) or isinstance(right, cst.Float)
    small = plain(use, region)
    return small is not None and accumulated(small) == use.value  # `total = total + loss`


def _number(
    use: cst.CSTNode, back: str, name: str, statement: cst.BaseSmallStatement, region: Region, fraction: bool
) -> str:
    """The number of a sum where it is read in the loop: behind what adds to it, it is a tensor for sure."""
    return f"{'float' if fraction else 'int'}({name})" if reached(use, statement, name, region) else back


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


def collected(read: Read, statement: cst.Expr | cst.AugAssign, region: Region, known: Known) -> Proposal | None:
    """`losses.append(loss.item())` or `losses += [loss.item()]` in a loop, and nothing else of the list there."""
    names = [node for node in inside(statement) if isinstance(node, cst.Name)]
    held = next((node for node in names if taken_up(node, region) is read.whole), None)
    loops = region.loops(statement)
    if held is None or not known.torch() or not loops:
        return None
    name = held.value
    more = {
        node: value
        for node in occurrences(region, region.scope(statement), name)
        if node is not held and region.within(node, loops[-1]) and (value := taken_up(node, region)) is not None
    }
    found = [read, *(one for value in more.values() if (one := read_of(value, region, known)) is not None)]
    if [one.whole for one in found[1:]] != [*more.values()]:
        return None
    if any((one.into == "int" and one.dtype != "int") or widened(one) for one in found):
        return None
    if len({one.dtype for one in found} - {""}) > 1:
        return None
    edits, later = window(held, statement, region, known, tuple(more))
    edits += [region.swap(one.whole, kept(one, region, known)) for one in found]
    sure = all(uniform(one) and not varying(one.tensor, loops[-1], region, known) for one in found)
    if sure and len({one.dtype for one in found}) == 1 and not more:
        text = f"collects on the device, and reads all of `{name}` at once"
        return Proposal("safe", text, tuple(edits), leaves=later)
    text = f"`{name}` is read at once, and not in each turn: its elements must be 0-d tensors of one dtype and device"
    return Proposal("unsafe", text, tuple(edits), leaves=later)


def widened(read: Read) -> bool:
    """Whether an integer is made a float, which a list of a stack does not give."""
    return read.into == "float" and read.dtype in ("int", "bool")


def uniform(read: Read) -> bool:
    """Whether what is read is, for sure, a number that a list of a stack gives as well."""
    return read.rank == 0 and bool(read.dtype) and (read.dtype == "float" or not read.into)


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
    if not loops or not found or (read.kind == "int" and read.dtype != "int") or widened(read):
        return None
    sums: list[str] = []
    others: list[str] = []
    later = 0
    plain_sums = True
    behind: list[cst.Name] = []
    for use in found:
        if definition(region, use) is not statement:
            return None
        small = plain(use, region)
        if gate(use, statement, loops[0], region):
            behind.append(use)
            edits.append(region.swap(use, f"{read.kind or 'float'}({name})"))
        elif small is not None and (target := accumulated(small)) and isinstance(added(small), cst.Name):
            loop, adding, gated = uses(target, small, region)
            if any(other is not small for other in adding):
                return None
            begins = begun(target, loop, region)
            fraction = read.kind not in ("int", "bool") or "float" in begins
            if len(begins) > 1 and read.kind in ("int", "bool"):
                return None
            exact = "double" if fraction else "long"
            if fraction or not counted(read.tensor, region, known):
                edits.append(region.swap(added(small), f"{name}.{exact}()"))
            back = _back(target, fraction, begins, loop, region, known)
            behind += gated
            edits += [region.swap(node, _number(node, back, target, small, region, fraction)) for node in gated]
            after = needed(target, loop, region)
            edits += [region.after(settled(loop, region), f"{target} = {back}")] if after else []
            sums.append(target)
            later += after + len(gated)
        elif (into := appended(use, region)) is not None and small is not None:
            more, reads_left = window(into, small, region, known)
            edits += more
            later += reads_left
            plain_sums = plain_sums and uniform(read)
            sums.append(into.value)
        elif takers := given(use, region, known, 1):
            others += takers
        else:
            return None
    if not sums or crowded(behind, loops[-1], region):
        return None
    if others:
        text = f"`{name}` stays on the device: {told(others)} must take a 0-d tensor"
        return Proposal("display", text, tuple(edits), leaves=len(sums))
    text = f"`{name}` stays on the device, and {', '.join(f'`{target}`' for target in sums)} is read after the loop"
    sure = bool(read.dtype) and read.rank == 0 and plain_sums and not varying(read.tensor, loops[-1], region, known)
    return Proposal("safe" if sure else "unsafe", text, tuple(edits), leaves=later + len(found))


def appended(use: cst.Name, region: Region) -> cst.Name | None:
    """The list of `losses.append(use)`."""
    match region.parent(region.parent(use)):
        case cst.Call(func=cst.Attribute(value=cst.Name() as held, attr=cst.Name(value="append")), args=[_]) as call:
            return held if isinstance(region.parent(call), cst.Expr) else None
    return None


def _divides(part: cst.BaseExpression) -> bool:
    if isinstance(part, cst.BinaryOperation):
        return isinstance(part.operator, cst.Divide) or _divides(part.left) or _divides(part.right)
    return False


def _counting(part: cst.BaseExpression, counts: set[cst.BaseExpression], region: Region, known: Known) -> bool:
    """Whether what is added is an integer of the device."""
    return any(region.part_of(one, part) for one in counts) and not _fractional(part, counts, known)


def _fractional(part: cst.BaseExpression, wholes: set[cst.BaseExpression], known: Known) -> bool:
    if isinstance(part, cst.BinaryOperation):
        return _fractional(part.left, wholes, known) or _fractional(part.right, wholes, known)
    return part not in wholes and known.number(part) not in ("int", "size", "bool")
