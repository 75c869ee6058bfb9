"""A device that a call leaves out is the CPU, also where the function stands in another file."""

from __future__ import annotations

from pathlib import Path

import pytest
from orders import in_any_order

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
