"""A function and sizes -> how long it takes on the host, copies there and back included, and on the device.

The crossover is the size from which the device is faster, and stays so. It was measured on the machine at hand; a
number in source was measured on some other one.
"""

from __future__ import annotations

import importlib
import math
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import torch

MOST_S = 1.0  # how long one size is measured
TRIES = 7
SHARE = 0.25  # of the memory, for one tensor


class Unmeasurable(Exception):
    """What cannot be measured here, and why, in one line."""


@dataclass(frozen=True, slots=True)
class Point:
    """One size: milliseconds of a call on the host with its copies, of the copies alone, and of one on the device."""

    size: int
    host_ms: float
    copies_ms: float
    device_ms: float


@dataclass(frozen=True, slots=True)
class Crossover:
    """All sizes that were measured, and from which on the device is faster (0: from none)."""

    function: str
    device: str
    points: tuple[Point, ...]

    @property
    def at(self) -> int:
        slower = [n for n, point in enumerate(self.points) if point.device_ms >= point.host_ms]
        first = slower[-1] + 1 if slower else 0
        return self.points[first].size if first < len(self.points) else 0


def function_of(name: str) -> Callable[..., Any]:
    """The function behind a dotted name: torch.linalg.qr, mypackage.solve."""
    module, _, rest = name.partition(".")
    try:
        found: Any = importlib.import_module(module)
    except ImportError as fault:
        raise Unmeasurable(f"{name}: {fault}") from None
    for part in rest.split(".") if rest else ():
        try:
            found = (
                getattr(found, part) if hasattr(found, part) else importlib.import_module(f"{found.__name__}.{part}")
            )
        except (ImportError, AttributeError):
            raise Unmeasurable(f"{name}: `{part}` is not in {getattr(found, '__name__', module)}") from None
    if not callable(found):
        raise Unmeasurable(f"{name} is a {type(found).__name__}, not a function")
    return found  # type: ignore[no-any-return]


def made(size: int, shape: str, dtype: str) -> torch.Tensor:
    """The argument of one size on the host: a shape such as `n,n` or `64,n`."""
    return torch.randn(made_of(size, shape)).to(getattr(torch, dtype))


def made_of(size: int, shape: str) -> list[int]:
    """The sides of a shape at one size; Unmeasurable where it is none, or larger than this machine."""
    try:
        sides = [size if part.strip() == "n" else int(part) for part in shape.split(",")]
    except ValueError:
        raise Unmeasurable(f"'{shape}' is no shape: numbers and n, such as n,n") from None
    if min(sides) < 0:
        raise Unmeasurable(f"'{shape}' is no shape: a side is not negative")
    needed = math.prod(sides) * 4  # bytes, as it is drawn
    if needed > memory() * SHARE:
        raise Unmeasurable(
            f"size {size} is too large: a tensor of {needed / 1e9:,.1f} GB on a machine of {memory() / 1e9:,.1f}"
        )
    return sides


def memory() -> int:
    """Bytes of this machine."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # Windows has no sysconf
        return 2**63


def tried(name: str, sizes: Sequence[int], shape: str, dtype: str) -> Point:
    """Without a GPU: the smallest size, on the host alone. The function takes it, or Unmeasurable says why not."""
    call = function_of(name)
    largest, smallest = max(sizes), min(sizes)
    made_of(largest, shape)
    return point(call, made(smallest, shape, dtype), smallest, name, device="cpu")


def crossover(
    name: str, sizes: Sequence[int], shape: str = "n,n", dtype: str = "float32", tell: Any = None
) -> Crossover:
    """Measure a function over sizes; Unmeasurable where there is no GPU, or the function takes no such tensor."""
    call = function_of(name)
    if not torch.cuda.is_available():
        raise Unmeasurable("there is no GPU that torch can use here, and a crossover is measured or it is nothing")
    made_of(max(sizes), shape)  # before an hour is spent on the smaller ones
    points = []
    for size in sorted(set(sizes)):
        points.append(point(call, made(size, shape, dtype), size, name))
        if tell is not None:
            tell(points[-1])
    return Crossover(name, torch.cuda.get_device_name(), tuple(points))


def point(call: Callable[..., Any], x: torch.Tensor, size: int, name: str, device: str = "cuda") -> Point:
    """One size. The tensor begins on the device, and what comes out must be there."""
    there = x.to(device)

    def on_host() -> Any:
        return moved(call(there.cpu()), device)

    def copies() -> Any:
        return there.cpu().to(device)

    try:
        return Point(size, *(timed(step, device) for step in (on_host, copies, lambda: call(there))))
    except Exception as fault:
        said = str(fault).strip().split("\n")[0]
        raise Unmeasurable(f"{name} with {tuple(x.shape)}: {type(fault).__name__}: {said}") from None


def moved(value: Any, device: str) -> Any:
    """Every tensor in a result on the device."""
    if isinstance(value, torch.Tensor):
        return value.to(device)
    return [moved(item, device) for item in value] if isinstance(value, (tuple, list)) else value


def timed(step: Callable[[], Any], device: str) -> float:
    """Milliseconds until the device is done with it: the median of a few."""
    settle = torch.cuda.synchronize if device == "cuda" else _nothing
    taken: list[float] = []
    begin = time.perf_counter()
    while len(taken) < TRIES + 1 and (len(taken) < 3 or time.perf_counter() - begin < MOST_S):
        settle()
        start = time.perf_counter()
        step()
        settle()
        taken.append((time.perf_counter() - start) * 1e3)
    return round(median(taken[1:]), 4)  # the first is warm-up


def _nothing() -> None:
    return None
