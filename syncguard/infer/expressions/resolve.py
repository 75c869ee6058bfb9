"""Names in, what they stand for out: imports, torch's rows, types, host libraries."""

from __future__ import annotations

import builtins
import math
from typing import Final

from syncguard.infer.domain.values import (
    FALSE,
    TRUE,
    UNKNOWN,
    Call,
    Const,
    Host,
    Instance,
    Named,
    Tensor,
    Unknown,
    Value,
    Why,
)
from syncguard.infer.operations.arguments import Arguments
from syncguard.infer.operations.results import parsed, result_of
from syncguard.infer.routine import Frame
from syncguard.pack import Pack
from syncguard.pack.places import matches
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import CALL, DO
from syncguard.terms import Op

BUILTINS: Final = {name: Named(f"builtins.{name}") for name in dir(builtins)}
LIBRARIES: Final = ("math", "numpy", "torch", "torch._six")
NUMBERS: Final[dict[str, Value]] = {
    "pi": Const(math.pi),
    "e": Const(math.e),
    "inf": Const(math.inf),
    "nan": Host("float"),  # which is not even equal to itself
}
CONSTANTS: Final[dict[str, Value]] = {
    "typing.TYPE_CHECKING": FALSE,
    "builtins.__debug__": TRUE,
    **{f"{library}.{name}": number for library in LIBRARIES for name, number in NUMBERS.items()},
}


class Names:
    """The part of the world that answers questions about names."""

    def __init__(self, pack: Pack, version: str) -> None:
        self.pack = pack
        self.places = places = pack.places
        self.version = _number(version or pack.torch or "99")
        self._ops: dict[str, Op | None] = {}
        self._resolved: dict[str, Value] = {}
        self._properties: dict[str, bool] = {}
        self._namespaces: dict[str, bool] = {}
        self._hints: dict[str, tuple[bool, bool]] = {}
        self.tensor_only = frozenset(places.tables["evidence"]["tensor_only"])
        self.words = frozenset(places.tables["evidence"]["words"])
        self.tensor_names = frozenset(places.tables["evidence"]["tensor_names"]) | self.tensor_only
        self.family = frozenset(places.tables["evidence"]["family"])
        names = places.tables["names"]
        self.no_array = self.tensor_only.union(self.family, names["casts"], names["placers"], names["derivatives"])
        self.tensor_keywords = frozenset(places.tables["evidence"]["keywords"])
        self.host_keywords = frozenset(places.tables["host"]["keywords"])
        self.together = frozenset(places.tables["evidence"]["together"])
        self.shaped = frozenset(places.tables["evidence"]["shaped"])
        self.of_modules = frozenset(places.tables["names"]["module_methods"])
        self.keepers = self.of_modules.union(places.tables["names"]["keepers"])
        self.sized = frozenset(places.tables["evidence"]["sized"])
        self.placed = frozenset(places.tables["evidence"]["placed"])
        self.operand_names = frozenset(places.tables["evidence"]["operands"])
        self.views = frozenset(places.tables["views"]["names"])
        self.queries = frozenset(places.tables["views"]["queries"])
        self.scaling = frozenset(places.tables["names"]["scaling"])
        self.densities = frozenset(places.tables["names"]["densities"])
        self.distribution = Instance(None, places.tables["names"]["distribution"][0])
        self.loader = Instance(None, places.tables["hot"]["loop_iterables"][0])
        self.draws = frozenset(places.tables["names"]["draws"])
        self.clocks = frozenset(places.tables["names"]["clocks"])
        self.reductions = frozenset(places.tables["names"]["reductions"])
        self.elementary = frozenset(places.tables["names"]["elementary"])
        self.stamps = frozenset(places.tables["names"]["stamps"])
        self.properties = frozenset(places.tables["evidence"]["properties"] + places.tables["views"]["properties"])
        self.dtypes = {name: kind for kind, names in places.tables["dtypes"].items() for name in names}
        self.movers = places.tables["evidence"]["placed"]
        self.placers = frozenset(places.tables["names"]["placers"])
        self.tables = places.tables["host"]["object_libraries"][:1]
        self.gradient_libraries = frozenset(places.tables["host"]["gradient_libraries"])
        self.reshapers = frozenset(places.tables["names"]["reshapers"])
        self.moving = self.placers | self.family
        self.registrars = frozenset(places.tables["modules"]["registrars"])
        self.sole = {name.rpartition(".")[2]: name for name in places.tables["names"]["sole"]}

    # -- rows ---------------------------------------------------------------------------------

    def op(self, name: str) -> Op | None:
        try:
            return self._ops[name]
        except KeyError:
            found = self._ops[name] = self.pack.op(name)
            return found

    def row(self, name: str) -> Op:
        """A row that inference cannot do without."""
        found = self.op(name)
        return found if found is not None else Op(name, ("self",), "tensor")

    def is_property(self, op: Op) -> bool:
        known = self._properties.get(op.name)
        if known is None:
            spelled = (op.name, self.pack.row_of(op.name), *self.pack.spellings(op.name))
            named = any(name in self.properties for name in spelled)
            known = named or self.pack.is_property(op.name)
            self._properties[op.name] = known
        return known

    def in_version(self, since: str, until: str) -> bool:
        return (not since or self.version >= _number(since)) and (not until or self.version < _number(until))

    def silent(self, tensors: list[Tensor], why: Why) -> Value:
        """The result of an op whose row does not tell: computed from tensors, no more."""
        return Unknown(why) if tensors else UNKNOWN

    # -- names --------------------------------------------------------------------------------

    def builtin(self, name: str) -> Value:
        return BUILTINS.get(name, UNKNOWN)

    def resolved(self, dotted: str) -> Value:
        """The value of a library's dotted name: a constant, a dtype, or the name itself."""
        known = self._resolved.get(dotted)
        if known is not None:
            return known
        constant = CONSTANTS.get(dotted)
        if constant is not None:
            return constant
        dtype = self.dtypes.get(dotted)
        found: Value = Host(f"dtype:{dtype}") if dtype else Named(dotted)
        self._resolved[dotted] = found
        return found

    def hint(self, name: str) -> tuple[bool, bool]:
        """Whether a name is that of a boolean mask, and of a tensor kept on the host."""
        known = self._hints.get(name)
        if known is None:
            known = self._hints[name] = (
                self.places.is_("names", "masks", name) and not self.places.is_("names", "no_masks", name),
                self.places.is_("names", "host_tensors", name),
            )
        return known

    def decorator_name(self, node: Node, frame: Frame) -> str:
        from syncguard.infer.expressions.evaluate import quiet_value

        value = quiet_value(node.fn if type(node) is CALL else node, frame)
        if type(value) is Call:
            return value.routine.name
        return value.name if type(value) is Named else ""

    def is_subclass(self, name: str, of: str) -> bool:
        seen = 0
        while name and seen < 20:
            if name == of:
                return True
            name, seen = self.pack.base(name) or "", seen + 1
        return False

    def is_module_class(self, name: str) -> bool:
        return self.is_subclass(name, "torch.nn.Module")

    def is_tensor_type(self, name: str) -> bool:
        return name in self.places.tables["types"]["tensor"] or self.torch_like(name)

    def is_type_test(self, name: str) -> bool:
        return name in self.places.tables["types"]["tests"]

    def guard(self, name: str, outcome: bool) -> bool:
        """Whether this callable or flag, when it answers so, says that code does not run eagerly on a device."""
        return matches(self.places.tables["guards"]["true" if outcome else "false"], name)

    def settled(self, test: Node, frame: Frame) -> bool:
        """Whether a constant test may prune its other arm: only for constants that never change."""
        match test.args[0] if type(test) is DO and test.args else test:
            case core.Const():
                return True
            case core.Name(id=name) | core.Attr(name=name):
                return name in ("TYPE_CHECKING", "__debug__")
        return False

    def host_library(self, name: str) -> str:
        """'array' or 'object' when the name belongs to a library that computes on the host."""
        root, _, rest = name.partition(".")
        for kind in ("array", "object"):
            if root in self.places.tables["host"][f"{kind}_libraries"]:
                part = rest.partition(".")[0]
                own = part and self.places.is_("host", "namesakes", root)
                return "" if own and not self.places.is_("host", "namesake_parts", part) else kind
        return ""

    def typed(self, name: str, device: str, why: Why) -> Value:
        """The value that an imported type promises."""
        for dtype, names in self.places.tables["tensor_types"].items():
            if name in names:
                return Tensor("" if dtype == "any" else dtype, device, why=why)
        if self.torch_like(name):
            return Tensor("", device, why=why)
        last = name.rpartition(".")[2]
        if name == "torch.device":
            return Host("device:assumed")
        if name == "torch.dtype":
            return Host("dtype")
        if name == "torch.Size":
            return Host("shape")
        library = self.host_library(name)
        if library:
            return Host("array" if last in ("ndarray", "NDArray", "ArrayLike", "array") else "object")
        if last in ("Any", "Callable", "Type", "TypeVar", "Self", "object") or not last[:1].isupper():
            return UNKNOWN
        op = self.op(name)
        if op is not None and op.returns.startswith("named("):
            return result_of(name, op.returns, Arguments((), [], {}, device), [Tensor("", device, why=why)], why)
        if op is not None and not all(shape.kind == "new" and not shape.of for _, shape in parsed(op.returns)):
            return UNKNOWN
        return Instance(None, name, device)

    def torch_like(self, name: str) -> bool:
        """A type called Tensor that another module hands on, other than a host library's."""
        return name.endswith(".Tensor") and not self.host_library(name)


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())
