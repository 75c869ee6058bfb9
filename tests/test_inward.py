"""What a module makes on the host and hands to a layer of its file stays there, unless the layer is handed more."""

from __future__ import annotations

import pytest
from checked import codes

TEXT = """
import torch
from torch import nn


class Attention(nn.Module):
    def forward(self, x, sizes):
        for high, wide in sizes.tolist():
            x = x * high + wide
        return x


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = Attention()

    def forward(self, x, sizes, context=None):
        return self.attention(x, sizes)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block() for _ in range(3)])

    def forward(self, images):
        {made}
        x = torch.cat(images)
        given = dict(sizes=sizes, context=None)
        for block in self.blocks:
            x = block(x, {handed})
        return x
{more}
"""
ON_HOST = "sizes = torch.stack([torch.tensor(one.shape[2:], dtype=torch.long) for one in images])"


@pytest.mark.parametrize("handed", ["**given", "sizes=sizes", "sizes"])
def test_what_a_module_makes_on_the_host(handed: str) -> None:
    assert codes(TEXT.format(made=ON_HOST, handed=handed, more="")) == []


def test_what_a_docstring_says_is_no_place() -> None:
    told = """x, sizes, context=None):
        r\"\"\"
        Args:
            x(Tensor): Shape [B, L, C]
            sizes(Tensor): Shape [B, 2]
        \"\"\"
        """
    text = TEXT.replace("x, sizes, context=None):\n        ", told)
    assert codes(text.format(made=ON_HOST, handed="**given", more="")) == []
    assert codes(text.format(made="sizes = torch.stack(images)", handed="**given", more="")) == ["SG202"]


@pytest.mark.parametrize(
    ("made", "more"),
    [
        ("sizes = torch.stack([torch.tensor(one.shape[2:], device=one.device) for one in images])", ""),
        ("sizes = torch.stack([one.sum(dim=0) for one in images])", ""),
        (ON_HOST, "class Other(nn.Module):\n    def forward(self, x):\n        return Block()(x, x.long())\n"),
    ],
)
def test_what_may_be_on_the_device(made: str, more: str) -> None:
    assert "SG202" in codes(TEXT.format(made=made, handed="**given", more=more))
