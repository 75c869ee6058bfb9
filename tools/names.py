"""Torch's public modules -> every public function and class with all its spellings, and the members of a class."""

from __future__ import annotations

import fnmatch
import importlib
import inspect
from collections.abc import Container
from types import ModuleType
from typing import Any

import torch
from stubs import Entry, annotated, arguments, noted
from torch.overrides import resolve_name

PLAIN = ("bool", "int", "float", "str")  # what a module's attribute is declared to be that is no tensor
DUNDERS = ("__call__", "__len__", "__iter__", "__getitem__", "__enter__", "__next__", "__contains__")


def public(modules: list[str], private: list[str], shown: Container[str]) -> list[tuple[Any, list[str]]]:
    """What the modules show, and some names with an underscore."""
    found: dict[int, tuple[Any, list[str]]] = {}
    for path in modules:
        try:
            module = importlib.import_module(path)
        except ImportError:
            continue
        listed = {name for name in getattr(module, "__all__", ()) if not name.startswith("__")}
        for name in sorted({name for name in dir(module) if not name.startswith("_")} | listed):
            note(found, f"{path}.{name}", getattr(module, name, None), shown)
    for path in private:
        owner, _, name = path.rpartition(".")
        note(found, path, getattr(importlib.import_module(owner), name, None), shown)
    return list(found.values())


def spelled(pattern: str) -> list[str]:
    """The names that a pattern stands for: what torch has under `torch._foreach_*`."""
    return fnmatch.filter([f"torch.{name}" for name in dir(torch)], pattern) if "*" in pattern else [pattern]


def note(found: dict[int, tuple[Any, list[str]]], name: str, thing: Any, shown: Container[str]) -> None:
    """Keep a callable of torch, but not the machinery of the JIT."""
    home = str(getattr(thing, "__module__", None) or type(thing).__module__)
    short = name.removeprefix("torch.")
    inner = inspect.isclass(thing) and hasattr(torch._C, short) and short not in shown  # noqa: SLF001
    if inner and not short.endswith(("Tensor", "Storage", "Error")):
        return
    ours = home.startswith(("torch", "functorch")) or inspect.isbuiltin(thing)
    if callable(thing) and ours and not isinstance(thing, (ModuleType, torch.dtype)):
        found.setdefault(id(thing), (thing, []))[1].append(name)


def first(names: list[str]) -> str:
    """The spelling that people use: few dots, no module that holds the implementation."""
    return min(names, key=lambda n: (n.startswith("torch.functional."), ".modules." in n, n.count("."), len(n), n))


def defined(thing: Any) -> list[str]:
    """Where a thing is defined, and what TorchFunctionMode calls it."""
    called = resolve_name(thing) if inspect.isroutine(thing) else None
    names = [f"{thing.__module__}.{thing.__qualname__}"] if inspect.isclass(thing) or inspect.isfunction(thing) else []
    usable = [name for name in (*names, called or "") if name.startswith("torch.") and not name.endswith(".")]
    return [name for name in usable if "<" not in name]


def members(thing: type, name: str, known: Container[int]) -> dict[str, Entry]:
    """The methods and properties that a class, or a base that is not public, defines."""
    found: dict[str, Entry] = {}
    if (name.endswith("Tensor") and name != "torch.Tensor") or name.startswith("torch.return_types"):
        return found
    for owner in thing.__mro__:
        if owner is not thing and (id(owner) in known or not owner.__module__.startswith("torch")):
            break
        for key, value in vars(owner).items():
            entry = member(value) if not key.startswith("_") or key in DUNDERS else None
            if entry is not None:
                found.setdefault(f"{name}.{key}", entry)
        for key, note in inspect.get_annotations(owner).items() if issubclass(thing, torch.nn.Module) else ():
            if noted(note) in PLAIN and "None" not in str(note) and "Optional" not in str(note):
                found.setdefault(f"{name}.{key}", [noted(note), "self", "property"])
    return found


def member(value: Any) -> Entry | None:
    if isinstance(value, property):
        return [annotated(value.fget), "self", "property"]
    if isinstance(value, (staticmethod, classmethod)):
        return [annotated(value.__func__), arguments(value.__func__)]
    if not callable(value) or inspect.isclass(value):
        return None
    names = arguments(value)  # a docstring leaves the receiver out
    return [annotated(value), names if names.partition(",")[0] in ("self", "cls") else f"self,{names}".rstrip(",")]
