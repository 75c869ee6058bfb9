"""A wait where an argument is left out: calls that have filled it do not lead there."""

from __future__ import annotations

import textwrap

import pytest

from syncguard import pipeline
from syncguard.config import Config

CODE = """
import torch


class Net(torch.nn.Module):
    def embed(self, x, mask=None):
        if mask is None:
            mask = torch.ones(3).to(x.device)
        return x * mask

    def forward(self, x, mask=None, deep=False):
{body}
"""
FILL = "if mask is None:\n    mask = torch.ones_like(x)\n"
CALL = "return self.embed(x, mask=mask)\n"


def heat(body: str) -> str:
    text = CODE.format(body=textwrap.indent(body, " " * 8))
    findings = pipeline.check(["-"], Config(heat="all", cache=False), text).findings
    assert [finding.code for finding in findings] == ["SG304"]
    return findings[0].heat


@pytest.mark.parametrize(
    "body",
    [
        FILL + CALL,
        FILL + "x = x + 1\nreturn self.embed(x, mask)\n",
        FILL + "mask = mask * 2\n" + CALL,
        FILL + "for _ in range(3):\n    x = self.embed(x, mask)\nreturn x\n",
        "if x.dim() == 3:\n    if mask is None:\n        mask = x + 1\n    return self.embed(x, mask)\nreturn x\n",
        "if mask is None:\n    raise ValueError\n" + CALL,
        "if mask is None:\n    return x\n" + CALL,
        "return self.embed(x, mask=x > 0)\n",
    ],
)
def test_a_call_that_gives_something_does_not_lead_there(body):
    assert heat(body) == "unknown"


@pytest.mark.parametrize(
    "body",
    [
        CALL,
        "return self.embed(x)\n",
        CALL + FILL,
        FILL + "mask = None\n" + CALL,
        FILL.replace("torch.ones_like(x)", "None") + CALL,
        FILL + "mask = deep\n" + CALL,
        "if deep:\n    if mask is None:\n        mask = x + 1\nreturn self.embed(x, mask)\n",
        "if mask is not None:\n    mask = mask + 1\n" + CALL,
        "for _ in range(deep):\n    if mask is None:\n        mask = x + 1\nreturn self.embed(x, mask)\n",
        FILL + "return self.embed(x, mask) + self.embed(x)\n",
    ],
)
def test_a_call_that_may_give_nothing_does(body):
    assert heat(body) == "hot"


SIZED = """
import torch


class Net(torch.nn.Module):
    def total(self, x, *rest, size=None, how="sum"):
        n = x.max().item() if {test} else 3
        return x * n

    def forward(self, x, **rest):
        return self.total(x, {given})
"""


@pytest.mark.parametrize(
    ("test", "given", "expected"),
    [
        ("size is None", "size=x.shape[0]", ("unknown", ["only where `size` is not given"])),
        ("size is None", "size=len(x), **rest", ("unknown", ["only where `size` is not given"])),
        ("size is None", "size=x", ("hot", ["only where `size` is not given"])),
        ("size is None", "**rest", ("hot", [])),
        ("how == 'max'", "how='mean'", ("amortized", [])),
        ("how == 'max'", "how='max'", ("hot", [])),
    ],
)
def test_what_no_call_asks_for_is_an_option(test, given, expected):
    text = SIZED.format(test=test, given=given)
    findings = pipeline.check(["-"], Config(heat="all", cache=False), text).findings
    told = [[fact.text for fact in one.options if "by default" not in fact.text] for one in findings]
    assert [(one.heat, options) for one, options in zip(findings, told, strict=True)] == [expected]
