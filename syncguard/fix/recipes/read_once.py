"""A 0-d tensor of which the host asks the number again and again -> read once, where it is made or first asked."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from syncguard.fix.called import jumps, timed
from syncguard.fix.loops import from_to, questioned
from syncguard.fix.names import own, reaching, reads, spare
from syncguard.fix.nodes import inside
from syncguard.fix.reads import counted, postfix, read_of
from syncguard.fix.recipe import Known, Proposal, Region, Unfit
from syncguard.fix.steady import since
from syncguard.infer.domain.values import Host, Seq
from syncguard.terms import Finding

# A number that a tensor of any dtype holds as it is.
SMALL = 127
SIZES = ("tensor-as-size", "python-number")
SUMS = (cst.Add, cst.Subtract, cst.Multiply)
ORDERS = (cst.LessThan, cst.LessThanEqual, cst.GreaterThan, cst.GreaterThanEqual, cst.Equal, cst.NotEqual)
# What may not be reached though its statement is.
SKIPPED = (cst.IfExp, cst.BooleanOperation, cst.Lambda, cst.BaseComp)


@dataclass(frozen=True, eq=False)
class Asked:
    """A use of a tensor for which the host reads its number: what the number takes the place of, what it is made into,
    and in what it may differ; '' in nothing."""

    use: cst.Name
    whole: cst.BaseExpression
    into: str = ""
    differs: str = ""


PRINTED = "it is printed as a number"
NARROW = "as a number it has 64 bits"


def rewrite(node: cst.CSTNode, finding: Finding, region: Region, known: Known) -> Proposal | None:
    """A variable that a statement of this block reads first, and others below it, or within it, again."""
    if region.handled(node):
        return None
    names = [part for part in inside(node) if isinstance(part, cst.Name) and known.rank(part) == 0]
    for name in names:
        try:
            proposal = once(name, region, known)
        except Unfit:
            continue
        if proposal is not None:
            return proposal
    return None


def once(name: cst.Name, region: Region, known: Known) -> Proposal | None:
    scope = region.scope(name)
    store = reaching(region, name.value, name)
    held = known.tensor(name)
    if store is None or held is None or held.dtype == "complex" or not own(region, scope, name.value):
        return None
    uses = [use for use in reads(region, scope, name.value) if reaching(region, name.value, use) is store]
    found = [one for use in uses if region.scope(use) is scope and (one := asked(use, region, known)) is not None]
    first = next((one for one in found if certain(one, region)), None)
    if first is None:
        return None
    top = region.statement(first.use)
    holder = region.parent(top)
    found = [one for one in found[found.index(first) :] if holder in region.around(one.use)]
    stays = {one: since(name, first.use, one.use, region, known) for one in found if one is not first}
    found = [one for one in found if one is first or stays[one]]
    if sum(not failing(one, region) for one in found) < 2 or not any(one.use is name for one in found):
        return None
    text = f"reads `{name.value}` once, not {len(found)} times"
    tiers = {*stays.values()}
    made = region.parent(region.parent(store))
    alone = len(found) == len(reads(region, scope, name.value))
    begun = since(name, made, first.use, region, known)
    if alone and begun and isinstance(made, cst.Assign) and simple(made, store, top, region, known):
        tiers.add(begun)
        edits = [region.behind(made.value, ".item()")] if bare(made.value) else []
        edits = edits or [region.swap(made.value, f"{postfix(made.value, region)}.item()")]
        # What stays as it is written is touched, too: no other fix may take it for a tensor in the same pass.
        edits += [region.swap(one.whole, number(one, name.value, known)) for one in found]
    else:
        word = spare(region, top, f"{name.value}_value")
        edits = [region.before(top, f"{word} = {name.value}.item()")]
        edits += [region.swap(one.whole, number(one, word, known)) for one in found]
    told = [*dict.fromkeys(one.differs for one in found if one.differs)]
    told += ["nothing in between may change it"] if "unsafe" in tiers else []
    if not told:
        return Proposal("safe", text, tuple(edits), leaves=1)
    return Proposal("unsafe", f"{text}: {', and '.join(told)}", tuple(edits), leaves=1)


def asked(use: cst.Name, region: Region, known: Known) -> Asked | None:
    """How the host asks for the number of a tensor."""
    if (read := outer(use, region, known)) is not None:
        whole, into = read
        return Asked(use, whole, into)
    wide = counted(use, region, known)
    node: cst.CSTNode = use
    plain = True
    while isinstance(held := region.parent(node), cst.BinaryOperation) and isinstance(held.operator, SUMS):
        other = held.right if held.left is node else held.left
        if known.number(other) not in ("int", "size"):
            return None
        node, plain = held, False
    match held:
        case cst.Slice() if indexes(held, region, known):
            return Asked(use, use, differs="" if plain or wide else NARROW)
        case cst.FormattedStringExpression(conversion=None, equal=None) if plain:
            return Asked(use, use)
        case cst.Arg() | cst.Element():
            return argument(use, held, "" if plain or wide else NARROW, region, known)
    return test(use, wide, region, known) if plain else None


def indexes(part: cst.Slice, region: Region, known: Known) -> bool:
    """Whether what is sliced asks for whole numbers: others may keep the slice as it is, `np.s_[:n]`."""
    held = region.parent(region.parent(part))
    if not isinstance(held, cst.Subscript):
        return False
    return known.tensor(held.value) is not None or type(known.value(held.value)) in (Seq, Host)


def outer(use: cst.Name, region: Region, known: Known) -> tuple[cst.BaseExpression, str] | None:
    """The read of a variable: `n.item()`, `int(n)`."""
    for held in region.around(use):
        if isinstance(held, cst.Call) and (read := read_of(held, region, known)) is not None:
            return (read.whole, read.into) if read.tensor is use else None
        if not isinstance(held, cst.Attribute | cst.Arg | cst.Call):
            return None
    return None


def argument(use: cst.Name, held: cst.CSTNode, differs: str, region: Region, known: Known) -> Asked | None:
    """A size in a call, alone or in a row, or what is printed."""
    while isinstance(held, cst.Element | cst.Tuple | cst.List):
        held = region.parent(held)
    call = region.parent(held)
    if not isinstance(held, cst.Arg) or not isinstance(call, cst.Call) or held.star:
        return None
    callee = known.callee(call)
    if callee == "builtins.print" and held.value is use and held.keyword is None:
        return Asked(use, use, differs=PRINTED)
    if callee == "builtins.range":
        return Asked(use, use, differs=differs)
    op = known.op(call)
    waits = [wait for wait in op.waits if wait.hazard in SIZES] if op is not None else []
    read = {
        name for wait in waits for condition, names in wait.when if condition == "tensor" for name in names.split("|")
    }
    if op is None or not read:
        return None
    if held.keyword is not None:
        return Asked(use, use, differs=differs) if held.keyword.value in read else None
    place = [*call.args].index(held) + callee.startswith("torch.Tensor.")
    name = op.args[min(place, len(op.args) - 1)] if op.args else ""
    spread = next((other for other in op.args[: place + 1] if other.startswith("*") and len(other) > 1), "")
    return Asked(use, use, differs=differs) if {name, spread.removeprefix("*")} & read else None


def test(use: cst.Name, wide: bool, region: Region, known: Known) -> Asked | None:
    """A variable that a test asks, alone or compared with a number."""
    held = region.parent(use)
    whole: cst.CSTNode = use
    sure = True
    if isinstance(held, cst.Comparison | cst.ComparisonTarget):
        whole = held if isinstance(held, cst.Comparison) else region.parent(held)
        compared = cst.ensure_type(whole, cst.Comparison)
        if len(compared.comparisons) != 1 or not isinstance(compared.comparisons[0].operator, ORDERS):
            return None
        other = compared.comparisons[0].comparator if compared.left is use else compared.left
        small = isinstance(other, cst.Integer) and other.evaluated_value <= SMALL
        if not small and known.number(other) not in ("int", "size"):
            return None
        tensor = known.tensor(use)
        sure = small or (wide and tensor is not None and tensor.dtype == "int")
    while isinstance(outer := region.parent(whole), cst.BooleanOperation) or (
        isinstance(outer, cst.UnaryOperation) and isinstance(outer.operator, cst.Not)
    ):
        whole = outer
    tested = isinstance(outer, cst.If | cst.While | cst.IfExp | cst.Assert) and outer.test is whole
    return Asked(use, use, differs="" if sure else NARROW) if tested else None


def certain(one: Asked, region: Region) -> bool:
    """Whether a read is made whenever its statement is reached, once and first."""
    child: cst.CSTNode = one.use
    for held in region.around(one.use):
        if isinstance(held, cst.SimpleStatementLine):
            return True
        if isinstance(held, cst.BaseCompoundStatement):
            plain = isinstance(region.parent(held), cst.IndentedBlock | cst.Module)
            once = (isinstance(held, cst.If) and held.test is child) or (
                isinstance(held, cst.For) and held.iter is child
            )
            return once and plain
        if isinstance(held, SKIPPED) and getattr(held, "left", None) is not child:
            return isinstance(held, cst.IfExp) and held.test is child
        child = held
    return False


def failing(one: Asked, region: Region) -> bool:
    """Whether a read is made only for what is said of a failure."""
    child: cst.CSTNode = one.use
    for held in region.around(one.use):
        if isinstance(held, cst.Raise) or (isinstance(held, cst.Assert) and held.msg is child):
            return True
        child = held
    return False


def simple(assign: cst.Assign, store: cst.Name, top: cst.CSTNode, region: Region, known: Known) -> bool:
    """Whether a variable is made by a plain assignment in the block of the first read, which is reached from there."""
    if len(assign.targets) != 1 or assign.targets[0].target is not store:
        return False
    if region.parent(region.statement(assign)) is not region.parent(top):
        return False
    passed = from_to(assign, top, region)
    return not any(jumps(node, known) or timed(node, region, known) for node in passed) and not questioned(
        store, passed, region
    )


def bare(value: cst.BaseExpression) -> bool:
    """Whether a method can be called of an expression as it stands."""
    return isinstance(value, cst.Name | cst.Attribute | cst.Call | cst.Subscript) and not value.lpar


def number(one: Asked, name: str, known: Known) -> str:
    """The number by its name, made into another one where it was."""
    held = known.tensor(one.use)
    return f"{one.into}({name})" if one.into and (held is None or held.dtype != one.into) else name
