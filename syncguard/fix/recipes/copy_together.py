"""Several `.cpu()` in a block -> copies that are queued, and one wait behind the last; one -> into pinned memory."""

from __future__ import annotations

import libcst as cst

from syncguard.fix.recipe import Known, Proposal, Region
from syncguard.terms import Edit, Finding, Site

# What a copy that has not arrived yet may be asked for: nothing of these reads it.
VIEWS = frozenset(
    "numpy detach data shape dtype device ndim T mT t transpose permute squeeze unsqueeze view size dim numel "
    "expand unbind requires_grad_".split()
)
# What reads it, and can as well be done on the device before the copy.
BEFORE = frozenset("contiguous float double half bfloat16 long int short bool".split())


def rewrite(node: cst.CSTNode, finding: Finding, region: Region, known: Known) -> Proposal | None:
    """Only shown: where the host reads a copy before the wait, it reads rubbish, and no tool sees every reader."""
    torch = known.torch()
    if not torch or not copied(node, known):
        return None
    statement = region.statement(node)
    loops = region.loops(node)
    block = loops[-1] if loops else region.parent(statement)
    found = [
        call
        for call in region.places
        if isinstance(call, cst.Call) and copied(call, known) and region.within(call, block)
    ]
    if len(found) < 2 and not loops:
        return pinned(node, torch, region, known)
    queued = [queue(call, region) for call in found]
    if any(edits is None for edits in queued):
        return None
    last = loops[-1] if loops else region.statement(max(found, key=lambda call: region.places[call]))
    edits = [edit for row in queued if row is not None for edit in row]
    edits.append(region.after(last, *wait(found[0] if not loops else None, torch, "them", region)))
    text = "queues the copies and waits once; nothing may read them before"
    return Proposal("display", text, tuple(edits), leaves=1)


def queue(call: cst.Call, region: Region) -> list[Edit] | None:
    """The edits that make a copy one that nobody waits for; None where it is read at once."""
    assert isinstance(call.func, cst.Attribute)
    edits = [region.argue(call, "non_blocking=True" if call.args else '"cpu", non_blocking=True')]
    if call.func.attr.value == "cpu":
        edits.append(region.swap(call.func.attr, "to"))
    here: cst.BaseExpression = call
    first = True
    while True:
        held = region.parent(here)
        if not isinstance(held, cst.Attribute) or held.value is not here:
            return edits if stowed(here, region) else None
        outer = region.parent(held)
        asked = outer if isinstance(outer, cst.Call) and outer.func is held else None
        if first and asked is not None and held.attr.value in BEFORE and not asked.args:
            end = region.outer(call.func.value)[2:]
            edits += [region.cut(asked), Edit(Site(region.path, *end, *end), f".{held.attr.value}()")]
        elif held.attr.value not in VIEWS:
            return None
        else:
            first = False
        here = asked if asked is not None else held


def stowed(node: cst.CSTNode, region: Region) -> bool:
    """Whether a copy is only put away: in a variable, a row, a list that is added to."""
    for held in region.around(node):
        match held:
            case cst.Assign() | cst.AnnAssign():
                return True
            case cst.Call(func=cst.Attribute(attr=cst.Name(value="append"))) if held.func is not node:
                return True
            case cst.Tuple() | cst.List() | cst.Dict() | cst.Element() | cst.DictElement() | cst.Arg():
                pass
            case _:
                return False
    return False


def wait(call: cst.Call | None, torch: str, what: str, region: Region) -> tuple[str, ...]:
    """The lines that wait for what was queued, where there is a device to wait for."""
    of = call.func.value if call is not None and isinstance(call.func, cst.Attribute) else None
    test = f"{region.code(of)}.is_cuda" if isinstance(of, cst.Name) else f"{torch}.cuda.is_available()"
    line = f"{region.step}{torch}.cuda.current_stream().synchronize()  # before the host reads {what}"
    return f"if {test}:", line


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
    if name == x:
        return None
    lines = (
        f"if {x}.is_cuda:",
        f'{region.step}{name} = {torch}.empty_like({x}, device="cpu", pin_memory=True)',
        f"{region.step}{name}.copy_({x}, non_blocking=True)",
        f"{region.step}{torch}.cuda.current_stream().synchronize()  # before the host reads it",
        "else:",
        f"{region.step}{name} = {region.code(node)}",
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
