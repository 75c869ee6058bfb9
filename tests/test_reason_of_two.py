"""Of a tensor that one caller, or path, has on the host and another on the device, the reason says why it is there."""

from __future__ import annotations

import pytest
from checked import findings

TEXT = """
import torch

def read(x):
    return x.sum().item()

def call(m: torch.Tensor, n: int):
    {first}
    {then}
"""
HERE, THERE = "read(torch.zeros(n))", "read(m.cuda())"


@pytest.mark.parametrize(("first", "then"), [(HERE, THERE), (THERE, HERE)])
def test_the_caller_that_makes_it_wait(first: str, then: str) -> None:
    (found,) = findings(TEXT.format(first=first, then=then))
    told = [fact.text for fact in found.because]
    assert any("`m.cuda()`" in text for text in told)
    assert not any("zeros" in text for text in told)
