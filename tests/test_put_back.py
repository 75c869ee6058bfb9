"""What an object keeps from its first step on is made at every step where another file empties it there."""

import pytest
from packaged import found

KEPT = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = None
        self.first = True

    def forward(self, x: torch.Tensor):
        {test}:
            {turns}
            self.count = x.sum().item()
        return x * self.count
"""
TABLE = {"test": "if self.table is None", "turns": "self.table = 2 * x"}
FLAG = {"test": "if self.first", "turns": "self.first = False"}
TRAIN = """
from .net import Net


def train(net: {of}, loader, optimizer):
    {before}
    for x in loader:
        {each}
        net(x).sum().backward()
        optimizer.step()
    {behind}
"""
HEIR = """
from .net import Net


class Below(Net):
    def {name}(self, x):
        {does}
        return super().forward(x)
"""


def heat(kept: dict[str, str], other: str) -> str:
    return found({"pkg/__init__.py": "", "pkg/net.py": KEPT.format(**kept), "pkg/other.py": other})["pkg/net.py"].heat


@pytest.mark.parametrize(
    ("kept", "empties", "other"), [(TABLE, "table = None", "rows = None"), (FLAG, "first = True", "last = True")]
)
def test_what_is_put_back_at_every_step_is_made_there(kept: dict[str, str], empties: str, other: str) -> None:
    parts = {"of": "Net", "before": "pass", "each": "pass", "behind": "pass"}
    net = f"net.{empties}"
    assert heat(kept, TRAIN.format(**parts | {"each": net})) == "hot"
    assert heat(kept, TRAIN.format(**parts | {"each": f"net.{other}"})) == "amortized"
    assert heat(kept, TRAIN.format(**parts | {"each": f"if x is None:\n            {net}"})) == "amortized"
    assert heat(kept, TRAIN.format(**parts | {"before": net})) == "amortized"
    assert heat(kept, TRAIN.format(**parts | {"behind": net})) == "amortized"
    assert heat(kept, HEIR.format(name="forward", does=f"self.{empties}")) == "hot"
    assert heat(kept, HEIR.format(name="forward", does=f"self.{other}")) == "amortized"
    assert heat(kept, HEIR.format(name="load", does=f"self.{empties}")) == "amortized"
