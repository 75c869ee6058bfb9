"""What a function is given by default is asked for where the function is made, each time that it is."""

from __future__ import annotations

import pytest
from checked import codes, findings

MADE = """import torch
from torch import Tensor

ONES = torch.ones(3, device="cuda")


class Layer:
    def step(self, x: Tensor, rate={top}):
        for row in x:
            def each(best={each}):
                return best

            each()
        return x


def train(layer: Layer, loader):
    for x in loader:
        layer.step(x.cuda(non_blocking=True))
"""


@pytest.mark.parametrize(
    ("top", "each", "expected"),
    [
        ("1.0", "row.sum().item()", ["SG201"]),
        ("ONES.sum().item()", "None", ["SG201"]),
        ("ONES.tolist()", "float(row.max())", ["SG202", "SG203"]),
        ("torch.tensor(1.0)", "len(row)", []),
        ("ONES", "row.shape[0]", []),
        ("dict(a=1)", "row", []),
    ],
)
def test_it_waits_where_the_function_is_made(top: str, each: str, expected: list[str]) -> None:
    assert codes(MADE.format(top=top, each=each)) == expected


def test_as_warm_as_what_makes_it() -> None:
    found = findings(MADE.format(top="ONES.sum().item()", each="row.sum().item()"))
    assert [finding.heat for finding in found] == ["cold", "hot"]
