"""What goes to the host only where a caller asks for it, or after a failure, is on the device for all others."""

from __future__ import annotations

import pytest
from checked import findings

KEEPS = """
import torch


class Head(torch.nn.Module):
    def forward(self, x, y):
        return x[self.keep(x, y)]

    def keep(self, x, y, mode={default}):
        if {test}:
            x = x.cpu().float()
            y = y.cpu()
        kept = x[y > 0]
        if {test}:
            kept = kept.cuda()
        return kept > 0
"""
FALLS_BACK = """
import torch


class Head(torch.nn.Module):
    def forward(self, x, y):
        try:
            kept = x > y
        except RuntimeError:
            kept = x.cpu() > y.cpu()
        return x[kept]
"""
PICKED = [("SG102", "likely"), ("SG102", "likely")]


def masks(text: str) -> list[tuple[str, str]]:
    return [(one.code, one.confidence) for one in findings(text, confidence="possible") if one.code == "SG102"]


@pytest.mark.parametrize(
    ("default", "test"),
    [
        ('"gpu"', 'mode == "cpu"'),
        ("False", "mode"),
        ("None", "mode is not None"),
        ("False", 'mode and x.shape[0] > 4'),
    ],
)  # fmt: skip
def test_by_default_it_stays(default: str, test: str) -> None:
    assert masks(KEEPS.format(default=default, test=test)) == PICKED


@pytest.mark.parametrize(
    ("default", "test"),
    [('"cpu"', 'mode == "cpu"'), ("True", "mode"), ("None", "x.shape[0] > 4"), ("None", "self.small")],
)
def test_by_default_it_goes_or_nobody_can_tell(default: str, test: str) -> None:
    assert ("SG102", "possible") in masks(KEEPS.format(default=default, test=test))


def test_a_caller_that_asks_for_it_has_it_on_the_host() -> None:
    text = KEEPS.format(default='"gpu"', test='mode == "cpu"').replace("self.keep(x, y)", 'self.keep(x, y, "cpu")')
    assert masks(text.replace("kept = kept.cuda()", "pass"))[0] == ("SG102", "possible")


def test_what_is_asked_twice_is_copied_once() -> None:
    text = """
    import torch


    def shown(x: torch.Tensor, on_host: bool = False):
        if on_host:
            x = x.cpu()
        y = x.sum()
        if on_host:
            return x.numpy(), y
        return x, y
    """
    assert [one.code for one in findings(text)] == ["SG202"]


def test_what_a_handler_does_is_rare() -> None:
    assert masks(FALLS_BACK) == [("SG102", "likely")]


def test_what_a_handler_makes_elsewhere_tells_nothing_of_what_is_on_the_host() -> None:
    text = """
    import torch


    def number(key, device):
        try:
            key = torch.as_tensor([1, 2])
        except ValueError:
            key = torch.zeros(2, device=device)
        return int(key[0])
    """
    assert findings(text) == ()
