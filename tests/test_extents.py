"""What is unpacked from what is named as a size are numbers, and so is what a layer is given of them."""

from __future__ import annotations

import pytest
from checked import codes

TEXT = """
import torch
from torch import nn


class Attention(nn.Module):
    def forward(self, x, H, W):
        x = x[:, : H // 2]
        assert W == x.flatten().shape[0]
        return x


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = Attention()

    def forward(self, x, {name}):
        {unpacked} = {source}
        {more}
        return self.attention(x, H, W)
"""


def found(name: str = "x_size", unpacked: str = "H, W", source: str = "x_size", more: str = "pass") -> list[str]:
    return codes(TEXT.format(name=name, unpacked=unpacked, source=source, more=more))


@pytest.mark.parametrize("name", ["x_size", "input_resolution", "shape"])
def test_sizes_are_numbers(name: str) -> None:
    assert found(name, source=name) == []


def test_what_an_object_keeps_is_named_as_well() -> None:
    assert found("rest", source="self.input_resolution") == []


@pytest.mark.parametrize(
    "settings",
    [
        {"name": "x_pair", "source": "x_pair"},  # may be two tensors
        {"more": "H.clamp_(min=1)"},  # is asked for what a tensor has
        {"source": "x_size.unbind(0)"},  # is one
    ],
)
def test_what_is_not_named_as_a_size_may_be_a_tensor(settings: dict[str, str]) -> None:
    assert "SG108" in found(**settings)
