"""What is computed with what a function built on the host is there, too, or torch would raise: nothing waits for it."""

from __future__ import annotations

import pytest
from checked import codes

HEAD = """
import torch
from torch import Tensor


class Labels:
    def __init__(self, kept: Tensor):
        self.kept = torch.zeros(3)


def scaled(x: Tensor, by: float) -> Tensor:
    return x * by

"""
WAITS = "if (x > 0).any():\n            x = x[x > 1]\n        "


@pytest.mark.parametrize(
    "body",
    [
        "total = torch.zeros(3)\n        total += x",
        "total = torch.zeros(1, *x.shape).float()\n        return x * total",
        "total = torch.ones(2, 2)\n        return total < x.sum(0)",
        "total = torch.zeros(3)\n        for part in x:\n            total += part",
        "total = torch.zeros(3)\n        total += scaled(x, 2.0)",
        "return torch.arange(4) + x",
    ],
)
def test_what_is_computed_with_a_tensor_of_the_host_is_on_the_host(body: str) -> None:
    assert codes(f"def f(x: Tensor):\n        {WAITS}{body}\n", HEAD) == []


@pytest.mark.parametrize(
    "body",
    [
        "total = torch.zeros(())\n        return total + x",  # without dimensions it goes with every other
        "total = torch.tensor(0.5)\n        return total + x",
        "total = torch.zeros(size)\n        return total + x",  # which may be ()
        "total = torch.zeros(*size)\n        return total + x",
        "total = torch.zeros(3, device=x.device)\n        return total + x",
        "total = torch.zeros_like(x)\n        return total + x",
        "total = torch.zeros(3)\n        return total[x.long()]",  # an index may be elsewhere: of that nothing is said
        "total = torch.zeros(3)\n        return total + x.cpu()",
        "total = torch.zeros(3)\n        return total + y",
        "total = torch.zeros(3)\n        return total + labels.kept",
        "if not x.is_cuda:\n            total = torch.zeros(3)\n            return total + x",
        "return labels.kept + x",  # who made them may have moved them
    ],
)
def test_what_may_be_on_the_device_shows_no_place(body: str) -> None:
    found = codes(f"def f(x: Tensor, y: Tensor, size, labels: Labels):\n        {WAITS}{body}\n", HEAD)
    assert found[:2] == ["SG204", "SG102"]


def test_what_was_moved_is_not_what_it_was() -> None:
    assert codes(
        """
        def f(x: Tensor, device: torch.device):
            there = x.to(device)
            total = torch.zeros(3)
            total += x
            return total, there[there > 0]
    """.replace("\n        ", "\n"),
        HEAD,
    ) == ["SG102"]


UNKNOWN = """
def f(data, other, n):
    assert data.color.max() <= 1
    {body}
"""


@pytest.mark.parametrize(
    "body",
    [
        "noise = torch.randn(n, 3) * 0.1\n    data.color = torch.clamp(noise + data.color, 0, 1)",
        "return data.color + torch.rand(n, 3)",
    ],
)
def test_so_is_an_attribute_of_which_nobody_knows_what_it_holds(body: str) -> None:
    assert codes(UNKNOWN.format(body=body), HEAD) == []


@pytest.mark.parametrize(
    "body",
    [
        "return other.color + torch.rand(n, 3)",
        "return data.shade + torch.rand(n, 3)",
        "return data.color + torch.rand(n, 3, device=n.device)",
        "return data.color + torch.tensor(0.5)",
        "return data.color == torch.rand(n, 3)",
        "data = data.to('cpu')\n    return data.color + torch.rand(n, 3)",
    ],
)
def test_else_it_may_be_anywhere(body: str) -> None:
    assert "SG204" in codes(UNKNOWN.format(body=body), HEAD)
