"""What surrounds an expression or a statement while it is lowered."""

from __future__ import annotations

import ast
from typing import Any


class Scope:
    """What is being lowered: the qualified name, the uses of each local name, the names called in each open loop.

    `rebound`, one for a whole file, are the global names that functions assign. `bounds` is what the type parameters
    stand for that are declared around here, `def f[T: Tensor](x: T)`, and `types` the same while a type is lowered.
    """

    __slots__ = ("bounds", "calls", "generator", "qualname", "rebound", "types", "uses")

    def __init__(self, qualname: str, outer: Scope | None) -> None:
        self.qualname = qualname
        self.uses: dict[str, set[str]] = {}
        self.calls: list[set[str]] = []
        self.generator = False
        self.rebound: set[str] = outer.rebound if outer is not None else set()
        self.bounds: dict[str, ast.expr] = outer.bounds if outer is not None else {}
        self.types: dict[str, ast.expr] | None = None

    def within(self, node: Any) -> Scope:
        """The scope of what is defined in this one: a function, a class, or what a name is given to."""
        name = node if isinstance(node, str) else node.name
        inner = Scope(f"{self.qualname}.{name}" if self.qualname else name, self)
        declared = getattr(node, "type_params", ())  # since Python 3.12
        if declared:
            inner.bounds = {
                **self.bounds,
                **{part.name: part.bound for part in declared if getattr(part, "bound", None)},
            }
        return inner

    def use(self, name: str, how: str) -> None:
        known = self.uses.get(name)
        if known is None:
            self.uses[name] = {how}
        else:
            known.add(how)


def frozen(scope: Scope) -> dict[str, frozenset[str]]:
    return {name: frozenset(uses) for name, uses in scope.uses.items()}
