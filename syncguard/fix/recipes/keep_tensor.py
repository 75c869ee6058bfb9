"""A number that is read only to be stored, `self.loss = loss.item()` -> the tensor itself, detached."""

from __future__ import annotations

import libcst as cst

from syncguard.fix.anew import anew
from syncguard.fix.callees import asked
from syncguard.fix.declared import declared
from syncguard.fix.names import definition, reads, stores
from syncguard.fix.reads import Read, kept, read_of
from syncguard.fix.recipe import Known, Proposal, Region
from syncguard.fix.steady import root
from syncguard.terms import Edit, Finding

WRITERS = ("json.", "yaml.", "csv.", "pandas.", "numpy.", "logging.", "builtins.print", "builtins.str", "builtins.repr")
STORES = ("append", "add_", "sub_")
LOGS = ("info", "debug", "warning", "error", "critical", "exception", "write", "writerow", "dump", "dumps", "format")
WHOLE = ("int", "long", "argmax", "argmin", "bool")
RESULT = "the result"
DISPLAYS = (cst.Dict, cst.List, cst.Tuple)


def rewrite(node: cst.CSTNode, finding: Finding, region: Region, known: Known) -> Proposal | None:
    """Into an element of a device tensor nothing changes; anywhere else its readers may not expect a 0-d tensor."""
    read = read_of(node, region, known)
    if read is None or read.dtype == "complex" or (read.into and read.into != (read.dtype or "float")):
        return None
    written = element(read, region, known)
    adds = summed(read.whole, region)
    now = written or adds or _added(read.whole, region) or isinstance(region.parent(read.whole), cst.BinaryOperation)
    text = kept(read, region, known, exact=adds and bool(read.dtype), fraction=read.dtype == "float", now=now)
    edit = region.swap(read.whole, text)
    if not written and declared(read.whole, region):
        return None
    if written:
        return Proposal("safe", "writes the element from the device", (edit,))
    if read.dtype in ("int", "bool") and not isinstance(region.small(read.whole), cst.AugAssign):
        return None  # more likely a size or an index than a measure
    if _entry(read) or among(read.whole, region, known) or sorts(read.whole, region):
        return None
    match read.tensor:
        case cst.Call(func=cst.Attribute(attr=cst.Name(value=name))) if name in WHOLE and not read.dtype:
            return None
    where = stored(read.whole, region, known)
    result = where == RESULT or returned(read.whole, region)
    if result and (handed(read.tensor, region) or numbers(read.whole, region, known)):
        return None  # to give the number is what the function is for
    if where:
        message = f"whoever reads {where} gets a 0-d tensor in place of a number"
        if adds and not read.dtype:
            message += ", which is added up in its own precision"
        return Proposal("unsafe", message, (edit, *anew(region.small(read.whole), region, known)))
    statement = region.small(read.whole)
    return passed_on(read, statement, edit, region, known) if isinstance(statement, cst.Assign) else None


def sorts(node: cst.CSTNode, region: Region) -> bool:
    """Whether a value is what a `key=` gives of each item: tensors that are compared wait each time."""
    scope = region.scope(node)
    held = region.parent(scope)
    return isinstance(scope, cst.Lambda) and isinstance(held, cst.Arg) and held.keyword is not None


def handed(node: cst.BaseExpression, region: Region) -> bool:
    """Whether a tensor is what a function was given, or one of those."""
    scope = region.scope(node)
    while isinstance(node, cst.Name):
        bound = stores(region, scope, node.value)
        if any(isinstance(region.parent(one), cst.Param) for one in bound):
            return True
        over = next(
            (held for one in bound for held in region.around(one) if isinstance(held, cst.For | cst.CompFor)), None
        )
        origin = root(over.iter) if over is not None and bound else ""
        if not origin or origin == node.value:
            return False
        node = cst.Name(origin)
    return False


def returned(node: cst.CSTNode, region: Region) -> bool:
    """Whether a value is stored into what its function gives."""
    match region.parent(node):
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Subscript(value=cst.Name(value=name)))]):
            held = [region.parent(use) for use in reads(region, region.scope(node), name)]
            held = [region.parent(region.parent(one)) if isinstance(one, cst.Element) else one for one in held]
            return any(isinstance(one, cst.Return) for one in held)
    return False


def numbers(node: cst.CSTNode, region: Region, known: Known) -> bool:
    """Whether a function gives another fraction from the host instead of this value: readers take all for numbers."""
    scope = region.scope(node)
    given = [
        held.value for held in region.places
        if isinstance(held, cst.Return) and held.value is not None and region.scope(held) is scope
    ]  # fmt: skip
    return any(_fraction(value, region, known) for value in given)


def among(node: cst.BaseExpression, region: Region, known: Known) -> bool:
    """Whether a value stands in a row or table beside a fraction that stays on the host."""
    outer: cst.BaseExpression | None = None
    for held in region.around(node):
        if isinstance(held, DISPLAYS):
            outer = held
        elif not isinstance(held, cst.Element | cst.DictElement):
            break
    return outer is not None and _fraction(outer, region, known)


def _fraction(value: cst.BaseExpression, region: Region, known: Known) -> bool:
    match value:
        case cst.Tuple(elements=row) | cst.List(elements=row):
            return any(_fraction(one.value, region, known) for one in row)
        case cst.Dict(elements=row):
            return any(_fraction(one.value, region, known) for one in row)
    read = read_of(value, region, known)
    return known.number(value) in ("float", "number") and (read is None or _entry(read))


def _entry(read: Read) -> bool:
    """Whether a read is of an entry of a table of which nothing is known: more likely a size or an index."""
    return not read.dtype and isinstance(read.tensor, cst.Subscript) and not isinstance(read.tensor.value, cst.Call)


def summed(node: cst.CSTNode, region: Region) -> bool:
    """Whether a value is added to something: `self.total += node`."""
    held = region.parent(node)
    return isinstance(held, cst.AugAssign) and isinstance(held.operator, cst.AddAssign | cst.SubtractAssign)


def element(read: Read, region: Region, known: Known) -> bool:
    """Whether it is written into an element of a tensor on the device."""
    assign = region.parent(read.whole)
    if not isinstance(assign, cst.Assign) or assign.value is not read.whole or len(assign.targets) != 1:
        return False
    target = assign.targets[0].target
    held = known.tensor(target.value) if isinstance(target, cst.Subscript) else None
    # Where a mask is true a number is filled in; a tensor is put there after a look at how many these are.
    if isinstance(target, cst.Subscript) and any(_chooses(part.slice, known) for part in target.slice):
        return False
    return held is not None and held.device in ("device", "assumed") and known.tensor(read.tensor) is not None


def _chooses(key: cst.BaseSlice, known: Known) -> bool:
    """Whether a key may be a mask: no place, nor a tensor that is known to hold places."""
    if not isinstance(key, cst.Index) or isinstance(key.value, cst.Ellipsis) or known.number(key.value):
        return False
    held = known.tensor(key.value)
    return held is None or held.dtype != "int"


def stored(node: cst.CSTNode, region: Region, known: Known) -> str:
    """What a value goes into, in words; '' where it is used."""
    child, held = node, region.parent(node)
    while isinstance(held, cst.BinaryOperation) and isinstance(held.operator, cst.Add | cst.Multiply | cst.Divide):
        other = held.right if held.left is child else held.left
        if held.right is child and isinstance(held.operator, cst.Divide):
            return ""
        if isinstance(other, cst.BaseString) or not _plain(other):
            return ""
        child, held = held, region.parent(held)
    if isinstance(held, cst.IfExp) and child is not held.test and isinstance(region.parent(held), cst.Lambda):
        child, held = held, region.parent(held)
    if _on_host(held, known):
        return ""
    match held:
        case cst.Lambda():
            return "what the lambda gives"
        case (
            cst.Assign(targets=[cst.AssignTarget(target=cst.Attribute() | cst.Subscript() as target)])
            | cst.AugAssign(target=cst.Attribute() | cst.Subscript() as target)
        ):
            return f"`{region.code(target)}`" if not _told(target, region, known) else ""
        case cst.Return():
            return RESULT
        case cst.Arg():
            call = region.parent(held)
            if isinstance(call, cst.Call) and _stores(call) and held.keyword is None and child is node:
                into = call.func.value  # type: ignore[attr-defined]
                return f"`{region.code(into)}`" if not _told(into, region, known) else ""
            return ""
        case cst.DictElement() | cst.Element():
            display = region.parent(held)
            return _display(display, region, known) if isinstance(display, DISPLAYS) else ""
        case cst.DictComp() | cst.ListComp() if child in (getattr(held, "value", None), getattr(held, "elt", None)):
            return _display(held, region, known)
    return ""


def _told(target: cst.CSTNode, region: Region, known: Known) -> bool:
    """Whether what it is stored into is written out: a host needs its numbers."""
    name = root(target)
    uses = reads(region, region.scope(target), name) if name and name != "self" else []
    again = [node for node in region.places if isinstance(node, cst.Attribute) and node.deep_equals(target)]
    return any(_written_out(use, region, known) for use in uses) or any(asked(use, region) for use in again)


def _written_out(use: cst.CSTNode, region: Region, known: Known) -> bool:
    """Whether a variable, or a part of it, is printed, logged, or put into text."""
    held = region.parent(use)
    while isinstance(held, cst.Subscript | cst.Attribute | cst.Call | cst.StarredElement) and use is not held:
        if isinstance(held, cst.Call) and held.func is not use:
            break
        use, held = held, region.parent(held)
    if isinstance(held, cst.FormattedStringExpression):
        return True
    call = region.parent(held)
    if not isinstance(held, cst.Arg) or not isinstance(call, cst.Call):
        return False
    method = call.func.attr.value if isinstance(call.func, cst.Attribute) else ""
    return known.callee(call).startswith(WRITERS) or method in LOGS


def _on_host(held: cst.CSTNode, known: Known) -> bool:
    """Whether it is an element of a tensor on the host, into which the copy would wait just the same."""
    match held:
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Subscript(value=of))]):
            tensor = known.tensor(of)
            return tensor is not None and tensor.device in ("host", "mixed")
    return False


def passed_on(read: Read, statement: cst.Assign, edit: Edit, region: Region, known: Known) -> Proposal | None:
    """`value = loss.item()`, and all that is done with the value is to store it."""
    target = statement.targets[0].target
    if statement.value is not read.whole or len(statement.targets) != 1 or not isinstance(target, cst.Name):
        return None
    found = reads(region, region.scope(statement), target.value)
    where = [stored(use, region, known) for use in found]
    if any(declared(use, region) for use in found):
        return None
    if not found or not all(where) or any(definition(region, use) is not statement for use in found):
        return None
    edits = [edit, *(one for use in found for one in anew(region.small(use), region, known))]
    return Proposal("unsafe", f"whoever reads {where[0]} gets a 0-d tensor in place of a number", tuple(edits))


def _added(node: cst.CSTNode, region: Region) -> bool:
    """Whether a value is the argument of `x.add_(...)`: it is used up there."""
    call = region.parent(region.parent(node))
    return isinstance(call, cst.Call) and _stores(call) and call.func.attr.value != STORES[0]  # type: ignore[attr-defined]


def _stores(call: cst.Call) -> bool:
    return isinstance(call.func, cst.Attribute) and call.func.attr.value in STORES and len(call.args) == 1


def _plain(node: cst.BaseExpression) -> bool:
    """What a tensor can be added to or multiplied with as a number can."""
    return isinstance(
        node, cst.Name | cst.Attribute | cst.Subscript | cst.Call | cst.Integer | cst.Float | cst.BinaryOperation
    )


def _display(display: cst.CSTNode, region: Region, known: Known) -> str:
    """What a display or comprehension goes into."""
    held = region.parent(display)
    if isinstance(held, cst.Return):
        return RESULT
    if isinstance(held, cst.Assign) and len(held.targets) == 1 and held.value is display:
        target = held.targets[0].target
        return f"`{region.code(target)}`" if not _told(target, region, known) else ""
    if (
        isinstance(held, cst.Arg)
        and isinstance(call := region.parent(held), cst.Call)
        and isinstance(call.func, cst.Attribute)
    ):
        return (
            f"what `{region.code(call.func)}` is given"
            if call.func.attr.value in (*STORES, "update", "log", "log_dict")
            else ""
        )
    if isinstance(held, cst.Element | cst.DictElement) and isinstance(outer := region.parent(held), DISPLAYS):
        return _display(outer, region, known)
    return ""
