"""Operators of the project's own classes: their methods run, and what they make is what they give back."""

from __future__ import annotations

from functools import partial

import checked
import pytest

HEAD = """from __future__ import annotations

import dataclasses

import torch


class Mean:
    def __init__(self, total: torch.Tensor, count: int):
        self.total, self.count = total, count

    def __add__(self, other: Mean):
        return Mean(self.total + other.total, self.count + other.count)

    def __rmul__(self, factor: float):
        return Mean(self.total * factor, self.count)

    def __neg__(self):
        return Mean(-self.total, self.count)

    def __lt__(self, limit: float):
        return self.total.item() < limit


@dataclasses.dataclass
class Turn:
    angle: torch.Tensor

    def inverse(self) -> Turn:
        return Turn(-self.angle)


@dataclasses.dataclass
class Pose:
    turn: Turn
    shift: torch.Tensor

    def __mul__(self, factor: torch.Tensor) -> Pose:
        return Pose(self.turn * factor, self.shift * factor)


"""

codes = partial(checked.codes, head=HEAD)


@pytest.mark.parametrize("made", ["mean", "mean + mean", "2.0 * mean", "-mean", "-(2.0 * (mean + mean))"])
def test_what_an_operator_makes_is_known(made: str) -> None:
    assert codes(f"def f(mean: Mean):\n    return ({made}).total.tolist(), range(({made}).count)\n") == [
        "SG201",
        "SG202",
    ]


def test_an_operator_is_called_where_it_is_written() -> None:
    text = "class Net(torch.nn.Module):\n    def forward(self, mean: Mean):\n        return mean < 3\n"
    found = [(one.code, one.heat) for one in checked.findings(text, HEAD) if one.function == "Mean.__lt__"]
    assert found == [("SG201", "hot")]


def test_what_is_declared_to_wrap_a_tensor_is_none() -> None:
    text = "def f(pose: Pose, x: torch.Tensor):\n    return pose.turn.inverse(), (pose * x).turn.inverse()\n"
    assert codes(text) == ["SG201"]
