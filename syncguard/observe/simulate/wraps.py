"""Callables of torch that no torch function override sees (classes, optimizers, torch.cuda), judged by their rows."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import FunctionType
from typing import Any

from syncguard.observe.simulate.marks import HOST, place, tensors
from syncguard.observe.simulate.patches import Patches
from syncguard.observe.simulate.verdict import Verdict, lacks
from syncguard.pack import Pack
from syncguard.terms import Op

SEEN = ("torch.Tensor.", "torch.nn.functional.", "torch.linalg.", "torch.fft.", "torch.special.", "torch.ops.")


def patch(patches: Patches, verdict: Verdict) -> Callable[[], None]:
    """Wrap whatever is loaded and has a row; what comes back does it again for what was loaded since."""
    verdict.quiet.add(quietly.__code__)
    rows = {path: list(names) for path, names in attributes(verdict.pack).items()}

    def wrap() -> None:
        for path, names in rows.items():
            if names and (owner := find(path)) is not None:
                space = vars(owner)
                rows[path] = [name for name in names if space.get(name) is None]  # inherited, or not there yet
                for name in names:
                    if (value := space.get(name)) is not None:
                        wrapped(f"{path}.{name}", owner, name, value, patches, verdict)

    wrap()
    return wrap


def wrapped(name: str, owner: Any, attribute: str, value: Any, patches: Patches, verdict: Verdict) -> None:
    """Wrap one callable, if it is one of Python; of a class, what makes an object."""
    if isinstance(value, type):
        owner, attribute, value = value, "__init__", vars(value).get("__init__")
    if isinstance(value, FunctionType) and not hasattr(value, "_syncguard_row"):
        row = verdict.row(name)
        if row is not None:
            patches.set(owner, attribute, judged(value, row, verdict))


@lru_cache(maxsize=4)
def owners(pack: Pack) -> frozenset[str]:
    """The modules that may hold a callable with a row, and are worth a look when they are loaded."""
    paths = set[str]()
    for name in attributes(pack):
        while name and name not in paths:
            paths.add(name)
            name = name.rpartition(".")[0]
    return frozenset(paths)


@lru_cache(maxsize=4)
def attributes(pack: Pack) -> Mapping[str, tuple[str, ...]]:
    """What has a row of torch, by its owner, and the same methods of the classes that inherit them."""
    methods: dict[str, list[str]] = {}
    for name in pack.ops:
        if name.startswith("torch.") and not name.startswith(SEEN):
            owner, _, method = name.rpartition(".")
            methods.setdefault(owner, []).append(method)
    found = {owner: list(own) for owner, own in methods.items()}
    for kind in pack.classes:
        base = kind
        while base := pack.base(base) or "":
            if base in methods:
                found.setdefault(kind, []).extend(methods[base])
    return {owner: tuple(dict.fromkeys(every)) for owner, every in found.items()}


def find(path: str) -> Any:
    """The module or class of a name; None where it is not loaded."""
    if path in sys.modules:
        return sys.modules[path]
    rest: list[str] = []
    while path not in sys.modules:
        path, _, last = path.rpartition(".")
        rest.insert(0, last)
        if not path:
            return None
    owner: Any = sys.modules[path]
    for part in rest:
        owner = vars(owner).get(part) if hasattr(owner, "__dict__") else None
        if not inspect.isclass(owner) and not inspect.ismodule(owner):
            return None
    return owner


def quietly(function: FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What waits in here has been told of by a row already."""
    return function(*args, **kwargs)


def judged(function: FunctionType, row: Op, verdict: Verdict) -> Any:
    """The function, whose row speaks for everything inside."""
    made = function.__name__ == "__init__"
    waits = tuple(wait for wait in verdict.waits(row) if not (made and lacks(wait)))
    first = tuple(wait for wait in waits if wait.on != "result")
    last = tuple(wait for wait in waits if wait.on == "result")
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
