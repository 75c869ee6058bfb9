"""Modules that the program imports while it is simulated: told of when they have run, or stood in for."""

from __future__ import annotations

import importlib.machinery
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import torch

BUILDERS = "torch.utils.cpp_extension"  # compiles extensions for CUDA while the program runs

BUILDS = ("load", "load_inline")


class Later(MetaPathFinder):
    """A finder in front of the others: `loaded` hears of the modules that it wants, `absent` ones get a stand-in."""

    def __init__(
        self, wanted: Callable[[str], bool], loaded: Callable[[], None], absent: Callable[[str], bool]
    ) -> None:
        self.wanted, self.loaded, self.absent = wanted, loaded, absent

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if self.absent(name.partition(".")[0]) or self.absent(name):
            return ModuleSpec(name, StandIn(), is_package=True)
        if not self.wanted(name) and name != BUILDERS:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = Telling(spec.loader, self)
        return spec

    def enter(self) -> None:
        sys.meta_path.insert(0, self)
        module = sys.modules.get(BUILDERS)  # torch.compile loads it too
        self._builders = {name: getattr(module, name) for name in BUILDS} if module is not None else {}
        for name, original in self._builders.items():
            setattr(module, name, building(original, self))

    def leave(self) -> None:
        sys.meta_path.remove(self)
        for name, original in self._builders.items():
            setattr(sys.modules[BUILDERS], name, original)
        for name, module in list(sys.modules.items()):
            if isinstance(module, Skipped):
                del sys.modules[name]


class Telling(Loader):
    """A loader that says when it is done."""

    def __init__(self, inner: Any, later: Later) -> None:
        self._inner, self._later = inner, later

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        made: ModuleType | None = self._inner.create_module(spec)
        return made

    def exec_module(self, module: ModuleType) -> None:
        self._inner.exec_module(module)
        self._later.loaded()
        if module.__name__ == BUILDERS:
            for name in BUILDS:
                setattr(module, name, building(getattr(module, name), self._later))


def building(original: Callable[..., Any], later: Later) -> Callable[..., Any]:
    """What compiles an extension, unless it is to be stepped over."""

    def build(name: str, *args: Any, **settings: Any) -> Any:
        if later in sys.meta_path and later.absent(name):
            return Skipped(name)
        return original(name, *args, **settings)

    return build


class StandIn(Loader):
    """Makes a module out of nothing."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return Skipped(spec.name)

    def exec_module(self, module: ModuleType) -> None: ...


class Skipped(ModuleType):
    """A module that is stepped over: each of its functions gives back its first tensor."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return BLANK


class Blank:
    """Whatever a module that is stepped over holds: a function, a decorator, a kernel to be launched, a base class."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return stepped_over(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __getitem__(self, grid: Any) -> Blank:
        return self

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        return ()

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __bool__(self) -> bool:
        return False


BLANK = Blank()


def stepped_over(*args: Any, **kwargs: Any) -> Any:
    """In the place of a kernel: shapes and values are those of the first tensor that went in."""
    return next((value for value in (*args, *kwargs.values()) if isinstance(value, torch.Tensor)), BLANK)
