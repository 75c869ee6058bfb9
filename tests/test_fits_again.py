"""What an object keeps for each level is built again where it has another shape than is asked for: once for each."""

from __future__ import annotations

import pytest
from checked import findings

NET = """
import torch


class Net(torch.nn.Module):
    def __init__(self, levels):
        super().__init__()
        self.grids = [torch.zeros(1)] * levels

    def forward(self, xs):
        for k, x in enumerate(xs):
            x = torch.relu(x)
            {test}:
                {builds}
            xs[k] = x + self.grids[k]
        return xs

    def make(self, n):
        return torch.arange(n)
"""
BUILDS = "self.grids[k] = self.make(x.shape[2]).to(x.device)"


@pytest.mark.parametrize(
    ("test", "builds", "heat"),
    [
        ("if self.grids[k].shape[2:] != x.shape[2:]", BUILDS, "amortized"),
        ("if x.shape[2:] != self.grids[k].shape[2:]", BUILDS, "amortized"),
        ("if self.grids[k].shape != x.shape", BUILDS, "amortized"),
        ("grid = self.grids[k]\n            if grid.shape[2:] != x.shape[2:]", BUILDS, "amortized"),
        ("if self.grids[k].shape[2:] == x.shape[2:]", BUILDS, "hot"),
        ("if self.grids[0].shape[2:] != x.shape[2:]", BUILDS, "hot"),
        ("if self.grids[k].shape[2:] != x.shape[2:]", "x = x + self.make(x.shape[2]).to(x.device)", "hot"),
        ("if xs[0].shape[2:] != x.shape[2:]", BUILDS, "hot"),
    ],
)
def test_another_shape_of_what_is_kept_under_a_key(test: str, builds: str, heat: str) -> None:
    found = [one.heat for one in findings(NET.format(test=test, builds=builds)) if one.code == "SG304"]
    assert found == [heat]
