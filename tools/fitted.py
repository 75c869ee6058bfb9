"""Observed calls -> the narrowest result expression that holds for all; and whether an expression holds for a call."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from observed import Seen, dtype_class

sys.path.insert(0, str(Path(__file__).parent.parent))
from syncguard.pack import Result, results

ORDER = ("bool", "int", "float", "complex")


@dataclass(frozen=True)
class Call:
    """A call by argument name, with what its tensors have in common."""

    given: dict[str, Any]
    tensors: tuple[tuple[str, str, int], ...]
    numbers: tuple[str, ...]
    result: Any


def bound(seen: Seen, args: str) -> Call:
    """The arguments by name; a starred name takes the rest."""
    names = args.split(",") if args else []
    given: dict[str, Any] = {}
    for n, value in enumerate(seen.args):
        name = names[n] if n < len(names) else f"{n}"
        if name.startswith("*") or (n == len(names) - 1 and len(seen.args) > len(names)):
            given[name.lstrip("*")] = list(seen.args[n:])
            break
        given[name] = value
    given |= seen.kwargs
    flat = [leaf for value in given.values() for leaf in leaves(value)]
    tensors = tuple(leaf for leaf in flat if isinstance(leaf, tuple))
    numbers = tuple(type(leaf).__name__ for leaf in flat if type(leaf) in (bool, int, float, complex))
    return Call(given, tensors, numbers, seen.result)


def leaves(value: Any) -> list[Any]:
    return [leaf for item in value for leaf in leaves(item)] if isinstance(value, list) else [value]


def holds(text: str, call: Call) -> bool:
    """Does the expression describe the result of the call?"""
    chosen = next(
        shape for conditions, shape in results(text) if all(met(name, args, call) for name, args in conditions)
    )
    return fits(chosen, call.result, call)


def met(condition: str, names: str, call: Call) -> bool:
    values = [call.given.get(name) for name in names.split("|")]
    match condition:
        case "given":
            return any(value is not None for value in values)
        case "missing":
            return all(value is None for value in values)
        case "true":
            return any(value is True for value in values)
        case "tensor":
            return any(isinstance(leaf, tuple) for value in values for leaf in leaves(value))
        case "alone":
            return set(call.given) == {names}
        case "built":
            return False  # where it is counts alone, and that is not recorded
        case "zero_dim":
            found = (leaf for value in values for leaf in leaves(value) if isinstance(leaf, tuple))
            return any(rank == 0 and dtype != "bool" for _, dtype, rank in found)
        case "number":
            return any(type(value) in (bool, int, float, complex) for value in values)
    raise ValueError(condition)


def fits(shape: Result, result: Any, call: Call) -> bool:
    match shape.kind:
        case "tensor":
            return is_tensor(result) and result[1] in dtypes(shape, call) and result[2] in ranks(shape, call, result[2])
        case "self" | "unknown" | "new":
            return result == "self" or shape.kind != "self"
        case "tuple":
            result = list(result.values()) if isinstance(result, dict) else result
            return (
                isinstance(result, (list, dict))
                and len(result) == len(shape.parts)
                and all(
                    fits(part, item, call)
                    for (_, part), item in zip(shape.parts, result.values() if isinstance(result, dict) else result)
                )
            )
        case "each":
            given = [value for value in leaves([*call.given.values()]) if is_tensor(value)]
            return isinstance(result, list) and [item[1] for item in result] == [value[1] for value in given]
        case "list":
            return isinstance(result, list) and all(fits(shape.parts[0][1], item, call) for item in result)
        case "named":
            return (
                isinstance(result, dict)
                and list(result) == [name for name, _ in shape.parts]
                and all(fits(part, result[name], call) for name, part in shape.parts)
            )
        case "number":
            return type(result) in (bool, int, float, complex)
        case "none":
            return result is None
        case "int" | "float" | "bool" | "str":
            return type(result).__name__ == shape.kind
        case "dtype":
            return isinstance(result, torch.dtype)
    return result == shape.kind or result == f"<{shape.kind}>"


def is_tensor(value: Any) -> bool:
    return isinstance(value, tuple) and len(value) == 3 and value[0] == "tensor"


def dtypes(shape: Result, call: Call) -> set[str]:
    """The dtype classes that the expression allows; a complex argument makes any float complex or the other way."""
    wanted = call.given.get("dtype")
    if isinstance(wanted, torch.dtype) and shape.place in ("factory", "like", "kwarg"):
        return {dtype_class(wanted)}
    first = call.tensors[0][1] if call.tensors else ""
    match shape.dtype:
        case "":
            found = {first} if first else set(ORDER)
        case "count":
            found = {"int" if first == "bool" else first}
        case "promote":
            found = (
                {max((*(t[1] for t in call.tensors), *call.numbers), key=ORDER.index)} if call.tensors else set(ORDER)
            )
        case constant:
            found = {constant}
    return (
        found | {"float", "complex"}
        if any(t[1] == "complex" for t in call.tensors) or shape.dtype == "complex"
        else found
    )


def ranks(shape: Result, call: Call, actual: int) -> set[int]:
    first = call.tensors[0][2] if call.tensors else actual
    match shape.rank:
        case "0d" | "1d" | "2d":
            return {int(shape.rank[0])}
        case "samerank":
            return {first}
        case "more":
            return {first + 1}
        case "broadcast":
            return {max((tensor[2] for tensor in call.tensors), default=actual)}
        case "reduce" | "drop":
            dims = next((dim for name in ("dim", "axis") if (dim := call.given.get(name)) is not None), None)
            dims = dims[0] if isinstance(dims, list) and len(dims) == 1 and isinstance(dims[0], list) else dims
            lost = len(dims) if isinstance(dims, list) else 1 if dims is not None or shape.rank == "drop" else first
            return {first if call.given.get("keepdim") is True else max(first - lost, 0)}
    return {actual}


def fit(calls: list[Call], prefer_same: bool = False, place: str = "") -> str:
    """The narrowest expression for all calls, or "" where they differ in kind."""
    picked = [call for call in calls if call.result != "self"] or calls
    if all(call.result == "self" for call in picked):
        return "self"
    return describe([(call.result, call) for call in picked], prefer_same, place)


def describe(seen: list[tuple[Any, Call]], prefer_same: bool, place: str) -> str:
    values = [value for value, _ in seen]
    if all(map(is_tensor, values)):
        return " ".join(filter(None, ("tensor", dtype_of(seen, prefer_same, place), rank_of(seen), place)))
    if all(isinstance(value, dict) for value in values) and len({tuple(value) for value in values}) == 1:
        parts = [
            f"{name}={describe([(value[name], call) for value, call in seen], prefer_same, place)}"
            for name in values[0]
        ]
        return f"named({', '.join(parts)})"
    if all(isinstance(value, list) for value in values):
        lengths = {len(value) for value in values}
        if len(lengths) == 1 and lengths != {0}:
            parts = [
                describe([(value[n], call) for value, call in seen], prefer_same, place) for n in range(lengths.pop())
            ]
            return f"tuple({', '.join(parts)})" if all(parts) else ""
        inner = describe([(item, call) for value, call in seen for item in value], prefer_same, place)
        return f"list({inner})" if inner else ""
    names = {
        "none"
        if value is None
        else "dtype"
        if isinstance(value, torch.dtype)
        else type(value).__name__
        if not isinstance(value, str)
        else value
        for value in values
    }
    only = names.pop() if len(names) == 1 else ""
    return (
        only
        if only in ("none", "dtype", "int", "float", "bool", "size")
        else "str"
        if all(isinstance(v, str) and not v.startswith("<") for v in values)
        else ""
    )


def dtype_of(seen: list[tuple[Any, Call]], prefer_same: bool, place: str) -> str:
    constants = ("bool", "int", "float", "complex")
    order = ("", *constants, "count", "promote") if prefer_same else (*constants, "", "count", "promote")
    if place:
        seen = [(value, call) for value, call in seen if call.given.get("dtype") is None]
        if not seen:
            return "float" if place == "factory" else ""
    for calls in (seen, [(v, c) for v, c in seen if all(t[1] != "complex" for t in c.tensors)]):
        for dtype in order:
            shape = Result("tensor", dtype, "", place)
            if calls and all(value[1] in dtypes(shape, call) for value, call in calls):
                return dtype
    return "promote"


def rank_of(seen: list[tuple[Any, Call]]) -> str:
    """The word for the rank that holds for all, if what was seen could have shown it wrong."""
    inputs = {call.tensors[0][2] if call.tensors else -1 for _, call in seen}
    words = ("samerank", "0d", "1d", "2d", "drop", "reduce", "more", "broadcast")
    shapes = [Result("tensor", "", rank) for rank in words]
    fitting = [s.rank for s in shapes if all(value[2] in ranks(s, call, value[2]) for value, call in seen)]
    if not fitting or fitting[:2] == ["drop", "reduce"]:  # seen only where a dim= is given: they part where none is
        return ""
    return fitting[0] if len(inputs) > 1 or (fitting[0] == "0d" and max(inputs) > 0) else ""
