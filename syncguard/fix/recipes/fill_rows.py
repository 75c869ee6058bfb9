"""`for i in range(n): x[i, :lengths[i]] = 0` -> the same of all rows at once, where their positions are below it."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from syncguard.fix.loops import bound_in, unchanged
from syncguard.fix.names import loaded, reads
from syncguard.fix.nodes import inside, zero
from syncguard.fix.reads import read_of
from syncguard.fix.recipe import Known, Proposal, Region, Unfit
from syncguard.fix.shapes import subscript
from syncguard.fix.text import BINDING, COMPARED, fitted
from syncguard.terms import Finding

SIGNS: dict[type[cst.BaseBinaryOp], str] = {cst.Add: "+", cst.Subtract: "-", cst.Multiply: "*", cst.FloorDivide: "//"}


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop over rows: the variables that count them and hold the length of each, and how many there are."""

    node: cst.For
    count: str
    each: str
    many: cst.BaseExpression | None  # None: as many as there are lengths
    lengths: cst.BaseExpression | None


def rewrite(node: cst.CSTNode, finding: Finding, region: Region, known: Known) -> Proposal | None:
    """A loop that writes one number into the first or the last places of each row, and does nothing else."""
    torch = known.torch()
    loop = counted(region.loops(node), known)
    if not torch or loop is None:
        return None
    write, given = body(loop)
    target = write.targets[0].target
    if not isinstance(target, cst.Subscript):
        return None
    x, part = rows(target, loop)
    value = write.value
    if known.tensor(x) is None or not known.number(value) or not known.pure(value) or turned(value, loop, region):
        return None
    bounds = Bounds(loop, given, region, known)
    tests: list[str] = []
    if part.lower is not None:
        tests.append(f"{{}} >= {bounds.column(part.lower)}")
    if part.upper is not None:
        tests.append(f"{{}} < {bounds.column(part.upper)}")
    lengths = bounds.lengths
    if not tests or lengths is None or region.code(lengths) == region.code(x):
        return None
    if not unchanged(lengths, loop.node, region, known) or used_after(loop, given, region):
        return None
    name = region.fresh("positions", "places")
    all_of = region.code(x)
    if loop.many is not None and region.code(loop.many) not in sizes(x, region):
        all_of = f"{all_of}[{upto(loop.many, region)}]"
    elif loop.many is None:
        all_of = f"{all_of}[: len({region.code(lengths)})]"
    test = tests[0].format(name) if len(tests) == 1 else " & ".join(f"({one.format(name)})" for one in tests)
    lines = (
        f"{name} = {torch}.arange({region.code(x)}.size(1), device={region.code(lengths)}.device)",
        f"{all_of}[{test}] = {region.code(value)}",
    )
    text = f"writes all rows at once: `{region.code(lengths)}` must hold a number for each, beside `{region.code(x)}`"
    if not bounds.positive:
        text += ", and no bound may be below 0"
    return Proposal("unsafe", text, (region.put(loop.node, *lines),))


def counted(loops: list[cst.For | cst.While], known: Known) -> Loop | None:
    """`for i in range(n)`, `for i, length in enumerate(lengths)`."""
    match loops[:1]:
        case [
            cst.For(
                asynchronous=None,
                orelse=None,
                target=cst.Name(value=count),
                iter=cst.Call(args=[cst.Arg(value=many, star="", keyword=None)]) as over,
            ) as loop
        ] if known.callee(over) == "builtins.range":
            return Loop(loop, count, "", many, None)
        case [
            cst.For(
                asynchronous=None,
                orelse=None,
                target=cst.Tuple(
                    elements=[cst.Element(value=cst.Name(value=count)), cst.Element(value=cst.Name(value=each))]
                ),
                iter=cst.Call(args=[cst.Arg(value=lengths, star="", keyword=None)]) as over,
            ) as loop
        ] if known.callee(over) == "builtins.enumerate" and known.rank(lengths) in (-1, 1):
            return Loop(loop, count, each, None, lengths)
    return None


def body(loop: Loop) -> tuple[cst.Assign, dict[str, cst.BaseExpression]]:
    """The write that a loop is for, and what the variables above it are. Unfit: it does more."""
    given: dict[str, cst.BaseExpression] = {}
    write: cst.Assign | None = None
    for line in loop.node.body.body:
        match line:
            case cst.SimpleStatementLine(body=[cst.Assign(targets=[cst.AssignTarget(target=target)]) as assign]) if (
                write is None
            ):
                if isinstance(target, cst.Name) and target.value not in given:
                    given[target.value] = assign.value
                    continue
                write = assign
            case _:
                raise Unfit("the loop does more")
    if write is None or {loop.count, loop.each} & given.keys():
        raise Unfit("the loop writes nothing")
    return write, given


def rows(target: cst.Subscript, loop: Loop) -> tuple[cst.BaseExpression, cst.Slice]:
    """What is written, and where in each row: `x[i, :n]`, `x[i][:n]`. Unfit: it is something else."""
    parts = [part.slice for part in target.slice]
    x = target.value
    if len(parts) == 1 and isinstance(x, cst.Subscript):
        parts, x = [part.slice for part in x.slice] + parts, x.value
    match parts:
        case [cst.Index(value=cst.Name(value=count)), cst.Slice(step=None) as part] if count == loop.count:
            if isinstance(x, cst.Name | cst.Attribute):
                return x, part
    raise Unfit("no part of a row")


def upto(many: cst.BaseExpression, region: Region) -> str:
    """The slice of the first so many, as formatters space it."""
    plain = isinstance(many, cst.Name | cst.Integer | cst.Attribute)
    return f":{region.code(many)}" if plain else f": {region.code(many)}"


def turned(node: cst.BaseExpression, loop: Loop, region: Region) -> bool:
    """Whether an expression is another in each turn of a loop."""
    return any(bound_in(name, loop.node, region) for name in loaded(region, node))


def sizes(x: cst.BaseExpression, region: Region) -> tuple[str, ...]:
    text = region.code(x)
    return f"{text}.size(0)", f"{text}.shape[0]", f"len({text})"


def used_after(loop: Loop, given: dict[str, cst.BaseExpression], region: Region) -> bool:
    """Whether what the loop binds is read outside of it, where no other loop has bound it again."""
    inner = {*inside(loop.node)}
    scope = region.scope(loop.node)
    names = {loop.count, loop.each, *given} - {""}
    return any(
        use not in inner and not any(isinstance(held, cst.For) and binds(held, name) for held in region.around(use))
        for name in names
        for use in reads(region, scope, name)
    )


def binds(loop: cst.For, name: str) -> bool:
    return any(isinstance(node, cst.Name) and node.value == name for node in inside(loop.target))


class Bounds:
    """Turns the bound of one row into a column of all rows' bounds; notes of what, and whether it is never negative."""

    def __init__(self, loop: Loop, given: dict[str, cst.BaseExpression], region: Region, known: Known) -> None:
        self.loop, self.given, self.region, self.known = loop, given, region, known
        self.lengths = loop.lengths
        self.positive = True

    def column(self, bound: cst.BaseExpression) -> str:
        """Unfit: it is not arithmetic of one length and numbers."""
        inner = self._above(bound)
        self.positive = self.positive and inner is not None
        return self._text(inner if inner is not None else bound, cst.LessThan)

    def _above(self, node: cst.BaseExpression) -> cst.BaseExpression | None:
        """`n` of `max(0, n)`: no position is below 0."""
        while isinstance(node, cst.Name) and node.value in self.given:
            node = self.given[node.value]
        if isinstance(node, cst.Call) and self.known.callee(node) == "builtins.max" and len(node.args) == 2:
            first, second = (arg.value for arg in node.args)
            if zero(first):
                return second
            if zero(second):
                return first
        return None

    def _text(self, node: cst.BaseExpression, holder: type[cst.CSTNode], right: bool = False) -> str:
        column = self._column(node)
        if column:
            return column
        if not turned(node, self.loop, self.region) and self.known.number(node) in ("int", "size"):
            return fitted(self.region.code(node), BINDING.get(holder, COMPARED) + 1)
        match node:
            case cst.Name(value=name) if name in self.given:
                return self._text(self.given[name], holder, right)
            case cst.BinaryOperation(left=left, operator=operator, right=right_side) if type(operator) in SIGNS:
                kind = type(operator)
                text = f"{self._text(left, kind)} {SIGNS[kind]} {self._text(right_side, kind, right=True)}"
                loose = BINDING[kind] < BINDING.get(holder, 0) + right
                return f"({text})" if loose else text
        raise Unfit("no arithmetic of lengths")

    def _column(self, node: cst.BaseExpression) -> str:
        """All lengths as a column, where a node is that of one row."""
        read = read_of(node, self.region, self.known)
        if read is not None and (read.whole is not node or read.into == "float"):
            return ""
        one = read.tensor if read is not None else node
        loop = self.loop
        if loop.lengths is not None:
            if not isinstance(one, cst.Name) or one.value != loop.each:
                return ""
            return f"{self.region.code(loop.lengths)}[:, None]"
        key = subscript(one) if isinstance(one, cst.Subscript) else None
        if not isinstance(one, cst.Subscript) or not isinstance(key, cst.Name) or key.value != loop.count:
            return ""
        base = one.value
        held = self.known.tensor(base)
        if not isinstance(base, cst.Name | cst.Attribute) or turned(base, loop, self.region):
            return ""
        if (held is None and read is None) or (
            held is not None and (held.rank not in (-1, 1) or held.dtype == "float")
        ):
            return ""
        if self.lengths is not None and not self.lengths.deep_equals(base):
            raise Unfit("lengths of two kinds")
        self.lengths = base
        many = loop.many
        own = many is None or self.region.code(many) in sizes(base, self.region)
        rest = ":" if many is None or own else upto(many, self.region)
        return f"{self.region.code(base)}[{rest}, None]"
