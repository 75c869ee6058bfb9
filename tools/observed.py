"""Torch's own sample inputs (OpInfo, ModuleInfo, distributions) -> what was returned, by dtype class and rank."""

from __future__ import annotations

import inspect
import itertools
import sys
import types
import unittest
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch.overrides import TorchFunctionMode, resolve_name

DTYPES = (torch.float32, torch.int64, torch.bool, torch.complex64)


@dataclass(frozen=True)
class Seen:
    """One call: the arguments and the result, tensors shown as (dtype class, rank)."""

    name: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    result: Any


class Watch(TorchFunctionMode):
    """Keeps every torch callable that is reached, with what went in and what came out."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[Seen] = []

    def __torch_function__(self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        before = shown(tuple(args)), shown(kwargs)
        result = func(*args, **kwargs)
        name = (resolve_name(func) or "").removesuffix(".__get__")
        inplace = bool(args) and result is args[0] and (name.rpartition(".")[2].startswith("__i") or name.endswith("_"))
        self.seen.append(Seen(name, *before, "self" if inplace else shown(result)))
        return result


def observe() -> list[Seen]:
    """All that was seen; the samples that an operator refuses are passed over."""
    warnings.simplefilter("ignore")
    stub = types.ModuleType("expecttest")  # a test-only dependency of torch.testing._internal
    stub.TestCase, stub.assert_expected_inline = unittest.TestCase, None  # type: ignore[attr-defined]
    sys.modules.setdefault("expecttest", stub)
    torch.manual_seed(0)
    return [*operators(), *modules(), *distributions()]


def operators() -> Iterator[Seen]:
    from torch.testing._internal.common_methods_invocations import op_db

    for op in op_db:
        for sample, dtype in itertools.chain.from_iterable(samples(op, dtype) for dtype in DTYPES):
            for variant in (op.op, op.method_variant, op.inplace_variant):
                for inputs in mixed(sample.input, sample.args, dtype):
                    if variant is not None and sample.input is not None:
                        yield from watched(variant, *inputs, **sample.kwargs)


def samples(op: Any, dtype: torch.dtype) -> list[tuple[Any, torch.dtype]]:
    try:
        if op.supports_dtype(dtype, "cpu"):
            return [(sample, dtype) for sample in itertools.islice(op.sample_inputs("cpu", dtype), 12)]
    except Exception:  # a sample generator may need what this machine lacks
        pass
    return []


def mixed(first: Any, rest: tuple[Any, ...], dtype: torch.dtype) -> Iterator[tuple[Any, ...]]:
    """The sample, and the sample with a first or second tensor of another dtype, so that promotion shows.

    And with the two of different rank in each other's place, so that broadcasting shows.
    """
    yield first, *rest
    strided = [isinstance(a, torch.Tensor) and a.layout == torch.strided for a in (first, *rest[:1])]
    if strided == [True, True] and dtype == torch.float32:
        yield first > 0, *rest
        yield first.long(), *rest
        yield first, rest[0] > 0, *rest[1:]
        if first.ndim != rest[0].ndim:
            yield rest[0], first, *rest[1:]


def watched(call: Callable[..., Any], *args: Any, **kwargs: Any) -> list[Seen]:
    copied = tuple(a.detach().clone() if isinstance(a, torch.Tensor) and a.layout == torch.strided else a for a in args)
    with Watch() as watch:
        try:
            call(*copied, **kwargs)
        except Exception:  # a sample that is refused says nothing
            pass
    return watch.seen


def modules() -> Iterator[Seen]:
    """The forward of every nn module."""
    from torch.testing._internal.common_modules import module_db

    for info in module_db:
        try:
            inputs = info.module_inputs_func(
                info, device="cpu", dtype=torch.float32, requires_grad=False, training=True
            )
        except Exception:
            continue
        for sample in inputs:
            build, call = sample.constructor_input, sample.forward_input
            if call is None:
                continue
            try:
                module = info.module_cls(*build.args, **build.kwargs)
                result = module(*call.args, **call.kwargs)
            except Exception:
                continue
            name = f"torch.nn.{info.module_cls.__name__}.forward"
            yield Seen(name, ("module", *shown(tuple(call.args))), shown(call.kwargs), shown(result))


def distributions() -> Iterator[Seen]:
    """Samples, densities and moments of every distribution."""
    for shape in inspect.getmembers(torch.distributions, inspect.isclass):
        for args in ((), *PARAMETERS):
            yield from moments(f"torch.distributions.{shape[0]}", shape[1], args)


ONE, TWO, EYE = torch.tensor([0.5, 0.25]), torch.tensor([1.0, 2.0]), torch.eye(2)
NORMAL = torch.distributions.Normal(ONE, TWO)
PARAMETERS: tuple[tuple[Any, ...], ...] = (
    *((ONE,), (ONE, TWO), (TWO, EYE), (3, ONE), (TWO, TWO, TWO), (4.0, EYE), (TWO, torch.ones(2, 1), TWO), (2, 1.0)),
    *((NORMAL, 1), (torch.distributions.Categorical(ONE), NORMAL), (torch.tensor(1.0), ONE, ONE), (0.5, ONE)),
    (NORMAL, torch.distributions.transforms.ExpTransform()),
)


def moments(name: str, shape: type, args: tuple[Any, ...]) -> Iterator[Seen]:
    try:
        distribution = shape(*args)
        value = distribution.sample()
    except Exception:
        return
    yield Seen(f"{name}.sample", ("new",), {}, shown(value))
    for key in dir(shape):
        if key.startswith("_") or key in ("sample", "arg_constraints", "support"):
            continue
        try:
            member = getattr(distribution, key)
            for given in ((), (value,), (torch.tensor([0.5, 0.25]),)):
                if not callable(member):
                    yield Seen(f"{name}.{key}", ("new",), {}, shown(member))
                    break
                try:
                    yield Seen(f"{name}.{key}", ("new", *shown(given)), {}, shown(member(*given)))
                except Exception:
                    continue
        except Exception:
            continue


def shown(value: Any) -> Any:
    """Tensors as (dtype class, rank), containers by their parts, the rest by type."""
    if isinstance(value, torch.Tensor):
        return ("tensor", dtype_class(value.dtype), value.ndim)
    if isinstance(value, torch.Size):
        return "size"
    if isinstance(value, tuple) and hasattr(type(value), "n_fields"):
        names = [key for key in dir(value) if not key.startswith(("_", "n_")) and key not in ("count", "index")]
        order = {id(getattr(value, key)): key for key in names}
        return {order.get(id(item), "?"): shown(item) for item in value}
    if isinstance(value, (list, tuple)):
        return [shown(item) for item in value]
    if isinstance(value, dict):
        return {str(key): shown(item) for key, item in value.items()}
    if isinstance(value, (bool, int, float, complex, str)) or value is None:
        return value
    return (
        {torch.dtype: "dtype", torch.device: "device"}.get(type(value), f"<{type(value).__name__}>")
        if not isinstance(value, torch.dtype)
        else value
    )


def dtype_class(dtype: torch.dtype) -> str:
    return (
        "bool"
        if dtype == torch.bool
        else "complex"
        if dtype.is_complex
        else "float"
        if dtype.is_floating_point
        else "int"
    )
