"""What every call in a file gives a parameter tells which arm of a test of it is for nobody that we see."""

from __future__ import annotations

import textwrap

import checked
import pytest

HEAD = """import torch
from torch import Tensor, nn


class Net(nn.Module):
    def __init__(self, dim: int):
        super().__init__()
        self.line = nn.Linear(dim, dim)

    def forward(self, x: Tensor):
        y = self.line(x)
        CALLS
        return y


def scaled(x, by, device: torch.device):
    BODY


Net(4).cuda()(torch.rand(8, 4, device="cuda"))
"""


def heats(body: str, *calls: str) -> list[str]:
    text = HEAD.replace("CALLS", "\n        ".join(calls))
    return [one.heat for one in checked.findings(text.replace("BODY", textwrap.indent(body, "    ").strip()))]


MADE = "torch.tensor([by], device=device)"
TESTED = f"by = by if torch.is_tensor(by) else {MADE}\nreturn x * by"
ASKED = f"if not isinstance(by, Tensor):\n    return x * {MADE}\nreturn x * by"
LEFT = f"if by is None:\n    by = {MADE.replace('by', '1.0')}\nreturn x * by"
LISTED = f"if isinstance(by, (list, tuple)):\n    by = {MADE.replace('[by]', 'by')}\nreturn x * by"


@pytest.mark.parametrize("body", [TESTED, ASKED, LEFT, LISTED])
def test_what_all_calls_compute_is_not_made_of_numbers_at_each_step(body: str) -> None:
    assert heats(body, "y = scaled(y, x.amax(), x.device)") == ["amortized"]
    assert heats(body, "y = scaled(y, x.amax(), x.device)", "y = scaled(y, by=x.amin(), device=x.device)") == [
        "amortized"
    ]


@pytest.mark.parametrize(
    ("body", "other"), [(TESTED, "2.0"), (ASKED, "2.0"), (LEFT, "None"), (LISTED, "[2.0, 3.0, 4.0, 5.0]")]
)
def test_one_call_that_gives_another_thing_comes_here_at_each_step(body: str, other: str) -> None:
    assert heats(body, "y = scaled(y, x.amax(), x.device)", f"y = scaled(y, {other}, x.device)") == ["hot"]


@pytest.mark.parametrize("body", [TESTED, ASKED])
def test_of_what_nobody_knows_it_may_be_a_number(body: str) -> None:
    assert heats(body, "y = scaled(y, x.amax(), x.device)", "y = scaled(y, self.scale, x.device)") == ["hot"]


def test_what_may_be_left_out_is_for_those_that_leave_it_out() -> None:
    text = HEAD.replace("by, device: torch.device", "device: torch.device, by=None")
    text = text.replace("CALLS", "y = scaled(y, x.device, x.amax())").replace("BODY", LEFT.replace("\n", "\n    "))
    assert [one.heat for one in checked.findings(text)] == ["hot"]


def test_what_is_handed_about_may_be_called_with_anything() -> None:
    text = HEAD.replace("CALLS", "y = scaled(y, x.amax(), x.device)").replace("BODY", TESTED.replace("\n", "\n    "))
    assert [one.heat for one in checked.findings(text + "\nSCALES = [scaled]\n")] == ["hot"]


def test_what_is_bound_anew_before_it_is_asked_is_not_what_was_given() -> None:
    body = "by = float(by.ndim) if by.ndim > 1 else by\n" + TESTED
    assert heats(body, "y = scaled(y, x.amax(), x.device)") == ["hot"]


def test_what_is_mapped_over_tensors_is_given_those() -> None:
    body = """
def flat(v):
    if torch.is_tensor(v):
        return v.reshape(-1)
    return torch.tensor([v], device=device)

x, by = map(flat, (x, by))
return x * by
"""
    assert heats(body, "y = scaled(y, x.amax(), x.device)") == ["amortized"]
    assert heats(body, "y = scaled(y, 2.0, x.device)") == ["hot"]


GIVEN = """import torch
from torch import Tensor, nn


class Net(nn.Module):
    {before}
    def forward(self, x: Tensor):
        y = nn.functional.relu(x)
        seek = torch.zeros(4, dtype=torch.long)
        seek, y = self.{name}(seek, y, 2)
        {more}
        if seek[0] > 3:
            return y
        return y + 1
    {after}

Net().cuda()(torch.rand(8, 4, device="cuda"))
"""
AGAIN = """
    def {name}(self, seek, y, n):
        return seek.repeat_interleave(n, dim=0), self.line(y)
"""


def codes(name: str = "_again", more: str = "", below: bool = True) -> list[str]:
    text = AGAIN.format(name=name)
    text = GIVEN.format(name=name, more=more, before="" if below else text, after=text if below else "")
    return checked.codes(text, confidence="possible")


@pytest.mark.parametrize("below", [True, False])
def test_a_private_function_has_what_it_is_given_on_the_host_there(below: bool) -> None:
    assert codes(below=below) == []
    assert codes(below=below, more="seek, y = self._again(seek, y, n=3)") == []
    for other in ("y.argmax(1)", "self.found"):
        assert codes(below=below, more=f"found, y = self._again({other}, y, 2)") == ["SG204"]


def test_a_public_function_may_be_given_what_is_elsewhere() -> None:
    assert codes("again") == ["SG204"]
    assert codes(more="y = y + len([*map(self._again, (y, y), (y, y), (1, 2))])") == ["SG204"]
