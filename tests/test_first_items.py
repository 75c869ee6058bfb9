"""A tuple that goes on behind a flag: its first items stay what they are."""

from __future__ import annotations

from functools import partial

import checked
import pytest

HEAD = """import torch
from torch import Tensor, nn


class Stage(nn.Module):
    def forward(self, x: Tensor, size: tuple[int, int], more: bool = False):
        height, width = size
        for block in self.blocks:
            outputs = block(x, size)
        out = (self.reduced(x), x, (height, width, height // 2))
        if more:
            {more}
        return out

    def reduced(self, x):
        return x * 2


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stage = Stage()

    def forward(self, x: Tensor, size: tuple[int, int]):
        out = self.stage(x, size)
"""

codes = partial(checked.codes)


@pytest.mark.parametrize("more", ["out += outputs[1:]", "out = out + outputs[1:]", "out += (x,)", "out = (*out, x)"])
@pytest.mark.parametrize(
    ("use", "found"),
    [
        ("return x[: out[2][0]]", []),
        ("return x[: out[1].sum()]", ["SG108"]),
        ("return 1 if out[0].sum() > 0 else 0", ["SG204"]),
        ("sizes = out[2]\n        return x.view(-1, sizes[-1])", []),
    ],
)
def test_what_stands_before_it_is_told_apart(more: str, use: str, found: list[str]) -> None:
    assert codes(HEAD.format(more=more) + f"        {use}\n") == found


def test_a_list_may_begin_with_something_else_by_then() -> None:
    text = """
    import torch
    from torch import Tensor

    def f(x: Tensor, more: bool):
        out = [3, x]
        if more:
            out.insert(0, x.sum())
        return x[: out[0]]
    """
    assert codes(text) == ["SG108"]


def test_two_tuples_agree_on_what_both_begin_with() -> None:
    text = """
    import torch
    from torch import Tensor

    def made(x: Tensor, kind: str):
        if kind == "short":
            return 3, x
        if kind == "long":
            return 4, x, x.sum()
        return 5, 6, x.sum(), x

    def f(x: Tensor, kind: str):
        out = made(x, kind)
        return x[: out[0]], x[: out[2]]
    """
    assert codes(text) == ["SG108"]
