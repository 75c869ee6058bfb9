"""A batch of a project's own class moves as that says; one that has it from a class above is told where it is moved."""

from __future__ import annotations

import pytest
from checked import codes

CODE = """
import torch
from torch.utils.data import DataLoader


class Moves:
    {above}


class Batch(Moves):
    def __init__(self, x):
        self.x = x

    {own}

    def pin_memory(self):
        self.x = self.x.pin_memory()
        return self


def train(model: torch.nn.Linear, data):
    model.cuda()
    for batch in DataLoader(data, collate_fn=lambda rows: Batch(torch.stack(rows)), pin_memory=True):
        batch = batch.to("cuda")
        loss = model(batch.x).mean()
        loss.backward()
        print(batch.x.sum().item())
"""
TO = "def to(self, device):\n        self.x = self.x.to(device, non_blocking=True)\n        return self"


@pytest.mark.parametrize(("above", "own", "found"), [("pass", TO, ["SG201"]), (TO, "", ["SG303", "SG201"])])
def test_what_is_read_of_it_is_told(above: str, own: str, found: list[str]) -> None:
    assert codes(CODE.format(above=above, own=own)) == found
