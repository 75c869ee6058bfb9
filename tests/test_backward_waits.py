"""Calls whose backward waits though they do not: told where gradients surely go through, possible where they may."""

from __future__ import annotations

import pytest
from checked import findings

HEAD = "import torch\nfrom torch import nn\n"
BODY = """
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.rand(8, 4))
            self.layer = nn.Linear(4, 4)
            self.register_buffer("table", torch.rand(8, 4))

        def forward(self, x: torch.Tensor, batch: dict):
            kept = torch.arange(8) % 3 > 0
            there = torch.arange(8, device=x.device)
            {}
"""


def said(line: str) -> list[tuple[str, str]]:
    found = findings(BODY.replace("{}", line), HEAD, confidence="possible")
    return [(one.code, one.confidence) for one in found]


@pytest.mark.parametrize(("line", "code", "confidence"), [
    ("return self.weight[kept]", "SG307", "likely"),
    ("return self.layer(x)[kept]", "SG307", "likely"),
    ("return (self.weight * 2)[:, kept]", "SG307", "likely"),
    ("return torch.rand(8, device=x.device, requires_grad=True)[kept]", "SG307", "likely"),
    ("return x[kept]", "SG307", "possible"),
    ("return (torch.rand(8, device=x.device) * self.weight[0, 0])[kept]", "SG307", "possible"),
    ("return torch.distributions.Normal(x, x.exp(), validate_args=False).rsample()[kept]", "SG307", "possible"),
    ("return self.layer(x).sigmoid().prod(1)", "SG505", "likely"),
    ("return self.layer(x).cumprod(1)", "SG505", "likely"),
    ("return torch.zeros_like(x).masked_scatter(x > 0, self.layer(x))", "SG101", "likely"),
])  # fmt: skip
def test_what_gradients_go_through_waits_in_backward(line: str, code: str, confidence: str) -> None:
    assert said(line) == [(code, confidence)]


@pytest.mark.parametrize("line", [
    "return self.table[kept]",
    "return torch.rand(8, device=x.device)[kept]",
    "return self.layer(x).detach()[kept]",
    "return self.layer(x).argmax(1)[kept]",
    "return (self.layer(x) > 0)[kept]",
    "return self.weight[there]",
    "return torch.ones_like(self.layer(x)).cumprod(1)",
    "return (self.layer(x) > 0).float().prod(1)",
    "return nn.functional.one_hot(self.layer(x).argmax(1), 4).float().prod(1)",
    "return (1 - torch.linspace(0, 1, 8, device=x.device)).cumprod(0)",
    "return torch.linspace(0, 1, 8, device=x.device).to(torch.float64).cumprod(0)",
    "return torch.rand(8)[kept]",
    "return torch.linspace(0, 1, 8, device=x.device).cumprod(0)",
    "return there.prod()",
    "with torch.no_grad():\n                return self.weight[kept]",
])  # fmt: skip
def test_what_has_no_gradients_does_not(line: str) -> None:
    assert said(line) == []


def test_a_function_without_gradients_waits_for_none() -> None:
    text = BODY.replace("{}", "return self.layer(x)[kept]").replace(
        "def forward", "@torch.no_grad()\n        def forward"
    )
    assert findings(text, HEAD, confidence="possible") == ()


def test_a_call_that_waits_itself_is_told_once() -> None:
    assert said("return self.weight[[0, 2]]") == [("SG307", "likely")]


def test_the_message_is_of_the_backward() -> None:
    (found,) = findings(BODY.replace("{}", "return self.weight[kept]"), HEAD)
    assert found.message.startswith("the backward of `self.weight[kept]` copies the places of its mask `kept`")
    assert "mask.nonzero()" in found.hint


def test_each_backward_waits_however_often_the_same_is_picked() -> None:
    lines = "\n            ".join(("y = self.layer(x)", "a = y[kept]", "return a.sum() + y[kept].sum()"))
    found = findings(BODY.replace("{}", lines), HEAD)
    assert [(one.code, one.heat) for one in found] == [("SG307", "hot")] * 2
