"""Models that are put away, and functions that are named for a copy: how often they run, their callers say."""

from __future__ import annotations

import textwrap

import checked
import pytest

HEAD = """import torch
from torch import Tensor, nn


class Pipe:
    def __init__(self, guard):
        self.guard = guard


"""


def told(text: str) -> list[tuple[str, str]]:
    return [(finding.code, finding.heat) for finding in checked.findings(textwrap.dedent(text), HEAD)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("def f(parts: list[nn.Module]):\n    for part in parts:\n        part.to('cpu')", [("SG202", "cold")]),
        ("def f(pipe: Pipe, x: Tensor):\n    pipe.guard.to('cpu')", []),
        ("def f(pipe: Pipe, x: Tensor):\n    guard = pipe.guard.to('cpu')\n    return guard", [("SG202", "unknown")]),
        ("def f(guard):\n    guard = guard.to('cpu')\n    return guard.state_dict()", [("SG202", "cold")]),
        ("def f(model: nn.Module, n):\n    for _ in range(n):\n        model.to('cpu')", [("SG202", "unknown")]),
        (
            "class M(nn.Module):\n    part: nn.Module\n    def forward(self, x):\n        self.part.to('cpu')",
            [("SG202", "hot")],
        ),
    ],
)
def test_what_is_moved_and_dropped_is_a_model_that_is_put_away(text: str, found: list[tuple[str, str]]) -> None:
    assert told(text) == found


@pytest.mark.parametrize(
    ("name", "heat"),
    [
        ("to_numpy", "cold"),
        ("tensor_to_cpu", "cold"),
        ("tensor2numpy", "cold"),
        ("total", "unknown"),
        ("total_cpu_time", "unknown"),
    ],
)
def test_who_calls_a_function_by_the_name_of_a_copy_asks_for_it(name: str, heat: str) -> None:
    assert told(f"def {name}(x: Tensor):\n    return x.detach().cpu()") == [("SG202", heat)]
    inner = f"def {name}(x):\n    return {{'pt': lambda t: t.detach().cpu().numpy()}}[x.kind](x)"
    assert told(inner) == [("SG202", heat)]


def test_at_every_step_it_is_told() -> None:
    text = """
    def to_numpy(x: Tensor):
        return x.detach().cpu().numpy()


    class M(nn.Module):
        def forward(self, x):
            return to_numpy(x)
    """
    assert told(text) == [("SG202", "hot")]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("def synchronize(self):\n    torch.cuda.synchronize(self.index)", []),
        ("def device_synchronize(device):\n    torch.cuda.synchronize(device)", []),
        (
            "def synchronize(device):\n    torch.cuda.synchronize(device)\n\n\ndef run(x):\n    synchronize(x.device)",
            [("SG401", "unknown")],
        ),
        ("def finish(device):\n    torch.cuda.synchronize(device)", [("SG401", "unknown")]),
        ("def synchronize(xs):\n    for x in xs:\n        torch.cuda.synchronize(x.device)", [("SG401", "unknown")]),
    ],
)
def test_another_name_for_a_synchronize_is_asked_for_by_who_calls_it(text: str, found: list[tuple[str, str]]) -> None:
    assert told(text) == found


@pytest.mark.parametrize(("asked", "heat"), [("self.parts[i]", "cold"), ("self.parts[0]", "unknown")])
def test_each_part_is_moved_once(asked: str, heat: str) -> None:
    text = f"""
        class M(nn.Module):
            parts: nn.ModuleList

            def put_back(self):
                for i in range(len(self.parts)):
                    {asked} = {asked}.to('cpu')
        """
    made = text.replace(
        "parts: nn.ModuleList", "def __init__(self):\n                self.parts = nn.ModuleList([nn.Linear(2, 2)])"
    )
    assert told(made) == [("SG202", heat)]
