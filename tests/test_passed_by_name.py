"""What is handed on by `**kwargs` through files is known where it is asked for."""

from __future__ import annotations

from pathlib import Path

import pytest
from orders import in_any_order

LOSS = """import torch

def focal(found, target, *, weight=None, gamma=2.0):
    loss = (found - target).abs()
    if weight is not None:
        total = 0.0
        for part in weight:
            total = total + part
        if total > 1:
            loss = loss / total
    return loss.mean() * gamma
"""
WRAP = """import torch
from .loss import focal

def compute(found, target, **named):
    {change}
    return focal(found, target, **named)

def spread(x, **named):
    return torch.repeat_interleave(x, **named)
"""
NET = """import torch
from torch import nn
from .wrap import compute, spread

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("weight", torch.ones(4))

    def forward(self, x: torch.Tensor, y: torch.Tensor):
        return {asked}
"""
WAIT = [("loss.py", 9, "SG204")]


def found(folder: Path, change: str, asked: str) -> list[tuple[str, int, str]]:
    files = {"__init__": "", "loss": LOSS, "wrap": WRAP.format(change=change), "net": NET.format(asked=asked)}
    return in_any_order(folder, files)


@pytest.mark.parametrize("change", ["pass", 'named.setdefault("gamma", 1.0)'])
@pytest.mark.parametrize(
    ("asked", "there"),
    [
        ("compute(x, y, weight=self.weight)", WAIT),
        ("compute(x, y, weight=self.weight, gamma=3.0)", WAIT),
        ("compute(x, y, weight=[1.0, 2.0])", []),
        ("compute(x, y, weight=torch.ones(4).tolist())", []),
        ("compute(x, y)", []),
    ],
)
def test_handed_on_through_two_files(tmp_path: Path, change: str, asked: str, there: list) -> None:
    assert found(tmp_path, change, asked) == there


def test_what_is_no_tensor_is_handed_on_beside_one(tmp_path: Path) -> None:
    asked = "spread(x, repeats=torch.ones_like(y).long(), output_size=8, dim=0)"
    assert found(tmp_path, "pass", asked) == []
