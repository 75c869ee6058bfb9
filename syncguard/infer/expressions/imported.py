"""A function in, the packages that it and its file import out."""

from __future__ import annotations

import sys
from collections.abc import Set as AbstractSet

from syncguard.infer.domain.values import UNKNOWN, Named
from syncguard.infer.routine import Frame
from syncguard.read.tags import BRING, FUNCTION
from syncguard.read.walk import walk


def imported_by(frame: Frame) -> set[str]:
    """The packages that a file has names of."""
    return {value.name.partition(".")[0] for value in frame.home.env.values() if type(value) is Named}


def imports(frame: Frame) -> frozenset[str]:
    """The packages that a function itself imports."""
    written = frame.routine.written
    if written.imports is None:
        body = frame.routine.node.body if type(frame.routine.node) is FUNCTION else ()
        names = [name for part in walk(body) if type(part) is BRING for name in part.names]
        written.imports = frozenset(module.partition(".")[0] for _, module, _ in names)
    return written.imports


def reaches_out(frame: Frame) -> bool:
    """Whether a file, or this function of it, imports anything that does not come with Python: else it computes with
    plain objects, whatever their methods are called."""
    home = frame.home
    if home.reaches_out is None:
        brings = [part for part in walk(home.core.body) if type(part) is BRING]
        home.reaches_out = any(one.level for one in brings) or not _of_python(
            {module.partition(".")[0] for one in brings for _, module, _ in one.names}
        )
    return home.reaches_out or not _of_python(imports(frame))


def _of_python(packages: AbstractSet[str]) -> bool:
    return packages <= sys.stdlib_module_names


def maybe_torch(frame: Frame) -> bool:
    """Whether a file imports torch only where that is there: `if has_torch: import torch`."""
    home = frame.home
    if home.optional is None:
        always = [name for part in home.core.body if type(part) is BRING for name in part.names]
        home.optional = all(module.partition(".")[0] != "torch" for _, module, _ in always)
    return home.optional


def torch_among(roots: set[str], frame: Frame) -> bool:
    here = frame.env.get("torch")  # imported by the function itself
    return "torch" in roots or (type(here) is Named and here.name == "torch")


def torch_parts(frame: Frame) -> list[str]:
    """What of torch a file, or this function of it, has names of."""
    values = [*frame.home.env.values(), frame.env.get("torch", UNKNOWN)]
    return [value.name for value in values if type(value) is Named and value.name.partition(".")[0] == "torch"]
