"""Several `.cpu()` in a block -> copies that are queued, and one wait behind the last; one -> into pinned memory."""

from __future__ import annotations

import libcst as cst

from syncguard.fix.recipe import Known, Proposal, Region
from syncguard.terms import Edit, Finding


def rewrite(node: cst.CSTNode, finding: Finding, region: Region, known: Known) -> Proposal | None:
    """Only shown: where the host reads a copy before the wait, it reads rubbish, and no tool sees every reader."""
    torch = known.torch()
    if not torch or not copied(node, known):
        return None
    statement = region.statement(node)
    loops = region.loops(node)
    block = loops[-1] if loops else region.parent(statement)
    found = [
        call for call in region.places if copied(call, known) and any(held is block for held in region.around(call))
    ]
    if len(found) < 2 and not loops:
        return pinned(node, torch, region, known)
    last = loops[-1] if loops else region.statement(max(found, key=lambda call: region.places[call]))
    edits: list[Edit] = [
        region.swap(call, f'{region.code(call.func.value)}.to("cpu", non_blocking=True)')
        for call in found
        if isinstance(call, cst.Call) and isinstance(call.func, cst.Attribute)
    ]
    edits.append(region.after(last, f"{torch}.cuda.current_stream().synchronize()  # before the host reads them"))
    text = "queues the copies and waits once; nothing may read them before, and pinned memory makes them fast"
    return Proposal("display", text, tuple(edits), leaves=1)


def pinned(node: cst.CSTNode, torch: str, region: Region, known: Known) -> Proposal | None:
    """`host = x.cpu()` of more than one number, into memory that the device writes by itself."""
    assign = region.parent(node)
    if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute) or known.rank(node.func.value) == 0:
        return None
    match assign:
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))]) if assign.value is node and isinstance(
            node.func.value, cst.Name
        ):
            pass
        case _:
            return None
    x = region.code(node.func.value)
    lines = (
        f'{name} = {torch}.empty_like({x}, device="cpu", pin_memory={x}.is_cuda)',
        f"{name}.copy_({x}, non_blocking=True)",
        f"{torch}.cuda.current_stream().synchronize()  # before the host reads it",
    )
    text = "copies into pinned memory, which needs no buffer in between; what stands between copy and wait overlaps"
    return Proposal("display", text, (region.put(region.statement(node), *lines),), leaves=1)


def copied(node: cst.CSTNode, known: Known) -> bool:
    """`x.cpu()` or `x.to("cpu")` of a tensor."""
    match node:
        case cst.Call(func=cst.Attribute(value=of, attr=cst.Name(value="cpu")), args=[]):
            return known.tensor(of) is not None
        case cst.Call(
            func=cst.Attribute(value=of, attr=cst.Name(value="to")), args=[cst.Arg(value=cst.SimpleString(value=word))]
        ):
            return known.tensor(of) is not None and word.strip("\"'") == "cpu"
        case cst.Call(
            func=cst.Attribute(value=of, attr=cst.Name(value="to")),
            args=[cst.Arg(value=cst.Call(args=[cst.Arg(value=cst.SimpleString(value=word))]))],
        ):
            return known.tensor(of) is not None and word.strip("\"'") == "cpu"
    return False
