"""Several reads -> one: `x[i].item()` in a loop reads a list copied before it, two `.item()` one `.tolist()`."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from syncguard.fix.names import loaded, occurrences, stored
from syncguard.fix.reads import Read, postfix, read_of
from syncguard.fix.recipe import Known, Proposal, Region, Unfit
from syncguard.infer.values import Unknown
from syncguard.terms import Edit, Finding

Loop = cst.For | cst.While
Comp = cst.ListComp | cst.SetComp | cst.DictComp | cst.GeneratorExp
# Where an expression may not be reached though its statement is.
SKIPPED = (cst.IfExp, cst.BooleanOperation, cst.Lambda, cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp)


def rewrite(node: cst.CSTNode, finding: Finding, region: Region, known: Known) -> Proposal | None:
    """An element in a loop, an element that a loop gives, or one of several reads of a statement."""
    for attempt in (elements, iterated, listed, together):
        try:
            proposal = attempt(node, region, known)
        except Unfit:
            continue
        if proposal is not None:
            return proposal
    return None


# -- x[i].item() in a loop ------------------------------------------------------------------------


def elements(node: cst.CSTNode, region: Region, known: Known) -> Proposal | None:
    """One element of a tensor that the loop does not change, at a place that the loop does."""
    picked = next((found for inner in inside(node, region) if (found := element(inner, region, known))), None)
    if picked is None:
        return None
    subscript, base, keys = picked
    held = known.tensor(base)
    loop = around(subscript, region)
    if (
        loop is None
        or (held is None and type(known.value(base)) is not Unknown)
        or not isinstance(base, cst.Name | cst.Attribute)
        or skipped(subscript, loop, region)
    ):
        return None
    if not changing(keys, loop, region) or not unchanged(base, loop, region, known):
        return None
    root = base.value if isinstance(base, cst.Name) else base.attr.value
    name = region.fresh(f"{root}_list")
    if held is not None and held.rank == len(keys):
        rows = "tolist()"
    else:  # it was read, so what is left of each element is one number
        rows = "flatten().tolist()" if len(keys) == 1 else f"reshape({region.code(base)}.shape[:{len(keys)}]).tolist()"
    edits = [region.before(region.statement(loop), f"{name} = {region.code(base)}.{rows}")]
    for other in inside(loop, region):
        same = element(other, region, known)
        if same is not None and same[1].deep_equals(base) and len(same[2]) == len(keys):
            inner = same[0] if same[0] is not other and _number(other, known) else other
            edits.append(region.swap(inner, name + "".join(f"[{region.code(key)}]" for key in same[2])))
    unique = {edit.site: edit for edit in edits}
    covering = [e for e in unique.values() if not any(_covers(o, e) for o in unique.values())]
    text = f"copies `{region.code(base)}` once, before the loop"
    if held is None:
        return Proposal("unsafe", f"{text}: it must be a tensor there", tuple(covering), leaves=1)
    return Proposal("safe", text, tuple(covering), leaves=1)


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


def around(node: cst.CSTNode, region: Region) -> Loop | Comp | None:
    """The outermost loop or comprehension around a node in its function."""
    found: Loop | Comp | None = None
    child = node
    for held in region.around(node):
        if isinstance(held, cst.FunctionDef | cst.Lambda | cst.ClassDef):
            break
        if (isinstance(held, Loop) and held.body is child) or isinstance(held, Comp):
            found = held
        child = held
    return found


def skipped(node: cst.CSTNode, loop: Loop | Comp, region: Region) -> bool:
    """Whether an iteration may pass a node by: read before the loop, it would be read for nothing."""
    for held in region.around(node):
        if held is loop:
            return False
        if isinstance(held, cst.If | cst.IfExp | cst.BooleanOperation | cst.Lambda | cst.Try):
            return True
    return False


def changing(keys: list[cst.BaseExpression], loop: Loop | Comp, region: Region) -> bool:
    """Whether a key is bound in the loop: another element each time."""
    bound = {node.value for node in region.places if isinstance(node, cst.Name) and _within(node, loop, region)}
    names = {name for key in keys for name in loaded(region, key)}
    return bool(names & bound) and any(_bound_in(name, loop, region) for name in names)


def unchanged(base: cst.Name | cst.Attribute, loop: Loop | Comp, region: Region, known: Known) -> bool:
    """Whether nothing in the loop binds or writes a tensor, or hands it to somebody who may."""
    root: cst.BaseExpression = base
    while isinstance(root, cst.Attribute):
        root = root.value
    if not isinstance(root, cst.Name) or _bound_in(root.value, loop, region):
        return False
    for node in inside(loop, region):
        if not isinstance(node, cst.Name | cst.Attribute) or not node.deep_equals(base):
            continue
        held = region.parent(node)
        if isinstance(held, cst.Attribute) and held.value is node:
            call = region.parent(held)
            if isinstance(call, cst.Call) and held.attr.value.endswith("_"):
                return False
        if isinstance(held, cst.Subscript) and isinstance(region.parent(held), cst.AssignTarget | cst.AugAssign):
            return False
        if isinstance(held, cst.AugAssign | cst.AssignTarget):
            return False
        if isinstance(held, cst.Arg) and isinstance(call := region.parent(held), cst.Call) and not known.callee(call):
            return False
    return True


# -- for v in x: v.item() -------------------------------------------------------------------------


def iterated(node: cst.CSTNode, region: Region, known: Known) -> Proposal | None:
    """The variable of a loop over a tensor, of which nothing but the number is wanted."""
    read = read_of(node, region, known)
    if read is None or not isinstance(read.tensor, cst.Name):
        return None
    name = read.tensor.value
    for held in region.around(node):
        if not isinstance(held, cst.For | cst.CompFor | Comp):
            continue
        clause = held.for_in if isinstance(held, Comp) else held
        if isinstance(clause.target, cst.Name) and clause.target.value == name:
            over = known.tensor(clause.iter)
            scope = held if isinstance(held, Comp) else region.scope(node)
            every = [use for use in occurrences(region, scope, name) if use is not clause.target]
            found = [next((r for r in _readers(use, region, known)), None) for use in every]
            if over is None or any(one is None for one in found):
                return None
            rows = "tolist()" if over.rank == 1 else "flatten().tolist()"
            edits = [region.swap(clause.iter, f"{postfix(clause.iter, region)}.{rows}")]
            swaps = [(one.whole, f"{one.into}({name})" if one.into else name) for one in found if one is not None]
            edits += [region.swap(whole, text) for whole, text in swaps]
            return Proposal(
                "safe", f"copies `{region.code(clause.iter)}` once, before the loop", tuple(edits), leaves=1
            )
    return None


def _readers(use: cst.Name, region: Region, known: Known) -> Iterator[Read]:
    """The read that a name is in."""
    for held in region.around(use):
        read = read_of(held, region, known)
        if read is not None and read.tensor is use:
            yield read
        if isinstance(held, cst.BaseSmallStatement):
            break


# -- [v.item() for v in rows] ---------------------------------------------------------------------


def listed(node: cst.CSTNode, region: Region, known: Known) -> Proposal | None:
    """A list of numbers, each of another tensor."""
    read, torch = read_of(node, region, known), known.torch()
    listing = region.parent(read.whole) if read is not None else None
    if read is None or not torch or not isinstance(listing, cst.ListComp) or listing.elt is not read.whole:
        return None
    if known.tensor(read.tensor) is None or read.rank > 0 or (read.into and read.into != read.dtype):
        return None
    inner = region.code(read.tensor) if read.rank == 0 else f"{postfix(read.tensor, region)}.reshape(())"
    clauses = region.code(listing)[len("[") :].removeprefix(region.code(listing.elt))
    text = f"{torch}.stack([{inner}{clauses}).tolist()"
    message = "reads all at once: they must be of one dtype and device, and at least one"
    return Proposal("unsafe", message, (region.swap(listing, text),), leaves=1)


# -- a.item(), b.item() ---------------------------------------------------------------------------


def together(node: cst.CSTNode, region: Region, known: Known) -> Proposal | None:
    """Two or more reads of one statement, or of neighbours that only read."""
    read = read_of(node, region, known)
    torch = known.torch()
    if read is None or not torch:
        return None
    statement = region.statement(node)
    small = region.small(node)
    run = neighbours(statement, region, known) if isinstance(small, cst.Assign) and small.value is read.whole else []
    found = [one for other in run for one in every(other, region, known)] or every(statement, region, known)
    if len(found) < 2 or not any(one.whole is read.whole for one in found):
        return None
    if not all(known.pure(one.tensor) for one in found):
        return None
    parts = ", ".join(
        region.code(one.tensor) if one.rank == 0 else f"{postfix(one.tensor, region)}.reshape(())" for one in found
    )
    text = f"{torch}.stack(({parts})).tolist()"
    if len(run) > 1:
        targets = ", ".join(region.code(region.small(one.whole).targets[0].target) for one in found)  # type: ignore[attr-defined]
        edits = [region.put(run[0], f"{targets} = {text}"), *(region.remove(other) for other in run[1:])]
        if any(one.into and one.into != one.dtype for one in found):
            return None
    else:
        names = named(found, region)
        edits = [region.before(statement, f"{', '.join(names)} = {text}")]
        for one, name in zip(found, names):
            into = one.into if one.into and one.into != one.dtype else ""
            edits.append(region.swap(one.whole, f"{into}({name})" if into else name))
    kinds = {one.dtype for one in found}
    shared = set.intersection(*(loaded(region, one.tensor) for one in found)) - {torch, "self"}
    if kinds in ({"float"}, {"int"}) and shared:
        return Proposal("safe", f"reads {len(found)} numbers at once", tuple(edits), leaves=1)
    text = (
        f"reads {len(found)} numbers at once: they must be on one device, and an integer among floats becomes a float"
    )
    return Proposal("unsafe", text, tuple(edits), leaves=1)


def every(statement: cst.CSTNode, region: Region, known: Known) -> list[Read]:
    """The reads of a statement that are surely made, in order. Unfit: it is a compound one."""
    if not isinstance(statement, cst.SimpleStatementLine):
        raise Unfit("in the header of a compound statement")
    found: dict[cst.CSTNode, Read] = {}
    for node in inside(statement, region):
        read = read_of(node, region, known) if isinstance(node, cst.Call) else None
        if read is not None and known.tensor(read.tensor) is not None:
            found.setdefault(read.whole, read)
    for whole in found:
        for held in region.around(whole):
            if held is statement:
                break
            if isinstance(held, SKIPPED):
                raise Unfit("not every read is made each time")
    return sorted(found.values(), key=lambda read: region.places[read.whole])


def neighbours(statement: cst.CSTNode, region: Region, known: Known) -> list[cst.SimpleStatementLine]:
    """The statements directly above and below that only read into a variable of their own."""
    block, here = region.block(statement)

    def reads_only(other: cst.CSTNode) -> bool:
        if not isinstance(other, cst.SimpleStatementLine) or len(other.body) != 1:
            return False
        small = other.body[0]
        if not isinstance(small, cst.Assign) or len(small.targets) != 1:
            return False
        read = read_of(small.value, region, known)
        return (
            read is not None
            and known.tensor(read.tensor) is not None
            and isinstance(small.targets[0].target, cst.Name | cst.Attribute)
        )

    first = last = here
    while first > 0 and reads_only(block[first - 1]):
        first -= 1
    while last + 1 < len(block) and reads_only(block[last + 1]):
        last += 1
    run = [other for other in block[first : last + 1] if isinstance(other, cst.SimpleStatementLine)]
    made = [part for other in run for part in other.body if isinstance(part, cst.Assign)]
    bound = {region.code(part.targets[0].target) for part in made}
    used = {name for part in made for name in loaded(region, part.value)}
    return run if not bound & used and len(bound) == len(run) else []


def named(found: list[Read], region: Region) -> list[str]:
    """A name for each number, from what it is for."""
    names: list[str] = []
    for n, one in enumerate(found, 1):
        held = region.parent(one.whole)
        word = ""
        if isinstance(held, cst.DictElement) and isinstance(held.key, cst.SimpleString):
            word = str(held.key.evaluated_value).rpartition("/")[2].lower()
        elif isinstance(held, cst.Arg) and held.keyword is not None:
            word = held.keyword.value
        elif isinstance(one.tensor, cst.Name):
            word = f"{one.tensor.value}_value"
        word = word if word.isidentifier() else f"number_{n}"
        word = region.fresh(word, f"{word}_value")
        names.append(word if word not in names else f"{word}_{n}")
    return names


# -- places -----------------------------------------------------------------------------------------


def inside(holder: cst.CSTNode, region: Region) -> Iterator[cst.CSTNode]:
    todo = [holder]
    while todo:
        node = todo.pop()
        yield node
        todo += node.children


def _within(node: cst.CSTNode, holder: cst.CSTNode, region: Region) -> bool:
    return any(held is holder for held in region.around(node))


def _bound_in(name: str, loop: cst.CSTNode, region: Region) -> bool:
    return any(_within(node, loop, region) and stored(region, node) for node in region.names.get(name, ()))


def _bound(node: cst.CSTNode, region: Region) -> bool:
    """Whether a node bounds a slice, alone or in a sum."""
    held = region.parent(node)
    while isinstance(held, cst.BinaryOperation):
        held = region.parent(held)
    return isinstance(held, cst.Slice)


def _number(node: cst.CSTNode, known: Known) -> bool:
    """Whether a node makes a number of one kind of what it reads: `int(x[i])` stays, and reads the list."""
    return isinstance(node, cst.Call) and known.callee(node) in ("builtins.int", "builtins.float")


def _covers(one: Edit, other: Edit) -> bool:
    a, b = one.site, other.site
    start, end = (a.line, a.column), (a.end_line, a.end_column)
    return one is not other and start <= (b.line, b.column) and (b.end_line, b.end_column) <= end and start != end
