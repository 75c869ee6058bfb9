"""For the tests of recipes: a program's text after a fix, and whether two programs do the same."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import CodeType
from typing import Any

import on_cpu
import torch
from msgspec.structs import replace

from syncguard import fixing, pipeline
from syncguard.config import Config
from syncguard.terms import Finding

CONFIG = replace(Config(), heat="all", cache=False)
NAME = "program.py"
STDIN = replace(CONFIG, stdin_filename=NAME)


def findings(source: str) -> tuple[Finding, ...]:
    """The findings of a program, with their fixes."""
    return pipeline.check(("-",), STDIN, source, fixes=True).findings


def codes(source: str) -> list[str]:
    return [finding.code for finding in findings(source)]


def fixes(source: str, recipe: str = "") -> list[Any]:
    """The fixes proposed for a program, those of one recipe only."""
    return [f.fix for f in findings(source) if f.fix is not None and recipe in ("", f.fix.recipe)]


@cache
def rewritten(source: str, recipe: str = "", unsafe: bool = False) -> str | None:
    """The program after all fixes (of one recipe) of these tiers; None where there is none."""
    compile(source, NAME, "exec")

    def ask(finding: Finding, before: str, after: str) -> bool:
        return finding.fix is not None and recipe in ("", finding.fix.recipe)

    done = fixing.fixed(("-",), STDIN, source, fixing.UNSAFE if unsafe else fixing.SAFE, ask)
    before, after = done.texts[NAME]
    assert before == source
    if before == after:
        return None
    compile(after, NAME, "exec")
    again = fixing.fixed(("-",), STDIN, after, fixing.UNSAFE if unsafe else fixing.SAFE, ask)
    assert not again.changed, "a second pass changes nothing"
    return after


class Later(dict[Any, Any]):
    """A table whose values are made when they are asked for: no test waits for the programs of the others."""

    def __init__(self, make: Callable[[Any], Any]) -> None:
        super().__init__()
        self.make = make

    def __missing__(self, key: Any) -> Any:
        value = self[key] = self.make(key)
        return value


def function(source: str, name: str = "f") -> Callable[..., Any]:
    """A function of a program, on the CPU."""
    space: dict[str, Any] = {"__name__": "program"}
    exec(_compiled(source), space)
    found: Callable[..., Any] = space[name]
    return found


@cache
def _compiled(source: str) -> CodeType:
    return compile(on_cpu.DEVICE.sub("cpu", source), NAME, "exec")


def same(
    before: str,
    after: str,
    make: Callable[[], tuple[Any, ...]],
    name: str = "f",
    exact: bool = True,
    aliases: bool = False,
) -> None:
    """Two programs' functions, given equal arguments: equal results, gradients, errors, and arguments afterwards.

    `make` gives fresh arguments. Without `exact` floats may differ by rounding, and a count may be a 0-d tensor. With
    `aliases` the results share memory with one another and with the arguments as they did.
    """
    results = []
    for source in (before, after):
        torch.default_generator.manual_seed(0)  # of the CPU only, which is quick
        given = make()
        inner = _inner(given)
        leaves = [arg for arg in _tensors(given) if arg.requires_grad]
        try:
            value = function(source, name)(*inner)
            outcome = "value"
        except (IndexError, RuntimeError, ValueError, ZeroDivisionError) as fault:
            value, outcome = None, type(fault).__name__
        first = second = [torch.zeros_like(leaf) for leaf in leaves]
        if outs := [out for out in _tensors(value) if out.requires_grad]:
            first = _gradients(sum((out.double() * _weights(out)).sum() for out in outs), leaves)
        if onward := [grad for grad in first if grad.requires_grad]:
            second = _gradients(sum(grad.pow(2).sum() for grad in onward), leaves)
        shared = _shared(_tensors(value), [*_tensors(inner), *_tensors(value)]) if aliases else []
        results.append((outcome, value, given, first, second, shared))
    one, other = results
    assert one[0] == other[0], (one[0], other[0])
    for part in range(1, 6):
        _agree(one[part], other[part], exact)


def _shared(outs: list[torch.Tensor], others: list[torch.Tensor]) -> list[bool]:
    """Which of some tensors have memory in common with which others."""
    places = [
        [one.untyped_storage().data_ptr() if one.numel() else -n for n, one in enumerate(row, 1)]
        for row in (outs, others)
    ]
    return [a == b for a in places[0] for b in places[1] if a > 0]


def _gradients(total: Any, leaves: list[torch.Tensor]) -> list[torch.Tensor]:
    """The gradients, zero where there is none, so that they can be derived again."""
    found = torch.autograd.grad(total, leaves, create_graph=True, allow_unused=True)
    return [torch.zeros_like(leaf) if grad is None else grad for grad, leaf in zip(found, leaves)]


def _weights(out: torch.Tensor) -> torch.Tensor:
    """A different weight for each element."""
    return torch.linspace(0.5, 1.5, max(out.numel(), 1)).double()[: out.numel()].reshape(out.shape)


def _inner(given: tuple[Any, ...]) -> tuple[Any, ...]:
    """A leaf that needs a gradient may not be written in place, so functions get a copy that may."""
    return tuple(
        arg.view_as(arg) if isinstance(arg, torch.Tensor) and not arg.requires_grad
        else arg.clone() if isinstance(arg, torch.Tensor) else arg
        for arg in given
    )  # fmt: skip


def _tensors(value: Any) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        return _tensors(list(value.values()))
    if isinstance(value, (list, tuple)):
        return [inner for item in value for inner in _tensors(item)]
    return []


def _agree(one: Any, other: Any, exact: bool) -> None:
    if isinstance(one, torch.Tensor):
        assert isinstance(other, torch.Tensor), other
        assert one.device == other.device
        tolerance = {"rtol": 0.0, "atol": 0.0} if exact else {}
        torch.testing.assert_close(other.detach(), one.detach(), equal_nan=True, **tolerance)
    elif isinstance(one, dict):
        assert list(one) == list(other)
        _agree(list(one.values()), list(other.values()), exact)
    elif isinstance(one, (list, tuple)):
        assert type(one) is type(other)
        assert len(one) == len(other)
        for a, b in zip(one, other):
            _agree(a, b, exact)
    elif isinstance(one, float):
        assert type(other) is float
        assert (
            one == other
            or (one != one and other != other)
            or (not exact and abs(one - other) <= 1e-5 * max(1, abs(one)))
        )
    elif isinstance(one, int) and isinstance(other, torch.Tensor) and not exact:
        assert other.ndim == 0
        assert not other.is_floating_point()
        assert other.item() == one
    else:
        assert type(one) is type(other)
        assert one == other
