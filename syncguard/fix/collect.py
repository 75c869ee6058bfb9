"""Numbers that a loop puts into a list or a row in, the tensors put there instead, and one read of them out."""

from __future__ import annotations

import libcst as cst

from syncguard.fix.known import Known
from syncguard.fix.names import defined, occurrences, stored
from syncguard.fix.reads import Read, kept
from syncguard.fix.recipe import Proposal
from syncguard.fix.region import Region, Unfit, inside
from syncguard.fix.sums import Loop, gate, handled, inside_of
from syncguard.terms import Edit

ZEROS = ("torch.zeros", "torch.empty", "torch.ones")


def listing(
    use: cst.Name, statement: cst.CSTNode, region: Region, known: Known
) -> tuple[str, tuple[Edit, ...], int] | None:
    """What becomes of `rows.append(use)` if the use is a tensor: the list, the edits that read it behind its gates and
    the loop, and how many reads that are."""
    arg = region.parent(use)
    match region.parent(arg):
        case cst.Call(func=cst.Attribute(value=cst.Name() as held, attr=cst.Name(value="append")), args=[only]) if (
            only is arg and only.keyword is None and not only.star
        ):
            pass
        case _:
            return None
    name, torch = held.value, known.torch()
    scope = region.scope(use)
    every = occurrences(region, scope, name)
    starts = [node for node in every if stored(region, node)]
    loops = region.loops(use)
    outside = [loop for loop in loops if any(not inside_of(node, loop, region) for node in starts)]
    if not torch or not starts or not outside or not all(_empty(node, region) for node in starts):
        return None
    loop = outside[-1]
    if any(region.scope(node) is not scope for node in every) or handled(loop, every, region):
        return None
    if any(region.places[node] < region.places[loop] for node in every if node not in starts):
        return None
    again = [node for node in starts if inside_of(node, loop, region)]
    if not all(gate(node, statement, loop, region) for node in again):
        return None
    others = [node for node in every if node not in starts and node is not held]
    behind = any(not inside_of(node, loop, region) for node in others)
    gated: dict[cst.CSTNode, list[cst.Name]] = {}
    for node in others:
        if inside_of(node, loop, region) and not gate(node, statement, loop, region):
            return None
        if inside_of(node, loop, region) and not _cleared(node, region):
            gated.setdefault(_branch(node, statement, loop, region), []).append(node)
    whole = f"{torch}.stack({name}).tolist() if {name} else []"
    edits: list[Edit] = []
    for branch, found in gated.items():
        ends = [
            node for node in every if inside_of(node, branch, region) and (node in starts or _cleared(node, region))
        ]
        if any(region.places[end] < region.places[node] for end in ends for node in found):
            return None
        if len(found) == 1:
            edits.append(region.swap(found[0], whole))
            continue
        row = region.fresh(f"{name}_read")
        first = min((_child(node, branch, region) for node in found), key=lambda node: region.places[node])
        edits += [region.before(first, f"{row} = {whole}"), *(region.swap(node, row) for node in found)]
    if behind:
        edits.append(region.after(loop, f"{name} = {whole}"))
    return name, tuple(edits), len(gated) + behind


def filled(read: Read, statement: cst.Assign, region: Region, known: Known) -> Proposal | None:
    """`losses[k] = loss.item()` in each turn of a loop that counts from 0, into a row on the host: the tensors are
    collected, and the row is filled after the loop."""
    torch = known.torch()
    loops = region.loops(statement)
    match statement.targets:
        case [
            cst.AssignTarget(
                target=cst.Subscript(
                    value=cst.Name() as row,
                    slice=[cst.SubscriptElement(slice=cst.Index(value=cst.Name(value=count)))],
                )
            )
        ] if torch and loops:
            pass
        case _:
            return None
    loop = loops[0]
    made = defined(region, row)
    if not isinstance(made, cst.Call) or known.callee(made) not in ZEROS or inside_of(made, loop, region):
        return None
    held = known.tensor(row)
    if held is None or held.device != "host" or held.rank != 1 or _count(loop, known) != count:
        return None
    if region.parent(region.statement(statement)) is not loop.body:
        return None
    if read.into == "int" and read.dtype not in ("int", "bool"):
        return None
    if any(isinstance(node, cst.Continue | cst.Yield | cst.FunctionDef | cst.Lambda) for node in inside(loop)):
        return None
    every = occurrences(region, region.scope(statement), row.value)
    counts = occurrences(region, region.scope(statement), count)
    if any(inside_of(node, loop, region) and node is not row for node in every) or handled(loop, every, region):
        return None
    if any(region.places[node] < region.places[loop] and not stored(region, node) for node in every):
        return None  # another name may have it
    if any(stored(region, node) and inside_of(node, loop.body, region) for node in counts):
        return None
    name = region.fresh(f"{row.value}_list", f"{row.value}_tensors")
    edits = (
        region.before(region.statement(loop), f"{name} = []"),
        region.put(region.statement(statement), f"{name}.append({kept(read, region, known)})"),
        region.after(loop, f"if {name}:", f"    {row.value}[: len({name})] = {torch}.stack({name})"),
    )
    text = f"fills `{row.value}` once, after the loop: it is given 0-d tensors of one dtype and device"
    return Proposal("safe" if read.rank == 0 and read.dtype else "unsafe", text, edits, leaves=1)


def _count(loop: Loop, known: Known) -> str:
    """The variable that counts the turns of a loop from 0."""
    match loop:
        case cst.For(target=cst.Name(value=count), iter=cst.Call(args=[cst.Arg(star="")]) as over) if (
            known.callee(over) == "builtins.range"
        ):
            return count
        case cst.For(
            target=cst.Tuple(elements=[cst.Element(value=cst.Name(value=count)), _]),
            iter=cst.Call(args=[cst.Arg(star="")]) as over,
        ) if known.callee(over) == "builtins.enumerate":
            return count
    return ""


def _empty(node: cst.Name, region: Region) -> bool:
    """`rows = []`, `rows: list[float] = []`."""
    held = region.parent(node)
    assign = region.parent(held) if isinstance(held, cst.AssignTarget) else held
    match assign:
        case cst.Assign(targets=[_], value=cst.List(elements=[])) | cst.AnnAssign(value=cst.List(elements=[])):
            return True
    return False


def _cleared(node: cst.Name, region: Region) -> bool:
    held = region.parent(node)
    return isinstance(held, cst.Attribute) and held.attr.value == "clear"


def _branch(node: cst.CSTNode, statement: cst.CSTNode, loop: Loop, region: Region) -> cst.CSTNode:
    """The body of the outermost `if` of a loop that a node is in and a statement is not."""
    found: cst.CSTNode | None = None
    child = node
    for held in region.around(node):
        if held is loop:
            break
        if isinstance(held, cst.If) and child is held.body and not inside_of(statement, held, region):
            found = child
        child = held
    if not isinstance(found, cst.IndentedBlock):
        raise Unfit("no gate")
    return found


def _child(node: cst.CSTNode, block: cst.CSTNode, region: Region) -> cst.CSTNode:
    """The statement of a block that a node is in."""
    child = node
    for held in region.around(node):
        if held is block:
            return child
        child = held
    raise Unfit("not in the block")
