"""`x[mask]` and `y[mask]` -> the places of the true elements once, and both read there: one wait, not two."""

from __future__ import annotations

import libcst as cst

from syncguard.fix.loops import questioned, unchanged
from syncguard.fix.names import between, reaching, reads, spare
from syncguard.fix.nodes import inside
from syncguard.fix.reads import postfix
from syncguard.fix.recipe import Known, Proposal, Region, Unfit
from syncguard.fix.shapes import fits, subscript
from syncguard.fix.steady import since
from syncguard.infer.domain.values import Const, Host, Seq, Table
from syncguard.terms import Finding

SELECTS = ("torch.masked_select", "torch.Tensor.masked_select")
NAMED = ("index", "idx", "indices", "_where")


def rewrite(node: cst.CSTNode, finding: Finding, region: Region, known: Known) -> Proposal | None:
    """A mask in a variable that is a key at least twice in one block; its places select the same elements."""
    torch = known.torch()
    mask = next((key for held in (node, *region.around(node)) if (key := chooser(held, known)) is not None), None)
    if not isinstance(mask, cst.Name) or not torch:
        return None
    held = known.tensor(mask)
    true = held is not None and (held.dtype == "bool" or selection(mask, region, known) is not None)
    if not true or known.rank(mask) == 0:
        return None
    if (found_above := looked_up(mask, region, known)) is not None:
        return found_above
    keys = [read for read in reads(region, region.scope(mask), mask.value) if _keys(read, region, known)]
    block = region.parent(region.statement(mask))
    here = [key for key in keys if block in [*region.around(key)] and not _later(key, mask, region)]
    found = [key for key in here if not _deeper(key, block, region)][:1]
    if not found:
        return None
    # Once the places are known they serve where it is not sure that one gets there, too.
    stay = {key: since(mask, found[0], key, region, known) for key in here[here.index(found[0]) :]}
    found = [key for key in stay if stay[key]]
    loop = _steady_loop(mask, region, known)
    if mask not in found or (len(found) < 2 and loop is None):
        return None
    first = next(statement for statement in (found[0], *region.around(found[0])) if region.parent(statement) is block)
    word = f"{mask.value}_where" if mask.value.endswith(NAMED) else f"{mask.value}_index"
    name = spare(region, first if loop is None else loop, word)
    made = region.before(first if loop is None else loop, f"{name} = {torch}.where({mask.value})")
    calls = {key: call for key in found if (call := selection(key, region, known)) is not None}
    edits = [made, *(region.swap(key, name) for key in found if key not in calls)]
    edits += [region.swap(call, f"{postfix(source, region)}[{name}]") for call, source in calls.values()]
    where = f"for {len(found)} uses" if loop is None else "before the loop"
    text = f"looks up once where `{mask.value}` is true, {where}"
    bases = [region.parent(region.parent(region.parent(key))) for key in found if key not in calls]
    sure = all(isinstance(base, cst.Subscript) and known.tensor(base.value) is not None for base in bases)
    sure = sure and all(fits(source, mask, region, known) for _, source in calls.values())
    if known.rank(mask) > 0 and sure and all(stay[key] == "safe" for key in found):
        return Proposal("safe", text, tuple(edits), leaves=1)
    text += "; what it selects from must be tensors, it must have a dimension, and nothing in between may change it"
    if calls:
        text += "; what `masked_select` takes from must have its shape"
    return Proposal("unsafe", text, tuple(edits), leaves=1)


def looked_up(mask: cst.Name, region: Region, known: Known) -> Proposal | None:
    """The places of a mask's true elements that a variable holds already, `index = torch.where(mask)`, as the key."""
    held = region.parent(region.parent(region.parent(mask)))
    if not isinstance(held, cst.Subscript) or not _keys(mask, region, known) or selection(mask, region, known):
        return None
    for call in region.calls:
        assign, name = placed(call, mask, region, known)
        if assign is None or region.places[assign][2:] > region.places[mask][:2]:
            continue
        around = region.parent(region.statement(assign)) in [*region.around(mask)]
        if not around or between(region, assign, mask, {name}):
            continue
        index = cst.ensure_type(assign.targets[0].target, cst.Name)
        stays = {since(mask, assign, mask, region, known), since(index, assign, mask, region, known)}
        if "" in stays or _later(mask, index, region):
            continue
        sure = stays == {"safe"} and known.rank(mask) > 0 and known.tensor(held.value) is not None
        text = f"`{name}` holds the places where `{mask.value}` is true"
        text += "" if sure else "; what it selects from must be a tensor, and nothing in between may change either"
        return Proposal("safe" if sure else "unsafe", text, (region.swap(mask, name),))
    return None


def placed(call: cst.Call, mask: cst.Name, region: Region, known: Known) -> tuple[cst.Assign | None, str]:
    """Where a variable gets the places of a mask's true elements, and its name: all of them, or those of its one
    dimension."""
    callee = known.callee(call)
    of = known.argument(call, "condition") or known.argument(call, "input")
    tuples = callee in ("torch.nonzero", "torch.Tensor.nonzero") and any(
        arg.keyword is not None and arg.keyword.value == "as_tuple" and region.code(arg.value) == "True"
        for arg in call.args
    )
    if not (tuples or (callee == "torch.where" and len(call.args) == 1)) or of is None or not of.deep_equals(mask):
        return None, ""
    held = region.parent(call)
    if isinstance(held, cst.Subscript) and held.value is call:
        key = subscript(held)
        if known.rank(mask) != 1 or key is None or region.code(key) != "0":
            return None, ""
        held = region.parent(held)
    if not isinstance(held, cst.Assign) or len(held.targets) != 1 or not isinstance(held.targets[0].target, cst.Name):
        return None, ""
    return held, held.targets[0].target.value


def chooser(node: cst.CSTNode, known: Known) -> cst.BaseExpression | None:
    """The key of `x[key]` and the mask of `x.masked_select(mask)`."""
    if isinstance(node, cst.Call) and known.callee(node) in SELECTS:
        return known.argument(node, "mask")
    return subscript(node)


def selection(key: cst.CSTNode, region: Region, known: Known) -> tuple[cst.Call, cst.BaseExpression] | None:
    """The call of `masked_select` that a name is the mask of, and what is selected from."""
    call = region.parent(region.parent(key))
    match call:
        case cst.Call(func=cst.Attribute(value=of, attr=cst.Name(value="masked_select")), args=[only]) if (
            only.value is key
        ):
            return call, of  # nothing else than a tensor has it
    if not isinstance(call, cst.Call) or known.callee(call) not in SELECTS or known.argument(call, "mask") is not key:
        return None
    source = known.argument(call, "input")
    return (call, source) if source is not None else None


def _steady_loop(mask: cst.Name, region: Region, known: Known) -> cst.For | cst.While | None:
    """The outermost loop around that changes nothing in a mask, which is there before it."""
    found = None
    for loop in region.loops(mask):
        if questioned(mask, inside(loop), region, False):
            break
        if unchanged(mask, loop, region, known) != "safe" or reaching(region, mask.value, loop) is None:
            break
        if reaching(region, mask.value, loop) is not reaching(region, mask.value, mask):
            break
        found = loop
    return found


def _keys(read: cst.Name, region: Region, known: Known) -> bool:
    """Whether a name is all of the key of a tensor. A number written by a mask does not wait, and by places it may."""
    if selection(read, region, known) is not None:
        return True
    held = region.parent(region.parent(region.parent(read)))
    if not isinstance(held, cst.Subscript) or subscript(held) is not read:
        return False
    if type(known.value(held.value)) in (Host, Seq, Table, Const):
        return False
    target = region.parent(held)
    assign = region.parent(target)
    if isinstance(target, cst.AssignTarget) and isinstance(assign, cst.Assign):
        return not known.number(assign.value) and not isinstance(assign.value, cst.Integer | cst.Float)
    return True


def _later(key: cst.Name, mask: cst.Name, region: Region) -> bool:
    """Whether it is computed who knows when: in another function, in a generator."""
    lazy = any(isinstance(held, cst.GeneratorExp) for held in region.around(key))
    return lazy or region.scope(key) is not region.scope(mask)


def _deeper(key: cst.Name, block: cst.CSTNode, region: Region) -> bool:
    """Whether it stands where it may not be reached, or is reached again and again."""
    for held in region.around(key):
        if held is block:
            return False
        if isinstance(held, cst.BaseCompoundStatement | cst.Lambda | cst.IfExp | cst.BooleanOperation | cst.BaseComp):
            return True
    raise Unfit("not in the block")
