"""What an object makes on the host, and a method moves to where it is needed: once, or who knows how often."""

from __future__ import annotations

import pytest
from checked import findings

SCHEDULE = """
import torch

class Schedule:
    def __init__(self, n):
        self.rates = torch.linspace(0, 1, n)

    def noised(self, x):
        {moves}
        return x * rates

    def start(self, n, device):
        self.{other} = torch.linspace(0, 1, n, device=device)
"""
ONCE = "self.rates = self.rates.to(x.device); rates = self.rates"
EACH = "rates = self.rates.to(x.device)"


@pytest.mark.parametrize(
    ("moves", "other", "found"),
    [
        (ONCE, "more", [("amortized", "likely")]),
        (EACH, "more", [("unknown", "likely")]),
        (ONCE, "rates", [("unknown", "possible")]),
        (EACH, "rates", [("unknown", "possible")]),
        (ONCE.replace("self.rates.to", "x.to"), "more", []),
    ],
)
def test_what_the_constructor_made_on_the_host_is_moved_once_where_it_is_kept(moves, other, found):
    told = findings(SCHEDULE.format(moves=moves, other=other), confidence="possible")
    assert [(one.heat, one.confidence) for one in told if one.site.line == 9] == found


def test_what_may_have_moved_it_before_is_told():
    told = findings(SCHEDULE.format(moves=EACH, other="rates"), confidence="possible")
    assert told[0].because[-1].text == "`torch.linspace(0, 1, n, device=device)` may have put it on the device by then"


def test_a_method_of_a_base_that_puts_it_elsewhere_counts():
    more = """
class Faster(Schedule):
    def noised(self, x):
        self.rates = self.rates.to(x.device)
        return x * self.rates
"""
    base = SCHEDULE.format(moves="rates = 1", other="rates")
    assert [one.confidence for one in findings(base + more, confidence="possible")] == ["possible"]
    base = SCHEDULE.format(moves="rates = 1", other="more")
    assert [(one.heat, one.confidence) for one in findings(base + more)] == [("amortized", "likely")]


def test_who_calls_it_at_each_step_makes_it_no_hotter():
    text = (
        SCHEDULE.replace("def noised", "def init_rates").format(moves=ONCE, other="more")
        + """
class Net(torch.nn.Module):
    def forward(self, x):
        self.schedule = Schedule(4)
        return self.schedule.init_rates(x)
"""
    )
    assert [(one.heat, one.hot_path[-1].text) for one in findings(text) if one.site.line == 9] == [
        ("amortized", "but only where what is kept is not there yet")
    ]
    alone = SCHEDULE.replace("def noised", "def init_rates").format(moves=ONCE, other="more")
    assert [one.heat for one in findings(alone) if one.site.line == 9] == ["cold"]


def test_a_method_that_is_there_to_move_an_object_is_asked_for_it():
    text = SCHEDULE.replace("def noised(self, x)", "def to(self, x)").format(moves=ONCE, other="more")
    assert not findings(text)
