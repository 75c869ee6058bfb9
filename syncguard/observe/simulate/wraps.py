"""Callables of torch that no torch function override sees (classes, optimizers, torch.cuda), judged by their rows."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import FunctionType
from typing import Any, NamedTuple

from syncguard.observe.simulate.marks import HOST, place, tensors
from syncguard.observe.simulate.patches import Patches
from syncguard.observe.simulate.verdict import Verdict, lacks, row_of, waits_of
from syncguard.pack import Pack, moves
from syncguard.terms import Op, Wait

SEEN = ("torch.Tensor.", "torch.nn.functional.", "torch.linalg.", "torch.fft.", "torch.special.", "torch.ops.")


class Known(NamedTuple):
    """Where a callable of torch's stands that has a row."""

    owner: Any
    attribute: str
    row: Op
    first: tuple[Wait, ...]  # before it runs
    last: tuple[Wait, ...]  # by what it gives
    within: tuple[Wait, ...] = ()  # of its inside, where nobody else has told of it


def patch(patches: Patches, verdict: Verdict) -> Callable[[], None]:
    """Wrap whatever is loaded and has a row; what comes back does it again for what was loaded since."""
    verdict.quiet.add(quietly.__code__)

    def wrap() -> None:
        for one in known(verdict.pack, verdict.version, loaded()):
            function = vars(one.owner).get(one.attribute)
            if isinstance(function, FunctionType) and not hasattr(function, "_syncguard_row"):
                patches.set(one.owner, one.attribute, judged(function, one, verdict))

    wrap()
    return wrap


@lru_cache(maxsize=2)
def known(pack: Pack, version: tuple[int, ...], loaded: tuple[int, str]) -> tuple[Known, ...]:
    """What has a row that holds for this version of torch, among the modules that are loaded now."""
    found: list[Known] = []
    for path, names in attributes(pack).items():
        owner = find(path)
        for name in names if owner is not None else ():
            at, attribute, value = owner, name, vars(owner).get(name)
            if isinstance(value, type):  # of a class, what makes an object
                at, attribute, value = value, "__init__", vars(value).get("__init__")
            row = row_of(f"{path}.{name}", pack, version) if isinstance(value, FunctionType) else None
            if row is not None:
                waits = [w for w in waits_of(row, pack, version) if not (attribute == "__init__" and lacks(w))]
                within = tuple(wait for wait in waits if moves(wait))
                last = tuple(wait for wait in waits if wait.on == "result")
                first = tuple(wait for wait in waits if wait not in (*within, *last))
                found.append(Known(at, attribute, row, first, last, within))
    return tuple(found)


def loaded() -> tuple[int, str]:
    """What changes when a module is loaded."""
    return len(sys.modules), next(reversed(sys.modules))


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


def judged(function: FunctionType, known: Known, verdict: Verdict) -> Any:
    """The function, whose row speaks for everything inside."""
    _, attribute, row, first, last, within = known
    made = attribute == "__init__"
    whole = row.args[:1] != ("self",)  # where what is made decides, it is an argument as well

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        given, owner = (args[whole:], args[0]) if made else (args, None)
        if first:
            verdict.judge(row, first, given, kwargs, HOST, owner)
        setup = verdict.found(row, within, given, kwargs, HOST, owner) if within else {}
        hushed = verdict.hushed
        result = quietly(function, args, kwargs)
        if verdict.hushed > hushed:  # else a module of its own mind has moved what it has at lines of its own
            for hazard in setup:
                verdict.tell(row.name, hazard)
        if last:
            verdict.judge(row, last, given, kwargs, max(map(place, tensors([result])), default=HOST), owner)
        return result

    call._syncguard_row = row  # type: ignore[attr-defined]
    return call
