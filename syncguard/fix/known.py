"""What inference knows, asked by libcst node: values, callees, what is pure."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any

import libcst as cst

from syncguard.fix.names import defined, stored, stores
from syncguard.fix.nodes import children
from syncguard.fix.region import Region
from syncguard.fix.stretch import Stretch, again
from syncguard.infer.domain.values import (
    UNKNOWN,
    Call,
    ClassOf,
    Const,
    Host,
    Instance,
    Named,
    Tensor,
    Unknown,
    Value,
    options,
)
from syncguard.infer.home import Home
from syncguard.infer.project import World
from syncguard.infer.routine import Routine
from syncguard.read import core
from syncguard.read.core import At
from syncguard.terms import Op

NUMBERS = ("int", "float", "bool", "size", "number")
# The functions that reduce to one number unless they are told not to.
LOSS = re.compile(r"torch\.nn\.functional\.(\w+_loss|\w*cross_entropy(_with_logits)?|kl_div)")
# The classes of which an instance does the same.
LOSSES = re.compile(r"torch\.nn\.(modules\.loss\.)?(?!Adaptive)\w+Loss")
# Of other things than tensors these change something.
CHANGING = ("add", "sort", "apply", "backward", "set", "put", "register_hook")
# The options that ask for another place for what is computed.
ELSEWHERE = ("out", "inplace")
# What a call of one of these gives differs from call to call.
RANDOM = ("rand", "normal", "multinomial", "bernoulli", "dropout", "poisson", "uniform_", "empty", "sample")


class Known:
    """What inference knows of the expressions in a region; its functions are run once more, when first asked."""

    def __init__(self, region: Region, world: World, home: Home) -> None:
        self.region, self.world, self.home = region, world, home
        self._callees: dict[cst.CSTNode, str] = {}
        self.others: dict[int, Known] = {}  # of functions that this one calls, by their first line
        self.written_in: dict[cst.CSTNode, frozenset[str]] = {}  # into what variables' tensors, by function

    def value(self, node: cst.CSTNode) -> Value:
        """What an expression is; UNKNOWN where inference did not come by, and of what the file does not hold."""
        if isinstance(node, cst.Arg):
            node = node.value
        literal = _literal(node)
        if literal is not None:
            return literal
        if node not in self.region.places:
            return UNKNOWN
        value = self._values.get(self._at(node), UNKNOWN)
        if value is UNKNOWN and isinstance(node, cst.Name):
            return self.home.env.get(node.value, UNKNOWN) if self._free(node) else UNKNOWN
        return value

    def tensor(self, node: cst.CSTNode) -> Tensor | None:
        """The tensor that an expression is on every path but those on which it is None, if it is one."""
        found = [option for option in options(self.value(node)) if not _none(option)]
        return found[0] if len(found) == 1 and type(found[0]) is Tensor else None

    def rank(self, node: cst.CSTNode) -> int:
        """How many dimensions a tensor has, -1 where that is not known; of a loss, too, unless it is not reduced."""
        held = self.tensor(node)
        if held is None or held.rank >= 0:
            return held.rank if held is not None else -1
        made = defined(self.region, node) if isinstance(node, cst.BaseExpression) else node
        match made:
            case cst.Call() if LOSS.fullmatch(self.callee(made)):
                return 0 if _reduces(self.argument(made, "reduction")) else -1
            case cst.Call(func=func) if type(of := self.value(func)) is Instance and LOSSES.fullmatch(of.name):
                maker = defined(self.region, func)
                return 0 if isinstance(maker, cst.Call) and _reducing(maker) else -1
            case cst.BinaryOperation():
                sides = [0 if self.number(side) else self.rank(side) for side in (made.left, made.right)]
                return 0 if sides == [0, 0] else -1
        return self._scalars(node) if made is node else self.rank(made)

    def _scalars(self, node: cst.CSTNode) -> int:
        """0 where a variable is bound, in its function, to nothing but losses and sums of no dimension."""
        if not isinstance(node, cst.Name):
            return -1
        scope = self.region.scope(node)
        bound = stores(self.region, scope, node.value) if isinstance(scope, cst.FunctionDef) else []
        made = [self.region.parent(self.region.parent(one)) for one in bound]
        if not made or not all(isinstance(one, cst.Assign) and len(one.targets) == 1 for one in made):
            return -1
        values = [one.value for one in made if isinstance(one, cst.Assign)]
        calls = all(isinstance(value, cst.Call) for value in values)  # nothing that may be this variable again
        return 0 if calls and all(self.rank(value) == 0 for value in values) else -1

    def number(self, node: cst.CSTNode) -> str:
        """What kind of number on the host an expression is: int float bool size number; '' if it is not known to be."""
        kinds = {_kind(option) for option in options(self.value(node))}
        if "size" in kinds and self._shape(node):
            return ""
        return kinds.pop() if len(kinds) == 1 else "number" if kinds and "" not in kinds else ""

    def _shape(self, node: cst.CSTNode) -> bool:
        """Whether an expression is all of a shape, not one size of it: `x.shape`, `x.size()`."""
        match defined(self.region, node) if isinstance(node, cst.BaseExpression) else node:
            case cst.Attribute(attr=cst.Name(value="shape")):
                return True
            case cst.Call(func=cst.Attribute(attr=cst.Name(value="size")), args=[]):
                return True
        return False

    def callee(self, node: cst.CSTNode) -> str:
        """The name of the row of what is called, `torch.Tensor.item`; '' for what has none."""
        if node not in self._callees:
            self._callees[node] = self._callee(node)
        return self._callees[node]

    def _callee(self, node: cst.CSTNode) -> str:
        fn = node.func if isinstance(node, cst.Call) else node
        if isinstance(fn, cst.Attribute):
            of = self.value(fn.value)
            name = fn.attr.value
            if self._method_of_tensor(of):
                return f"torch.Tensor.{name}"
            if type(of) is Named:
                return self._named(f"{of.name}.{name}")
            path = dotted(fn)
            root, _, rest = path.partition(".")
            value = self.home.env.get(root)
            if path and type(value) is Named:
                return self._named(f"{value.name}.{rest}")
            return ""
        value = self.value(fn)
        return self._named(value.name) if type(value) is Named else ""

    def _method_of_tensor(self, value: Value) -> bool:
        """Whether a method called of this is a tensor's: of one, or of what may be one or be made from some."""
        found = options(value)
        return any(type(option) is Tensor for option in found) and all(
            type(option) is Tensor or (type(option) is Unknown and bool(option.weak)) or _none(option)
            for option in found
        )

    def op(self, node: cst.Call) -> Op | None:
        """The row of what is called."""
        name = self.callee(node)
        return self.world.op(name) if name else None

    def argument(self, node: cst.Call, name: str) -> cst.BaseExpression | None:
        """The argument of a call that goes to a parameter of its row; for a method the receiver is the first."""
        for arg in node.args:
            if arg.keyword is not None and arg.keyword.value == name:
                return arg.value
        op = self.op(node)
        names = list(op.args) if op is not None else []
        plain: list[cst.BaseExpression] = []
        if isinstance(node.func, cst.Attribute) and self.callee(node).startswith("torch.Tensor."):
            plain.append(node.func.value)
        for arg in node.args:
            if arg.star:
                break
            if arg.keyword is None:
                plain.append(arg.value)
        return plain[names.index(name)] if name in names and names.index(name) < len(plain) else None

    def pure(self, node: cst.CSTNode) -> bool:
        """Whether computing an expression again, or never, makes no difference but time."""
        if isinstance(node, cst.NamedExpr | cst.Await | cst.Yield):
            return False
        return (not isinstance(node, cst.Call) or self.computes(node)) and all(map(self.pure, children(node)))

    def computes(self, node: cst.Call) -> bool:
        """Whether a call does nothing but compute what it gives, whatever its arguments do."""
        name = self.callee(node)
        if not name and isinstance(node.func, cst.Attribute) and self.value(node.func.value) is UNKNOWN:
            name = f"torch.Tensor.{node.func.attr.value}"  # such a method of anything else only computes, too
        last = name.rpartition(".")[2]
        inplace = last.endswith("_") and not last.endswith("__")
        if not name or self.world.op(name) is None or inplace or last in CHANGING:
            return False
        if any(word in last for word in RANDOM) or self.written(node):
            return False
        return not any(on(self.argument(node, option)) for option in ELSEWHERE)

    def written(self, node: cst.Call) -> list[cst.BaseExpression]:
        """What a call writes into because its row says so: `weight` of `F.embedding(i, weight, max_norm=1.0)`."""
        op = self.op(node)
        if op is None or not op.writes:
            return []
        if any(arg.star for arg in node.args):  # it may be any of these
            return [arg.value for arg in node.args]
        parts = [part.partition(" if ") for part in op.writes]
        found = [
            self.argument(node, name) for name, _, option in parts if not option or on(self.argument(node, option))
        ]
        return [one for one in found if one is not None]

    def torch(self, module: str = "torch") -> str:
        """What this file calls torch, or a module of it; '' where it does not import it."""
        for name, value in self.home.env.items():
            if type(value) is Named and value.name == module and "." not in name and not self._bound(name):
                return name
        owner, _, last = module.rpartition(".")
        return f"{held}.{last}" if owner and (held := self.torch(owner)) else ""

    def plain(self, *names: str) -> bool:
        """Whether these are the names of Python's own functions here: nothing gives them another meaning."""
        bound = any(name in self.home.env or self._bound(name) for name in names)
        stars = [f"{star}.{name}" for star in self.home.stars for name in names]
        return not bound and not any(star in self.world.dtypes for star in stars)

    # -- ----------------------------------------------------------------------------------------

    @cached_property
    def _values(self) -> dict[At, Value]:
        watch = Stretch(self.home.path, self.region.first, self.region.last)
        before, self.world.watch = self.world.watch, watch
        self.world.guesses = False  # no rewrite rests on a name
        try:
            for routine in [*self.home.routines]:
                if self.region.first <= _line(routine) <= self.region.last:
                    again(self.world, routine)
            if not watch.values and self.home.top is not None:
                again(self.world, self.home.top)
        finally:
            self.world.watch, self.world.guesses = before, True
        return watch.values

    def _at(self, node: cst.CSTNode) -> At:
        line, column, end_line, end_column = self.region.places[node]
        return line, self._bytes(line, column), end_line, self._bytes(end_line, end_column)

    def _bytes(self, line: int, column: int) -> int:
        text = self.region.lines[line - 1]
        return column - 1 if text.isascii() else len(text[: column - 1].encode())

    def _free(self, node: cst.Name) -> bool:
        """Whether a name is the file's, and no function's around it."""
        return type(self.home.env.get(node.value)) in (Named, Call, ClassOf, Instance, Const) and not any(
            isinstance(other, cst.AssignTarget) and isinstance(other.target, cst.Name)
            and other.target.value == node.value for other in self.region.places
        )  # fmt: skip

    def _bound(self, name: str) -> bool:
        """Whether the region gives a name another meaning."""
        found = self.region.names.get(name, ())
        return any(stored(self.region, node) and not _imports(self.region, node) for node in found)

    def _named(self, name: str) -> str:
        value: Any = self.world.resolved(name)
        return value.name if type(value) is Named else name


def _reduces(reduction: cst.BaseExpression | None) -> bool:
    """Whether a loss that is told this gives one number."""
    word = reduction.evaluated_value if isinstance(reduction, cst.SimpleString) else None
    return reduction is None or word in ("mean", "sum")


def _reducing(maker: cst.Call) -> bool:
    """Whether a loss that is made so gives one number: it is told nothing else by name, and no more than one thing by
    place."""
    given = {arg.keyword.value: arg.value for arg in maker.args if arg.keyword is not None}
    plain = [arg for arg in maker.args if arg.keyword is None]
    told = any(arg.star for arg in maker.args) or len(plain) > 1 or given.keys() & {"reduce", "size_average"}
    return not told and _reduces(given.get("reduction"))


def on(value: cst.BaseExpression | None) -> bool:
    """Whether an option is given, and neither None nor False."""
    return value is not None and not (isinstance(value, cst.Name) and value.value in ("None", "False"))


def _imports(region: Region, node: cst.Name) -> bool:
    return any(isinstance(held, cst.Import | cst.ImportFrom) for held in region.around(node))


def _none(value: Value) -> bool:
    return type(value) is Const and value.value is None


def _line(routine: Routine) -> int:
    return routine.node.at[0] if type(routine.node) is core.Function else 0


def _literal(node: cst.CSTNode) -> Const | None:
    if isinstance(node, cst.Integer | cst.Float):
        return Const(node.evaluated_value)
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus):
        held = _literal(node.expression)
        return Const(-held.value) if held is not None else None
    return None


def _kind(value: Value) -> str:
    if type(value) is Const:
        return {bool: "bool", int: "int", float: "float"}.get(type(value.value), "")
    return value.kind if type(value) is Host and value.kind in NUMBERS else ""


def dotted(node: cst.BaseExpression) -> str:
    """`a.b.c` as text; '' of what is more than names."""
    if isinstance(node, cst.Name):
        return node.value
    if isinstance(node, cst.Attribute) and (of := dotted(node.value)):
        return f"{of}.{node.attr.value}"
    return ""
