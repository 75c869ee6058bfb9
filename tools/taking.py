"""The schemas and annotations of torch in, the places where a function takes a tensor and nothing else for it out."""

from __future__ import annotations

import inspect
from functools import cache
from typing import Any

import torch

GROUPS = ("linalg", "fft", "special")  # modules whose functions have their name before that of the operator


def marked(name: str, args: str, given: dict[str, str]) -> str:
    """The arguments of a function or of a tensor's method, with a mark behind those that can be nothing but a tensor:
    as they are `given` for some, else by what is declared and by the operator, which must not gainsay each other."""
    owner, _, short = name.rpartition(".")
    method = owner == "torch.Tensor"
    if name in given:
        return given[name]
    if not args or short.startswith("__") or (owner.rpartition(".")[2][:1].isupper() and not method):
        return args
    declared, known = annotated(name), operators(name)
    names = args.split(",")
    for place, one in enumerate(names):
        told = [answer for answer in (declared.get(one), tensors(known, place)) if answer is not None]
        if told and all(told) and not one.startswith("*") and not (method and (place == 0 or not tensors(known, 0))):
            names[place] = f"{one}!"
    return ",".join(names)


def annotated(name: str) -> dict[str, bool]:
    """Of a function of Python, whether each parameter is declared to be a tensor; of any, those without an annotation
    are left to the operator."""
    thing: Any = torch
    for part in name.split(".")[1:]:
        thing = getattr(thing, part, None)
    try:
        parameters = inspect.signature(thing).parameters.values() if inspect.isfunction(thing) else ()
    except (ValueError, TypeError):
        return {}
    notes = {p.name: p.annotation for p in parameters if p.annotation is not inspect.Parameter.empty}
    return {one: note in (torch.Tensor, "Tensor", "torch.Tensor") for one, note in notes.items()}


def operators(name: str) -> list[list[str]]:
    """Of each overload of the operator that a function is, or calls beneath, the types of the arguments that have a
    place."""
    group, _, short = name.removeprefix("torch.").rpartition(".")
    named = f"{group}_{short}" if group in GROUPS else short
    known = group in ("", "Tensor", "nn.functional", *GROUPS)
    return [types for types in overloads().get(named, ()) if any("Tensor" in one for one in types)] if known else []


@cache
def overloads() -> dict[str, list[list[str]]]:
    """The types of the arguments of all operators, overload by overload, but for those that write into `out`."""
    found: dict[str, list[list[str]]] = {}
    for schema in torch._C._jit_get_all_schemas():  # noqa: SLF001
        space, _, short = schema.name.partition("::")
        if space == "aten" and not any(one.name == "out" for one in schema.arguments):
            found.setdefault(short, []).append([str(one.type) for one in schema.arguments if not one.kwarg_only])
    return found


def tensors(known: list[list[str]], place: int) -> bool | None:
    """Whether each overload that has this place takes a tensor there; None where there is none."""
    there = [types[place] for types in known if place < len(types)]
    return all(one == "Tensor" for one in there) if there else None
