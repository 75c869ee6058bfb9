"""Uses of a name in, what they prove it to be out: only a tensor has `.unsqueeze`."""

from __future__ import annotations

from syncguard.infer.domain.values import UNKNOWN, ClassOf, Instance, Named, Tensor, Value
from syncguard.infer.expressions.following import stays
from syncguard.infer.expressions.imported import (
    imported_by,
    imports,
    maybe_torch,
    reaches_out,
    torch_among,
    torch_parts,
)
from syncguard.infer.expressions.resolve import Names
from syncguard.infer.functions.handed import handed_on
from syncguard.infer.functions.loaders import loaders_of
from syncguard.infer.functions.numbers import made_tensor
from syncguard.infer.routine import Frame, Routine
from syncguard.read.core import At
from syncguard.read.tags import FUNCTION, NAME
from syncguard.terms import Op


class Usage(Names):
    """The part of the world that answers what the uses of a name tell."""

    default_device: str

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
        if proof and not (self.places.is_("names", "models", name) and all(use[-1] != ")" for use in proof)):
            found = Tensor(device=self.place(frame.routine), sure=False, why=frame.why(f"use:{min(proof)}", at))
            return None if made_tensor(path, frame) else found
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
                if type(value) is Named and self.computing(value.name, rest):
                    called = f"{value.name}.{rest}" if rest else value.name
                    op = self.op(called)
                    differentiates = self.places.is_("names", "gradients", called)
                    if differentiates or (op is not None and self.asks_tensor(op)):
                        there = self.place(frame.routine)
                        passed = Tensor(device=there, sure=False, why=frame.why(f"passed:{callee}", at))
                        return None if made_tensor(path, frame) else passed
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
            if type(value) is Named and self.computing(value.name, rest):
                op = self.op(f"{value.name}.{rest}")
                if op is not None and self.asks_tensor(op, use[0] == "["):
                    return use[2:]
        return ""

    def computing(self, name: str, rest: str = "") -> bool:
        """Whether a library's function, or what is called of its module, is one of those that take tensors alone."""
        return self.places.is_("types", "functions", f"{name}.{rest}" if rest else name)

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
        if not torch_among(roots, frame) or self._another(roots, frame):
            return False
        if name in self.family:
            return True  # no array has these
        arrays = self.places.tables["host"]["array_libraries"] + self.places.tables["host"]["array_holders"]
        if not imports(frame).isdisjoint(arrays):
            return False
        if not roots & set(arrays):
            return True
        used = {
            value.name.partition(".")[0]
            for name in frame.routine.node.uses
            if type(value := frame.lookup(name)) is Named
        }
        shared = name in self.reductions or self.places.is_("host", "array_methods", name) or maybe_torch(frame)
        return not used & set(arrays) and (not shared or "torch" in used or self.declares_tensors(frame))

    def computes_torch(self, frame: Frame) -> bool:
        """Whether torch is imported here."""
        return torch_among(imported_by(frame), frame)

    def other_losses(self, frame: Frame) -> bool:
        """Whether a loss may be one of another library."""
        return self._another(imported_by(frame), frame)

    def _another(self, roots: set[str], frame: Frame) -> bool:
        """Whether a library with gradients of its own is imported here, and of torch at most what computes nothing."""
        return not self.gradient_libraries.isdisjoint(roots) and all(
            self.places.is_("host", "bystanders", part) for part in torch_parts(frame)
        )

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

    def stays(self, at: At, frame: Frame) -> bool:
        """Whether what a call makes stays on the host where it is made of no tensor."""
        return stays(at, frame)

    def place(self, routine: Routine) -> str:
        """Where tensors of unknown origin are in this routine, unless the user says that all is on the device."""
        return "host" if routine.host and self.default_device != "assumed" else "assumed"
