"""A list to which a loop appends in, the edits that read what it has collected at once, and where, out."""

from __future__ import annotations

import libcst as cst

from syncguard.fix.known import Known
from syncguard.fix.names import occurrences, reaching, spare, stored
from syncguard.fix.recipe import Unfit
from syncguard.fix.region import Region
from syncguard.fix.steady import given_to
from syncguard.fix.sums import Loop, gate, handled, settled
from syncguard.terms import Edit

# What can be done with a list whatever is in it.
BLIND = ("clear",)
KEEPING = ("append", "insert", "put", "add", "setdefault")


def taken_up(node: cst.Name, region: Region) -> cst.BaseExpression | None:
    """What a list takes up where it stands: `losses.append(value)`, `losses += [value]`."""
    held = region.parent(node)
    call = region.parent(held)
    match held:
        case cst.Attribute(value=of, attr=cst.Name(value="append")) if of is node and isinstance(call, cst.Call):
            plain = len(call.args) == 1 and not call.args[0].star and isinstance(region.parent(call), cst.Expr)
            return call.args[0].value if plain else None
        case cst.AugAssign(target=of, operator=cst.AddAssign(), value=cst.List(elements=[cst.Element(value=value)])):
            return value if of is node else None
    return None


def window(
    held: cst.Name,
    statement: cst.BaseSmallStatement,
    region: Region,
    known: Known,
    others: tuple[cst.Name, ...] = (),
) -> tuple[list[Edit], int]:
    """The edits, and how many reads they leave; at `others` the loop adds to it as well. Unfit: the list is used in the
    loop otherwise than behind a gate."""
    loop, every = _collecting(held, statement, region)
    every = [node for node in every if node not in others]
    name, torch = held.value, known.torch()
    rows = f"{torch}.stack({name}).tolist() if {name} else []"
    if not torch:
        raise Unfit("torch has no name")
    used = [node for node in every if node is not held and not stored(region, node) and not _blind(node, region, known)]
    inside = [node for node in used if region.within(node, loop)]
    if any(not gate(node, statement, loop, region) or _changed(node, region) for node in inside):
        raise Unfit("the loop reads it")
    edits: list[Edit] = []
    reads = 0
    values = spare(region, loop, f"{name}_list", f"{name}_values")
    gates: dict[cst.CSTNode, list[cst.Name]] = {}
    for node in inside:
        gates.setdefault(_branch(node, statement, loop, region), []).append(node)
    for group in gates.values():
        together = _together(group, every, region)
        if together is None:
            edits += [region.swap(node, rows) for node in group]
        else:
            edits.append(region.before(together, f"{values} = {rows}"))
            edits += [region.swap(node, values) for node in group]
        reads += len(group) if together is None else 1
    later = any(region.places[node][0] > region.bottom(loop) for node in every)
    if later:
        edits.append(region.after(settled(loop, region), f"{name} = {rows}"))
    return edits, later + reads


def _collecting(held: cst.Name, statement: cst.BaseSmallStatement, region: Region) -> tuple[Loop, list[cst.Name]]:
    """The outermost loop in which a list only grows, but behind a gate, and all that is done with the list."""
    scope = region.scope(statement)
    every = occurrences(region, scope, held.value)
    bound = [node for node in every if stored(region, node) and taken_up(node, region) is None]
    starts = [node for node in bound if _empty(node, region)]
    if any(region.scope(node) is not scope for node in every) or not starts:
        raise Unfit("it does not begin as an empty list of this function")
    loops = [
        loop
        for loop in region.loops(statement)
        if not any(region.within(node, loop) and not gate(node, statement, loop, region) for node in starts)
    ]
    if not loops or all(region.within(node, loops[-1]) for node in starts):
        raise Unfit("no loop collects in it")
    loop = loops[-1]
    if len(starts) < len(bound):
        again = [node for node in bound if node not in starts]
        if any(region.places[node][0] <= region.bottom(loop) for node in again):
            raise Unfit("it does not begin as an empty list")
        if reaching(region, held.value, loop) not in starts:
            raise Unfit("it may be another list")
    before = [node for node in every if node not in starts and region.places[node][0] < region.top(loop)]
    if before or handled(loop, every, region) or isinstance(region.parent(loop), cst.Else | cst.Finally):
        raise Unfit("it is used where the loop may have failed")
    return loop, every


def _empty(node: cst.Name, region: Region) -> bool:
    """Whether a variable is set to an empty list: `a = []`, `a: list[float] = []`, `a, b = [], []`."""
    held = region.parent(node)
    if isinstance(held, cst.Element):
        assign = next((one for one in region.around(node) if isinstance(one, cst.Assign)), None)
        value = given_to(node, assign, region) if assign is not None and len(assign.targets) == 1 else None
        return isinstance(value, cst.List) and not value.elements
    made = held if isinstance(held, cst.AnnAssign) else region.parent(held)
    plain = isinstance(made, cst.AnnAssign) or (isinstance(made, cst.Assign) and isinstance(held, cst.AssignTarget))
    if not plain or (isinstance(made, cst.Assign) and len(made.targets) != 1):
        return False
    value = made.value  # type: ignore[attr-defined]
    return isinstance(value, cst.List) and not value.elements


def _blind(node: cst.Name, region: Region, known: Known) -> bool:
    """Whether a use asks nothing of the elements: `a.clear()`, `len(a)`, `if a:`."""
    held = region.parent(node)
    if isinstance(held, cst.Attribute):
        return held.attr.value in BLIND and isinstance(region.parent(held), cst.Call)
    if isinstance(held, cst.Arg):
        call = region.parent(held)
        return isinstance(call, cst.Call) and known.callee(call) == "builtins.len"
    return isinstance(held, cst.If | cst.While) and held.test is node


def _changed(node: cst.Name, region: Region) -> bool:
    """Whether a use may change the list, or keep it: a method, an element that is written, another name for it."""
    held = region.parent(node)
    if isinstance(held, cst.Arg):
        call = region.parent(held)
        return isinstance(call, cst.Call) and isinstance(call.func, cst.Attribute) and call.func.attr.value in KEEPING
    if isinstance(held, cst.Subscript):
        return isinstance(region.parent(held), cst.AssignTarget | cst.AugAssign | cst.Del)
    return isinstance(
        held, cst.Attribute | cst.Assign | cst.Del | cst.Lambda | cst.Element | cst.DictElement | cst.Yield
    )


def _branch(node: cst.CSTNode, statement: cst.CSTNode, loop: Loop, region: Region) -> cst.CSTNode:
    """The body of the outermost `if` of a loop that a node is in and a statement is not."""
    around = [*region.around(node)]
    around = around[: next(n for n, held in enumerate(around) if held is loop)]
    found = [held for held in around if isinstance(held, cst.If) and not region.within(statement, held)]
    return found[-1].body


def _together(inside: list[cst.Name], every: list[cst.Name], region: Region) -> cst.CSTNode | None:
    """The statement above which one read serves all of several in a block; None where there is none."""
    if len(inside) < 2:
        return None
    inside = sorted(inside, key=lambda node: region.places[node])
    first = region.statement(inside[0])
    block = region.parent(first)
    if not all(block in [*region.around(node)] for node in inside) or isinstance(first, cst.BaseCompoundStatement):
        return None
    start, end = region.places[first][:2], region.places[inside[-1]][:2]
    between = [node for node in every if node not in inside and start <= region.places[node][:2] < end]
    return first if not between and not any(region.loops(node) != region.loops(first) for node in inside) else None
