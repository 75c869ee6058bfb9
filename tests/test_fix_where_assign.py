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
    added = program is MEAN and grad  # the gradient of the sum adds up those of the elements, in either its own order
    same(program, after, lambda: (a(), y()), exact=not added)


NUMBERED = """\
import torch


def f(a: torch.Tensor, y: torch.Tensor):
    x = torch.full_like(a, -1, dtype=torch.long)
    mask = a > 0
    x[mask] = torch.arange(mask.sum(), device=a.device)
    return x


f(torch.rand(8, device="cuda"), torch.rand(8, device="cuda"))
"""
COUNT = "torch.arange(mask.sum(), device=a.device)"
NUMBERINGS = (
    COUNT,
    "torch.arange(mask.sum().item(), device=a.device, dtype=torch.long) * 2 + len(a)",
    "torch.arange(int(torch.count_nonzero(mask)), device=a.device)",
)


@pytest.mark.parametrize("numbers", NUMBERINGS)
@settings(deadline=None, max_examples=40)
@given(shape=st.lists(st.integers(0, 3), min_size=1, max_size=3), data=st.data())
def test_what_counts_the_true_elements_is_a_running_sum(numbers, shape, data):
    program = NUMBERED.replace(COUNT, numbers)
    after = AFTER[program]
    assert "mask.flatten().cumsum(0).reshape(mask.shape) - 1" in after
    assert codes(after) == []
    a, y = (data.draw(tensors(shape, torch.float32, False)) for _ in range(2))
    same(program, after, lambda: (a(), y()))


def test_of_one_dimension_it_is_told_shorter():
    program = NUMBERED.replace("a > 0", "torch.arange(4, device=a.device) > 2").replace("like(a", "like(a[:4]")
    program = program.replace("    x = torch.full_like(a[:4], -1, dtype=torch.long)\n", "")
    program = program.replace("    x[", "    x = torch.full_like(mask, -1, dtype=torch.long)\n    x[")
    assert "    x.copy_(torch.where(mask, mask.cumsum(0) - 1, x))\n" in rewritten(program, "where-assign")


@pytest.mark.parametrize(
    "numbers",
    [
        "torch.arange(mask.sum() + 1, device=a.device)[1:]",
        "torch.arange(1, mask.sum() + 1, device=a.device)",
        "torch.arange((~mask).sum(), device=a.device)",
        "torch.arange(mask.sum(0), device=a.device)",
        "torch.arange(mask.sum(), device=a.device, dtype=torch.int32)",
    ],
)
def test_other_rows_are_not_numbers_of_the_mask(numbers):
    assert rewritten(NUMBERED.replace(COUNT, numbers), "where-assign", unsafe=True) is None


def test_what_is_written_on_several_lines_is_laid_out_anew():
    body = (
        "    m = x > 0\n    z = torch.empty_like(x)\n    z[m] = torch.clamp(\n        x[m], 1.5\n    )\n"
        "    z[~m] = torch.clamp(\n        x[~m], -0.5\n    )\n    return z\n"
    )
    program = "import torch\n\n\ndef f(x: torch.Tensor):\n" + body
    after = rewritten(program, unsafe=True)
    assert "    z.copy_(torch.where(m, torch.clamp(x, 1.5), torch.clamp(x, -0.5)))\n" in after
    same(program, after, lambda: (torch.linspace(-1, 1, 5),))
