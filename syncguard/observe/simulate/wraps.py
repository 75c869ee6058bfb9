"""Callables of torch that no torch function override sees (classes, optimizers, torch.cuda), judged by their rows."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

from syncguard.observe.simulate.marks import HOST, place, tensors
from syncguard.observe.simulate.patches import Patches
from syncguard.observe.simulate.verdict import Verdict
from syncguard.terms import Op

SEEN = ("torch.Tensor.", "torch.nn.functional.", "torch.linalg.", "torch.fft.", "torch.special.", "torch.ops.")


def patch(patches: Patches, verdict: Verdict) -> Callable[[], None]:
    """Wrap whatever is loaded and has a row; what comes back does it again for what was loaded since."""
    verdict.quiet.add(quietly.__code__)
    rows = list(names(verdict))
    done: set[str] = set()

    def wrap() -> None:
        for name in rows:
            if name not in done and wrapped(name, patches, verdict):
                done.add(name)

    wrap()
    return wrap


def wrapped(name: str, patches: Patches, verdict: Verdict) -> bool:
    """Wrap one callable; False where it is not loaded yet."""
    found = find(name)
    if found is None:
        return False
    owner, attribute, value = found
    if inspect.isclass(value):
        owner, attribute, value = value, "__init__", vars(value).get("__init__")
    row = verdict.row(name)
    if isinstance(value, FunctionType) and row is not None and not hasattr(value, "_syncguard_row"):
        patches.set(owner, attribute, judged(value, row, verdict))
    return True


def owners(verdict: Verdict) -> frozenset[str]:
    """The modules that may hold a callable with a row, and are worth a look when they are loaded."""
    paths = set[str]()
    for name in names(verdict):
        while (name := name.rpartition(".")[0]) and name not in paths:
            paths.add(name)
    return frozenset(paths)


def names(verdict: Verdict) -> Iterator[str]:
    """The rows of torch, and the same methods of the classes that inherit them."""
    methods: dict[str, list[str]] = {}
    for name in verdict.pack.ops:
        if name.startswith("torch.") and not name.startswith(SEEN):
            yield name
            owner, _, method = name.rpartition(".")
            methods.setdefault(owner, []).append(method)
    for kind in verdict.pack.classes:
        base = kind
        while base := verdict.pack.base(base) or "":
            yield from (f"{kind}.{method}" for method in methods.get(base, ()))


def find(name: str) -> tuple[Any, str, Any] | None:
    """The owner of a name, its attribute there and its value; None where it is not loaded or is inherited."""
    path, _, last = name.rpartition(".")
    rest = [last]
    while path not in sys.modules:
        path, _, last = path.rpartition(".")
        rest.insert(0, last)
        if not path:
            return None
    owner: Any = sys.modules[path]
    for part in rest[:-1]:
        owner = vars(owner).get(part) if hasattr(owner, "__dict__") else None
        if not inspect.isclass(owner) and not inspect.ismodule(owner):
            return None
    value = vars(owner).get(rest[-1])
    return None if value is None else (owner, rest[-1], value)


def quietly(function: FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What waits in here has been told of by a row already."""
    return function(*args, **kwargs)


def judged(function: FunctionType, row: Op, verdict: Verdict) -> Any:
    """The function, whose row speaks for everything inside."""
    first = tuple(wait for wait in verdict.waits(row) if wait.on != "result")
    last = tuple(wait for wait in verdict.waits(row) if wait.on == "result")
    made = function.__name__ == "__init__"
    whole = row.args[:1] != ("self",)  # where what is made decides, it is an argument as well

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        given, owner = (args[whole:], args[0]) if made else (args, None)
        if first:
            verdict.judge(row, first, given, kwargs, HOST, owner)
        result = quietly(function, args, kwargs)
        if last:
            verdict.judge(row, last, given, kwargs, max(map(place, tensors([result])), default=HOST), owner)
        return result

    call._syncguard_row = row  # type: ignore[attr-defined]
    return call
