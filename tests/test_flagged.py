"""Two parts of one class: what only the one is given is not there where only the other goes."""

from __future__ import annotations

import checked
import pytest

TEXT = """import torch
from torch import Tensor, nn


class Part(nn.Module):
    def __init__(self, dim: int, table=False):
        super().__init__()
        self.table = table
        self.line = nn.Linear(dim, dim)

    def forward(self, x, length=None):
        y = self.line(x)
        if {test}:
            y = y + torch.arange(length or 4, device=y.device)[:, None]
        return y{more}


class Block(nn.Module):
    def __init__(self, dim: int, table=False):
        super().__init__()
        self.own = Part(dim, {own})
        self.cross = Part(dim{cross})

    def forward(self, x: Tensor):
        return self.cross(self.own(x), x.argmax())


Block(4, True).cuda()(torch.rand(8, 4, device="cuda"))
"""


def codes(test: str = "self.table", own: str = "table", cross: str = "", more: str = "") -> list[str]:
    return checked.codes(TEXT.format(test=test, own=own, cross=cross, more=more))


@pytest.mark.parametrize("cross", ["", ", False", ", table=False"])
@pytest.mark.parametrize("own", ["table", "True", "table=table"])
def test_a_part_that_was_made_otherwise(own: str, cross: str) -> None:
    assert codes("self.table", own, cross) == []
    assert codes("self.table and self.training", own, cross) == []


@pytest.mark.parametrize(
    "changed",
    [
        {"cross": ", table=True"},
        {"cross": ", table=dim > 4"},
        {"own": "False"},
        {"test": "not self.table"},
        {"test": "self.table or self.training"},
        {"more": "\n\n    def more(self):\n        self.table = True"},
        {"more": "\n\n\ndef widen(part):\n    part.table = True"},
    ],
)
def test_a_part_that_may_be_made_so(changed: dict[str, str]) -> None:
    assert "SG108" in codes(**changed)
