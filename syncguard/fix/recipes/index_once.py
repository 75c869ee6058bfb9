"""`x[i]` and `y[i]` of an index from the host -> the index on the device, copied once."""

from __future__ import annotations

import re

import libcst as cst

from syncguard.fix.known import dotted
from syncguard.fix.names import defined, own, reaching, reads, spare
from syncguard.fix.reads import postfix
from syncguard.fix.recipe import Known, Proposal, Region, Unfit
from syncguard.fix.recipes.read_once import Asked, certain, simple
from syncguard.fix.steady import since
from syncguard.infer.domain.values import Host
from syncguard.terms import Finding

# What gives whole numbers, whatever library it is of.
COUNTS = frozenset("arange permutation randperm randint argsort flatnonzero argwhere".split())
# Of these a tensor is a mask.
BYTES = re.compile(r"\b(byte|uint8|ByteTensor)\b")


def rewrite(node: cst.CSTNode, finding: Finding, region: Region, known: Known) -> Proposal | None:
    """A variable that is an index of tensors on the device at least twice, where it is the same, and not where it runs
    once."""
    parts = node.slice if isinstance(node, cst.Subscript) and finding.heat != "cold" else ()
    names = [part.slice.value for part in parts if isinstance(part.slice, cst.Index)]
    for name in names:
        if isinstance(name, cst.Name) and whole(name, region, known):
            try:
                return once(name, region, known)
            except Unfit:
                continue
    return None


def once(name: cst.Name, region: Region, known: Known) -> Proposal | None:
    scope, torch = region.scope(name), known.torch()
    store = reaching(region, name.value, name)
    if store is None or not torch or not (own(region, scope, name.value) or alone_in(name.value, scope, region)):
        return None
    uses = [use for use in reads(region, scope, name.value) if reaching(region, name.value, use) is store]
    found = [use for use in uses if region.scope(use) is scope and indexed(use, region, known) is not None]
    first = next((use for use in found if certain(Asked(use, use), region)), None)
    if first is None:
        return None
    top = region.statement(first)
    found = [use for use in found[found.index(first) :] if region.parent(top) in region.around(use)]
    found = [use for use in found if use is first or since(name, first, use, region, known)]
    base = next((of for use in found if (of := indexed(use, region, known)) is not None and dotted(of)), None)
    if len(found) < 2 or name not in found or base is None:
        return None
    device = f"{region.code(base)}.device"
    made = region.parent(region.parent(store))
    alone = len(found) == len(reads(region, scope, name.value)) and since(name, made, first, region, known)
    if alone and isinstance(made, cst.Assign) and there(base, made, region):
        if not simple(made, store, top, region, known):
            return None
        edits = [region.swap(made.value, sent(made.value, device, known.tensor(name) is not None, region, torch))]
        edits += [region.swap(use, name.value) for use in found]  # no other fix may take it for one on the host
    else:
        word = spare(region, top, f"{name.value}_there")
        edits = [region.before(top, f"{word} = {sent(name, device, known.tensor(name) is not None, region, torch)}")]
        edits += [region.swap(use, word) for use in found]
    text = f"copies `{name.value}` once, not {len(found)} times: all that it picks from must be on one device"
    return Proposal("unsafe", text, tuple(edits), leaves=1)


def alone_in(name: str, scope: cst.CSTNode, region: Region) -> bool:
    """Whether a variable of a script is named in one of its statements only, and in no function there."""
    apart = [*region.lines[: region.first - 1], *region.lines[region.last :]]
    named = re.compile(rf"\b{name}\b")
    within = all(region.scope(node) is scope for node in region.names.get(name, ()))
    return isinstance(scope, cst.Module) and within and not any(map(named.search, apart))


def sent(value: cst.BaseExpression, device: str, tensor: bool, region: Region, torch: str) -> str:
    """An index on a device: a tensor that is moved there, or one that is made of an array."""
    return (
        f"{postfix(value, region)}.to({device})"
        if tensor
        else f"{torch}.as_tensor({region.code(value)}, device={device})"
    )


def whole(name: cst.Name, region: Region, known: Known, depth: int = 4) -> bool:
    """Whether a variable on the host holds places in order: no mask, of which the true elements would be counted on the
    device, and no list, which may be empty."""
    held = known.tensor(name)
    if held is not None:
        return held.device == "host" and held.dtype == "int" and not BYTES.search(region.code(defined(region, name)))
    return arrayed(name, known) and counts(name, region, known, depth)


def arrayed(node: cst.BaseExpression, known: Known) -> bool:
    value = known.value(node)
    return type(value) is Host and value.kind == "array"


def counts(node: cst.BaseExpression, region: Region, known: Known, depth: int) -> bool:
    """Whether an array is, or is a piece of, one that a function counts or orders; of a dtype of its own torch takes
    the array for an index, and a tensor of it for none, or for a mask."""
    made = defined(region, node)
    match made:
        case cst.Subscript(value=of, slice=parts) if depth:
            pieces = all(isinstance(part.slice, cst.Slice) for part in parts)
            return pieces and counts(of, region, known, depth - 1)
        case cst.Call(func=cst.Attribute(attr=cst.Name(value=name)), args=args) if name in COUNTS:
            told = {arg.keyword.value for arg in args if arg.keyword is not None}
            given = [arg.value for arg in args if arg.keyword is None]
            if "dtype" in told or any(arg.star for arg in args):
                return False
            if name == "randint":
                return "size" in told or len(given) > 2
            made_of = given if name in ("arange", "permutation") else []
            return all(
                known.number(one) != "float" and (not arrayed(one, known) or counts(one, region, known, depth))
                for one in made_of
            )
    return False


def indexed(use: cst.Name, region: Region, known: Known) -> cst.BaseExpression | None:
    """The tensor on the device of which a variable is an index; None where it is something else."""
    index = region.parent(use)
    part = region.parent(index)
    held = region.parent(part)
    if not isinstance(index, cst.Index) or not isinstance(held, cst.Subscript) or part not in held.slice:
        return None
    tensor = known.tensor(held.value)
    return held.value if tensor is not None and tensor.device in ("device", "assumed") else None


def there(base: cst.BaseExpression, made: cst.Assign, region: Region) -> bool:
    """Whether a tensor is what it is where another variable is made."""
    origin = base
    while isinstance(origin, cst.Attribute):
        origin = origin.value
    store = reaching(region, origin.value, origin) if isinstance(origin, cst.Name) else None
    if store is None:
        return isinstance(origin, cst.Name) and not any(
            region.places[node] > region.places[made] for node in region.names[origin.value] if node is not origin
            and isinstance(region.parent(node), cst.AssignTarget)
        )  # fmt: skip
    return region.places[store] < region.places[made]
