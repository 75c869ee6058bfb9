"""What stands in a `with` that captures a CUDA graph, and what is called there, may not wait."""

from __future__ import annotations

import pytest
from checked import findings
from fixing import fixes

CODE = """
import torch
from torch.cuda import CUDAGraph


def step(x):
    w = torch.tensor([1.0, 2.0], device="cuda")
    return x * w


def main(stream, steps):
    x, g = torch.zeros(2, device="cuda"), CUDAGraph(); captured = torch.cuda.graph(g)
    for _ in range(3):
        y = step(x)
    {block}
        y = step(x)
        if {test}:
            n = y.sum().item()
    k = y.sum().item()
    return k


main(None, 2)
"""
CAPTURED = "a CUDA graph captures what stands here"


def told(block: str, test: str = "y.ndim") -> dict[int, tuple[str, str]]:
    text = CODE.format(block=block, test=test)
    return {one.site.line: (one.heat, one.hot_path[0].text if one.hot_path else "") for one in findings(text)}


@pytest.mark.parametrize(
    "block",
    [
        "with torch.cuda.graph(g):",
        "with torch.no_grad(), torch.cuda.graph(g, stream=stream) as made:",
        "with captured:",
        "with torch.no_grad(), captured:",
    ],
)
def test_what_is_captured_is_hot(block: str) -> None:
    found = told(block)
    assert found[7] == found[18] == ("hot", CAPTURED)
    assert found[19][0] != "hot"


@pytest.mark.parametrize("block", ["with torch.no_grad():", "with stream:", "with graph(g):"])
def test_another_block_captures_nothing(block: str) -> None:
    assert {heat for heat, _ in told(block).values()} <= {"unknown", "cold", "amortized"}


def test_what_a_graph_cannot_hold_is_no_fix() -> None:
    pytest.importorskip("torch")
    bare = CODE.format(block="with torch.no_grad():", test="y.ndim")
    assert {fix.recipe for fix in fixes(bare)} >= {"pin-data"}
    assert "pin-data" not in {
        fix.recipe for fix in fixes(CODE.format(block="with torch.cuda.graph(g):", test="y.ndim"))
    }
