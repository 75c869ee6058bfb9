"""A device that a call leaves out is the CPU, also where the function stands in another file."""

from __future__ import annotations

from pathlib import Path

import pytest
from checked import codes
from orders import in_any_order

from syncguard import pipeline
from syncguard.config import Config

SIZES = """import torch
from typing import List, Optional

def to_tensor(x: List[int], device: {kind} = None) -> torch.Tensor:
    if torch.jit.is_tracing():
        return torch.stack(x).to(device=device)
    return torch.as_tensor(x, device=device)
"""
NET = """import torch
from .sizes import to_tensor

class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        sizes = to_tensor([x.shape[-2], x.shape[-1]]{given})
        return x * sizes.max().item()
"""


@pytest.mark.parametrize("kind", ["Optional[torch.device]", "torch.device | None", "object"])
@pytest.mark.parametrize(("given", "waits"), [("", False), (", device=None", False), (", device=x.device", True)])
def test_what_a_function_makes_that_is_told_no_device(tmp_path: Path, kind: str, given: str, waits: bool) -> None:
    files = {"__init__": "", "sizes": SIZES.format(kind=kind), "net": NET.format(given=given)}
    there = [place for place in in_any_order(tmp_path, files) if place[0] == "net.py"]
    assert there == ([("net.py", 7, "SG201")] if waits else [])


@pytest.mark.parametrize(("default", "sure"), [("cpu", "possible"), ("cuda", "likely")])
def test_what_is_kept_where_a_parameter_says_may_be_there(default: str, sure: str) -> None:
    text = """import torch

class Mean:
    def __init__(self, device="cpu"):
        self.device = torch.device(device)
        self.total = torch.zeros((), device=self.device)

    def update(self, x: torch.Tensor):
        self.total = self.total + x.sum().to(self.device)

    def compute(self):
        return self.total.item()
"""
    config = Config(heat="all", confidence="possible", default_device=default)
    found = pipeline.check(["-"], config, text).findings
    assert [one.confidence for one in found if one.code == "SG201"] == [sure]


@pytest.mark.parametrize(
    ("device", "found"),
    [("str(x.device)", ["SG204"]), ("x.device", ["SG204"]), ("str(torch.device('cpu'))", []), ("name", [])],
)
def test_the_text_of_a_device_names_it(device: str, found: list[str]) -> None:
    text = f"""
        import torch

        def build(n: int, device: torch.device | str = "cpu"):
            return torch.ones(n).bool().to(device)

        def check(x: torch.Tensor, name: str):
            assert build(3, {device}).any()
        """
    assert [code for code in codes(text) if code == "SG204"] == found


@pytest.mark.parametrize(("given", "waits"), [("", False), (", device=None", False), (", device=x.device", True)])
def test_a_device_that_is_left_out_and_handed_on(given: str, waits: bool) -> None:
    text = f"""
        import torch
        from typing import Optional

        def ramp(n: int, device: Optional[torch.device] = None) -> torch.Tensor:
            return torch.exp(torch.arange(n, device=device) / n)

        def window(n: int, device: Optional[torch.device] = None) -> torch.Tensor:
            slope = ramp(n, device)
            return torch.outer(slope, slope)

        class Net(torch.nn.Module):
            def forward(self, x: torch.Tensor):
                return x * window(5{given}).max().item()
        """
    assert ("SG201" in codes(text)) == waits
