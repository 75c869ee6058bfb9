"""Reads of elements in a loop in, one copy of the whole tensor before the loop out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from syncguard.fix.handed import single
from syncguard.fix.known import Known
from syncguard.fix.loops import around, bound_in, changing, questioned, skipped, unchanged
from syncguard.fix.names import spare, stored
from syncguard.fix.nodes import inside
from syncguard.fix.reads import read_of
from syncguard.fix.recipe import Proposal
from syncguard.fix.region import Region
from syncguard.fix.steady import root, since
from syncguard.infer.domain.values import Unknown
from syncguard.terms import Edit

# -- x[i].item() in a loop ------------------------------------------------------------------------


def elements(node: cst.CSTNode, region: Region, known: Known) -> Proposal | None:
    """One element of a tensor that the loop does not change, at a place that the loop does."""
    picked = next((found for inner in inside(node) if (found := element(inner, region, known))), None)
    if picked is None:
        return None
    subscript, base, keys = picked
    held = known.tensor(base)
    loop = around(subscript, region)
    if loop is None and (behind := later(subscript, base, region, known)) is not None:
        return elements(behind, region, known)
    if (
        loop is None
        or (held is None and type(known.value(base)) is not Unknown)
        or not isinstance(base, cst.Name | cst.Attribute)
        or skipped(subscript, loop, region)
    ):
        return None
    tier = unchanged(base, loop, region, known)
    if not tier or not changing(keys, loop, region) or questioned(base, inside(loop), region, False):
        return None
    bases = [base] if tier == "safe" else beside(base, keys, loop, region, known)
    tiers = {one: unchanged(one, loop, region, known) for one in bases}
    bases = [one for one in bases if tiers[one] and not questioned(one, inside(loop), region, False)]
    statement, early = begun(bases, region.statement(loop), region, known) if len(keys) == 1 else (None, [])
    first = statement if statement is not None else region.statement(loop)
    names = [listed(one.value if isinstance(one, cst.Name) else one.attr.value, first, region) for one in bases]
    lists = Lists(bases, names, len(keys), leading(base, keys, loop, region, known))
    edits = [region.before(first, made(lists, region, known))]
    edits += taken([*inside(loop), *early], lists, region, known)
    unique = {edit.site: edit for edit in edits}
    covering = tuple(e for e in unique.values() if not any(_covers(o, e) for o in unique.values()))
    where = "before the first of its elements is read" if statement is not None else "before the loop"
    if len(bases) > 1:
        many = ", ".join(f"`{region.code(one)}`" for one in bases)
        text = f"copies {many} at once, {where}: they must be of one shape, and {SHARED}"
        return Proposal("unsafe", text, covering, leaves=1)
    text = f"copies `{source(lists, region)}` once, {where}{', where it must be' if lists.row else ''}"
    if held is None or not single(base, region):
        return Proposal("unsafe", f"{text}: it must be a tensor there", covering, leaves=1)
    if tier != "safe" or lists.row:
        return Proposal("unsafe", f"{text}: {SHARED}", covering, leaves=1)
    return Proposal("safe", text, covering, leaves=1)


@dataclass(frozen=True)
class Lists:
    """Tensors of which a loop reads elements, and the list that each is copied into. An element is picked by so many
    `keys`, of which the first may be the same in every turn: then one `row` is copied.
    """

    bases: list[cst.Name | cst.Attribute]
    names: list[str]
    keys: int
    row: list[cst.BaseExpression]

    def name(self, base: cst.BaseExpression) -> str:
        """The list of a tensor; '' where it has none."""
        return next((name for one, name in zip(self.bases, self.names) if base.deep_equals(one)), "")


def source(lists: Lists, region: Region) -> str:
    """What is copied of the first tensor."""
    base = region.code(lists.bases[0])
    return f"{base}[{', '.join(map(region.code, lists.row))}]" if lists.row else base


def made(lists: Lists, region: Region, known: Known) -> str:
    """The statement that makes the lists."""
    if len(lists.bases) > 1:
        every = ", ".join(region.code(one) for one in lists.bases)
        return f"{', '.join(lists.names)} = {known.torch()}.stack(({every})).tolist()"
    held, more, copied = known.tensor(lists.bases[0]), lists.keys - len(lists.row), source(lists, region)
    if held is not None and held.rank == lists.keys:
        return f"{lists.names[0]} = {copied}.tolist()"
    # It was read, so what is left of each element is one number.
    flat = "flatten()" if more == 1 else f"reshape({copied}.shape[:{more}])"
    return f"{lists.names[0]} = {copied}.{flat}.tolist()"


def taken(nodes: list[cst.CSTNode], lists: Lists, region: Region, known: Known) -> Iterator[Edit]:
    """The reads of elements among some nodes, made of the lists; and what counts the different ones."""
    for node in nodes:
        same = element(node, region, known)
        if same is not None and (name := lists.name(same[1])) and len(same[2]) == lists.keys:
            inner = same[0] if same[0] is not node and _number(node, same[1], known) else node
            yield region.swap(inner, name + "".join(f"[{region.code(key)}]" for key in same[2][len(lists.row) :]))
        elif (of := distinct(node, region, known)) is not None and (name := lists.name(of)):
            yield region.swap(node, f"set({name})")


def leading(
    base: cst.BaseExpression, keys: list[cst.BaseExpression], loop: cst.CSTNode, region: Region, known: Known
) -> list[cst.BaseExpression]:
    """The variables before the last key that are the same in every turn of a loop, and in all that it reads of a
    tensor: one row of a table is copied, not all."""
    every = [same[2] for node in inside(loop) if (same := element(node, region, known)) and same[1].deep_equals(base)]
    found: list[cst.BaseExpression] = []
    for place, key in enumerate(keys[:-1]):
        stays = isinstance(key, cst.Name) and not bound_in(key.value, loop, region)
        if not stays or not all(len(row) == len(keys) and row[place].deep_equals(key) for row in every):
            break
        found.append(key)
    return found


def beside(
    base: cst.Name | cst.Attribute, keys: list[cst.BaseExpression], loop: cst.CSTNode, region: Region, known: Known
) -> list[cst.Name | cst.Attribute]:
    """The tensors of which a loop reads the same element: rows of integers, like the first."""
    held = known.tensor(base)
    found: list[cst.Name | cst.Attribute] = [base]
    if held is None or held.dtype != "int" or held.rank not in (-1, 1) or len(keys) != 1 or not known.torch():
        return found
    for other in inside(loop):
        same = element(other, region, known)
        one = known.tensor(same[1]) if same is not None else None
        if same is None or one is None or one.dtype != "int" or one.rank not in (-1, 1):
            continue
        alike = len(same[2]) == 1 and same[2][0].deep_equals(keys[0]) and isinstance(same[1], cst.Name)
        if alike and isinstance(same[1], cst.Name) and not any(same[1].deep_equals(seen) for seen in found):
            found.append(same[1])
    order = {region.code(node): place for node, place in region.places.items() if isinstance(node, cst.Name)}
    return sorted(found, key=lambda node: order.get(region.code(node), (0, 0, 0, 0)))


def begun(
    bases: list[cst.Name | cst.Attribute], loop: cst.CSTNode, region: Region, known: Known
) -> tuple[cst.CSTNode | None, list[cst.CSTNode]]:
    """The first statement above a loop, in its block, that reads an element of what the loop reads, or counts its
    different ones, and these reads; what is read stays from there on."""
    block, here = region.block(loop)
    statement: cst.CSTNode | None = None
    found: list[cst.CSTNode] = []
    for above in reversed(block[:here]):
        mine: list[cst.CSTNode] = []
        for node in inside(above):
            same = element(node, region, known)
            of = same[1] if same is not None and _written_out(same[2]) else distinct(node, region, known)
            if of is not None and any(of.deep_equals(base) for base in bases):
                mine.append(node)
        bound = {node.value for node in inside(above) if isinstance(node, cst.Name) and stored(region, node)}
        if any(root(base) in bound or not since(base, above, loop, region, known) for base in bases):
            break
        if any(questioned(base, inside(above), region, False) for base in bases):
            break
        if mine:
            statement = above
            found += mine
    return statement, found


def later(node: cst.CSTNode, base: cst.BaseExpression, region: Region, known: Known) -> cst.CSTNode | None:
    """The read of an element of the same tensor in a loop further down, in a block around a node."""
    for held in region.around(node):
        if not isinstance(region.parent(held), cst.IndentedBlock):
            continue
        block, here = region.block(held)
        for loop in block[here + 1 :]:
            for inner in inside(loop) if isinstance(loop, cst.For | cst.While) else ():
                same = element(inner, region, known)
                if same is not None and same[1].deep_equals(base) and around(same[0], region) is loop:
                    return inner
        if isinstance(held, cst.FunctionDef | cst.ClassDef | cst.For | cst.While):
            break
    return None


def distinct(node: cst.CSTNode, region: Region, known: Known) -> cst.BaseExpression | None:
    """The tensor of `x.unique()` of which only the number is asked, `len(x.unique())`."""
    match node:
        case cst.Call(func=cst.Attribute(value=of, attr=cst.Name(value="unique")), args=args) if known.callee(
            node
        ) == "torch.Tensor.unique" and all(arg.keyword is not None and arg.keyword.value == "sorted" for arg in args):
            arg = region.parent(node)
            return of if isinstance(arg, cst.Arg) and known.callee(region.parent(arg)) == "builtins.len" else None
    return None


def _written_out(keys: list[cst.BaseExpression]) -> bool:
    return all(isinstance(key.expression if isinstance(key, cst.UnaryOperation) else key, cst.Integer) for key in keys)


def listed(name: str, at: cst.CSTNode, region: Region) -> str:
    """A name for the list of what is in a tensor, which is read at a place."""
    return spare(region, at, f"{name}_host" if name.endswith("list") else f"{name}_list")


def element(
    node: cst.CSTNode, region: Region, known: Known
) -> tuple[cst.Subscript, cst.BaseExpression, list[cst.BaseExpression]] | None:
    """A tensor's element that is read by a node or is the bound of a slice: the subscript, the tensor and the keys."""
    read = read_of(node, region, known)
    target = read.tensor if read is not None else node
    if read is None and not _bound(node, region):
        return None
    keys: list[cst.BaseExpression] = []
    base = target
    while isinstance(base, cst.Subscript):
        here = []
        for part in base.slice:
            if not isinstance(part.slice, cst.Index) or known.number(part.slice.value) not in ("int", "size"):
                return None
            here.append(part.slice.value)
        keys = here + keys
        base = base.value
    if not keys or not isinstance(target, cst.Subscript) or not isinstance(base, cst.BaseExpression):
        return None
    return target, base, keys


SHARED = "nothing that the loop writes or calls may change it"


# -- places --------------------------------------------------------------------------------------


def _bound(node: cst.CSTNode, region: Region) -> bool:
    """Whether a node bounds a slice, alone or in a sum."""
    held = region.parent(node)
    while isinstance(held, cst.BinaryOperation):
        held = region.parent(held)
    return isinstance(held, cst.Slice)


def _number(node: cst.CSTNode, base: cst.BaseExpression, known: Known) -> bool:
    """Whether a node makes another number of what it reads: `int(x[i])` stays, and reads the list, unless that has
    integers."""
    held, callee = known.tensor(base), known.callee(node) if isinstance(node, cst.Call) else ""
    return callee in ("builtins.int", "builtins.float") and (held is None or callee != f"builtins.{held.dtype}")


def _covers(one: Edit, other: Edit) -> bool:
    a, b = one.site, other.site
    start, end = (a.line, a.column), (a.end_line, a.end_column)
    return one is not other and start <= (b.line, b.column) and (b.end_line, b.end_column) <= end and start != end
