"""Names in, what they stand for out: imports, torch's rows, types, host libraries, and what usage tells of a name."""

from __future__ import annotations

import builtins
from typing import Final

from syncguard.infer.domain.values import (
    FALSE,
    TRUE,
    UNKNOWN,
    Call,
    ClassOf,
    Host,
    Instance,
    Named,
    Tensor,
    Unknown,
    Value,
    Why,
)
from syncguard.infer.expressions.imported import imported_by, imports, reaches_out, torch_among
from syncguard.infer.functions.handed import handed_on
from syncguard.infer.functions.loaders import loaders_of
from syncguard.infer.operations.arguments import Arguments
from syncguard.infer.operations.results import result_of
from syncguard.infer.routine import Frame, Routine
from syncguard.pack import Pack
from syncguard.places import matches
from syncguard.read import core
from syncguard.read.core import At, Node
from syncguard.read.tags import CALL, DO, FUNCTION, NAME
from syncguard.terms import Op

BUILTINS: Final = {name: Named(f"builtins.{name}") for name in dir(builtins)}
NUMBERS: Final = [f"{library}.{name}" for library in ("math", "numpy", "torch") for name in ("pi", "e", "inf", "nan")]
CONSTANTS: Final[dict[str, Value]] = {
    "typing.TYPE_CHECKING": FALSE,
    "builtins.__debug__": TRUE,
    **dict.fromkeys(NUMBERS, Host("float")),
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
        self.no_array = self.tensor_only | self.family | frozenset(places.tables["names"]["casts"])
        self.tensor_keywords = frozenset(places.tables["evidence"]["keywords"])
        self.host_keywords = frozenset(places.tables["host"]["keywords"])
        self.together = frozenset(places.tables["evidence"]["together"])
        self.shaped = frozenset(places.tables["evidence"]["shaped"])
        self.keepers = frozenset(places.tables["names"]["keepers"])
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
        if op is not None and op.returns not in ("new", "new like", "new host"):
            return UNKNOWN
        return Instance(None, name, device)

    def torch_like(self, name: str) -> bool:
        """A type called Tensor that another module hands on, other than a host library's."""
        return name.endswith(".Tensor") and not self.host_library(name)

    # -- usage --------------------------------------------------------------------------------

    def evidence(self, path: str, name: str, frame: Frame, at: At) -> Value | None:
        """What the uses of a name in this function prove it to be: only a tensor has `.unsqueeze`."""
        uses = frame.uses(path)
        loaders = loaders_of(name, uses, self.loader, self.places)
        if loaders is not None:
            return loaders
        if not uses or self.namespace(path):
            return None
        if self.places.is_("names", "scalers", name) and uses & self.scaling:
            return Instance(None, self.places.tables["names"]["scaler"][0])
        if uses & self.keepers:
            return None
        if uses & self.draws and uses & self.densities and not self.own_density(frame):
            return self.distribution
        proof = self.proof(uses, frame)
        if proof:
            return Tensor(device=self.place(frame.routine), sure=False, why=frame.why(f"use:{min(proof)}", at))
        if uses & self.sized and uses & self.placed:  # an array has a shape and a module a device; a tensor has both
            return Tensor(
                device=self.place(frame.routine), sure=False, why=frame.why(f"both:{min(uses & self.placed)}", at)
            )
        derived = "." in path and self.places.is_("names", "derivatives", name)  # `p.grad.norm()`
        if ((derived and self.asked(uses)) or "[?]" in uses) and self.only_torch(frame):  # `x[x > 0]`
            return Tensor(device=self.place(frame.routine), sure=False, why=frame.why("torch only", at))
        for use in sorted(uses):
            if use.startswith("(0"):
                callee = use[2:]
                head, _, rest = callee.partition(".")
                value = frame.lookup(head)
                own = type(value) not in (Named, ClassOf)  # `accelerator.backward(loss)`
                if own and self.places.is_("names", "differentiators", rest.rpartition(".")[2]):
                    return Tensor(device=self.place(frame.routine), sure=False, why=frame.why(f"passed:{callee}", at))
                if type(value) is Named and value.name.partition(".")[0] == "torch":
                    called = f"{value.name}.{rest}" if rest else value.name
                    op = self.op(called)
                    differentiates = self.places.is_("names", "gradients", called)
                    if differentiates or (op is not None and self.asks_tensor(op)):
                        return Tensor(
                            device=self.place(frame.routine), sure=False, why=frame.why(f"passed:{callee}", at)
                        )
        return handed_on(uses, frame, at)

    def proof(self, uses: frozenset[str], frame: Frame) -> frozenset[str]:
        """Those of some uses that only tensors have; words that anybody's methods have are none by themselves where
        nothing but Python is imported."""
        found = uses & self.tensor_only
        return found if found and (not found <= self.words or reaches_out(frame)) else frozenset()

    def asked(self, uses: frozenset[str]) -> bool:
        """Whether one of these uses is a method that tensors have."""
        return any(use.endswith("()") and use[:-2] in self.tensor_names for use in uses)

    def computes(self, uses: frozenset[str], frame: Frame) -> str:
        """The function of torch that is given what has these uses: in a list, or with numbers computed with it."""
        for use in sorted(uses):
            head, _, rest = use[2:].partition(".") if use[:2] in ("[0", "*0") else ("", "", "")
            value = frame.lookup(head) if rest else UNKNOWN
            if type(value) is Named and value.name.partition(".")[0] == "torch":
                op = self.op(f"{value.name}.{rest}")
                if op is not None and self.asks_tensor(op, use[0] == "["):
                    return use[2:]
        return ""

    def asks_tensor(self, op: Op, several: bool = False) -> bool:
        """Whether nothing but a tensor, or several of them, can be the first argument."""
        return (
            bool(op.args)
            and (op.args[0] == "tensors" if several else op.args[0] in self.operand_names)
            and (op.returns.startswith(("tensor", "named", "tuple")) or bool(op.waits))
            and "factory" not in op.returns
        )

    def namespace(self, path: str) -> bool:
        """Whether this is called as a module of functions on arrays is: `xp.isfinite`, `xp.linalg.svd`."""
        known = self._namespaces.get(path)
        if known is None:
            names = {path.partition(".")[0], path.rpartition(".")[2]}
            known = self._namespaces[path] = any(
                self.host_library(name) == "array" or self.places.is_("names", "namespaces", name) for name in names
            )
        return known

    def only_torch(self, frame: Frame, name: str = "") -> bool:
        """Whether this function, where torch is imported, computes with no other library that has arrays; what arrays
        are asked for too (`name`) proves something only where it computes with torch."""
        roots = imported_by(frame)
        if not torch_among(roots, frame):
            return False
        arrays = self.places.tables["host"]["array_libraries"] + self.tables
        if not imports(frame).isdisjoint(arrays):
            return False
        if not roots & set(arrays):
            return True
        used = {
            value.name.partition(".")[0]
            for name in frame.routine.node.uses
            if type(value := frame.lookup(name)) is Named
        }
        shared = name in self.reductions or self.places.is_("host", "array_methods", name)
        return not used & set(arrays) and (not shared or "torch" in used or self.declares_tensors(frame))

    def computes_torch(self, frame: Frame) -> bool:
        """Whether torch is imported here."""
        return torch_among(imported_by(frame), frame)

    def other_losses(self, frame: Frame) -> bool:
        """Whether a loss may be one of another library: such a one is imported here, and torch is not."""
        roots = imported_by(frame)
        return not self.gradient_libraries.isdisjoint(roots) and not torch_among(roots, frame)

    def has_tables(self, frame: Frame) -> bool:
        """Whether a library is imported here whose tables have methods as tensors do."""
        return not imported_by(frame).isdisjoint(self.tables)

    def own_density(self, frame: Frame) -> bool:
        """Whether classes of this file have the method that else only a distribution has: theirs check nothing."""
        return any(not self.densities.isdisjoint(info.members) for info in frame.home.classes)

    def declares_tensors(self, frame: Frame) -> bool:
        """Whether a parameter of this function is declared to be a tensor."""
        node = frame.routine.node
        for param in node.params if type(node) is FUNCTION else ():
            named = param.annotation.id if type(param.annotation) is NAME else ""
            value = frame.lookup(named) if named else None
            if type(value) is Named and self.is_tensor_type(value.name):
                return True
        return False

    def place(self, routine: Routine) -> str:
        """Where tensors of unknown origin are in this routine."""
        return "host" if routine.host else "assumed"


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())
