"""where-assign: the same tensor, the same values and gradients, and no mask is counted."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from fixing import Later, codes, rewritten, same  # noqa: E402
from tensors import tensors  # noqa: E402

CLAMP = """\
import torch


def f(a: torch.Tensor, y: torch.Tensor):
    x = a * 1
    kept = x
    mask = x > 0
    x[mask] = y[mask]
    return x, kept


f(torch.rand(8, device="cuda"), torch.rand(8, device="cuda"))
"""
MEAN = CLAMP.replace("y[mask]", "y.sum()")
PARAMETER = CLAMP.replace("x = a * 1", "x = a")


def test_writes_in_place_without_counting():
    after = rewritten(CLAMP, "where-assign")
    assert "    x.copy_(torch.where(mask, y, x))\n" in after
    assert codes(after) == []
    assert "    x.copy_(torch.where(mask, y.sum(), x))\n" in rewritten(MEAN, "where-assign")


@pytest.mark.parametrize(
    "line",
    [
        "x[y > 0] = y[y > 0]",  # the mask may have fewer dimensions than x
        "x[mask] = y[~mask]",
        "x[mask] = y",
        "x[mask, 0] = y[mask]",
        "x[mask] = torch.rand_like(y)[mask]",
    ],
)
def test_leaves_alone(line):
    assert rewritten(CLAMP.replace("x[mask] = y[mask]", line), "where-assign", unsafe=True) is None


def test_adds_in_place():
    after = rewritten(CLAMP.replace("x[mask] = y[mask]", "x[mask] += y[mask]"), "where-assign")
    assert "    x.copy_(torch.where(mask, x + y, x))\n" in after
    for y in (torch.rand(8), torch.arange(8), torch.full((8,), torch.nan)):
        old, new = run(CLAMP.replace("x[mask] = y[mask]", "x[mask] += y[mask]")), run(after)
        a = torch.randn(8)
        for one, other in zip(old(a, y), new(a, y), strict=True):
            torch.testing.assert_close(one, other, rtol=0, atol=0, equal_nan=True)


def run(program):
    """The function of a program, on the CPU."""
    space: dict[str, object] = {}
    exec(program.replace("cuda", "cpu"), space)
    return space["f"]


def test_what_may_be_expanded_is_unsafe():
    assert rewritten(PARAMETER, "where-assign") is None
    assert rewritten(PARAMETER, "where-assign", unsafe=True) is not None


AFTER = Later(lambda program: rewritten(program, "where-assign"))


@pytest.mark.parametrize("program", [CLAMP, MEAN])
@settings(deadline=None, max_examples=60)
@given(shape=st.lists(st.integers(0, 3), max_size=3), data=st.data())
def test_gives_the_same(program, shape, data):
    after = AFTER[program]
    dtype = data.draw(st.sampled_from([torch.float32, torch.float64, torch.float16, torch.int64]))
    grad = data.draw(st.booleans()) and dtype.is_floating_point
    a, y = (data.draw(tensors(shape, dtype, grad)) for _ in range(2))
    if program is MEAN and not dtype.is_floating_point:
        return
    same(program, after, lambda: (a(), y()))
