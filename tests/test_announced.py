"""What is declared of an attribute before anything is put there: `self.x: Tensor`."""

from __future__ import annotations

import pytest
from checked import codes

BANK = """import torch
from torch import Tensor, nn


class Bank(nn.Module):
    def __init__(self, size: int):
        super().__init__()
        self.pointer: {declared}
        {put}

    def forward(self, x: Tensor):
        at = int(self.pointer)
        self.pointer[0] = at + len(x)
        return x
"""
ONE_ROW = 'self.register_buffer("pointer", torch.zeros(1, dtype=torch.long))'


@pytest.mark.parametrize(
    ("declared", "put", "expected"),
    [
        ("Tensor", ONE_ROW, ["SG203", "SG302"]),  # what is put there tells how many dimensions it has
        ("Tensor", "pass", ["SG203"]),  # nobody knows how many
        ("Tensor", "self.pointer = made(size)", ["SG203"]),
        ("Tensor", "self.pointer = None", ["SG203"]),
        ("Tensor", "self.pointer = [0]", []),  # what is put there says more than what is declared
        ("list[int]", "self.pointer = made(size)", []),
    ],
)
def test_it_counts_as_long_as_no_tensor_tells_more(declared: str, put: str, expected: list[str]) -> None:
    assert codes(BANK.format(declared=declared, put=put)) == expected


NARROWED = """import torch
from elsewhere import Kind


class Engine:
    def __init__(self):
        self.top = torch.ones((), device="cuda")


class Trainer:
    def __init__(self, engine: Kind):
        self.engine = engine


class Ours(Trainer):
    def __init__(self, engine: Kind):
        super().__init__(engine)
        {declared}

    def step(self):
        return 1 if self.engine.top > 0 else 2
"""


@pytest.mark.parametrize(("declared", "expected"), [("self.engine: Engine", ["SG204"]), ("pass", [])])
def test_an_heir_declares_more_than_its_base_knows(declared: str, expected: list[str]) -> None:
    assert codes(NARROWED.format(declared=declared)) == expected
