"""Numbers that a loop puts into a row in, the tensors put there after it out."""

from __future__ import annotations

import libcst as cst

from syncguard.fix.known import Known
from syncguard.fix.names import defined, occurrences, stored
from syncguard.fix.nodes import inside
from syncguard.fix.reads import Read, kept
from syncguard.fix.recipe import Proposal
from syncguard.fix.region import Region
from syncguard.fix.sums import Loop, handled

ZEROS = ("torch.zeros", "torch.empty", "torch.ones")


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
    if not isinstance(made, cst.Call) or known.callee(made) not in ZEROS or region.within(made, loop):
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
    if any(region.within(node, loop) and node is not row for node in every) or handled(loop, every, region):
        return None
    if any(region.places[node] < region.places[loop] and not stored(region, node) for node in every):
        return None  # another name may have it
    if any(stored(region, node) and region.within(node, loop.body) for node in counts):
        return None
    name = region.fresh(f"{row.value}_list", f"{row.value}_tensors")
    edits = (
        region.before(region.statement(loop), f"{name} = []"),
        region.put(region.statement(statement), f"{name}.append({kept(read, region, known)})"),
        region.after(loop, f"if {name}:", f"{region.step}{row.value}[: len({name})] = {torch}.stack({name})"),
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
