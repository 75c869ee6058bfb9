"""What a file tries itself on, where it is run by itself, tells nothing of where others have their tensors."""

from __future__ import annotations

import pytest
from checked import codes

NET = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(0.0))

    def forward(self, x):
        return self.scaled(x)

    def scaled(self, x):
        return x * self.scale.to(x.device), x.max().item()


{script}
    net = Net()
    out = net({given})
"""
SCRIPT = 'if __name__ == "__main__":'


@pytest.mark.parametrize("given", ["torch.randn(1, 3)", "torch.rand(3).view(1, 3)", "torch.randn(1, 3, device='cuda')"])
def test_what_is_drawn_to_try_it(given: str) -> None:
    assert codes(NET.format(script=SCRIPT, given=given)) == ["SG201"]


@pytest.mark.parametrize(
    ("script", "given"),
    [
        ("def main():", "torch.randn(1, 3)"),  # what others call
        (SCRIPT, "torch.tensor([1.0, 2.0])"),  # what is there to be worked on
    ],
)
def test_what_is_given_otherwise_tells_where_it_is(script: str, given: str) -> None:
    found = codes(NET.format(script=script, given=given), confidence="possible")
    assert "SG202" in found  # `self.scale` goes where that is
