"""A function or a module that torch.jit compiles -> what stands for the script: it runs eagerly, and fails as one."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType, MethodType
from typing import Any

import torch

from syncguard.observe.attribute import OURS

ADDED = {"_compiled_call_impl", "save"}  # what stands in a module that stands for a script
COMPILED: Any = vars(torch.jit)["RecursiveScriptModule"]  # what C++ made
ASKED = frozenset({"graph", "inlined_graph", "code"})  # what only the compiler knows of a script
SAID = "The following operation failed in the TorchScript interpreter."


def scripted(made: Any, compiled: Callable[[], Any]) -> Any:
    """The stand-in for a script of this; classes, and what is compiled already, are themselves. `compiled` gives what
    the compiler makes of it, to who asks for its graph."""
    if isinstance(made, torch.nn.Module):
        script = made if is_script(made) else twin(made, {})
        vars(script)["save"].compiled = compiled
        return script
    if isinstance(made, FunctionType):
        return function(made)
    return made


def showing(original: Callable[[Any, str], Any]) -> Callable[[Any, str], Any]:
    """What a module has not got, and its script has."""

    @functools.wraps(original)
    def attribute(module: torch.nn.Module, name: str) -> Any:
        if name in ASKED and is_script(module) and (compiled := vars(module)["save"].compiled) is not None:
            return getattr(compiled(), name)
        return original(module, name)

    return attribute


def is_script(value: object) -> bool:
    """Whether it stands for the script of a module."""
    return isinstance(getattr(value, "__dict__", {}).get("save"), Saving)


class Saving:
    """The `save` of a script, and what compiles it; a module is copied and pickled with it."""

    def __init__(self, script: Any) -> None:
        self.script = script
        self.compiled: Callable[[], Any] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {"script": self.script, "compiled": None}

    def __call__(self, *args: Any, **settings: Any) -> None:
        torch.jit.save(self.script, *args, **settings)


def function(original: FunctionType) -> Any:
    """The script of a function. The compiler, which may meet it in what is saved, looks through it as torch has it."""
    if hasattr(original, "__script_if_tracing_wrapper"):
        return original

    @functools.wraps(original)
    def script(*args: Any, **kwargs: Any) -> Any:
        return failing(original, args, kwargs)

    known: dict[str, Any] = vars(script)
    known |= {"__script_if_tracing_wrapper": True, "__original_fn": original, "save": Saving(original)}
    return script


def twin(module: torch.nn.Module, known: dict[int, torch.nn.Module]) -> torch.nn.Module:
    """The script of a module: another module, and so are its children, with the same parameters and buffers."""
    if id(module) in known or isinstance(module, COMPILED):
        return known.get(id(module), module)
    made: torch.nn.Module = object.__new__(type(module))
    known[id(module)] = made
    for name, value in vars(module).items():
        own = isinstance(value, MethodType) and value.__self__ is module
        vars(made)[name] = MethodType(value.__func__, made) if own else value
    for name in vars(torch.nn.Module()).keys() & vars(module).keys():
        vars(made)[name] = copy.copy(vars(module)[name])
    for name, child in module._modules.items():
        made._modules[name] = None if child is None else twin(child, known)
    vars(made).update({"_compiled_call_impl": Calling(made), "save": Saving(made)})
    return made


class Calling:
    """A call of the script of a module."""

    def __init__(self, script: torch.nn.Module) -> None:
        self.script = script

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return failing(self.script._call_impl, args, kwargs)


def failing(call: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What Python raises in a script leaves it as an error of torch.jit, what an operation raises as a RuntimeError."""
    try:
        return call(*args, **kwargs)
    except torch.jit.Error:
        raise
    except Exception as fault:
        if not by_operation(fault):
            kind = f"{type(fault).__module__}.{type(fault).__qualname__}"
            raise torch.jit.Error(f"{SAID}\n{kind}: {fault}") from fault
        if isinstance(fault, RuntimeError):
            raise
        raise RuntimeError(f"{SAID}\nRuntimeError: {fault}") from fault


def by_operation(fault: Exception) -> bool:
    """Whether it comes from where we call C++, or is ours, and not from a line of Python that raises."""
    link = fault.__traceback__
    while link is not None and link.tb_next is not None:
        link = link.tb_next
    return link is not None and link.tb_frame.f_code.co_filename.startswith(OURS)


@contextmanager
def bare(script: Any) -> Iterator[None]:
    """In here the compiler finds nothing of ours in a module."""
    made = script.modules() if isinstance(script, torch.nn.Module) else ()
    kept = [(vars(one), {name: vars(one).pop(name) for name in ADDED & vars(one).keys()}) for one in made]
    try:
        yield
    finally:
        for held, values in kept:
            held.update(values)
