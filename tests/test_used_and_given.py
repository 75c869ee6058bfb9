"""What is a tensor by its uses alone is of the kind, and of the rank, that its calls give."""

from __future__ import annotations

import pytest
from checked import codes

CODE = """
import torch
from torch import nn

def step(net, x, m, i):
    n = torch.sum(m)
    j = torch.relu(i)
    z = net(x)
    z[m] = z[m] + 1
    return z[i].sum() / n + j

def main():
    net = nn.Linear(4, 4).cuda()
    for _ in range(3):
        x = torch.randn(8, 4, device="cuda")
        step(net, x, GIVEN, torch.argmax(x[:, 0])).backward()

main()
"""


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("x > 0.5", ["SG103", "SG102", "SG208"]),
        ("x.argmax(1)", ["SG208"]),
        ("(x > 0.5) if x.shape[0] else x.argmax(1)", ["SG208"]),
    ],
)
def test_calls_tell_of_which_kind(given, told):
    assert codes(CODE.replace("GIVEN", given)) == told
