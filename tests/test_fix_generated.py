"""Programs that nobody wrote: what is fixed as safe gives the same, whatever the tensors are."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from fixing import function, rewritten, same  # noqa: E402
from generated import program  # noqa: E402

GIVEN = {
    "fractions": lambda: (torch.tensor([0.5, 2.0, -1.0, 3.0]), torch.tensor([1.0, 0.25, 2.0, 0.0])),
    "gradients": lambda: (torch.tensor([0.5, 2.0, -1.0, 3.0], requires_grad=True), torch.ones(4)),
    "integers": lambda: (torch.tensor([3, 0, 1, 2]), torch.tensor([1, 2, 0, 2])),
    "nothing": lambda: (torch.zeros(0), torch.zeros(0)),
    "one": lambda: (torch.full((1,), 2.0), torch.ones(1)),
    "no numbers": lambda: (torch.tensor([1.0, float("nan"), 2.0]), torch.tensor([float("inf"), 1.0, float("nan")])),
    "double": lambda: (torch.arange(4.0, dtype=torch.float64), torch.rand(4, dtype=torch.float64) * 0 + 0.1),
}
# What a program of these that fails may raise besides what `same` compares.
FAILING = (TypeError, AttributeError, UnboundLocalError, OverflowError)


def alike(seed: int) -> bool:
    """Whether a program had a safe fix; with it, it does the same."""
    before = program(seed)
    after = rewritten(before)
    rewritten.cache_clear()
    for name, make in GIVEN.items() if after is not None else ():
        if name == "no numbers" and ".long()" in after:
            continue  # as integers they are beyond what 64 bits can add up
        for k in (0, 2, 3):
            try:
                function(before)(*(given.clone() for given in make()), k)
            except FAILING:
                continue
            except (IndexError, RuntimeError, ValueError):
                pass  # which the other must raise as well
            same(before, after, lambda make=make, k=k: (*make(), k), aliases=True)
    return after is not None


@pytest.mark.parametrize("start", range(0, 60, 10))
def test_what_is_fixed_does_the_same(start):
    assert any(alike(seed) for seed in range(start, start + 10))


@pytest.mark.slow
@pytest.mark.parametrize("start", range(1000, 2000, 50))
def test_what_is_fixed_in_many_programs_does_the_same(start):
    assert any(alike(seed) for seed in range(start, start + 50))
