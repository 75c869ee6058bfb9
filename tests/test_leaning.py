"""Two arguments of one call: what was computed from the one is no tensor where the one is None."""

from __future__ import annotations

import checked
import pytest

TEXT = """import torch
from torch import Tensor, nn


class Bias(nn.Module):
    def __init__(self, dim: int):
        super().__init__()
        self.line = nn.Linear(dim, dim)

    def table(self, n, device, position=None):
        if position is None:
            return torch.arange(n, device=device)
        return position[:, None]

    def forward(self, x: Tensor, position: Tensor | None = None, length: int | None = None):
        y = self.line(x)
        {made}
        return y + {call}


Bias(4).cuda()(torch.rand(8, 4, device="cuda"))
"""
CALL = "self.table(n, x.device, position)"
NAMED = "self.table(device=x.device, position=position, n=n)"
CHOSEN = "n = length if length is not None else position[-1] + 1"


def codes(made: str, call: str = CALL) -> list[str]:
    return checked.codes(TEXT.format(made=made.replace("\n", "\n        "), call=call))


@pytest.mark.parametrize(
    ("made", "call"),
    [
        (CHOSEN, CALL),
        (CHOSEN, NAMED),
        (CHOSEN, "self.table(length or position.max() + 1, x.device, position)"),
        ("n = position.max() + 1 if position is not None else 4", CALL),
        ("n = 4 if position is None else x.argmax()", CALL),
        ("n = position.max() + 1\nif length is not None:\n    n = length", CALL),
        ("last = position[-1]\nn = last + 1", CALL),
        ("n = position[-1] + 1", CALL + " + self.table(4, x.device, None)"),
    ],
)
def test_what_is_computed_from_the_other(made: str, call: str) -> None:
    assert codes(made, call) == []


@pytest.mark.parametrize(
    ("made", "call"),
    [
        (CHOSEN, "self.table(n, x.device)"),
        (CHOSEN, "self.table(n, x.device, None)"),
        (CHOSEN, CALL + " + self.table(n, x.device, None)"),
        (CHOSEN, CALL + " + self.table(x.argmax(), x.device, None)"),
        ("n = position[-1] + 1\nposition = None if self.training else position", CALL),
        ("n = x.argmax()", CALL),
        ("n = x.argmax() if length is None else position[-1] + 1", CALL),
        ("n = torch.maximum(x.argmax(), x.argmin()) if position is None else position[-1]", CALL),
    ],
)
def test_what_may_be_there_without_the_other(made: str, call: str) -> None:
    assert "SG108" in codes(made, call)
