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


STEPS = """
    import numpy as np
    import torch

    class Schedule:
        def __init__(self, n: int):
            self.steps = torch.from_numpy(np.arange(n))

        def set(self, n: int, device=None):
            self.steps = torch.arange(n).to(device)

        def before(self, at: int):
            if at == 0:
                found = torch.tensor(-1)
            else:
                found = self.steps[at - 1]
            return found

        def run(self, at: int):
            return 1 if self.before(at) >= 0 else 0
    """


def test_the_reason_of_what_is_given_back_is_that_of_what_may_wait() -> None:
    (found,) = [one for one in findings(STEPS) if one.code == "SG204"]
    told = [fact.text.split("`")[1] for fact in found.because]
    assert told[1:3] == ["torch.arange(n).to(device)", "self.steps[at - 1]"]
