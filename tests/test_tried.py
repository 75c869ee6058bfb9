"""What a file tries itself on, where it is run by itself, tells nothing of where others have their tensors."""

from __future__ import annotations

import pytest
from checked import codes
from packaged import found as found_in

NET = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(0.0))

    def forward(self, x):
        return self.scaled(x)

    def scaled(self, x):
        return x * self.scale.to(x.device), x.max().item()


{script}
    net = Net()
    out = net({given})
"""
SCRIPT = 'if __name__ == "__main__":'


@pytest.mark.parametrize(
    "given",
    ["torch.randn(1, 3)", "torch.rand(3).view(1, 3)", "torch.randn(1, 3, device='cuda')", "torch.tensor([1.0, 2.0])"],
)
def test_what_is_drawn_to_try_it(given: str) -> None:
    assert codes(NET.format(script=SCRIPT, given=given)) == ["SG201"]


def test_what_others_call_tells_where_it_is() -> None:
    found = codes(NET.format(script="def main():", given="torch.randn(1, 3)"), confidence="possible")
    assert "SG202" in found  # `self.scale` goes where that is


@pytest.mark.parametrize(
    ("given", "found"),
    [("torch.randn(3)", ["SG201"]), ("torch.tensor([1.0, 2.0])", [])],  # what is there to be worked on
)
def test_a_function_may_be_there_for_what_it_is_given(given: str, found: list[str]) -> None:
    text = f"""
    import torch


    def shown(x):
        print(x.abs().max().item())


    {SCRIPT}
        shown({given})
    """
    assert codes(text) == found


TRAINED = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, size, device=None):
        super().__init__()
        self.device = device
        self.lin = nn.Linear(size, 1)

    def fit(self, rows):
        x = torch.zeros(3, device=self.device)
        print(self.lin(x).sum().item())


{script}
    net = Net(3, device="cpu")
    net.fit([])
"""


@pytest.mark.parametrize(
    ("script", "name", "waits"),
    [
        (SCRIPT, "pkg/net.py", True),
        (SCRIPT, "net.py", False),  # the class may be there for this script
    ],
)
def test_a_package_is_there_for_others_wherever_it_tries_itself(script: str, name: str, waits: bool) -> None:
    text = TRAINED.format(script=script)
    assert bool(found_in({name: text, "pkg/__init__.py": ""}, name)) is waits
