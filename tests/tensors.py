"""Tensors for property tests: every layout, with NaN, infinity and equal values among the numbers."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import torch
from hypothesis import strategies as st

SPECIAL = (0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 100.0, float("nan"), float("inf"), float("-inf"))
LAYOUTS = ("plain", "transposed", "strided", "expanded")
Make = Callable[[], torch.Tensor]


@st.composite
def tensors(draw, shape, dtype=torch.float32, grad=False, layouts=LAYOUTS, numbers=None) -> Make:
    """A function that makes the same tensor each time; its numbers are `numbers`, or any and the special ones."""
    floats = dtype.is_floating_point
    if dtype is torch.bool:
        kind = draw(st.sampled_from(["any", "all", "none"]))
        value = st.booleans() if kind == "any" else st.just(kind == "all")
    elif numbers is not None:
        value = st.sampled_from(numbers)
    elif floats:
        value = st.one_of(st.sampled_from(SPECIAL), st.floats(-4, 4, width=16))
    else:
        value = st.integers(-3, 5)
    layout = draw(st.sampled_from(layouts))
    if layout == "expanded" and (not shape or grad):
        layout = "plain"
    n = prod(shape[1:]) if layout == "expanded" else prod(shape)
    flat = draw(st.lists(value, min_size=n, max_size=n))

    def make() -> torch.Tensor:
        if layout == "expanded":
            return torch.tensor(flat, dtype=dtype).reshape(1, *shape[1:]).expand(*shape)
        made = torch.tensor(flat, dtype=dtype).reshape(shape)
        if layout == "transposed" and len(shape) >= 2:
            made = made.transpose(0, 1).contiguous().transpose(0, 1)
        elif layout == "strided" and shape:
            wide = torch.zeros(*shape[:-1], 2 * shape[-1], dtype=dtype)
            wide[..., ::2] = made
            made = wide[..., ::2]
        return made.detach().requires_grad_() if grad else made

    return make
