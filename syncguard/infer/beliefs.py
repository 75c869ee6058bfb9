"""A line of a file in, what inference believes of every expression there out: for `explain file:line` and for tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from syncguard.infer.domain.contents import any_on_device, tensor_in
from syncguard.infer.domain.lattice import join
from syncguard.infer.domain.values import (
    Bound,
    Call,
    Callback,
    ClassOf,
    Const,
    Host,
    Instance,
    Named,
    Seq,
    Source,
    Table,
    Tensor,
    Union,
    Unknown,
    Value,
    Why,
)
from syncguard.infer.routine import Frame
from syncguard.infer.tell import Texts, because, site
from syncguard.read import core
from syncguard.read.core import At, Node
from syncguard.read.tags import DO
from syncguard.terms import Fact, Site

Belief = tuple[Site, str, str, tuple[Fact, ...]]
QUIET: Final = (core.Const, core.Slice)


class Watch:
    """Collects the values of the expressions on one line of one file; later runs of a body add to earlier ones."""

    def __init__(self, path: str, line: int) -> None:
        self.path, self.line = path, line
        self.values: dict[At, Value] = {}

    def __call__(self, frame: Frame, node: Node, value: Value) -> None:
        at = node.at
        if (
            at[0] <= self.line <= at[2]
            and frame.home.path == self.path
            and type(node) not in QUIET
            and not (type(node) is DO and node.what == "truth")
        ):
            known = self.values.get(at)
            self.values[at] = value if known is None or frame.routine.runs > 1 else join(known, value)

    def beliefs(self, text_of: Texts) -> tuple[Belief, ...]:
        """What was collected, in order of place; the reasons may lie in other files."""
        lines = text_of(self.path)
        found = []
        for at, value in sorted(self.values.items(), key=lambda item: (item[0][:2], (-item[0][2], -item[0][3]))):
            if at[0] == self.line or at[2] == self.line:
                where = site(self.path, at, lines)
                found.append(
                    (
                        where,
                        source(where, lines),
                        describe(value),
                        because(reason(value), text_of, self.path, there=any_on_device([value])),
                    )
                )
        return tuple(found)


def source(where: Site, lines: Sequence[str]) -> str:
    if where.line != where.end_line:
        return lines[where.line - 1][where.column - 1 :].strip() + " …"
    return lines[where.line - 1][where.column - 1 : where.end_column - 1]


def reason(value: Value) -> Why | None:
    tensor = tensor_in(value)
    if tensor is not None:
        return tensor.why
    return value.weak if type(value) is Unknown else value.read if type(value) is Host else None


DEVICES: Final = {"device": "cuda", "assumed": "cuda?", "host": "cpu", "mixed": "cpu or cuda"}


def _parts(tensor: Tensor) -> tuple[str, ...]:
    return (
        DEVICES[tensor.device],
        "bool?" if tensor.dtype == "named mask" else tensor.dtype,
        f"{tensor.rank}-d" if tensor.rank >= 0 else "",
        "pinned" if tensor.pinned else "",
    )


def describe(value: Value, depth: int = 0) -> str:
    """A value in a few words: `tensor[cuda?, bool, 2-d]`."""
    if depth > 3:
        return "…"
    match value:
        case Tensor():
            return f"tensor[{', '.join(part for part in _parts(value) if part)}]"
        case Const():
            return "None" if value.value is None else f"host {type(value.value).__name__} {value.value!r}"[:60]
        case Host():
            kind = value.kind.partition(":")[0]
            return "torch.device" if kind == "device" else f"host {kind}"
        case Seq() if value.items is None:
            return f"{value.kind} of {describe(value.element, depth + 1)}"
        case Seq():
            shown = [describe(item, depth + 1) for item in (value.items or ())]
            return f"{value.kind}({', '.join(shown[:4])}{', …' if len(shown) > 4 else ''})"
        case Table():
            shown = [f"{key}: {describe(held, depth + 1)}" for key, held in list(value.items.items())[:4]]
            return f"dict({', '.join(shown)})" if shown else f"dict of {describe(value.element, depth + 1)}"
        case Named() | Source():
            return value.name
        case Bound():
            return f"method {value.name} of {describe(value.of, depth + 1)}"
        case Call() | ClassOf() | Instance():
            return _project(value)
        case Callback():
            return f"function that gives {describe(value.gives, depth + 1)}"
        case Union():
            return " | ".join(describe(option, depth + 1) for option in value.options)
        case Unknown():
            return "unknown, computed from tensors" if value.weak else "unknown"
    return "unknown"


def _project(value: Call | ClassOf | Instance) -> str:
    match value:
        case Call():
            return f"function {value.routine.qualname}"
        case ClassOf():
            return f"class {value.info.name}"
        case Instance():
            return f"instance of {value.name if value.info is None else value.info.name}"
