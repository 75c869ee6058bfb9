"""Uses of a name in, what they prove it to be out: only a tensor has `.unsqueeze`."""

from __future__ import annotations

from syncguard.infer.branches.meant import once
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
            if use[0] == "(" and (sure := self.takes(use, frame)):
                there = self.place(frame.routine)
                passed = Tensor(device=there, sure=False, why=frame.why(f"passed:{taker(use)}", at))
                return passed if sure > 1 or not made_tensor(path, frame) else None
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
        """What shows that a tensor has these uses, though it is not itself what is asked or given: what numbers make of
        it, a list that it is in, an item of it."""
        for use in sorted(uses):
            mark, head = use[:1], use[1:2]
            if mark == "*" and head in (".", "="):
                alone = head == "." or once(use[2:], frame)
                asked = frozenset((use[2:],)) if head == "." else frame.uses(use[2:])
                if alone and (proof := self.proof(asked, frame)):
                    return f"use:{min(proof)}"
            elif (mark == "*" and self.takes(use, frame) == 1) or (
                use[:2] in ("#0", "[0") and self.given_part(use, frame)
            ):
                return f"passed:{use[2:]}"
        return ""

    def given_part(self, use: str, frame: Frame) -> bool:
        """Whether a function of torch that takes a tensor first, or several, is given an item of what has this use, or
        a list of it."""
        head, _, rest = use[2:].partition(".")
        value = frame.lookup(head) if rest else UNKNOWN
        op = self.op(f"{value.name}.{rest}") if type(value) is Named and self.computing(value.name, rest) else None
        return op is not None and self.asks_tensor(op, several=use[0] == "[")

    def computing(self, name: str, rest: str = "") -> bool:
        """Whether a library's function, or what is called of its module, is one of those that take tensors alone."""
        return self.places.is_("types", "functions", f"{name}.{rest}" if rest else name)

    def takes(self, use: str, frame: Frame) -> int:
        """Whether what is called takes a tensor at this place, `F.mse_loss(x, y)`; 2 where it must be one, whatever is
        made of it: `accelerator.backward(loss)`."""
        if not use[1].isdigit():
            return self.takes_named(use, frame)
        head, _, rest = use[2:].partition(".")
        value, place = frame.lookup(head), int(use[1])
        if type(value) is Instance and value.info is not None and self.places.is_("names", "criteria", rest):
            value, rest = value.info.attribute(rest, frame.routine) or UNKNOWN, ""  # `self.criterion(out, y)`
        if type(value) is Instance and value.info is None and not rest:
            return int(place < 2 and self.places.is_("types", "losses", value.name))
        if type(value) is not Named and type(value) is not ClassOf:
            if place == 0 and self.places.is_("names", "differentiators", rest.rpartition(".")[2]):
                return 2
            return int(self.method_takes(value, rest, place))
        called = f"{value.name}.{rest}" if type(value) is Named and rest else value.name if type(value) is Named else ""
        if not called or not self.computing(called):
            return 0
        if place == 0 and self.places.is_("names", "gradients", called):
            return 1
        if place == 1 and self.places.is_("types", "losses", called):
            return 1
        op = self.op(called)
        return int(op is not None and self.asks_tensor(op, place))

    def takes_named(self, use: str, frame: Frame) -> int:
        """The same of an argument that is given by its name: `torch.gather(x, 1, index=index)`."""
        name, _, path = use[1:].partition("=")
        head, _, rest = path.partition(".")
        value = frame.lookup(head)
        if type(value) is Named:
            called = f"{value.name}.{rest}" if rest else value.name
            op = self.op(called) if self.computing(called) else None
            return int(op is not None and name in op.args and self.asks_tensor(op, op.args.index(name)))
        if type(value) is ClassOf or not rest:
            return 0
        op = self.op(f"torch.Tensor.{rest.rpartition('.')[2]}")
        return int(op is not None and name in op.args and self.method_takes(value, rest, op.args.index(name) - 1))

    def method_takes(self, value: Value, path: str, place: int) -> bool:
        """Whether the method of a tensor takes nothing but one at this place: it is of a value that is known to be one,
        or no other thing has one of that name."""
        name = path.rpartition(".")[2]
        if (type(value) is not Tensor or name != path) and (name not in self.tensor_only or name in self.words):
            return False
        op = self.op(f"torch.Tensor.{name}")
        return op is not None and place + 1 in op.takes

    def asks_tensor(self, op: Op, place: int = 0, several: bool = False) -> bool:
        """Whether nothing but a tensor, or several of them, can be the first argument, or that at another place."""
        if place in op.takes and not several:
            return True
        return (
            place == 0
            and bool(op.args)
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


def taker(use: str) -> str:
    """What is called, of a use that says what a name is passed to: at a place, or by a name."""
    return use[2:] if use[1].isdigit() else use.partition("=")[2]
