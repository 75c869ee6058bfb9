"""A function in, the packages that it and its file import out."""

from __future__ import annotations

from syncguard.infer.domain.values import Named
from syncguard.infer.routine import Frame
from syncguard.read import core
from syncguard.read.walk import walk


def imported_by(frame: Frame) -> set[str]:
    """The packages that a file has names of."""
    return {value.name.partition(".")[0] for value in frame.home.env.values() if type(value) is Named}


def imports(frame: Frame) -> frozenset[str]:
    """The packages that a function itself imports."""
    written = frame.routine.written
    if written.imports is None:
        body = frame.routine.node.body if type(frame.routine.node) is core.Function else ()
        names = [name for part in walk(body) if type(part) is core.Bring for name in part.names]
        written.imports = frozenset(module.partition(".")[0] for _, module, _ in names)
    return written.imports


def torch_among(roots: set[str], frame: Frame) -> bool:
    here = frame.env.get("torch")  # imported by the function itself
    return "torch" in roots or (type(here) is Named and here.name == "torch")
