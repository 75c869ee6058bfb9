"""A clock beside `synchronize` in a loop -> events that are recorded there, and read once after the loop."""

from __future__ import annotations

import libcst as cst

from syncguard.fix.names import occurrences, stored
from syncguard.fix.recipe import Known, Proposal, Region, Unfit
from syncguard.terms import Edit, Finding

CLOCKS = ("time.time", "time.perf_counter", "time.monotonic")
WAITS = ("torch.cuda.synchronize",)


def rewrite(node: cst.CSTNode, finding: Finding, region: Region, known: Known) -> Proposal | None:
    """`start = clock()`, the work, `synchronize()`, then `total += clock() - start`, all in the body of one loop."""
    torch, loops = known.torch(), region.loops(node)
    if not torch or not loops:
        return None
    block, _ = region.block(region.statement(node))
    if region.parent(block[0]) is not loops[0].body:
        return None
    found = stretch(node, block, region, known)
    if found is None:
        return None
    begin, waits, use, start = found
    every = occurrences(region, region.scope(node), start)
    here = [name for name in every if loops[0] in [*region.around(name)]]
    if len([name for name in here if stored(region, name)]) != 1 or len(here) != 2:
        return None
    if not all(stored(region, name) or again(name, every, region) for name in every if name not in here):
        return None
    target = spent(use, start, loops[0], region)
    if target is None:
        return None
    name, adds = target
    end, pairs = region.fresh(f"{start}_end", "end"), region.fresh(f"{name}_pairs", "pairs")
    event = f"{torch}.cuda.Event(enable_timing=True)"
    statement = region.statement(loops[0])
    edits: list[Edit] = [
        region.before(statement, f"{pairs} = []"),
        region.put(begin, f"{start}, {end} = {event}, {event}", f"{start}.record()"),
        region.put(waits[-1], f"{end}.record()"),
        *(region.remove(wait) for wait in waits[:-1]),
        region.put(use, f"{pairs}.append(({start}, {end}))"),
    ]
    each = f"begun.elapsed_time(ended) / 1000 for begun, ended in {pairs}"
    total = f"{name} += sum({each})" if adds else f"{name} += [{each}]"
    edits.append(region.after(statement, f"{torch}.cuda.synchronize()", total))
    text = f"`{name}` is the time that the device took, without what it stood still for, and is known after the loop"
    return Proposal("unsafe", text, tuple(edits), leaves=1)


def again(read: cst.Name, every: list[cst.Name], region: Region) -> bool:
    """Whether a variable is set anew above where it is read, in the same block."""
    block, here = region.block(region.statement(read))
    lines = [block[n] for n in range(here)]
    return any(stored(region, name) and region.statement(name) in lines for name in every)


Stretch = tuple[cst.CSTNode, list[cst.CSTNode], cst.CSTNode, str]


def stretch(node: cst.CSTNode, block: tuple[cst.CSTNode, ...], region: Region, known: Known) -> Stretch | None:
    """The statement that starts the clock, the waits, the statement that reads it, and the variable in between."""
    begins = [(n, name) for n, one in enumerate(block) if (name := _begun(one, known))]
    waits = [n for n, one in enumerate(block) if _waits(one, known)]
    if len(begins) != 1 or not waits or not any(held is block[n] for n in waits for held in region.around(node)):
        return None
    first, start = begins[0]
    uses = [n for n, one in enumerate(block) if n > first and _reads(one, start, region)]
    if len(uses) != 1 or waits[-1] != uses[0] - 1 or waits[-1] < first or len(waits) > 2:
        return None
    if len(waits) == 2 and waits[0] != first - 1:
        return None
    return block[first], [block[n] for n in waits], block[uses[0]], start


def spent(use: cst.CSTNode, start: str, loop: cst.For | cst.While, region: Region) -> tuple[str, bool] | None:
    """What `total += clock() - start` or `times.append(clock() - start)` adds to; whether it is a sum."""
    match use:
        case cst.SimpleStatementLine(
            body=[cst.AugAssign(target=cst.Name(value=name), operator=cst.AddAssign(), value=value)]
        ):
            adds = True
        case cst.SimpleStatementLine(
            body=[
                cst.Expr(
                    value=cst.Call(
                        func=cst.Attribute(value=cst.Name(value=name), attr=cst.Name(value="append")),
                        args=[cst.Arg(value=value)],
                    )
                )
            ]
        ):
            adds = False
        case _:
            return None
    match value:
        case cst.BinaryOperation(left=cst.Call(args=[]), operator=cst.Subtract(), right=cst.Name(value=same)) if (
            same == start
        ):
            pass
        case _:
            return None
    inside = [n for n in occurrences(region, region.scope(use), name) if loop in [*region.around(n)]]
    if len(inside) != 1 or isinstance(region.parent(region.statement(loop)), cst.Else | cst.Finally):
        raise Unfit("the loop reads it")
    return name, adds


def _begun(one: cst.CSTNode, known: Known) -> str:
    """The variable of `start = clock()`."""
    match one:
        case cst.SimpleStatementLine(
            body=[cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=cst.Call() as clock)]
        ) if known.callee(clock) in CLOCKS:
            return name
    return ""


def _waits(one: cst.CSTNode, known: Known) -> bool:
    match one:
        case cst.SimpleStatementLine(body=[cst.Expr(value=cst.Call(args=[]) as call)]):
            return known.callee(call) in WAITS
    return False


def _reads(one: cst.CSTNode, name: str, region: Region) -> bool:
    return any(one in [*region.around(node)] and not stored(region, node) for node in region.names.get(name, ()))
